/*
 * core/link/sequence.c - the longest common subsequence of two sequences.
 *
 * Myers, "An O(ND) difference algorithm and its variations", Algorithmica 1
 * (1986): furthest-reaching paths by number of differences. Here x walks over
 * `a`, which may be repeated without end, and y over `b`. The search ends when
 * y reaches its end (and, without repetition, x does, too). For every d the
 * furthest x on each diagonal k = x - y in -d .. d is kept, so that the path
 * can be traced back.
 */
#include "core/link/sequence.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DIFFERENCES 1500

struct search {
    const uint32_t *a, *b;
    uint32_t n_a, n_b;
    bool repeat;
    int32_t *rows[MAX_DIFFERENCES + 1]; /* x by d, diagonals -d .. d */
    int32_t end_k;
};

static bool same(const struct search *s, int32_t x, int32_t y)
{
    if ((uint32_t)y >= s->n_b || (!s->repeat && (uint32_t)x >= s->n_a))
        return false;
    return s->a[(uint32_t)x % s->n_a] == s->b[y];
}

static bool at_end(const struct search *s, int32_t x, int32_t y)
{
    return (uint32_t)y >= s->n_b && (s->repeat || (uint32_t)x >= s->n_a);
}

/* x from which diagonal k is entered with d differences; before any match. */
static int32_t enter(const struct search *s, int32_t d, int32_t k, bool *down)
{
    const int32_t *prev = d ? s->rows[d - 1] + (d - 1) : NULL;

    if (d == 0)
        return 0;
    /* Down: an element of b is left over; else one of a. */
    *down = k == -d || (k != d && prev[k - 1] < prev[k + 1]);
    return *down ? prev[k + 1] : prev[k - 1] + 1;
}

/* The furthest points for d; true when one of them is the end. */
static bool extend(struct search *s, int32_t d)
{
    int32_t *row = s->rows[d] + d;
    int32_t k;
    bool down;

    for (k = -d; k <= d; k += 2) {
        int32_t x = enter(s, d, k, &down), y = x - k;

        /* Past the end of b (or of a) no path goes on. */
        while (same(s, x, y)) {
            x++;
            y++;
        }
        row[k] = x;
        if (y >= 0 && at_end(s, x, y)) {
            s->end_k = k;
            return true;
        }
    }
    return false;
}

/* Where no end was found: the point that got furthest in b. */
static int32_t furthest(const struct search *s, int32_t d)
{
    const int32_t *row = s->rows[d] + d;
    int32_t k, best = -d, most = INT32_MIN;

    for (k = -d; k <= d; k += 2) {
        int32_t y = row[k] - k;

        if (y > most && (uint32_t)y <= s->n_b) {
            most = y;
            best = k;
        }
    }
    return best;
}

static void trace_back(const struct search *s, int32_t d, int32_t k,
                       uint32_t *match)
{
    int32_t x = s->rows[d][d + k];

    for (;; d--) {
        bool down = false;
        int32_t from = enter(s, d, k, &down);

        for (; x > from; x--)
            if (x - 1 - k >= 0 && (uint32_t)(x - 1 - k) < s->n_b)
                match[x - 1 - k] = (uint32_t)(x - 1) % s->n_a;
        if (d == 0)
            return;
        x = down ? from : from - 1;
        k += down ? 1 : -1;
    }
}

enum msim_status msim_sequence_match(const uint32_t *a, uint32_t n_a,
                                     const uint32_t *b, uint32_t n_b,
                                     bool repeat, uint32_t *match)
{
    struct search s = {
        .a = a, .b = b, .n_a = n_a, .n_b = n_b, .repeat = repeat};
    enum msim_status status = MSIM_OK;
    int32_t d, done = -1;
    uint32_t i;

    for (i = 0; i < n_b; i++)
        match[i] = UINT32_MAX;
    if (n_a == 0 || n_b == 0 || n_b > INT32_MAX / 4 || n_a > INT32_MAX / 4)
        return MSIM_OK;
    for (d = 0; d <= MAX_DIFFERENCES && status == MSIM_OK; d++) {
        s.rows[d] = calloc((size_t)d * 2 + 1, sizeof **s.rows);
        if (!s.rows[d]) {
            status = MSIM_ENOMEM;
            break;
        }
        done = d;
        if (extend(&s, d))
            break;
    }
    if (status == MSIM_OK) {
        if (d > MAX_DIFFERENCES)
            s.end_k = furthest(&s, done);
        trace_back(&s, done, s.end_k, match);
    }
    for (d = 0; d <= done; d++)
        free(s.rows[d]);
    return status;
}
