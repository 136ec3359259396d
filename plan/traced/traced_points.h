/*
 * plan/traced/traced_points.h - points of a plan of a traced step: each becomes
 * changes of the trace, as a row of a table does (predict/rows/trace_rows.h).
 *
 *     "gpus": 8, "shard": "zero3", "micro_batch": 32, "recompute": "full"
 *
 * is the step of 8 data parallel ranks that share the model as ZeRO 3 does.
 * Where the trace has no backward pass it answers requests: every GPU answers
 * batches of its own, and nothing is shared.
 */
#ifndef MSIM_PLAN_TRACED_TRACED_POINTS_H
#define MSIM_PLAN_TRACED_TRACED_POINTS_H
#include "plan/search/plan.h"
#include "predict/inputs.h"

struct msim_traced_points {
    const struct msim_spec *spec;
    struct msim_predict_settings settings; /* of the base */
    const char *paths[MSIM_SPEC_TRACES];
    char first_gpu[64]; /* of the spec: all GPUs stand beside its host */
    struct msim_plan_traced about;
};

/*
 * Look at the trace of `spec`, which gets what it counts in; `spec` and
 * `data_dir` live as long. EUSAGE or EFORMAT where the trace does not go with
 * the spec, with the member's path.
 */
MSIM_MUST_CHECK
enum msim_status msim_traced_points_open(struct msim_traced_points *out,
                                         struct msim_spec *spec,
                                         const char *data_dir,
                                         struct msim_error *err);

/* The predictor of them, whose `own` is `of`. */
struct msim_plan_predictor msim_traced_predictor(struct msim_traced_points *of);

#endif
