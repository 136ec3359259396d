/*
 * core/rewrite/meet/part_sums.c - parts of sums that are added before they are
 * reduced.
 */
#include "core/rewrite/meet/part_sums.h"

#include <stdlib.h>
#include <string.h>

enum msim_status msim_part_sums_begin(struct msim_part_sums *p,
                                      const struct msim_shares *s,
                                      const struct msim_weave *w)
{
    *p = (struct msim_part_sums){
        .s = s, .w = w, .waits = calloc((size_t)w->d.lives.n + 1, 1)};
    return p->waits ? MSIM_OK : MSIM_ENOMEM;
}

void msim_part_sums_release(struct msim_part_sums *p)
{
    free(p->waits);
    *p = (struct msim_part_sums){0};
}

/* What an operator makes a part of: the first tensor that comes out. */
static bool made_by(const struct msim_part_sums *p, uint32_t op,
                    struct msim_lives_each *e)
{
    *e = msim_lives_outputs(&p->w->d.lives, p->w->t, op);
    return msim_lives_next(e) && e->life != MSIM_NONE;
}

static bool makes_part(const struct msim_part_sums *p, uint32_t op,
                       uint32_t life)
{
    struct msim_lives_each e;

    return msim_shares_meet_at(p->s, op) == MSIM_SHARES_SUM &&
           made_by(p, op, &e) && e.life == life;
}

static bool is_added(const struct msim_part_sums *p, uint32_t op)
{
    const char *name = msim_trace_text(p->w->t, p->w->t->ops[op].name);

    return !strcmp(name, "aten::add") || !strcmp(name, "aten::add_");
}

/* Does `op` do something with `life`? Views of it do not, nor does what only
 * names it. */
static bool reads(const struct msim_part_sums *p, uint32_t op, uint32_t life)
{
    const struct msim_lives *l = &p->w->d.lives;
    struct msim_lives_each in = msim_lives_inputs(l, p->w->t, op);
    struct msim_lives_each out = msim_lives_outputs(l, p->w->t, op);
    bool given = false, view = !msim_weave_is_in_place(p->w, op);

    while (msim_lives_next(&in))
        given |= in.life == life;
    while (msim_lives_next(&out))
        view &= out.life == life;
    return given && !view && msim_weave_begins(p->w, op, "aten::");
}

/* Are all tensors that `op` adds parts of sums by then, of which operators from
 * `from` on make some? */
static bool adds_parts(const struct msim_part_sums *p, uint32_t op,
                       uint32_t from)
{
    struct msim_lives_each e = msim_lives_inputs(&p->w->d.lives, p->w->t, op);
    uint32_t n = 0;

    if (!is_added(p, op))
        return false;
    for (; msim_lives_next(&e); n++) {
        uint32_t i = from;

        while (e.life != MSIM_NONE && i < op && !makes_part(p, i, e.life))
            i++;
        if (e.life == MSIM_NONE || (i == op && !p->waits[e.life]))
            return false;
    }
    return n > 1;
}

/* Is the part that `op` makes on `life` added to others before anything else
 * reads it? */
static bool waits(const struct msim_part_sums *p, uint32_t op, uint32_t life)
{
    for (uint32_t i = op + 1; i <= p->w->d.lives.rows[life].last; i++)
        if (reads(p, i, life))
            return adds_parts(p, i, op);
    return false;
}

bool msim_part_sums_makes(const struct msim_part_sums *p, uint32_t op,
                          struct msim_lives_each *made)
{
    return (msim_shares_meet_at(p->s, op) == MSIM_SHARES_SUM ||
            adds_parts(p, op, op)) &&
           made_by(p, op, made);
}

bool msim_part_sums_made(struct msim_part_sums *p, uint32_t op, uint32_t life)
{
    struct msim_lives_each e = msim_lives_inputs(&p->w->d.lives, p->w->t, op);

    while (msim_lives_next(&e))
        if (e.life != MSIM_NONE)
            p->waits[e.life] = 0;
    p->waits[life] = 1; /* what adds it is given a part */
    p->waits[life] = p->s->rows[life] && waits(p, op, life);
    return p->waits[life];
}
