/*
 * core/rewrite/states.c - the optimizer's step done otherwise: states of 8
 * bits, and updates in backward.
 *
 * States of 8 bits: what only the step names is kept in one byte a number. As
 * bitsandbytes does, tensors below 4,096 numbers stay as they are. Its factors
 * of blocks (1.6 % more) are left out.
 *
 * Updates in backward: a parameter is updated as soon as its gradient is there,
 * which is freed behind that. The step works on lists (foreach, fused); an
 * update is the same operators on lists of one:
 *
 *     AccumulateGrad: ..., _foreach_lerp_([m], [g]), ..., zero_grad
 */
#include "core/rewrite/rewrite_internal.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_8BIT 4096 /* min_8bit_size of bitsandbytes */

#define STEP      "Optimizer.step#in_backward"
#define ZERO_GRAD "Optimizer.zero_grad#in_backward"

struct states {
    struct msim_weave *w;
    uint8_t *types;  /* by life: what it becomes */
    uint32_t *index; /* by life of a gradient: its place in lists, from 1 */
    uint32_t changed;
};

/* ---- 8 bits --------------------------------------------------------------
 */

static void find_types(struct states *c)
{
    const struct msim_weave *w = c->w;

    for (uint32_t i = 0; i < w->t->n_ops; i++) {
        struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);

        while (msim_lives_next(&e)) {
            if (e.life == MSIM_NONE || w->kind[e.life] != MSIM_LIFE_STATE ||
                msim_arg_elems(w->t, e.arg) < LEAST_8BIT || c->types[e.life])
                continue;
            c->types[e.life] = MSIM_DT_U8;
            c->changed++;
        }
    }
}

static enum msim_status visit_bits(void *ctx, uint32_t s)
{
    struct states *c = ctx;
    const struct msim_draft_how how = {.at = msim_weave_place(c->w, s),
                                       .types = c->types};

    return msim_weave_is_step(c->w, s) ? msim_weave_copy_as(c->w, s, &how)
                                       : msim_weave_copy(c->w, s);
}

enum msim_status msim_stage_optimizer_bits(struct msim_weave *w,
                                           const struct msim_rewrite *r)
{
    struct states c = {.w = w};
    enum msim_status status = MSIM_ENOMEM;

    (void)r;
    c.types = calloc((size_t)w->d.lives.n + 1, 1);
    if (c.types) {
        find_types(&c);
        status = c.changed ? msim_weave_walk(w, &c, visit_bits)
                           : msim_weave_refuse(
                                 w, "no step of an optimizer in the trace has "
                                    "states (tensors of 4,096 numbers or more "
                                    "that nothing else names)");
    }
    free(c.types);
    return status;
}

/* ---- updates in backward -------------------------------------------------
 */

/* The place of each gradient in the lists of operator `op`. */
static void find_places(struct states *c, uint32_t op)
{
    const struct msim_weave *w = c->w;
    struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, op);
    const struct msim_arg *a = e.next;

    for (; a != e.end; a = msim_arg_next(a)) {
        uint32_t n = a->kind == MSIM_ARG_LIST ? a->n : 0;

        for (uint32_t i = 1; i <= n && a[i].kind == MSIM_ARG_TENSOR; i++) {
            if (!msim_lives_next(&e))
                return;
            if (e.life != MSIM_NONE && w->kind[e.life] == MSIM_LIFE_GRADIENT)
                c->index[e.life] = i;
        }
        if (a->kind == MSIM_ARG_TENSOR && !msim_lives_next(&e))
            return;
    }
}

static enum msim_status check(const struct states *c)
{
    struct msim_weave *w = c->w;

    if (w->t->n_comms)
        return msim_weave_refuse(w, "ranks reduce gradients before the "
                                    "optimizer's step, so that it cannot be "
                                    "done in backward");
    for (uint32_t s = 0; s < w->a.n; s++) {
        if (w->gradient[s] == MSIM_NONE)
            continue;
        if (!c->index[w->gradient[s]])
            return msim_weave_refuse(
                w, "a gradient is in no list of the optimizer's step; want a "
                   "trace of an optimizer that works on lists (foreach or "
                   "fused)");
    }
    return MSIM_OK;
}

/* The operators of the next step, for one parameter. */
static enum msim_status update_one(struct states *c, uint32_t s, uint32_t index)
{
    struct msim_weave *w = c->w;
    struct msim_draft_how how = {.pick = index};
    struct msim_draft_place in;
    uint32_t at = s;

    MSIM_TRY(msim_weave_hold(w, STEP, msim_weave_place(w, s), &how.at));
    while (at < w->a.n && !msim_weave_is_step(w, at))
        at++;
    for (; at < w->a.n && msim_weave_is_step(w, at); at++)
        MSIM_TRY(msim_draft_copy(&w->d, w->a.rows[at].op, &how));
    return msim_weave_hold(w, ZERO_GRAD, msim_weave_place(w, s), &in);
}

static enum msim_status visit_backward(void *ctx, uint32_t s)
{
    struct states *c = ctx;
    struct msim_weave *w = c->w;

    if (msim_weave_is_step(w, s))
        return MSIM_OK;
    MSIM_TRY(msim_weave_copy(w, s));
    return w->gradient[s] == MSIM_NONE
               ? MSIM_OK
               : update_one(c, s, c->index[w->gradient[s]]);
}

enum msim_status msim_stage_in_backward(struct msim_weave *w,
                                        const struct msim_rewrite *r)
{
    struct states c = {.w = w};
    enum msim_status status = MSIM_ENOMEM;

    if (r->accumulate > 1)
        return msim_weave_refuse(w, "gradients of several micro batches are "
                                    "added before the optimizer's step, so "
                                    "that it cannot be done in backward");
    c.index = calloc((size_t)w->d.lives.n + 1, sizeof(*c.index));
    if (c.index) {
        for (uint32_t s = 0; s < w->a.n; s++)
            if (msim_weave_is_step(w, s))
                find_places(&c, w->a.rows[s].op);
        status = check(&c);
    }
    if (status == MSIM_OK)
        status = msim_weave_walk(w, &c, visit_backward);
    free(c.index);
    return status;
}
