/*
 * core/base/sort.c - a stable natural merge sort.
 *
 * It finds the runs that are in order already and merges neighbours. Trace
 * events are written nearly in order of time, so there are few runs. Stability
 * keeps the order of the file among equals.
 */
#include "core/base/containers.h"

#include <stdlib.h>
#include <string.h>

/* Merge [a, b) and [b, c) of `from` into `to`. */
static void merge(const uint32_t *from, uint32_t *to, uint32_t a, uint32_t b,
                  uint32_t c, msim_before *less, const void *ctx)
{
    uint32_t i = a, j = b, k = a;

    while (i < b && j < c)
        to[k++] = less(ctx, from[j], from[i]) ? from[j++] : from[i++];
    while (i < b)
        to[k++] = from[i++];
    while (j < c)
        to[k++] = from[j++];
}

/* End of the run that starts at `i`. */
static uint32_t run_end(const uint32_t *index, uint32_t i, uint32_t n,
                        msim_before *less, const void *ctx)
{
    for (i++; i < n && !less(ctx, index[i], index[i - 1]); i++)
        ;
    return i < n ? i : n;
}

void msim_sort_index(uint32_t *index, uint32_t *tmp, uint32_t n,
                     msim_before *less, const void *ctx)
{
    uint32_t *from = index, *to = tmp;

    while (n > 1 && run_end(from, 0, n, less, ctx) < n) {
        uint32_t a = 0;

        while (a < n) {
            uint32_t b = run_end(from, a, n, less, ctx);
            uint32_t c = b < n ? run_end(from, b, n, less, ctx) : n;

            merge(from, to, a, b, c, less, ctx);
            a = c;
        }
        from = to;
        to = from == index ? tmp : index;
    }
    if (from != index)
        memcpy(index, from, n * sizeof(*index));
}

/* ---- by keys ------------------------------------------------------------ */

#define DIGITS 8   /* bytes of a key */
#define VALUES 256 /* of a byte */

struct keyed {
    uint64_t key;
    uint32_t row;
};

/* How many keys have each value of each byte. */
static void count_digits(const struct keyed *k, uint32_t n,
                         uint32_t count[DIGITS][VALUES])
{
    memset(count, 0, DIGITS * sizeof(*count));
    for (uint32_t i = 0; i < n; i++)
        for (int d = 0; d < DIGITS; d++)
            count[d][k[i].key >> (8 * d) & (VALUES - 1)]++;
}

/* `at`: how many have each value of the byte at `shift`; then where the next
 * one goes. */
static void deal(const struct keyed *from, struct keyed *to, uint32_t n,
                 int shift, uint32_t *at)
{
    uint32_t sum = 0;

    for (int v = 0; v < VALUES; v++) {
        uint32_t here = at[v];

        at[v] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < n; i++)
        to[at[from[i].key >> shift & (VALUES - 1)]++] = from[i];
}

enum msim_status msim_sort_by_keys(uint32_t *index, uint32_t n,
                                   const uint64_t *keys)
{
    uint32_t count[DIGITS][VALUES];
    struct keyed *all = malloc((size_t)n * 2 * sizeof(*all) + 1), *from = all;
    struct keyed *to = all + n;

    if (!all)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        all[i] = (struct keyed){keys[index[i]], index[i]};
    count_digits(all, n, count);
    for (int d = 0; d < DIGITS && n; d++) {
        struct keyed *back = from;

        if (count[d][all->key >> (8 * d) & (VALUES - 1)] == n)
            continue; /* all have that one */
        deal(from, to, n, 8 * d, count[d]);
        from = to;
        to = back;
    }
    for (uint32_t i = 0; i < n; i++)
        index[i] = from[i].row;
    free(all);
    return MSIM_OK;
}

/* ---- rows --------------------------------------------------------------- */

/* An index of `n` numbers, as many behind it, and room for a row behind those.
 */
static uint32_t *new_index(uint32_t n, size_t size)
{
    return malloc((size_t)n * 2 * sizeof(uint32_t) + size);
}

/*
 * Put rows into the order of an index of new_index(), which ends up as 0, 1, 2,
 * ...: along the cycles of the permutation, so that no second array is needed.
 */
static void gather(char *rows, uint32_t n, size_t size, uint32_t *index)
{
    char *aside = (char *)(index + (size_t)2 * n);
    uint32_t i, at, from;

    for (i = 0; i < n; i++) {
        if (index[i] == i)
            continue;
        memcpy(aside, rows + i * size, size);
        for (at = i; (from = index[at]) != i; at = from) {
            memcpy(rows + at * size, rows + from * size, size);
            index[at] = at;
        }
        memcpy(rows + at * size, aside, size);
        index[at] = at;
    }
}

enum msim_status msim_sort_rows(void *rows, uint32_t n, size_t size,
                                msim_before *less, const void *ctx)
{
    uint32_t *index, i;

    for (i = 1; i < n && !less(ctx, i, i - 1); i++)
        ;
    if (i >= n)
        return MSIM_OK;
    index = new_index(n, size);
    if (!index)
        return MSIM_ENOMEM;
    for (i = 0; i < n; i++)
        index[i] = i;
    msim_sort_index(index, index + n, n, less, ctx);
    gather(rows, n, size, index);
    free(index);
    return MSIM_OK;
}

/* Rows by group, in file order; `begin` has n_groups + 1 zeros. */
static void distribute(uint32_t *index, uint32_t *begin, uint32_t n,
                       uint32_t n_groups, msim_group_of *group, const void *ctx)
{
    uint32_t i, sum = 0;

    for (i = 0; i < n; i++)
        begin[group(ctx, i)]++;
    for (i = 0; i <= n_groups; i++) {
        uint32_t count = begin[i];

        begin[i] = sum;
        sum += count;
    }
    for (i = 0; i < n; i++)
        index[begin[group(ctx, i)]++] = i;
    /* Each entry is the end of its group now: the begin of the next. */
}

enum msim_status msim_sort_groups(void *rows, uint32_t n, size_t size,
                                  msim_group_of *group, uint32_t n_groups,
                                  msim_before *less, const void *ctx)
{
    uint32_t *index, *begin, i, from = 0;
    enum msim_status status = MSIM_ENOMEM;

    if (n < 2)
        return MSIM_OK;
    index = new_index(n, size);
    begin = calloc((size_t)n_groups + 1, sizeof(*begin));
    if (index && begin) {
        distribute(index, begin, n, n_groups, group, ctx);
        for (i = 0; i < n_groups; from = begin[i++])
            msim_sort_index(index + from, index + n, begin[i] - from, less,
                            ctx);
        gather(rows, n, size, index);
        status = MSIM_OK;
    }
    free(index);
    free(begin);
    return status;
}
