/*
 * core/graph/contention/wave_tail.h - which kernels fill a device and hold
 * others up, as a trace shows it.
 *
 * core/graph/occupancy.h computes from a launch when a kernel lets others in.
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
#ifndef MSIM_CORE_GRAPH_CONTENTION_WAVE_TAIL_H
#define MSIM_CORE_GRAPH_CONTENTION_WAVE_TAIL_H
#include "core/trace/trace.h"

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
