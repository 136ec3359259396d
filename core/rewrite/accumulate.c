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
 * One micro batch is the recorded step.
 *
 * Messages of DDP's reducer are sent by the last micro batch alone (no_sync).
 */
#include "core/rewrite/stages.h"

#include <stdlib.h>
#include <string.h>

struct accumulating {
    struct msim_weave *w;
    uint32_t times;
    uint32_t *first; /* by life: the storage of the first micro batch */
};

/* ---- gradients -----------------------------------------------------------
 */

/* The statement without what is below AccumulateGrad, and the sum there. */
static enum msim_status add_up(struct accumulating *c, uint32_t s)
{
    struct msim_weave *w = c->w;
    uint32_t top = w->a.rows[s].op;
    struct msim_draft_how how = {.at = msim_weave_place(w, s)};
    struct msim_weave_given g;
    struct msim_draft_tensor both[2];
    struct msim_draft_op sum = {.name = "aten::add_",
                                .at = how.at,
                                .in = both,
                                .out = both,
                                .n_in = 2,
                                .n_out = 1};

    if (!msim_weave_find_given(w, s, &g) ||
        !msim_draft_given(&w->d, g.op, g.life, &both[1]))
        return MSIM_OK;
    both[0] = both[1];
    both[0].storage = c->first[w->gradient[s]];
    for (uint32_t i = top; i <= g.accumulate; i++) {
        if (i != top)
            how.at.parent = w->d.placed[w->t->ops[i].parent];
        MSIM_TRY(msim_draft_copy(&w->d, i, &how));
    }
    sum.at.parent = w->d.placed[g.accumulate];
    return msim_draft_add(&w->d, &sum, NULL);
}

/* Was the gradient that statement `s` keeps made in this pass? Else the trace
 * accumulates already. */
static bool is_made_here(const struct msim_weave *w, uint32_t s)
{
    uint32_t born = w->d.lives.rows[w->gradient[s]].born;
    uint32_t in = born == MSIM_NONE ? MSIM_NONE : msim_op_topmost(w->t, born);

    return in != MSIM_NONE &&
           w->a.rows[w->a.statement[in]].pass == w->a.rows[s].pass;
}

/* ---- micro batches -------------------------------------------------------
 */

static enum msim_status one_more(struct accumulating *c,
                                 const struct msim_anatomy_pass *p)
{
    struct msim_weave *w = c->w;

    for (uint32_t s = p->forward; s < p->tail; s++) {
        if (w->gradient[s] != MSIM_NONE && is_made_here(w, s))
            MSIM_TRY(add_up(c, s));
        else
            MSIM_TRY(msim_weave_again(w, s, msim_weave_place(w, s)));
    }
    for (uint32_t s = p->forward; s < p->tail; s++)
        if (w->gradient[s] != MSIM_NONE)
            w->d.storage[w->gradient[s]] = c->first[w->gradient[s]];
    return MSIM_OK;
}

static enum msim_status visit(void *ctx, uint32_t s)
{
    struct accumulating *c = ctx;
    struct msim_weave *w = c->w;
    const struct msim_anatomy_pass *p =
        w->a.rows[s].pass == MSIM_NONE ? NULL : &w->a.passes[w->a.rows[s].pass];

    MSIM_TRY(msim_weave_copy(w, s));
    if (!p || s + 1 != p->tail)
        return MSIM_OK;
    memcpy(c->first, w->d.storage, w->d.lives.n * sizeof(*c->first));
    for (uint32_t i = 1; i < c->times; i++)
        MSIM_TRY(one_more(c, p));
    return MSIM_OK;
}

enum msim_status msim_stage_accumulate(struct msim_weave *w,
                                       const struct msim_rewrite *r)
{
    struct accumulating c = {.w = w, .times = r->accumulate};
    enum msim_status status = MSIM_ENOMEM;

    c.first = malloc(((size_t)w->d.lives.n + 1) * sizeof(*c.first));
    if (c.first)
        status = msim_weave_walk(w, &c, visit);
    free(c.first);
    return status;
}
