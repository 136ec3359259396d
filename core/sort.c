/*
 * A natural merge sort: it finds the runs that are in order already and
 * merges neighbours. Trace events are written nearly in order of time, so
 * there are few runs; stability keeps file order among equals.
 */
#include "core/sort.h"

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
        memcpy(index, from, n * sizeof *index);
}

enum msim_status msim_sort_rows(void **rows, uint32_t *cap, uint32_t n,
                                size_t size, msim_before *less, const void *ctx)
{
    uint32_t *index, i;
    char *sorted;

    for (i = 1; i < n && !less(ctx, i, i - 1); i++)
        ;
    if (i >= n)
        return MSIM_OK;
    index = malloc((size_t)n * 2 * sizeof *index);
    if (!index)
        return MSIM_ENOMEM;
    for (i = 0; i < n; i++)
        index[i] = i;
    msim_sort_index(index, index + n, n, less, ctx);
    sorted = malloc((size_t)n * size);
    if (!sorted) {
        free(index);
        return MSIM_ENOMEM;
    }
    for (i = 0; i < n; i++)
        memcpy(sorted + i * size, (char *)*rows + index[i] * size, size);
    free(index);
    free(*rows);
    *rows = sorted;
    *cap = n;
    return MSIM_OK;
}
