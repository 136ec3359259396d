/*
 * plan/synth/synth_options.h - which described job is written.
 */
#ifndef MSIM_PLAN_SYNTH_SYNTH_OPTIONS_H
#define MSIM_PLAN_SYNTH_SYNTH_OPTIONS_H
#include "plan/describe/job_model.h"
#include "plan/describe/strategy.h"

struct msim_synth_options {
    const struct msim_described *model;
    const struct msim_strategy *strategy; /* complete */
    uint32_t given;     /* of the strategy, as bits of enum msim_given */
    const char *source; /* the model's file: JSON on one line */
    const struct msim_job_model *changes; /* of that one, in this order, which
                                             make `model` */
    uint32_t n_changes;
    bool every_rank;
};

#endif
