/*
 * core/trace/recorded_memory.h - the most that each GPU held while a trace was
 * recorded, as the allocator says.
 */
#ifndef MSIM_CORE_TRACE_RECORDED_MEMORY_H
#define MSIM_CORE_TRACE_RECORDED_MEMORY_H
#include "core/trace/trace.h"

/* Peaks of one device, each for itself. */
struct msim_recorded_memory {
    int64_t device;
    uint64_t allocated, reserved; /* tensors; what is kept for them, or
                                     MSIM_BYTES_UNKNOWN: no record says so */
};

struct msim_recorded_list {
    struct msim_recorded_memory *of; /* by device */
    uint32_t n;
};

/* From `from` until `to`. */
struct msim_time_range {
    msim_ps from, to;
};
#define MSIM_TIME_RANGE_ALL ((struct msim_time_range){INT64_MIN, INT64_MAX})

/*
 * In `n` ranges of time, which follow each other. What a device holds when a
 * range begins counts, too. Devices of which nothing is known there have no
 * row. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_recorded_memory_find(const struct msim_trace *t,
                                           const struct msim_time_range *ranges,
                                           uint32_t n, struct msim_arena *arena,
                                           struct msim_recorded_list *out);

/* All devices together; what one of them keeps is unknown: that is, too. */
static inline struct msim_recorded_memory
msim_recorded_memory_sum(const struct msim_recorded_list *l)
{
    struct msim_recorded_memory sum = {.device = -1};

    for (uint32_t i = 0; i < l->n; i++) {
        sum.allocated += l->of[i].allocated;
        sum.reserved = sum.reserved == MSIM_BYTES_UNKNOWN ||
                               l->of[i].reserved == MSIM_BYTES_UNKNOWN
                           ? MSIM_BYTES_UNKNOWN
                           : sum.reserved + l->of[i].reserved;
    }
    return sum;
}

#endif
