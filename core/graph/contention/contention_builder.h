/*
 * core/graph/contention/contention_builder.h - how a graph learns what its
 * tasks share.
 *
 * Private to this room. Demands come from tasks and the figures of each device
 * from the trace; both give what each task would have taken alone.
 */
#ifndef MSIM_CORE_GRAPH_CONTENTION_CONTENTION_BUILDER_H
#define MSIM_CORE_GRAPH_CONTENTION_CONTENTION_BUILDER_H
#include "core/graph/rules/graph_builder.h"

/* When a demand ran in the trace, in ps; TIME_NONE: unknown. */
struct msim_interval_ps {
    msim_ps begin, end;
};

struct msim_contention_builder {
    struct msim_graph_builder *b;
    struct msim_sharing *s;
    struct msim_interval_ps *ran; /* one a demand; ARRIVE: until its
                                     transfer begins */
};

/* contention_fit.c: host link and slowdown of one device, from its demands. */
MSIM_MUST_CHECK
enum msim_status msim_contention_fit(struct msim_contention_builder *b,
                                     uint32_t rank, int64_t device_id,
                                     uint32_t device, uint32_t first,
                                     uint32_t end);

/* contention_trace.c: every demand's `alone`, given the figures of its device.
 */
MSIM_MUST_CHECK
enum msim_status msim_contention_alone(struct msim_contention_builder *b);

#endif
