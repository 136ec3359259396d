/*
 * serving/watch/watch_history.c - tracks of counters and what is usual.
 */
#include "serving/watch/watch_model.h"

#include "core/base/quantile.h"
#include "core/base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KEPT      MSIM_HISTORY_KEPT
#define UNSEEN    10 /* last seconds that are not usual yet */
#define LEARNING  30 /* seconds until those are left out */
#define EVERY     8  /* seconds between two looks at what is usual */
#define MAD_TO_SD 1.4826
#define HIGH      0.95 /* quantile: of normal noise at MSIM_Z90 */

/* Below this no spread is believed: a share of the median, and as it is. */
static const struct {
    double share, least;
} FLOOR[MSIM_TRACKS] = {
    [MSIM_TRACK_SELF] = {0, 0.01},     [MSIM_TRACK_NET] = {0.02, 0.005},
    [MSIM_TRACK_WAIT] = {0.1, 0.02},   [MSIM_TRACK_BUSY] = {0, 0.01},
    [MSIM_TRACK_RATE] = {0, 0.01},     [MSIM_TRACK_QUEUE] = {0.1, 0.1},
    [MSIM_TRACK_PSI_CPU] = {0, 0.005}, [MSIM_TRACK_PSI_MEM] = {0, 0.005},
    [MSIM_TRACK_PSI_IO] = {0, 0.005},  [MSIM_TRACK_MEAN] = {0, 0.01},
    [MSIM_TRACK_P99] = {0, 0.01},      [MSIM_TRACK_MOST] = {0, 0.01},
    [MSIM_TRACK_REPLICAS] = {0, 0.5},
};

enum msim_status msim_history_init(struct msim_history *h, uint32_t n_stages)
{
    size_t n = ((size_t)n_stages + 1) * MSIM_TRACKS;

    *h = (struct msim_history){.n_stages = n_stages};
    h->v = malloc(n * KEPT * sizeof(*h->v));
    h->usual = malloc(n * sizeof(*h->usual));
    if (!h->v || !h->usual)
        return MSIM_ENOMEM;
    for (size_t i = 0; i < n * KEPT; i++)
        h->v[i] = NAN;
    for (size_t i = 0; i < n; i++)
        h->usual[i] = (struct msim_usual){NAN, NAN};
    return MSIM_OK;
}

void msim_history_release(struct msim_history *h)
{
    free(h->v);
    free(h->usual);
    memset(h, 0, sizeof(*h));
}

static double *track_of(const struct msim_history *h, uint32_t stage,
                        enum msim_track track)
{
    return h->v + ((size_t)stage * MSIM_TRACKS + track) * KEPT;
}

static double log_of(double v)
{
    return v > 0 ? log(v) : NAN;
}

static double log_wait(const double *v)
{
    double self = v[MSIM_COUNTER_SELF_MS];

    return log_of(v[MSIM_COUNTER_WAIT_MS] + (isnan(self) ? 0 : 0.01 * self));
}

static void put_stage(const struct msim_history *h, uint32_t stage,
                      const struct msim_second_stage *s)
{
    const double *v = s->v;
    const double now[MSIM_TRACKS] = {
        [MSIM_TRACK_SELF] = log_of(v[MSIM_COUNTER_SELF_MS]),
        [MSIM_TRACK_NET] = v[MSIM_COUNTER_NET_MS],
        [MSIM_TRACK_WAIT] = v[MSIM_COUNTER_WAIT_MS],
        [MSIM_TRACK_WAIT_LOG] = log_wait(v),
        [MSIM_TRACK_BUSY] = v[MSIM_COUNTER_BUSY],
        [MSIM_TRACK_RATE] = log_of(v[MSIM_COUNTER_ARRIVALS]),
        [MSIM_TRACK_QUEUE] = s->queue_mean,
        [MSIM_TRACK_PSI_CPU] = v[MSIM_COUNTER_PSI_CPU],
        [MSIM_TRACK_PSI_MEM] = v[MSIM_COUNTER_PSI_MEM],
        [MSIM_TRACK_PSI_IO] = v[MSIM_COUNTER_PSI_IO],
        [MSIM_TRACK_MEAN] = log_of(v[MSIM_COUNTER_MEAN_MS]),
        [MSIM_TRACK_P99] = log_of(v[MSIM_COUNTER_P99_MS]),
        [MSIM_TRACK_MOST] = log_of(s->p99_most),
        [MSIM_TRACK_REPLICAS] = v[MSIM_COUNTER_REPLICAS],
        [MSIM_TRACK_QUEUE_LAST] = v[MSIM_COUNTER_QUEUE],
        [MSIM_TRACK_MEAN_LAST] = log_of(s->mean_last_ms),
        [MSIM_TRACK_RATE_LAST] = log_of(s->rate_last),
        [MSIM_TRACK_AGE] = log_of(s->age_s * 1000),
    };

    for (uint32_t t = 0; t < MSIM_TRACKS; t++)
        track_of(h, stage, t)[h->seconds % KEPT] = now[t];
}

static void look(const struct msim_history *h, uint32_t stage,
                 enum msim_track track, uint32_t from, uint32_t to)
{
    const double *v = track_of(h, stage, track);
    struct msim_usual *u = &h->usual[stage * MSIM_TRACKS + track];
    double known[KEPT];
    uint32_t n = 0;

    for (uint32_t s = from; s < to; s++)
        if (!isnan(v[s % KEPT]))
            known[n++] = v[s % KEPT];
    *u = (struct msim_usual){NAN, NAN};
    if (n < 3)
        return;
    u->median = msim_median_mean(known, n);
    u->spread = (msim_quantile_between(known, n, HIGH) - u->median) / MSIM_Z90;
    for (uint32_t i = 0; i < n; i++)
        known[i] = fabs(known[i] - u->median);
    u->spread =
        fmax(fmax(u->spread, MAD_TO_SD * msim_median_mean(known, n)),
             fmax(FLOOR[track].least, FLOOR[track].share * fabs(u->median)));
}

void msim_history_add(struct msim_history *h,
                      const struct msim_second_stage *stages)
{
    uint32_t from, to;

    for (uint32_t i = 0; i <= h->n_stages; i++)
        put_stage(h, i, &stages[i]);
    h->seconds++;
    if (h->seconds > LEARNING && h->seconds % EVERY != 0)
        return;
    from = h->seconds > KEPT ? h->seconds - KEPT : 0;
    to = h->seconds > LEARNING ? h->seconds - UNSEEN : h->seconds;
    for (uint32_t i = 0; i <= h->n_stages; i++)
        for (uint32_t t = 0; t < MSIM_TRACKS; t++)
            look(h, i, t, from, to);
}

double msim_history_at(const struct msim_history *h, uint32_t stage,
                       enum msim_track track, uint32_t ago)
{
    if (ago >= h->seconds || ago >= KEPT)
        return NAN;
    return track_of(h, stage, track)[(h->seconds - 1 - ago) % KEPT];
}

double msim_history_mean(const struct msim_history *h, uint32_t stage,
                         enum msim_track track, uint32_t n)
{
    double sum = 0;
    uint32_t known = 0;

    for (uint32_t ago = 0; ago < n; ago++) {
        double v = msim_history_at(h, stage, track, ago);

        if (!isnan(v)) {
            sum += v;
            known++;
        }
    }
    return known ? sum / known : NAN;
}

double msim_history_most(const struct msim_history *h, uint32_t stage,
                         enum msim_track track, uint32_t n)
{
    double most = NAN;

    for (uint32_t ago = 0; ago < n; ago++)
        most = fmax(most, msim_history_at(h, stage, track, ago));
    return most;
}

double msim_history_slope(const struct msim_history *h, uint32_t stage,
                          enum msim_track track, uint32_t n)
{
    double st = 0, sv = 0, stt = 0, stv = 0, below;
    uint32_t known = 0;

    for (uint32_t ago = 0; ago < n; ago++) {
        double v = msim_history_at(h, stage, track, ago);
        double t = -(double)ago;

        if (isnan(v))
            continue;
        st += t;
        sv += v;
        stt += t * t;
        stv += t * v;
        known++;
    }
    below = known * stt - st * st;
    return known < 3 ? 0 : (known * stv - st * sv) / below;
}

/* As James and Stein shrink: what is within the noise counts for little. */
static double shrink(double v, double z, double noise)
{
    return v * z * z / (z * z + noise * noise);
}

/* From the mean of the last `level` seconds and the line through `line`. */
static struct msim_deviation deviation_of(const struct msim_history *h,
                                          uint32_t stage, enum msim_track track,
                                          double horizon, uint32_t level,
                                          uint32_t line)
{
    const struct msim_usual *u = msim_history_usual(h, stage, track);
    struct msim_deviation d = {0};
    double mean = msim_history_mean(h, stage, track, level);
    double slope, slope_error;

    if (isnan(u->median) || isnan(mean))
        return d;
    d.z = (mean - u->median) / (u->spread / sqrt(level));
    /* a single second has wilder outliers than three */
    d.excess = shrink(mean - u->median, d.z, level > 1 ? 2 : 4);
    slope = msim_history_slope(h, stage, track, line);
    /* the sum of squares of 0 .. n - 1 about their mean is n (n^2 - 1) / 12 */
    slope_error = u->spread / sqrt(line * (line * line - 1) / 12.0);
    slope = shrink(slope, slope / slope_error, level > 1 ? 3 : 4);
    d.ahead = d.excess + slope * (horizon + (level - 1) / 2.0);
    return d;
}

struct msim_deviation msim_history_deviation(const struct msim_history *h,
                                             uint32_t stage,
                                             enum msim_track track,
                                             double horizon)
{
    struct msim_deviation d = deviation_of(h, stage, track, horizon, 3, 6);
    struct msim_deviation fast = deviation_of(h, stage, track, horizon, 1, 4);

    if (fabs(fast.ahead) > fabs(d.ahead))
        d.ahead = fast.ahead;
    if (fabs(fast.excess) > fabs(d.excess))
        d.excess = fast.excess;
    return d;
}
