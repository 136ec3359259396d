/*
 * core/base/sort.h - stable sorting of rows by an order on their numbers.
 */
#ifndef MSIM_CORE_BASE_SORT_H
#define MSIM_CORE_BASE_SORT_H
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* What a comparison for qsort() answers of two numbers: below 0 where `a` comes
 * first, 0 where they are one. */
#define MSIM_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Whether row `a` comes before row `b`. */
typedef bool msim_before(const void *ctx, uint32_t a, uint32_t b);

/* Stable sort of `index` (n numbers, `tmp` as many). */
void msim_sort_index(uint32_t *index, uint32_t *tmp, uint32_t n,
                     msim_before *less, const void *ctx);

/* Put `n` rows of `size` bytes into order, in place. */
MSIM_MUST_CHECK
enum msim_status msim_sort_rows(void *rows, uint32_t n, size_t size,
                                msim_before *less, const void *ctx);

/*
 * The same for rows that belong to groups 0 .. n_groups - 1, which come in
 * that order: a counting sort by group, then each group by less(), which need
 * not look at groups. However the groups are mixed in a file, the rows of one
 * are nearly in order.
 */
typedef uint32_t msim_group_of(const void *ctx, uint32_t row);
MSIM_MUST_CHECK
enum msim_status msim_sort_groups(void *rows, uint32_t n, size_t size,
                                  msim_group_of *group, uint32_t n_groups,
                                  msim_before *less, const void *ctx);

#endif
