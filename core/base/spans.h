/*
 * core/base/spans.h - a search among spans of time that are sorted by end.
 */
#ifndef MSIM_CORE_BASE_SPANS_H
#define MSIM_CORE_BASE_SPANS_H
#include "core/base/units.h"

#include <stddef.h>

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
