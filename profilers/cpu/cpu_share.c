/*
 * profilers/cpu/cpu_share.c - loops that all cores share.
 */
#include "profilers/cpu/cpu.h"

#include <omp.h>

void msim_contention_threads(uint32_t threads)
{
    omp_set_dynamic(0);
    omp_set_num_threads((int)threads);
}

void msim_contention(msim_range_fn *fn, void *ctx, int64_t n, int64_t grain)
{
    int64_t parts = grain > 0 ? n / grain : n;

    if (parts > omp_get_max_threads())
        parts = omp_get_max_threads();
    if (parts <= 1) {
        fn(ctx, 0, n);
        return;
    }
    /* All threads, even where some get nothing: a pool that changed its size
     * would start threads within what is timed. */
#pragma omp parallel for schedule(static, 1)
    for (int64_t part = 0; part < parts; part++)
        fn(ctx, n * part / parts, n * (part + 1) / parts);
}
