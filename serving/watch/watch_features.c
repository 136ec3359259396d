/*
 * serving/watch/watch_features.c - seconds as numbers.
 */
#include "serving/watch/watch_model.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

const char *msim_feature_text(enum msim_feature f)
{
    static const char *const WORDS[] = {
#define X(name) #name,
        MSIM_FEATURE_MAP(X)
#undef X
    };

    return WORDS[f];
}

const char *msim_stage_feature_text(enum msim_stage_feature f)
{
    static const char *const WORDS[] = {
#define X(name) #name,
        MSIM_STAGE_FEATURE_MAP(X)
#undef X
    };

    return WORDS[f];
}

const char *msim_e2e_feature_text(enum msim_e2e_feature f)
{
    static const char *const WORDS[] = {
#define X(name) #name,
        MSIM_E2E_FEATURE_MAP(X)
#undef X
    };

    return WORDS[f];
}

static double or_zero(double v)
{
    return isfinite(v) ? v : 0;
}

static double level(const struct msim_history *h, enum msim_track track,
                    uint32_t seconds, double base)
{
    return or_zero(msim_history_mean(h, h->n_stages, track, seconds) - base);
}

/* The share of the seconds kept that violated. */
static double violated_share(const struct msim_history *h, double log_limit)
{
    uint32_t n = 0, kept = 0;

    for (uint32_t ago = 0; ago < MSIM_HISTORY_KEPT && ago < h->seconds; ago++) {
        n += msim_history_at(h, h->n_stages, MSIM_TRACK_P99, ago) > log_limit;
        kept++;
    }
    return kept ? (double)n / kept : 0;
}

static void of_requests(double *x, const struct msim_history *h, double limit,
                        double horizon)
{
    struct msim_deviation arrivals =
        msim_history_deviation(h, h->n_stages, MSIM_TRACK_RATE, horizon);
    uint32_t e = h->n_stages;
    double log_limit = log(limit);
    double mean = msim_history_usual(h, e, MSIM_TRACK_MEAN)->median;
    double rate = msim_history_usual(h, e, MSIM_TRACK_RATE)->median;
    double in_flight = msim_history_usual(h, e, MSIM_TRACK_QUEUE)->median;
    const struct msim_usual *p99 = msim_history_usual(h, e, MSIM_TRACK_P99);

    x[MSIM_FEATURE_P99_LOG] = level(h, MSIM_TRACK_P99, 1, log_limit);
    x[MSIM_FEATURE_P99_MOST_LOG] = level(h, MSIM_TRACK_MOST, 1, log_limit);
    x[MSIM_FEATURE_P99_LOG_3S] = level(h, MSIM_TRACK_P99, 3, log_limit);
    x[MSIM_FEATURE_P99_LOG_8S] = level(h, MSIM_TRACK_P99, 8, log_limit);
    x[MSIM_FEATURE_P99_LOG_MOST_8S] =
        or_zero(msim_history_most(h, e, MSIM_TRACK_P99, 8) - log_limit);
    x[MSIM_FEATURE_P99_SLOPE_5S] = msim_history_slope(h, e, MSIM_TRACK_P99, 5);
    x[MSIM_FEATURE_P99_USUAL_LOG] = or_zero(p99->median - log_limit);
    x[MSIM_FEATURE_P99_SPREAD] = or_zero(p99->spread);
    x[MSIM_FEATURE_LIMIT_Z] = or_zero((log_limit - p99->median) / p99->spread);
    x[MSIM_FEATURE_VIOLATED_SHARE] = violated_share(h, log_limit);
    x[MSIM_FEATURE_MEAN_OVER_USUAL] = level(h, MSIM_TRACK_MEAN, 1, mean);
    x[MSIM_FEATURE_MEAN_SLOPE_5S] =
        msim_history_slope(h, e, MSIM_TRACK_MEAN, 5);
    x[MSIM_FEATURE_MEAN_LOG] = level(h, MSIM_TRACK_MEAN, 2, log_limit);
    x[MSIM_FEATURE_RATE_OVER_8S] = level(
        h, MSIM_TRACK_RATE, 2, msim_history_mean(h, e, MSIM_TRACK_RATE, 8));
    x[MSIM_FEATURE_RATE_OVER_USUAL_3S] = level(h, MSIM_TRACK_RATE, 3, rate);
    x[MSIM_FEATURE_RATE_SLOPE_5S] =
        msim_history_slope(h, e, MSIM_TRACK_RATE, 5);
    x[MSIM_FEATURE_RATE_Z] = fmin(arrivals.z, 50);
    x[MSIM_FEATURE_RATE_AHEAD] = arrivals.ahead;
    x[MSIM_FEATURE_RATE_USUAL] = or_zero(rate);
    x[MSIM_FEATURE_IN_FLIGHT_OVER_USUAL] = or_zero(log(
        (msim_history_mean(h, e, MSIM_TRACK_QUEUE, 1) + 1) / (in_flight + 1)));
    x[MSIM_FEATURE_IN_FLIGHT_SLOPE_5S] = or_zero(
        msim_history_slope(h, e, MSIM_TRACK_QUEUE, 5) / (in_flight + 1));
}

/* Seconds that the queue lasts at the rate of arrivals. */
static double drain(const struct msim_history *h, uint32_t stage, double queue)
{
    double rate = msim_history_mean(h, stage, MSIM_TRACK_RATE, 5);

    return or_zero(queue * exp(-rate));
}

/* The share of workers that arrivals and service ask for, which goes on growing
 * where that of workers held ends at 1. */
static void of_demand(double *x, const struct msim_history *h, uint32_t s,
                      double usual, double horizon)
{
    struct msim_deviation rate =
        msim_history_deviation(h, s, MSIM_TRACK_RATE, horizon);
    struct msim_deviation all =
        msim_history_deviation(h, h->n_stages, MSIM_TRACK_RATE, horizon);
    struct msim_deviation self =
        msim_history_deviation(h, s, MSIM_TRACK_SELF, horizon);
    double now = usual * exp(rate.excess + self.excess);
    double ahead =
        usual * exp(fmin(2, fmax(rate.ahead, all.ahead) + self.ahead));

    x[MSIM_FEATURE_DEMAND_NOW] = fmax(x[MSIM_FEATURE_DEMAND_NOW], now);
    x[MSIM_FEATURE_DEMAND_AHEAD] = fmax(x[MSIM_FEATURE_DEMAND_AHEAD], ahead);
}

static void of_busy(double *x, const struct msim_history *h, uint32_t s,
                    double horizon)
{
    double now = or_zero(msim_history_mean(h, s, MSIM_TRACK_BUSY, 1));
    double some = or_zero(msim_history_mean(h, s, MSIM_TRACK_BUSY, 3));
    struct msim_deviation d =
        msim_history_deviation(h, s, MSIM_TRACK_BUSY, horizon);
    double usual = or_zero(msim_history_usual(h, s, MSIM_TRACK_BUSY)->median);
    double *most = &x[MSIM_FEATURE_BUSY_MOST_3S];
    double *second = &x[MSIM_FEATURE_BUSY_SECOND_3S];

    *second = fmax(*second, fmin(*most, some));
    *most = fmax(*most, some);
    x[MSIM_FEATURE_BUSY_MOST] = fmax(x[MSIM_FEATURE_BUSY_MOST], now);
    x[MSIM_FEATURE_BUSY_MOST_AHEAD] =
        fmax(x[MSIM_FEATURE_BUSY_MOST_AHEAD], usual + d.ahead);
    x[MSIM_FEATURE_BUSY_OVER_USUAL] =
        fmax(x[MSIM_FEATURE_BUSY_OVER_USUAL], d.excess);
    of_demand(x, h, s, usual, horizon);
}

/* How soon a queue grows without end: by theory a mean wait goes with 1 over
 * the capacity that is left, so that its inverse falls in a line. As a share of
 * the horizon within which that line ends, 0: not. */
static double blow_up(const struct msim_history *h, uint32_t s, double horizon)
{
    struct msim_deviation d =
        msim_history_deviation(h, s, MSIM_TRACK_WAIT_LOG, horizon);
    double now = exp(-msim_history_mean(h, s, MSIM_TRACK_WAIT_LOG, 2));
    double before = 0;

    for (uint32_t ago = 3; ago < 6; ago++)
        before += exp(-msim_history_at(h, s, MSIM_TRACK_WAIT_LOG, ago)) / 3;
    if (!(before > now) || d.z < 3)
        return 0;
    /* 3.5 s lie between the two means */
    return or_zero(1 / (1 + 3.5 * now / (before - now) / horizon));
}

static void of_wait(double *x, const struct msim_history *h, uint32_t s,
                    double horizon)
{
    struct msim_deviation d =
        msim_history_deviation(h, s, MSIM_TRACK_WAIT_LOG, horizon);

    x[MSIM_FEATURE_WAIT_LOG_Z_MOST] =
        fmax(x[MSIM_FEATURE_WAIT_LOG_Z_MOST], fmin(d.z, 50));
    x[MSIM_FEATURE_WAIT_LOG_AHEAD] =
        fmax(x[MSIM_FEATURE_WAIT_LOG_AHEAD], d.ahead);
    x[MSIM_FEATURE_BLOW_UP] =
        fmax(x[MSIM_FEATURE_BLOW_UP], blow_up(h, s, horizon));
}

static void of_queue(double *x, const struct msim_history *h, uint32_t s,
                     double limit)
{
    double rate = msim_history_mean(h, s, MSIM_TRACK_RATE, 5);
    double all = msim_history_mean(h, h->n_stages, MSIM_TRACK_RATE, 5);
    double visits = fmin(1, or_zero(exp(rate - all)));
    double queue = drain(h, s, msim_history_mean(h, s, MSIM_TRACK_QUEUE, 1));

    queue *= 1000 / limit;
    x[MSIM_FEATURE_WAIT_OVER_LIMIT] +=
        visits * or_zero(msim_history_mean(h, s, MSIM_TRACK_WAIT, 1)) / limit;
    x[MSIM_FEATURE_WAIT_OVER_LIMIT_3S] +=
        visits * or_zero(msim_history_mean(h, s, MSIM_TRACK_WAIT, 3)) / limit;
    x[MSIM_FEATURE_WAIT_MOST_SLOPE] =
        fmax(x[MSIM_FEATURE_WAIT_MOST_SLOPE],
             msim_history_slope(h, s, MSIM_TRACK_WAIT, 4) / limit);
    x[MSIM_FEATURE_DRAIN_MOST] = fmax(x[MSIM_FEATURE_DRAIN_MOST], queue);
    x[MSIM_FEATURE_DRAIN_SUM] += queue * visits;
    x[MSIM_FEATURE_DRAIN_SLOPE] =
        fmax(x[MSIM_FEATURE_DRAIN_SLOPE],
             drain(h, s, msim_history_slope(h, s, MSIM_TRACK_QUEUE, 4)) * 1000 /
                 limit);
}

static void keep_most(double *x, const struct msim_history *h, uint32_t s,
                      enum msim_track track)
{
    double z = msim_history_deviation(h, s, track, 0).z;

    *x = fmax(*x, fmin(z, 50));
}

static void of_stage(double *x, const struct msim_history *h, uint32_t s,
                     double limit, double horizon)
{
    of_busy(x, h, s, horizon);
    of_wait(x, h, s, horizon);
    of_queue(x, h, s, limit);
    keep_most(&x[MSIM_FEATURE_SELF_Z_MOST], h, s, MSIM_TRACK_SELF);
    keep_most(&x[MSIM_FEATURE_NET_Z_MOST], h, s, MSIM_TRACK_NET);
    keep_most(&x[MSIM_FEATURE_PSI_CPU_Z_MOST], h, s, MSIM_TRACK_PSI_CPU);
    keep_most(&x[MSIM_FEATURE_PSI_MEM_Z_MOST], h, s, MSIM_TRACK_PSI_MEM);
    keep_most(&x[MSIM_FEATURE_PSI_IO_Z_MOST], h, s, MSIM_TRACK_PSI_IO);
    x[MSIM_FEATURE_REPLICAS_OVER_USUAL] = fmin(
        x[MSIM_FEATURE_REPLICAS_OVER_USUAL],
        or_zero(log(msim_history_mean(h, s, MSIM_TRACK_REPLICAS, 1) /
                    msim_history_usual(h, s, MSIM_TRACK_REPLICAS)->median)));
}

/* The p99 of the last seconds, with what a mean request will have grown by,
 * `times` over. */
static double p99_ahead(const struct msim_history *h,
                        const struct msim_blame *b, double limit, double times)
{
    double p99 = exp(msim_history_mean(h, h->n_stages, MSIM_TRACK_P99, 3));
    double growth = b->slow_ahead - b->slow_now;

    return or_zero(log(fmax(p99 + times * growth, 0.1 * p99) / limit));
}

static void of_blame(double *x, const struct msim_history *h,
                     const struct msim_blame *b, double limit)
{
    const struct msim_blame_stage *s = &b->stages[b->stage];

    x[MSIM_FEATURE_BLAME_MS] = b->ms / limit;
    x[MSIM_FEATURE_BLAME_SELF] = s->self / limit;
    x[MSIM_FEATURE_BLAME_NET] = s->net / limit;
    x[MSIM_FEATURE_BLAME_WORKERS] = s->workers / limit;
    x[MSIM_FEATURE_BLAME_LOAD] = s->load / limit;
    x[MSIM_FEATURE_RATIO_NOW] = log(fmax(b->ratio_now, 0.01));
    x[MSIM_FEATURE_RATIO_AHEAD] = log(fmax(b->ratio_ahead, 0.01));
    x[MSIM_FEATURE_SLOW_NOW] = b->slow_now / limit;
    x[MSIM_FEATURE_SLOW_AHEAD] = b->slow_ahead / limit;
    x[MSIM_FEATURE_P99_AHEAD] = p99_ahead(h, b, limit, 1);
    x[MSIM_FEATURE_P99_AHEAD_TWICE] = p99_ahead(h, b, limit, 2);
}

void msim_features_of(double x[MSIM_FEATURES], const struct msim_app *app,
                      const struct msim_history *h, const struct msim_blame *b,
                      double limit_ms, double horizon)
{
    memset(x, 0, MSIM_FEATURES * sizeof(*x));
    of_requests(x, h, limit_ms, horizon);
    for (uint32_t s = 0; s < app->n_stages; s++)
        of_stage(x, h, s, limit_ms, horizon);
    of_blame(x, h, b, limit_ms);
    x[MSIM_FEATURE_SECONDS] = fmin(h->seconds, 60);
    for (uint32_t i = 0; i < MSIM_FEATURES; i++)
        x[i] = or_zero(x[i]);
}

double msim_stage_feature_of(const struct msim_history *h, uint32_t stage,
                             enum msim_stage_feature f, double limit_ms)
{
    switch (f) {
    case MSIM_STAGE_FEATURE_BUSY:
        return or_zero(msim_history_mean(h, stage, MSIM_TRACK_BUSY, 3));
    case MSIM_STAGE_FEATURE_DRAIN:
        return drain(h, stage,
                     msim_history_mean(h, stage, MSIM_TRACK_QUEUE, 1));
    case MSIM_STAGE_FEATURE_WAIT:
        return or_zero(msim_history_mean(h, stage, MSIM_TRACK_WAIT, 2) /
                       limit_ms);
    case MSIM_STAGE_FEATURE_RATE:
        return or_zero(
            msim_history_mean(h, stage, MSIM_TRACK_RATE, 3) -
            log(msim_history_mean(h, stage, MSIM_TRACK_REPLICAS, 1)));
    case MSIM_STAGE_FEATURES:
        break;
    }
    return 0;
}

/* ---- e2e, for models of one application ---------------------------------- */

static double e2e_mean(const struct msim_history *h, enum msim_track track,
                       uint32_t seconds)
{
    return msim_history_mean(h, h->n_stages, track, seconds);
}

static double e2e_at(const struct msim_history *h, enum msim_track track)
{
    return msim_history_at(h, h->n_stages, track, 0);
}

/* Of all stages, the most or the sum of the time until what waits now is
 * served, as a share of the limit; of few visits, that share of it. */
static double queued(const struct msim_history *h, double limit, bool most)
{
    double all = e2e_mean(h, MSIM_TRACK_RATE, 5), sum = 0, largest = 0;

    for (uint32_t s = 0; s < h->n_stages; s++) {
        double rate = msim_history_mean(h, s, MSIM_TRACK_RATE, 5);
        double visits = fmin(1, or_zero(exp(rate - all)));
        double queue = msim_history_at(h, s, MSIM_TRACK_QUEUE_LAST, 0);
        double v = visits * drain(h, s, queue) * 1000 / limit;

        largest = fmax(largest, v);
        sum += v;
    }
    return most ? largest : sum;
}

/* Log of those that came over those that ended in the last seconds; none did
 * where nothing is known of the second before. */
static double in_over_out(const struct msim_history *h, uint32_t seconds)
{
    uint32_t e = h->n_stages;
    double before = msim_history_at(h, e, MSIM_TRACK_QUEUE_LAST, seconds);
    double in = 0, out;

    for (uint32_t ago = 0; ago < seconds; ago++)
        in += or_zero(exp(msim_history_at(h, e, MSIM_TRACK_RATE, ago)));
    out = in - (e2e_at(h, MSIM_TRACK_QUEUE_LAST) - before);
    return log((in + 1) / (fmax(0, out) + 1));
}

static double in_flight_log(const struct msim_history *h)
{
    return log((e2e_at(h, MSIM_TRACK_QUEUE_LAST) + 1) * 1000) -
           e2e_mean(h, MSIM_TRACK_RATE, 5);
}

static double e2e_number(const struct msim_history *h, enum msim_e2e_feature f,
                         double limit_ms)
{
    switch (f) {
    case MSIM_E2E_FEATURE_IN_FLIGHT:
        return log(e2e_at(h, MSIM_TRACK_QUEUE_LAST) + 1);
    case MSIM_E2E_FEATURE_IN_FLIGHT_LOG:
        return in_flight_log(h) - log(limit_ms);
    case MSIM_E2E_FEATURE_QUEUED_MOST:
        return queued(h, limit_ms, true);
    case MSIM_E2E_FEATURE_QUEUED_SUM:
        return queued(h, limit_ms, false);
    case MSIM_E2E_FEATURE_MEAN_LAST_LOG:
        return e2e_at(h, MSIM_TRACK_MEAN_LAST) - log(limit_ms);
    case MSIM_E2E_FEATURE_AGE_LOG:
        return e2e_at(h, MSIM_TRACK_AGE) - log(limit_ms);
    case MSIM_E2E_FEATURE_AGE_OVER_MEAN:
        return e2e_at(h, MSIM_TRACK_AGE) - e2e_mean(h, MSIM_TRACK_MEAN, 3);
    case MSIM_E2E_FEATURE_IN_OVER_OUT:
        return in_over_out(h, 1);
    case MSIM_E2E_FEATURE_IN_OVER_OUT_3S:
        return in_over_out(h, 3);
    case MSIM_E2E_FEATURE_RATE_LAST:
        return e2e_at(h, MSIM_TRACK_RATE_LAST);
    case MSIM_E2E_FEATURE_RATE_LAST_OVER_2S:
        return e2e_at(h, MSIM_TRACK_RATE_LAST) -
               e2e_mean(h, MSIM_TRACK_RATE, 2);
    case MSIM_E2E_FEATURE_RATE_OVER_5S:
        return e2e_at(h, MSIM_TRACK_RATE) - e2e_mean(h, MSIM_TRACK_RATE, 5);
    case MSIM_E2E_FEATURE_RATE_2S_OVER_12S:
        return e2e_mean(h, MSIM_TRACK_RATE, 2) -
               e2e_mean(h, MSIM_TRACK_RATE, 12);
    case MSIM_E2E_FEATURES:
        break;
    }
    return 0;
}

double msim_e2e_feature_of(const struct msim_history *h,
                           enum msim_e2e_feature f, double limit_ms)
{
    return or_zero(e2e_number(h, f, limit_ms));
}
