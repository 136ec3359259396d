/*
 * core/memory/memory_peak.c - the most that a picture of memory holds at once.
 *
 * Pieces are taken and given back in the order of their operators. At one
 * operator all are taken before any is given back: its results exist beside its
 * inputs.
 */
#include "core/base/containers.h"
#include "core/base/units.h"
#include "core/memory/caching.h"
#include "core/memory/life_memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct count {
    const struct msim_memory_picture *m;
    const struct msim_memory_options *o;
    struct msim_memory_peak *out;
    struct msim_memory_line *line; /* or NULL */
    struct msim_memory_point most; /* of the stretch at hand */
    uint32_t stretch;
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

/* ---- points -------------------------------------------------------------- */

static uint64_t total(const struct msim_memory_point *p)
{
    uint64_t sum = 0;

    for (int k = 0; k < MSIM_HELD_COUNT; k++)
        sum += p->by[k];
    return sum;
}

static struct msim_memory_point point_at(const struct count *c, uint32_t at)
{
    struct msim_memory_point p = {.at = at, .reserved = c->caching.reserved};

    for (int k = 0; k < MSIM_HELD_COUNT; k++)
        p.by[k] = c->by[k];
    if (!c->o->caching)
        p.reserved = c->now;
    return p;
}

/* Two at one place are one, the later; one that says what the one before it
 * does is none. */
static void add_point(struct msim_memory_line *line,
                      const struct msim_memory_point *p)
{
    struct msim_memory_point *last =
        line->n ? &line->points[line->n - 1] : NULL;

    if (last ? last->reserved == p->reserved &&
                   !memcmp(last->by, p->by, sizeof(p->by))
             : p->reserved == 0)
        return;
    if (last && last->at == p->at && total(p) >= total(last)) {
        *last = *p;
        return;
    }
    assert(line->n < MSIM_MEMORY_POINTS);
    line->points[line->n++] = *p;
}

/* Below MSIM_MEMORY_STRETCHES, since nothing is held after `end`. */
static uint32_t stretch_of(const struct count *c, uint32_t at)
{
    return (uint32_t)((uint64_t)at * MSIM_MEMORY_STRETCHES /
                      ((uint64_t)c->m->end + 1));
}

/* The stretch at hand ends with what is held now, from `last` on. */
static void end_stretch(struct count *c, uint32_t last)
{
    struct msim_memory_point p = point_at(c, last);

    if (total(&c->most) > 0)
        add_point(c->line, &c->most);
    add_point(c->line, &p);
    c->most = (struct msim_memory_point){0};
}

/* Something is about to change at `at`, after what changed at `last`. */
static void step(struct count *c, uint32_t at, uint32_t *last)
{
    if (c->line && stretch_of(c, at) != c->stretch) {
        end_stretch(c, *last);
        c->stretch = stretch_of(c, at);
    }
    *last = at;
}

static void note_most(struct count *c, uint32_t at)
{
    if (c->line && c->now > total(&c->most))
        c->most = point_at(c, at);
}

/* ---- the walk ------------------------------------------------------------ */

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
    note_most(c, p->from);
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
        msim_caching_give(&c->caching, c->block[i]);
        less = before - c->caching.allocated;
    }
    c->now -= less;
    c->by[p->held] -= less;
    return MSIM_OK;
}

static enum msim_status walk(struct count *c, uint32_t *taken, uint32_t *given,
                             uint32_t *spare)
{
    uint32_t n = c->m->n, back = 0, last = 0;
    const struct msim_held_piece *pieces = c->m->pieces;

    for (uint32_t i = 0; i < n; i++)
        taken[i] = given[i] = i;
    msim_sort_index(taken, spare, n, taken_before, pieces);
    msim_sort_index(given, spare, n, given_before, pieces);
    for (uint32_t i = 0; i < n; i++) {
        for (; pieces[given[back]].to < pieces[taken[i]].from; back++) {
            step(c, pieces[given[back]].to + 1, &last);
            MSIM_TRY(give(c, given[back]));
        }
        step(c, pieces[taken[i]].from, &last);
        MSIM_TRY(take(c, taken[i]));
    }
    for (; back < n && pieces[given[back]].to < c->m->end; back++) {
        step(c, pieces[given[back]].to + 1, &last);
        MSIM_TRY(give(c, given[back]));
    }
    if (c->line)
        end_stretch(c, last);
    c->out->reserved = c->o->caching ? c->caching.reserved : c->out->allocated;
    return MSIM_OK;
}

enum msim_status msim_memory_line_find(struct msim_memory_peak *peak,
                                       struct msim_memory_line *line,
                                       const struct msim_memory_picture *m,
                                       const struct msim_memory_options *o)
{
    struct count c = {.m = m, .o = o, .out = peak, .line = line};
    size_t n = (size_t)m->n + 1;
    uint32_t *orders = malloc(4 * n * sizeof(*orders));
    enum msim_status status = MSIM_ENOMEM;

    *peak = (struct msim_memory_peak){0};
    if (line)
        line->n = 0;
    if (orders) {
        c.block = orders + 3 * n;
        status = walk(&c, orders, orders + n, orders + 2 * n);
    }
    msim_caching_release(&c.caching);
    free(orders);
    return status;
}

enum msim_status msim_memory_peak_find(struct msim_memory_peak *out,
                                       const struct msim_memory_picture *m,
                                       const struct msim_memory_options *o)
{
    return msim_memory_line_find(out, NULL, m, o);
}
