/*
 * tests/unit/made_outcome.h - the outcome of a made-up job's last simulation.
 */
#ifndef MSIM_TESTS_UNIT_MADE_OUTCOME_H
#define MSIM_TESTS_UNIT_MADE_OUTCOME_H
#include "core/report/analyse/outcome.h"

#include "tests/unit/made_job.h"

/* Simulate `j` and bundle what came out; it points into the job. */
static inline struct msim_outcome made_outcome(struct made_job *j,
                                               struct made_what w)
{
    static const char *const NAMES[MSIM_COST_COUNT] = {"measured"};
    struct msim_outcome o;

    made_run(j, w);
    o = (struct msim_outcome){
        .graph = j->graph,
        .mid = {.start = j->start,
                .dur = j->took,
                .removed = j->costs->removed},
        .task_low = j->costs->mid,
        .task_high = j->costs->mid,
        .gpu_slower = 1,
        .gpu_faster = 1,
        .made_by = j->costs->made_by,
        .made_by_names = NAMES,
        .n_made_by = MSIM_COST_COUNT,
        .source = j->costs->source,
        .source_names = NAMES,
        .flops = j->costs->flops,
        .measured = true,
        .gpu_times = true,
    };
    o.low = o.high = o.mid;
    return o;
}

#endif
