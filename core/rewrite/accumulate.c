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
