/*
 * core/memory/memory_peak.c - the most that a picture of memory holds at once.
 *
 * Pieces are taken and given back in the order of their operators. At one
 * operator all are taken before any is given back: its results exist beside its
 * inputs.
 */
#include "core/base/sort.h"
#include "core/base/units.h"
#include "core/memory/caching.h"
#include "core/memory/life_memory.h"

#include <stdlib.h>

struct count {
    const struct msim_memory_picture *m;
    const struct msim_memory_options *o;
    struct msim_memory_peak *out;
    struct msim_caching caching;
    uint64_t now, by[MSIM_HELD_COUNT];
    uint32_t *block; /* by piece */
};

static bool taken_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_held_piece *pieces = ctx;

    return pieces[a].from < pieces[b].from;
}

static bool given_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_held_piece *pieces = ctx;

    return pieces[a].to < pieces[b].to;
}

static enum msim_status take(struct count *c, uint32_t i)
{
    const struct msim_held_piece *p = &c->m->pieces[i];
    uint64_t before = c->caching.allocated, more = p->bytes;

    if (c->o->caching) {
        MSIM_TRY(msim_caching_take(&c->caching, p->bytes, &c->block[i]));
        more = c->caching.allocated - before;
    }
    if (__builtin_add_overflow(c->now, more, &c->now))
        return MSIM_ELIMIT;
    c->by[p->held] += more;
    if (c->now <= c->out->allocated)
        return MSIM_OK;
    c->out->allocated = c->now;
    c->out->at = p->from;
    for (int k = 0; k < MSIM_HELD_COUNT; k++)
        c->out->by[k] = c->by[k];
    return MSIM_OK;
}

static enum msim_status give(struct count *c, uint32_t i)
{
    const struct msim_held_piece *p = &c->m->pieces[i];
    uint64_t before = c->caching.allocated, less = p->bytes;

    if (c->o->caching) {
        MSIM_TRY(msim_caching_give(&c->caching, c->block[i]));
        less = before - c->caching.allocated;
    }
    c->now -= less;
    c->by[p->held] -= less;
    return MSIM_OK;
}

static enum msim_status walk(struct count *c, uint32_t *taken, uint32_t *given,
                             uint32_t *spare)
{
    uint32_t n = c->m->n, back = 0;
    const struct msim_held_piece *pieces = c->m->pieces;

    for (uint32_t i = 0; i < n; i++)
        taken[i] = given[i] = i;
    msim_sort_index(taken, spare, n, taken_before, pieces);
    msim_sort_index(given, spare, n, given_before, pieces);
    for (uint32_t i = 0; i < n; i++) {
        for (; pieces[given[back]].to < pieces[taken[i]].from; back++)
            MSIM_TRY(give(c, given[back]));
        MSIM_TRY(take(c, taken[i]));
    }
    c->out->reserved = c->o->caching ? c->caching.reserved : c->out->allocated;
    return MSIM_OK;
}

enum msim_status msim_memory_peak_find(struct msim_memory_peak *out,
                                       const struct msim_memory_picture *m,
                                       const struct msim_memory_options *o)
{
    struct count c = {.m = m, .o = o, .out = out};
    size_t n = (size_t)m->n + 1;
    uint32_t *orders = malloc(4 * n * sizeof(*orders));
    enum msim_status status = MSIM_ENOMEM;

    *out = (struct msim_memory_peak){0};
    if (orders) {
        c.block = orders + 3 * n;
        status = walk(&c, orders, orders + n, orders + 2 * n);
    }
    msim_caching_release(&c.caching);
    free(orders);
    return status;
}
