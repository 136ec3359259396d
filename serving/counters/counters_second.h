/*
 * serving/counters/counters_second.h - windows of counters put together as
 * seconds.
 *
 * A second is over with the `e2e` row whose window ends at a whole second or
 * behind it; windows longer than a second are seconds of their own. Per visit
 * (self, wait, network, latency) a second has the mean over its windows,
 * weighted by arrivals; a window without arrivals says nothing of them.
 */
#ifndef MSIM_SERVING_COUNTERS_COUNTERS_SECOND_H
#define MSIM_SERVING_COUNTERS_COUNTERS_SECOND_H
#include "serving/counters/counters_read.h"

/* What a stage, or e2e, did in a second. */
struct msim_second_stage {
    /* As in a window, but: arrivals are a second's, queue and replicas those of
     * its end, busy and psi_* means, p99_ms the median of its windows. NAN: not
     * known. */
    double v[MSIM_COUNTERS];
    double queue_mean;
    double p99_most; /* of its windows, ms */
};

#define MSIM_SECOND_WINDOWS 64 /* a second that have a p99 of their own */

struct msim_second_sum; /* of one stage so far */

struct msim_seconds {
    uint32_t n_stages;                /* e2e comes behind them */
    double t;                         /* end of the last second, s */
    struct msim_second_stage *stages; /* n_stages + 1: the last second */
    struct msim_second_sum *sums;
    double from; /* end of the second before, s */
    bool begun;
};

/* ENOMEM. Release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_seconds_init(struct msim_seconds *s, uint32_t n_stages);
void msim_seconds_release(struct msim_seconds *s);

/* Add a row; true where it ended a second, which is in `s->stages` then. */
bool msim_seconds_add(struct msim_seconds *s,
                      const struct msim_counters_row *row);

/* Does a second violate: is the median p99 of its windows above the limit?
 * False where no request ended. */
static inline bool msim_second_violates(const struct msim_second_stage *e2e,
                                        double limit_ms)
{
    return e2e->v[MSIM_COUNTER_P99_MS] > limit_ms;
}

#endif
