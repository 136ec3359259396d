/*
 * core/rewrite/split/tied.c - parameters that two places share.
 */
#include "core/rewrite/split/split.h"

#include "core/base/containers.h"
#include "core/rewrite/weave/draft.h"

#include <stdlib.h>
#include <string.h>

/* Where forward reads a parameter, and how large it is. */
struct shared {
    uint32_t least, greatest;
    int64_t elems;
};

static void note(const struct msim_places *p, uint32_t s, struct shared *of)
{
    const struct msim_weave *w = p->w;

    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++) {
        struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);

        while (msim_lives_next(&e)) {
            struct shared *x = e.life == MSIM_NONE ? NULL : &of[e.life];

            if (!x || w->kind[e.life] != MSIM_LIFE_PARAMETER)
                continue;
            if (!x->elems || p->of[s] < x->least)
                x->least = p->of[s];
            if (!x->elems || p->of[s] > x->greatest)
                x->greatest = p->of[s];
            x->elems = (int64_t)msim_arg_elems(w->t, e.arg);
        }
    }
}

static int64_t elems_of(const struct msim_places *p,
                        const struct msim_crossing *x)
{
    int64_t n = 1;

    for (uint32_t i = 0; i < x->n_dims; i++)
        n *= p->w->t->dims[x->dims + i];
    return n;
}

/* Is it as large as a parameter that both of its ends read? */
static bool is_tied(const struct msim_places *p, const struct shared *of,
                    const struct msim_crossing *x)
{
    for (uint32_t i = 0; x->back && i < p->w->d.lives.n; i++)
        if (of[i].elems && of[i].elems == elems_of(p, x) &&
            of[i].least != of[i].greatest && of[i].greatest == x->from &&
            of[i].least == x->to)
            return true;
    return false;
}

/* The gradient that its place keeps of it. */
static uint32_t gradient_of(const struct msim_places *p,
                            const struct msim_crossing *x)
{
    const struct msim_weave *w = p->w;
    const struct msim_anatomy_pass *pass = &w->a.passes[x->pass];

    for (uint32_t s = pass->backward; s < pass->tail; s++) {
        struct msim_weave_given g;

        if (w->gradient[s] != MSIM_NONE && p->of[s] == x->to &&
            msim_weave_find_given(w, s, &g) &&
            (int64_t)msim_arg_elems(w->t, g.arg) == elems_of(p, x))
            return w->gradient[s];
    }
    return MSIM_NONE;
}

/* The statement of place `to` that reads it, adding it to another. */
static void find_sum(const struct msim_places *p, struct msim_tied *t)
{
    const struct msim_weave *w = p->w;
    const struct msim_anatomy_pass *pass = &w->a.passes[t->pass];

    for (uint32_t s = pass->backward; s < pass->tail; s++) {
        uint32_t op = w->a.rows[s].op;
        struct msim_lives_each in = msim_lives_inputs(&w->d.lives, w->t, op);
        struct msim_lives_each out = msim_lives_outputs(&w->d.lives, w->t, op);
        uint32_t other = MSIM_NONE;
        bool reads = false;

        if (p->of[s] != t->to || !msim_weave_begins(w, op, "aten::add"))
            continue;
        while (msim_lives_next(&in)) {
            if (in.life == t->life)
                reads = true;
            else if (in.life != MSIM_NONE)
                other = in.life;
        }
        if (!reads || other == MSIM_NONE || !msim_lives_next(&out))
            continue;
        t->adds = s;
        t->part = other;
        t->sum = out.life;
        return;
    }
}

static enum msim_status add(struct msim_places *p,
                            const struct msim_crossing *x, uint32_t gradient)
{
    struct msim_tied t = {.life = x->life,
                          .pass = x->pass,
                          .from = x->from,
                          .to = x->to,
                          .gradient = gradient,
                          .adds = MSIM_NONE,
                          .elems = elems_of(p, x),
                          .dtype = x->dtype,
                          .device = x->device};

    find_sum(p, &t);
    MSIM_TRY(msim_grow((void **)&p->tied, &p->cap_tied, p->n_tied,
                       sizeof(*p->tied)));
    p->tied[p->n_tied++] = t;
    return MSIM_OK;
}

enum msim_status msim_tied_find(struct msim_places *p)
{
    struct shared *of = calloc((size_t)p->w->d.lives.n + 1, sizeof(*of));
    enum msim_status status = of ? MSIM_OK : MSIM_ENOMEM;
    uint32_t n = 0;

    for (uint32_t s = 0; of && s < p->w->a.n; s++)
        if (p->of[s] != MSIM_NONE &&
            p->w->a.rows[s].role == MSIM_ANATOMY_FORWARD)
            note(p, s, of);
    for (uint32_t i = 0; i < p->n_crossings && status == MSIM_OK; i++) {
        const struct msim_crossing x = p->crossings[i];
        uint32_t gradient = is_tied(p, of, &x) ? gradient_of(p, &x) : MSIM_NONE;

        if (gradient == MSIM_NONE)
            p->crossings[n++] = x;
        else
            status = add(p, &x, gradient);
    }
    if (status == MSIM_OK)
        p->n_crossings = n;
    free(of);
    return status;
}

/* ---- on a stage ----------------------------------------------------------
 */

static bool is_of(uint32_t place, const struct msim_rank_layout *l)
{
    return place % l->stages == l->stage;
}

enum msim_status msim_tied_begin(struct msim_places *p,
                                 const struct msim_rank_layout *l)
{
    for (uint32_t i = 0; i < p->n_tied; i++) {
        struct msim_tied *t = &p->tied[i];
        uint32_t other = (is_of(t->from, l) ? t->to : t->from) % l->stages;
        int32_t place;

        t->group = MSIM_NONE;
        t->storage = i && t->gradient == p->tied[i - 1].gradient
                         ? p->tied[i - 1].storage
                         : msim_draft_fresh(&p->w->d);
        if (is_of(t->from, l) != is_of(t->to, l))
            MSIM_TRY(msim_rank_groups_pair(p->w, l, "tied parameters", other,
                                           &t->group, &place));
    }
    return MSIM_OK;
}

void msim_tied_put(const struct msim_places *p, uint32_t pass, uint32_t batch)
{
    uint32_t *storage = p->w->d.storage;

    for (uint32_t i = 0; i < p->n_tied; i++) {
        const struct msim_tied *t = &p->tied[i];

        if (t->pass != pass)
            continue;
        if (!batch)
            storage[t->life] = t->storage;
        if (t->adds != MSIM_NONE && t->sum != MSIM_NONE)
            storage[t->part] = storage[t->sum];
    }
}

bool msim_tied_leaves_out(const struct msim_places *p, uint32_t s)
{
    for (uint32_t i = 0; i < p->n_tied; i++)
        if (p->tied[i].adds == s)
            return true;
    return false;
}

enum msim_status msim_tied_add(const struct msim_places *p, uint32_t s,
                               uint32_t batch)
{
    struct msim_weave *w = p->w;

    for (uint32_t i = 0; i < p->n_tied && batch; i++) {
        const struct msim_tied *t = &p->tied[i];
        const struct msim_emit_flat x = {t->elems, w->d.storage[t->life],
                                         t->dtype, t->device};
        const struct msim_emit_flat sum = {t->elems, t->storage, t->dtype,
                                           t->device};

        if (p->maker[t->life] == s)
            MSIM_TRY(msim_emit_op(&w->d, msim_weave_place(w, s), "aten::add_",
                                  &sum, &sum, &x));
    }
    return MSIM_OK;
}

enum msim_status msim_tied_reduce(const struct msim_places *p,
                                  const struct msim_rank_layout *l,
                                  struct msim_draft_place at)
{
    struct msim_draft *d = &p->w->d;

    for (uint32_t i = 0; i < p->n_tied; i++) {
        const struct msim_tied *t = &p->tied[i];
        struct msim_emit_flat x = {t->elems, 0, t->dtype, t->device};
        struct msim_emit_message m = {
            "nccl:all_reduce", MSIM_COLL_ALL_REDUCE, 0, x, x, 0};

        if (t->group == MSIM_NONE ||
            (i && t->gradient == p->tied[i - 1].gradient))
            continue;
        if (is_of(t->from, l))
            d->storage[t->gradient] = t->storage;
        m.in.storage = m.out.storage = d->storage[t->gradient];
        d->group = t->group;
        MSIM_TRY(msim_emit_collective(d, at, &m));
        MSIM_TRY(msim_emit_recorded_wait(d, at, 0));
        d->group = MSIM_NONE;
    }
    return MSIM_OK;
}
