/*
 * serving/learn/learn_observed.h - what the counters of a run tell of the
 * application: how long its services take, at which rate requests came, and how
 * many replicas there were. That is enough to let it run again (learn_again.h).
 *
 * `self_ms` of a window is the mean of n services that are drawn alike. Over
 * windows of which each differs by d from the mean of all,
 *
 *     mean of n d^2 = variance of a service
 *     mean of n^2 d^3 = its third central moment
 *
 * so that windows of 0.2 s tell the spread of services that took 5 ms each.
 *
 * A stage that batches holds a worker for u = busy time / visits a visit, while
 * a visit takes s = self_ms: batches are of s / u. How s goes with them is not
 * read off single seconds, since a long service makes the next batch large; it
 * is how both go with the rate of arrivals, which neither changes (the rate is
 * the instrument of two-stage least squares).
 */
#ifndef MSIM_SERVING_LEARN_LEARN_OBSERVED_H
#define MSIM_SERVING_LEARN_LEARN_OBSERVED_H
#include "core/base/containers.h"
#include "serving/app/app.h"
#include "serving/counters/counters_row.h"

struct msim_observed_stage {
    double mean_ms, cv, skewness; /* of a service; of one alone in its batch.
                                     cv is the standard deviation over the
                                     mean; NAN: not known */
    double slope; /* of a batch: by how much of mean_ms each visit more makes it
                     longer, 0 to 1 */
    double net_ms;
    int64_t most; /* replicas at once */
};

struct msim_observed {
    uint32_t part;        /* as in struct msim_runs_row */
    uint32_t n_stages, n; /* n: windows */
    double *t;            /* end of each window, s, from the run's begin */
    double *rate;         /* requests a second then, without what is noise */
    double *replicas;     /* [window][stage] */
    struct msim_observed_stage *stages;
    double visits; /* of all stages */
    double p99_ms; /* the median of all windows */
};

/*
 * Of a run's `rows`, in the order of their windows. True where they tell all
 * that it takes to let the run happen again: arrivals and replicas of every
 * window, services of every stage that states none. Release in any case.
 */
MSIM_MUST_CHECK
enum msim_status msim_observed_make(struct msim_observed *o, bool *whole,
                                    const struct msim_app *app,
                                    const struct msim_counters_row *rows,
                                    uint32_t n);
void msim_observed_release(struct msim_observed *o);

#endif
