/*
 * core/graph/rules/graph_company.h - what ran on other streams of its device
 * when a GPU activity began.
 *
 * Private to the rules, and only where GPU times may be read. All starts are
 * gone through in the order of time, beside the ends and what fills the device,
 * so that many streams cost no more than one.
 */
#ifndef MSIM_CORE_GRAPH_RULES_GRAPH_COMPANY_H
#define MSIM_CORE_GRAPH_RULES_GRAPH_COMPANY_H
#include "core/trace/trace.h"

/* From the end of an activity to the start of a kernel that waited for it
 * by an event: dependencies across streams resolve within tens of
 * microseconds. */
#define MSIM_EVENT_MAX (25 * (msim_ps)MSIM_PS_PER_US)

struct msim_company {
    /* Of each GPU event the kernel, on the first of the other streams, that
     * left no room until about when it began, or NONE. Its last block is issued
     * `tail` before its end (core/graph/occupancy.h). Blocks of one kernel do
     * not all take equally long, hence a tolerance of half a tail. */
    uint32_t *filled_by;
    bool *busy; /* something ran there at all */
};

/* Release in any case. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_company_init(struct msim_company *c,
                                   const struct msim_trace *t);
void msim_company_release(struct msim_company *c);

#endif
