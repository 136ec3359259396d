/*
 * tests/bench/timing.h - what benchmarks measure with.
 */
#ifndef MSIM_TESTS_BENCH_TIMING_H
#define MSIM_TESTS_BENCH_TIMING_H
#include <stdlib.h>
#include <time.h>

/* Seconds of the CPU that this process has had, all its threads together: what
 * else the machine does hardly moves them. */
static inline double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline int compare_seconds(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median of `n` times, which are sorted. */
static inline double median(double *seconds, size_t n)
{
    qsort(seconds, n, sizeof(*seconds), compare_seconds);
    return seconds[n / 2];
}

#endif
