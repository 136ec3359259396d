/*
 * plan/written/written_change.h - the described job that traces become by
 * changes of them.
 *
 *     "hidden": 1536 on the traces of a model of width 768
 *                          the description with hidden 1536, MLPs and heads as
 *                          plan/describe/job_model.h says
 *     "parallel": {"dp": 8}
 *                          its strategy on eight times as many GPUs
 *
 * Sizes of tensor parallel traces are shares: where each of 8 ranks has 6,400
 * rows of a table, 12,800 are a vocabulary of 102,400.
 */
#ifndef MSIM_PLAN_WRITTEN_WRITTEN_CHANGE_H
#define MSIM_PLAN_WRITTEN_WRITTEN_CHANGE_H
#include "plan/describe/job_model.h"
#include "plan/describe/strategy.h"
#include "predict/pipeline.h"

#define MSIM_WRITTEN_NODE 8 /* GPUs, where no GPU is named yet */

/* What a file says of a job. */
struct msim_written_is {
    struct msim_described model;
    struct msim_strategy strategy; /* as given, not complete */
    uint32_t given;
};

/*
 * The job that the changes make of `job`, by which sizes of its model. `*is` is
 * false where no description says what they make: types, operators, buckets.
 * Then nothing is known of the changed job. ENOMEM, ELIMIT, and what counting
 * blocks of layers says.
 */
MSIM_MUST_CHECK
enum msim_status msim_written_change_make(struct msim_written_is *out,
                                          struct msim_job_model *sizes,
                                          bool *is,
                                          const struct msim_written_is *job,
                                          const struct msim_step_change *by,
                                          struct msim_error *err);

#endif
