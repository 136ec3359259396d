/*
 * predict/scenario/scenario_alone.h - one scenario without a base, in stages,
 * so that who asks can stop at its memory.
 *
 *     msim_scenario_alone_begin()    its traces; says why they cannot be made
 *     msim_scenario_alone_memory()   what they hold
 *     msim_scenario_alone_run()      its figures
 *
 * For scenarios that have another target or another way to train, as rows of
 * tables do; factors and edits of a shared graph are not looked at.
 *
 * Not thread-safe on shared inputs, as predict/pipeline.h says.
 */
#ifndef MSIM_PREDICT_SCENARIO_SCENARIO_ALONE_H
#define MSIM_PREDICT_SCENARIO_SCENARIO_ALONE_H
#include "predict/scenario/scenario.h"
#include "predict/scenario/scenario_inputs.h"

struct msim_scenario_alone {
    struct msim_scenario_row *row;
    struct msim_scenario_inputs x; /* of another way to train */
    const struct msim_inputs *in;  /* x's, or the caller's */
    const struct msim_predict_settings *settings;
};

/* `row` and `in` live as long. End it in any case. EUSAGE where a trace cannot
 * be changed so. */
MSIM_MUST_CHECK
enum msim_status msim_scenario_alone_begin(struct msim_scenario_alone *out,
                                           struct msim_scenario_row *row,
                                           const struct msim_inputs *in,
                                           struct msim_error *err);
void msim_scenario_alone_end(struct msim_scenario_alone *a);

/* What the rank that holds most holds on `platform`; all NAN where no execution
 * trace says it. */
MSIM_MUST_CHECK
enum msim_status
msim_scenario_alone_memory(const struct msim_scenario_alone *a,
                           const struct msim_platform *platform,
                           struct msim_held_most *out, struct msim_error *err);

/* The row's figures. */
MSIM_MUST_CHECK
enum msim_status msim_scenario_alone_run(const struct msim_scenario_alone *a,
                                         struct msim_error *err);

#endif
