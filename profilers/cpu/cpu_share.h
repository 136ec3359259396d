/*
 * profilers/cpu/cpu_share.h - loops that all cores share.
 *
 * By OpenMP, as OpenBLAS's products are where it was built with that: threads
 * of one pool wait for each other's work, those of two take each other's cores
 * while they look for some, at half the speed of either.
 */
#ifndef MSIM_PROFILERS_CPU_CPU_SHARE_H
#define MSIM_PROFILERS_CPU_CPU_SHARE_H
#include <stdint.h>

/* The items `from` to `to`, `to` itself left out. */
typedef void msim_range_fn(void *ctx, int64_t from, int64_t to);

/* From now on as many threads as that, the caller counted; at least 1. */
void msim_contention_threads(uint32_t threads);

/*
 * Run `fn` over `n` items in equal ranges, one a thread, no range shorter than
 * `grain`; returns when all are done.
 */
void msim_contention(msim_range_fn *fn, void *ctx, int64_t n, int64_t grain);

#endif
