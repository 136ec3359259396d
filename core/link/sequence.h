/*
 * core/link/sequence.h - which elements of two sequences belong together.
 */
#ifndef MSIM_CORE_LINK_SEQUENCE_H
#define MSIM_CORE_LINK_SEQUENCE_H
#include "core/base/status.h"

#include <stdbool.h>

/*
 * Align `b` (n_b numbers) with `a` (n_a numbers) so that the fewest elements
 * are left over: a longest common subsequence. With `repeat`, `a` may be
 * repeated any number of times end to end. `match[i]` becomes the index in `a`
 * of b[i], or UINT32_MAX. The cost is (n_a + n_b) x differences; beyond a
 * bound of differences the rest of `b` stays unmatched.
 */
MSIM_MUST_CHECK
enum msim_status msim_sequence_match(const uint32_t *a, uint32_t n_a,
                                     const uint32_t *b, uint32_t n_b,
                                     bool repeat, uint32_t *match);

#endif
