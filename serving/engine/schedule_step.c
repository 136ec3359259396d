/*
 * serving/engine/schedule_step.c - what runs in the next step, by the policy of
 * the engine. A file of its own: policies call the scheduler, which therefore
 * calls none of them.
 */
#include "serving/engine/replica_internal.h"

void msim_sched_begin(struct msim_sched *s)
{
    switch (s->rules->policy) {
    case MSIM_BATCH_MIXED:
        msim_schedule_mixed(s);
        break;
    case MSIM_BATCH_PREFILL_FIRST:
        msim_schedule_prefill_first(s);
        break;
    case MSIM_BATCH_STATIC:
        msim_schedule_static(s);
        break;
    }
    msim_sched_describe(s);
}
