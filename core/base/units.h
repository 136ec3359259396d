/*
 * core/base/units.h - units that everything counts in: picoseconds, indices,
 * bytes; and spans of time.
 */
#ifndef MSIM_CORE_BASE_UNITS_H
#define MSIM_CORE_BASE_UNITS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- units --------------------------------------------------------------- */
/*
 * Time and indices, as everything else counts them.
 *
 * Time is int64_t picoseconds: exact, totally ordered, 106 days of range.
 * Doubles appear in models and reports only.
 * Rows of a column are uint32_t.
 */

typedef int64_t msim_ps;
#define MSIM_TIME_NONE INT64_MIN
/* No simulated clock goes further, 53 days: two times have a sum. */
#define MSIM_TIME_LATEST (INT64_MAX / 2)
#define MSIM_NONE        UINT32_MAX
#define MSIM_PS_PER_US   1000000

/* A normal variable is within +-1.645 standard deviations in 90 % of cases, and
 * below +1.645 in 95 %. */
#define MSIM_Z90 1.645

/* The whole part of a number that a file may make as large as it likes; what
 * has no room ends at the last that has, and what is no number is 0. */
static inline int64_t msim_whole(double x)
{
    return x >= 0x1p63    ? INT64_MAX
           : x >= -0x1p63 ? (int64_t)x
           : x < 0        ? INT64_MIN
                          : 0;
}

/* `ps` after `now`, which are from 0; no later than MSIM_TIME_LATEST. */
static inline msim_ps msim_time_after(msim_ps now, double ps)
{
    int64_t wait = msim_whole(ps);

    return wait < MSIM_TIME_LATEST - now ? now + wait : MSIM_TIME_LATEST;
}

/* ---- bytes --------------------------------------------------------------- */
/* Multiples of a byte. */

/* 2^30 bytes: what drivers and data sheets mean by the GB of a GPU's memory. */
#define MSIM_MIB 1048576.0
#define MSIM_GIB 1073741824.0

/* ---- spans --------------------------------------------------------------- */
/* A search among spans of time that are sorted by end. */

/*
 * The first of the rows lo .. hi - 1 that ends after the instant `at`; `hi`
 * where none does. `end` points to the end of row 0; rows lie `stride` bytes
 * apart, in the order of their ends.
 */
static inline uint32_t msim_first_after(const msim_ps *end, size_t stride,
                                        uint32_t lo, uint32_t hi, msim_ps at)
{
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (*(const msim_ps *)((const char *)end + mid * stride) <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

#endif
