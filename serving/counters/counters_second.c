/*
 * serving/counters/counters_second.c - windows to seconds.
 */
#include "serving/counters/counters_read.h"

#include "core/base/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLOSE 1e-6 /* s: times are decimals, seconds are whole */

struct msim_second_sum {
    double sum[MSIM_COUNTERS], weight[MSIM_COUNTERS];
    double queue, replicas; /* of the last window */
    double mean_last;       /* of the last window that has one */
    double p99[MSIM_SECOND_WINDOWS];
    uint32_t n_p99, windows;
};

enum msim_status msim_seconds_init(struct msim_seconds *s, uint32_t n_stages)
{
    size_t n = (size_t)n_stages + 1;

    *s = (struct msim_seconds){.n_stages = n_stages};
    s->stages = calloc(n, sizeof(*s->stages));
    s->sums = calloc(n, sizeof(*s->sums));
    return s->stages && s->sums ? MSIM_OK : MSIM_ENOMEM;
}

void msim_seconds_release(struct msim_seconds *s)
{
    free(s->stages);
    free(s->sums);
    memset(s, 0, sizeof(*s));
}

static void add(struct msim_second_sum *s, enum msim_counter c, double v,
                double weight)
{
    if (!isfinite(v) || !(weight > 0))
        return;
    s->sum[c] += v * weight;
    s->weight[c] += weight;
}

/* Means per visit count by arrivals. Where those are not known, a time of 0 is
 * a window without visits. */
static void add_visits(struct msim_second_sum *s, enum msim_counter c,
                       const struct msim_counters_row *row)
{
    double arrivals = row->v[MSIM_COUNTER_ARRIVALS];

    add(s, c, row->v[c], isnan(arrivals) ? row->v[c] > 0 : arrivals);
}

static void add_window(struct msim_second_sum *s,
                       const struct msim_counters_row *row)
{
    const double *v = row->v;

    add(s, MSIM_COUNTER_ARRIVALS, v[MSIM_COUNTER_ARRIVALS], 1);
    add(s, MSIM_COUNTER_QUEUE, v[MSIM_COUNTER_QUEUE], 1);
    add(s, MSIM_COUNTER_BUSY, v[MSIM_COUNTER_BUSY], 1);
    add(s, MSIM_COUNTER_PSI_CPU, v[MSIM_COUNTER_PSI_CPU], 1);
    add(s, MSIM_COUNTER_PSI_MEM, v[MSIM_COUNTER_PSI_MEM], 1);
    add(s, MSIM_COUNTER_PSI_IO, v[MSIM_COUNTER_PSI_IO], 1);
    add_visits(s, MSIM_COUNTER_SELF_MS, row);
    add_visits(s, MSIM_COUNTER_WAIT_MS, row);
    add_visits(s, MSIM_COUNTER_NET_MS, row);
    if (v[MSIM_COUNTER_MEAN_MS] > 0) {
        add_visits(s, MSIM_COUNTER_MEAN_MS, row);
        s->mean_last = v[MSIM_COUNTER_MEAN_MS];
    }
    s->queue = v[MSIM_COUNTER_QUEUE];
    s->replicas = v[MSIM_COUNTER_REPLICAS];
    if (v[MSIM_COUNTER_P99_MS] > 0 && s->n_p99 < MSIM_SECOND_WINDOWS)
        s->p99[s->n_p99++] = v[MSIM_COUNTER_P99_MS];
    s->windows++;
}

/* Sums of one stage as its second of `seconds` s; the sums begin anew. */
static void end_stage(struct msim_second_stage *out, struct msim_second_sum *s,
                      double seconds)
{
    for (uint32_t i = 0; i < MSIM_COUNTERS; i++)
        out->v[i] = s->weight[i] > 0 ? s->sum[i] / s->weight[i] : NAN;
    out->queue_mean = out->v[MSIM_COUNTER_QUEUE];
    out->v[MSIM_COUNTER_QUEUE] = s->windows ? s->queue : NAN;
    out->v[MSIM_COUNTER_REPLICAS] = s->windows ? s->replicas : NAN;
    if (s->weight[MSIM_COUNTER_ARRIVALS] > 0)
        out->v[MSIM_COUNTER_ARRIVALS] = s->sum[MSIM_COUNTER_ARRIVALS] / seconds;
    out->v[MSIM_COUNTER_P99_MS] = out->p99_most = NAN;
    if (s->n_p99 > 0) {
        out->v[MSIM_COUNTER_P99_MS] = msim_median_mean(s->p99, s->n_p99);
        out->p99_most = s->p99[s->n_p99 - 1];
    }
    out->mean_last_ms = s->mean_last > 0 ? s->mean_last : NAN;
    out->rate_last = out->age_s = NAN;
    memset(s, 0, sizeof(*s));
}

/* ---- windows of e2e ------------------------------------------------------ */

static void keep_window(struct msim_seconds *s,
                        const struct msim_counters_row *row)
{
    s->windows[s->n_windows++ % MSIM_SECOND_WINDOWS] =
        (struct msim_second_window){row->v[MSIM_COUNTER_ARRIVALS],
                                    row->t - s->window_end};
    s->window_end = row->t;
}

static uint32_t n_kept(const struct msim_seconds *s)
{
    return s->n_windows < MSIM_SECOND_WINDOWS ? s->n_windows
                                              : MSIM_SECOND_WINDOWS;
}

static const struct msim_second_window *window_at(const struct msim_seconds *s,
                                                  uint32_t ago)
{
    return &s->windows[(s->n_windows - 1 - ago) % MSIM_SECOND_WINDOWS];
}

/* Arrivals within a window are taken to be even. Where more are in flight than
 * arrived in the windows kept, the oldest is as old as those at least. */
static double find_age(const struct msim_seconds *s, double in_flight)
{
    double age = 0;

    for (uint32_t ago = 0; ago < n_kept(s); ago++) {
        const struct msim_second_window *w = window_at(s, ago);

        if (in_flight < w->arrivals)
            return age + in_flight / w->arrivals * w->length_s;
        in_flight -= w->arrivals;
        age += w->length_s;
    }
    return isnan(in_flight) ? NAN : age;
}

static void end_e2e(struct msim_second_stage *e2e, const struct msim_seconds *s)
{
    double arrivals = 0, length = 0;

    for (uint32_t ago = 0; ago < 2 && ago < n_kept(s); ago++) {
        arrivals += window_at(s, ago)->arrivals;
        length += window_at(s, ago)->length_s;
    }
    e2e->rate_last = length > 0 ? arrivals / length : NAN;
    e2e->age_s = find_age(s, e2e->v[MSIM_COUNTER_QUEUE]);
}

/* ---- the whole ----------------------------------------------------------- */

bool msim_seconds_add(struct msim_seconds *s,
                      const struct msim_counters_row *row)
{
    double length;

    if (!s->begun) /* the first window may end anywhere */
        s->t = s->from = s->window_end = ceil(row->t - CLOSE) - 1;
    s->begun = true;
    add_window(&s->sums[row->stage], row);
    if (row->stage == s->n_stages)
        keep_window(s, row);
    if (row->stage != s->n_stages || row->t < s->from + 1 - CLOSE)
        return false;
    length = row->t - s->t;
    for (uint32_t i = 0; i <= s->n_stages; i++)
        end_stage(&s->stages[i], &s->sums[i], length);
    end_e2e(&s->stages[s->n_stages], s);
    s->t = row->t;
    s->from = floor(row->t + CLOSE);
    return true;
}
