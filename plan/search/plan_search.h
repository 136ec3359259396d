/*
 * plan/search/plan_search.h - every point of a spec, predicted.
 *
 * A point is a platform, a number of GPUs and a strategy. Points are numbered
 * in the order of the spec's values, so that results do not depend on the
 * number of threads. What cannot be split so, or does not fit into memory, is
 * counted and left out before its step is predicted.
 */
#ifndef MSIM_PLAN_SEARCH_PLAN_SEARCH_H
#define MSIM_PLAN_SEARCH_PLAN_SEARCH_H
#include "plan/search/plan.h"
#include "plan/search/predictor.h"

struct msim_plan_options {
    uint32_t threads;
    const struct msim_plan_predictor *predictor; /* of a traced step; NULL: that
                                                    of described models */
    const struct msim_plan_traced *traced;       /* what that is of; or NULL */
    const struct msim_plan_share *share;         /* or NULL */
    /* How many blocks of points are begun, of all; from one thread. Or NULL. */
    void (*progress)(void *ctx, uint32_t done, uint32_t total);
    void *ctx;
};

/*
 * Predict all points on `threads` threads. Release in any case. EUNKNOWN for a
 * platform or network that is not known. `share` may be NULL. Processes but
 * the first predict their own points alone, keep them in the folder, and find
 * nothing; the first removes the folder in the end.
 */
MSIM_MUST_CHECK
enum msim_status msim_plan_search(struct msim_plan *plan,
                                  const struct msim_spec *spec,
                                  const char *data_dir,
                                  const struct msim_plan_options *o,
                                  struct msim_error *err);
void msim_plan_release(struct msim_plan *plan);

#endif
