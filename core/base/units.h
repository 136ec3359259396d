/*
 * core/base/units.h - time and indices, as everything else counts them.
 *
 * Time is int64_t picoseconds: exact, totally ordered, 106 days of range.
 * Doubles appear in models and reports only.
 * Rows of a column are uint32_t.
 */
#ifndef MSIM_CORE_BASE_UNITS_H
#define MSIM_CORE_BASE_UNITS_H
#include <stdbool.h>
#include <stdint.h>

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

#endif
