/*
 * core/match/same_calls.c - which calls of two ranks are one.
 *
 * A table has a cell for each call of both lists, as for a longest common
 * subsequence.
 */
#include "core/match/lost_comms_internal.h"
#include "core/trace/trace_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Above so many cells the table is not made; calls meet in order. */
#define CELLS_MAX (1u << 24)
/* What the ends of one collective may differ by, as its medians do on one host:
 * less is no gap between two of them. */
#define GAP_PS ((msim_ps)100 * MSIM_PS_PER_US)

static bool all_wait(const struct msim_comm *c)
{
    switch ((enum msim_collective)c->collective) {
    case MSIM_COLL_ALL_REDUCE:
    case MSIM_COLL_ALL_GATHER:
    case MSIM_COLL_ALL_TO_ALL:
    case MSIM_COLL_REDUCE_SCATTER:
    case MSIM_COLL_BARRIER:
        return true;
    default:
        return false;
    }
}

bool msim_match_is_timed(const struct msim_match_call *c)
{
    return c->from <= c->to && all_wait(c->is);
}

static bool are_apart(const struct msim_match_call *x,
                      const struct msim_match_call *y)
{
    return msim_match_is_timed(x) && msim_match_is_timed(y) &&
           (x->to + GAP_PS < y->from || y->to + GAP_PS < x->from);
}

static bool can_be(const struct msim_match_call *x,
                   const struct msim_match_call *y)
{
    return msim_comms_may_meet(x->is, y->is) && !are_apart(x, y);
}

uint32_t msim_match_in_order(const struct msim_match_lists *l)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->n && i < l->m; i++)
        n += can_be(l->list[i], l->other[i]);
    return n;
}

enum msim_status msim_match_any_order(const struct msim_match_lists *l,
                                      bool *all)
{
    bool *taken = calloc((size_t)l->n + 1, sizeof(*taken));
    bool fits = (uint64_t)l->n * l->m <= CELLS_MAX;

    *all = fits && l->n == l->m;
    if (!taken)
        return MSIM_ENOMEM;
    for (uint32_t k = 0; k < l->m && *all; k++) {
        uint32_t i = 0;

        while (i < l->n && (taken[i] || !can_be(l->list[i], l->other[k])))
            i++;
        *all = i < l->n;
        taken[i] = true;
    }
    free(taken);
    return MSIM_OK;
}

/* ---- the table ----------------------------------------------------------- */

enum move { BOTH, LIST_ALONE, OTHER_ALONE };

static double gain_of(const struct msim_match_lists *l, uint32_t i, uint32_t k)
{
    const struct msim_match_call *x = l->list[i], *y = l->other[k];

    if (!can_be(x, y))
        return -INFINITY;
    /* One more that meets is worth more than any likeness of parts. */
    return 1 - fmin(fabs(x->part - y->part), 1) / (2.0 * (l->n + l->m));
}

/* The moves from the begin of both lists that gain most: `moves` (NULL: not
 * wanted) has a row for each of 0..n calls of the list, `best` one row. */
static void find_moves(const struct msim_match_lists *l, uint8_t *moves,
                       double *best)
{
    size_t width = (size_t)l->m + 1;

    for (uint32_t i = 0; i <= l->n; i++) {
        double diagonal = 0;

        for (uint32_t k = 0; k <= l->m; k++) {
            double above = i ? best[k] : -INFINITY, to = above;
            enum move move = LIST_ALONE;

            if (k && best[k - 1] > to) {
                to = best[k - 1];
                move = OTHER_ALONE;
            }
            if (i && k && diagonal + gain_of(l, i - 1, k - 1) > to) {
                to = diagonal + gain_of(l, i - 1, k - 1);
                move = BOTH;
            }
            diagonal = above;
            best[k] = i || k ? to : 0;
            if (moves)
                moves[i * width + k] = (uint8_t)move;
        }
    }
}

static bool fits(const struct msim_match_lists *l)
{
    return ((size_t)l->n + 1) * ((size_t)l->m + 1) <= CELLS_MAX;
}

enum msim_status msim_match_count(const struct msim_match_lists *l, uint32_t *n)
{
    double *best;

    *n = msim_match_in_order(l);
    if (!fits(l))
        return MSIM_OK;
    best = malloc(((size_t)l->m + 1) * sizeof(*best));
    if (!best)
        return MSIM_ENOMEM;
    find_moves(l, NULL, best);
    /* All that unlike parts take off is less than a half. */
    *n = (uint32_t)lround(ceil(best[l->m] - 1e-9));
    free(best);
    return MSIM_OK;
}

/* The calls of both, in an order that both keep, into `out`; what of the other
 * list met one of the list is the same. */
static uint32_t merge(const struct msim_match_lists *l, const uint8_t *moves,
                      struct msim_match_call **out)
{
    size_t width = (size_t)l->m + 1;
    uint32_t i = l->n, k = l->m, room = l->n + l->m, at = room;

    while (i || k) {
        enum move move = (enum move)moves[i * width + k];

        i -= move != OTHER_ALONE;
        k -= move != LIST_ALONE;
        out[--at] = move == OTHER_ALONE ? l->other[k] : l->list[i];
        if (move != LIST_ALONE)
            l->other[k]->as = out[at];
    }
    memmove(out, out + at, (room - at) * sizeof(struct msim_match_call *));
    return room - at;
}

/* Without room for a table the nth is the nth. */
static void pair_in_order(struct msim_match_lists *l)
{
    for (uint32_t k = 0; k < l->m && k < l->n; k++)
        l->other[k]->as = l->list[k];
    while (l->n < l->m) {
        l->list[l->n] = l->other[l->n];
        l->n++;
    }
}

enum msim_status msim_match_join(struct msim_match_lists *l)
{
    size_t cells = ((size_t)l->n + 1) * ((size_t)l->m + 1);
    uint8_t *moves = malloc(fits(l) ? cells : 1);
    double *best = malloc(((size_t)l->m + 1) * sizeof(*best));
    struct msim_match_call **out =
        malloc(((size_t)l->n + l->m + 1) * sizeof(*out));
    enum msim_status status = moves && best && out ? MSIM_OK : MSIM_ENOMEM;

    if (status == MSIM_OK && fits(l)) {
        find_moves(l, moves, best);
        l->n = merge(l, moves, out);
        memcpy(l->list, out, l->n * sizeof(struct msim_match_call *));
    } else if (status == MSIM_OK) {
        pair_in_order(l);
    }
    free(moves);
    free(best);
    free(out);
    return status;
}
