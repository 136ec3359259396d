/*
 * core/rewrite/accumulate.c - gradient accumulation.
 *
 * The first micro batch leaves its gradients where the recorded step does. The
 * others make gradients of their own, which are added to those:
 *
 *     forward backward   gradients g
 *     forward backward   gradients h, g += h
 *     optimizer          reads g
 *
 * A step of several recorded micro batches has the first of them, or its last
 * once more, until there are as many as are wanted.
 *
 * Messages of DDP's reducer are sent by the last micro batch alone (no_sync).
 */
#include "core/rewrite/rewrite_internal.h"

#include <stdlib.h>
#include <string.h>

struct accumulating {
    struct msim_weave *w;
    uint32_t wanted;  /* micro batches; 0: as recorded */
    uint32_t *first;  /* by life: the storage of the first micro batch */
    uint32_t *number; /* by pass: how many of its step are up to it */
    bool *ends;       /* by pass: it is the last of its step */
};

/* ---- micro batches -------------------------------------------------------
 */

static enum msim_status one_more(struct accumulating *c,
                                 const struct msim_anatomy_pass *p)
{
    struct msim_weave *w = c->w;

    for (uint32_t s = p->forward; s < p->tail; s++) {
        if (w->gradient[s] != MSIM_NONE && msim_weave_makes_gradient(w, s))
            MSIM_TRY(msim_weave_add_up(w, s, c->first[w->gradient[s]]));
        else
            MSIM_TRY(msim_weave_again(w, s, msim_weave_place(w, s)));
    }
    for (uint32_t s = p->forward; s < p->tail; s++)
        if (w->gradient[s] != MSIM_NONE)
            w->d.storage[w->gradient[s]] = c->first[w->gradient[s]];
    return MSIM_OK;
}

/* Passes of the step up to `p`, and whether that is its last one. */
static uint32_t count_passes(const struct msim_anatomy *a, uint32_t p,
                             bool *last)
{
    uint32_t n = 1;

    *last = p + 1 == a->n_passes || msim_anatomy_steps_before(a, p + 1);
    for (; p && !msim_anatomy_steps_before(a, p); p--)
        n++;
    return n;
}

static enum msim_status repeat(struct accumulating *c,
                               const struct msim_anatomy_pass *p,
                               uint32_t times)
{
    memcpy(c->first, c->w->d.storage, c->w->d.lives.n * sizeof(*c->first));
    while (times--)
        MSIM_TRY(one_more(c, p));
    return MSIM_OK;
}

static enum msim_status visit(void *ctx, uint32_t s)
{
    struct accumulating *c = ctx;
    struct msim_weave *w = c->w;
    const struct msim_anatomy_statement *row = &w->a.rows[s];
    bool in_pass = row->pass != MSIM_NONE && row->role <= MSIM_ANATOMY_BACKWARD;
    uint32_t n;
    bool last;

    if (!in_pass || !c->wanted)
        return msim_weave_copy(w, s);
    n = c->number[row->pass];
    if (n > c->wanted)
        return MSIM_OK;
    MSIM_TRY(msim_weave_copy(w, s));
    last = s + 1 == w->a.passes[row->pass].tail && c->ends[row->pass];
    return last ? repeat(c, &w->a.passes[row->pass], c->wanted - n) : MSIM_OK;
}

/* What the last micro batch alone does for all, such as DDP's reduction of
 * gradients, cannot be left out. */
static bool sends(const struct msim_weave *w, const struct msim_anatomy_pass *p)
{
    for (uint32_t s = p->backward; s < p->tail; s++)
        for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++)
            if (w->t->ops[i].comm != MSIM_NONE)
                return true;
    return false;
}

static enum msim_status find_numbers(struct accumulating *c)
{
    const struct msim_anatomy *a = &c->w->a;

    for (uint32_t p = 0; p < a->n_passes; p++) {
        c->number[p] = count_passes(a, p, &c->ends[p]);
        if (c->wanted && c->number[p] > c->wanted && c->ends[p] &&
            sends(c->w, &a->passes[p]) &&
            !sends(c->w, &a->passes[p - c->number[p] + c->wanted]))
            return msim_weave_refuse(
                c->w,
                "accumulate is %u, but the last of the %u recorded micro "
                "batches of a step alone sends what all have added up; want "
                "%u or more",
                c->wanted, c->number[p], c->number[p]);
    }
    return MSIM_OK;
}

enum msim_status msim_stage_accumulate(struct msim_weave *w,
                                       const struct msim_rewrite *r)
{
    struct accumulating c = {.w = w, .wanted = r->accumulate};
    enum msim_status status = MSIM_ENOMEM;

    c.first = malloc(((size_t)w->d.lives.n + 1) * sizeof(*c.first));
    c.number = malloc(((size_t)w->a.n_passes + 1) * sizeof(*c.number));
    c.ends = malloc((size_t)w->a.n_passes + 1);
    if (c.first && c.number && c.ends)
        status = find_numbers(&c);
    if (status == MSIM_OK)
        status = msim_weave_walk(w, &c, visit);
    free(c.first);
    free(c.number);
    free(c.ends);
    return status;
}
