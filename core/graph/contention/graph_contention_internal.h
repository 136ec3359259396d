/*
 * core/graph/contention/graph_contention_internal.h - what the files of
 * core/graph/contention share; no other room includes it.
 */
#ifndef MSIM_CORE_GRAPH_CONTENTION_GRAPH_CONTENTION_INTERNAL_H
#define MSIM_CORE_GRAPH_CONTENTION_GRAPH_CONTENTION_INTERNAL_H
#include "core/graph/rules/graph_rules.h"
#include "core/trace/trace.h"

/* ---- contention builder -------------------------------------------------- */
/*
 * How a graph learns what its tasks share.
 *
 * Private to this room. Demands come from tasks and the figures of each device
 * from the trace; both give what each task would have taken alone.
 */

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

/* ---- wave tail ----------------------------------------------------------- */
/*
 * Which kernels fill a device and hold others up, as a trace shows it.
 *
 * core/graph/contention.h computes from a launch when a kernel lets others in.
 * Where GPU times may be read, traced starts can contradict that, in two ways
 * that no launch configuration shows:
 *
 *   a stream of higher priority   its kernels start as blocks of others end:
 *                                 more often early than held up
 *   uneven blocks                 most blocks of a kernel return at once (a
 *                                 concatenation of small tensors): kernels of
 *                                 that name and launch hold nobody up
 *
 * Otherwise the launch decides: starts contradict it, they do not set it.
 */

struct msim_wave_tail {
    float *tail;    /* one a GPU event: msim_occupancy_tail(), or 1 if uneven */
    bool *first;    /* one a stream: of higher priority than others */
    uint32_t held;  /* kernels that started when another's last wave began */
    uint32_t early; /* kernels of ordinary streams that did not wait */
    uint32_t uneven; /* kernels that hold nobody up although they would fill */
};

/*
 * Read a trace. Without `device_times` no GPU time is read, and only launches
 * count. Release with msim_wave_tail_release(), also on failure.
 */
MSIM_MUST_CHECK
enum msim_status msim_wave_tail_init(struct msim_wave_tail *f,
                                     const struct msim_trace *t,
                                     bool device_times);
void msim_wave_tail_release(struct msim_wave_tail *f);

#endif
