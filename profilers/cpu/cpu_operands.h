/*
 * profilers/cpu/cpu_operands.h - memory that operands are taken from.
 *
 * Two areas, one to read, full of random numbers, and one to write; both at
 * least twice the last-level cache. Every run takes its operands further on and
 * begins again at the end, so that what it reads is no longer in a cache.
 */
#ifndef MSIM_PROFILERS_CPU_OPERANDS_H
#define MSIM_PROFILERS_CPU_OPERANDS_H
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct msim_area {
    char *bytes;
    size_t size, at;
};

struct msim_operands {
    struct msim_area f32, f64; /* to read; made when they are first asked for */
    struct msim_area out;
    size_t least; /* size of an area */
};

/* `cache_bytes`: of the last level. */
void msim_operands_init(struct msim_operands *o, size_t cache_bytes);
void msim_operands_release(struct msim_operands *o);

/*
 * Make room for runs that read `in` bytes of numbers of `width` bytes (4 or 8)
 * and write `out`. ENOMEM, and nothing else, may fail.
 */
MSIM_MUST_CHECK
enum msim_status msim_operands_reserve(struct msim_operands *o, unsigned width,
                                       size_t in, size_t out);

/* Before the operands of a run are taken. Where `warm` they are those of the
 * last run, which the caches may hold; else they lie further on. */
void msim_operands_begin(struct msim_operands *o, bool warm);

/* The next `bytes` of an area that was reserved, on a cache line of their own;
 * at most as many as were reserved. */
void *msim_area_take(struct msim_area *a, size_t bytes);

#endif
