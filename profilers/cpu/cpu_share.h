/*
 * profilers/cpu/cpu_share.h - loops that all cores share.
 *
 * They use OpenMP, as OpenBLAS does where it was built with it: one pool of
 * threads serves both. With two pools, idle threads of one poll for work on the
 * cores of the other, and both run at half their speed.
 */
#ifndef MSIM_PROFILERS_CPU_CPU_SHARE_H
#define MSIM_PROFILERS_CPU_CPU_SHARE_H
#include <stdint.h>

/* Work on the items from `from` up to, and without, `to`. */
typedef void msim_range_fn(void *ctx, int64_t from, int64_t to);

/* Set the number of threads, the caller included; at least 1. */
void msim_contention_threads(uint32_t threads);

/*
 * Run `fn` over `n` items in equal ranges, one a thread, no range shorter than
 * `grain`; returns when all are done.
 */
void msim_contention(msim_range_fn *fn, void *ctx, int64_t n, int64_t grain);

#endif
