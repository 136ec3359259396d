/*
 * predict/usage/task_holding.h - what every task of a graph keeps on the SMs.
 *
 * Where the trace has the launch it is that, on the GPU that is predicted for.
 * Where an operator has been given other sizes, its grid grows as that of its
 * works does. Where there is no launch, or no SM of that GPU holds a block of
 * it, it is estimated by the work (predict/usage/work_grid.h). A kernel that
 * another change made is taken for a pointwise one of as much traffic.
 *
 * Model costs know what an operator takes and not how its kernels share it:
 * each has an equal part (predict/cost_gpu.c). Then all of them hold what they
 * hold on average, each counted by what its name and launch say that it takes
 * by itself (core/work/kernel/infer.h); a product is taken to have all that the
 * others leave of the operator's time. Example: a convolution of 100 us whose
 * first kernel, 4 us by itself, holds a tenth of the SMs, and whose second all
 * of them: both hold 0.96 + 0.004 of the SMs.
 */
#ifndef MSIM_PREDICT_USAGE_TASK_HOLDING_H
#define MSIM_PREDICT_USAGE_TASK_HOLDING_H
#include "core/graph/contention.h"
#include "core/graph/graph.h"
#include "core/report/analyse/outcome.h"
#include "core/work/opmap/opmap.h"
#include "models/platform/platform.h"

struct msim_holding_ask {
    const struct msim_graph *g;
    /* One a rank; `traced`: those of the recorded launches, or NULL: the same.
     */
    struct msim_works *const *works, *const *traced;
    struct msim_gpu_properties gpu; /* that they run on */
    /* Of tasks that the trace does not have: microseconds of their traffic at
     * `bandwidth` bytes/s of memory; NULL: not known. */
    const struct msim_limits *limits;
    double bandwidth;
    /* What durations come from, where kernels of an operator have equal parts;
     * else NULL, and `dur` is not read. */
    const struct msim_platform *platform;
    const msim_ps *dur; /* one a task */
};

/* One a task, {0} where nothing is known. On success the caller frees `*out`;
 * on failure (ENOMEM, or as msim_model_predict()) it is NULL. */
MSIM_MUST_CHECK
enum msim_status msim_task_holding_new(struct msim_holding **out,
                                       const struct msim_holding_ask *ask,
                                       struct msim_error *err);

#endif
