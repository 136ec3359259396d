/*
 * core/rewrite/meet/dtensor.c - what PyTorch's DTensor runs of a step.
 */
#include "core/rewrite/meet/dtensor.h"

#include "core/rewrite/weave/draft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters ----------------------------------------------------------
 */

static bool is_loss(const struct msim_dtensor *x, uint32_t op)
{
    enum msim_shares_meet meet = msim_shares_meet_at(x->s, op);

    return meet == MSIM_SHARES_MAX || meet == MSIM_SHARES_ROWS;
}

/* Is it a parameter of which ranks have shares? Or of any sort: what is read
 * beside such a one, or computes with a share of the tokens. */
static bool is_parameter(const struct msim_dtensor *x,
                         const struct msim_lives_each *e, bool any)
{
    return e->life != MSIM_NONE && x->w->kind[e->life] == MSIM_LIFE_PARAMETER &&
           (any || msim_shares_is_divided(x->s, e->id - 1, e->arg->n));
}

/* Does forward statement `s` call a module that is shared out? */
static bool is_call(const struct msim_dtensor *x, uint32_t s)
{
    const struct msim_weave *w = x->w;
    bool parameter = false, rows = false;

    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++) {
        struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);

        if (is_loss(x, i))
            return true;
        while (msim_lives_next(&e)) {
            if (is_parameter(x, &e, false))
                return true;
            parameter |= is_parameter(x, &e, true);
            rows |= x->s->rows && e.life != MSIM_NONE && x->s->rows[e.life];
        }
    }
    return parameter && rows;
}

static void mark_parameters(struct msim_dtensor *x, uint32_t s)
{
    const struct msim_weave *w = x->w;

    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++) {
        struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);

        while (msim_lives_next(&e))
            if (is_parameter(x, &e, true))
                x->shared[e.life] = 1;
    }
}

/* ---- statements ----------------------------------------------------------
 */

static void mark_forward(struct msim_dtensor *x)
{
    const struct msim_anatomy *a = &x->w->a;

    for (uint32_t s = 0; s < a->n; s++)
        if (a->rows[s].role == MSIM_ANATOMY_FORWARD && is_call(x, s)) {
            x->calls[s] = 1;
            mark_parameters(x, s);
        }
}

/* Was the gradient that statement `s` keeps made by backward of such a call? */
static bool keeps_shared(const struct msim_dtensor *x, uint32_t s)
{
    const struct msim_weave *w = x->w;
    uint32_t life = w->gradient[s], op, made;

    if (life == MSIM_NONE || w->d.lives.rows[life].born == MSIM_NONE)
        return false;
    op = msim_op_topmost(w->t, w->d.lives.rows[life].born);
    made = op == MSIM_NONE ? MSIM_NONE : w->a.statement[op];
    return made != MSIM_NONE && x->calls[made];
}

static void mark_backward(struct msim_dtensor *x)
{
    const struct msim_anatomy *a = &x->w->a;

    for (uint32_t s = 0; s < a->n; s++) {
        uint32_t f = x->forward[s];

        if (f != MSIM_NONE && x->calls[f]) {
            x->calls[s] = 1;
            x->first[f] = x->first[f] == MSIM_NONE ? s : x->first[f];
            x->last[f] = s;
        } else if (keeps_shared(x, s)) {
            x->calls[s] = 1;
            x->shared[x->w->gradient[s]] = 1;
        }
    }
}

static bool has_shared(const struct msim_dtensor *x, struct msim_lives_each e)
{
    while (msim_lives_next(&e))
        if (e.life != MSIM_NONE && x->shared[e.life])
            return true;
    return false;
}

/* Numbers are none. Returns whether any is new. */
static bool share_all(struct msim_dtensor *x, struct msim_lives_each e)
{
    bool more = false;

    while (msim_lives_next(&e))
        if (e.life != MSIM_NONE && e.arg->n && !x->shared[e.life]) {
            x->shared[e.life] = 1;
            more = true;
        }
    return more;
}

/* A step of the optimizer that is given one such tensor is given such alone:
 * states, and what is made of them on the way. Returns whether any is new. */
static bool mark_steps(struct msim_dtensor *x)
{
    const struct msim_weave *w = x->w;
    bool more = false;

    for (uint32_t s = 0; s < w->a.n; s++) {
        uint32_t op = w->a.rows[s].op;
        struct msim_lives_each in = msim_lives_inputs(&w->d.lives, w->t, op);
        struct msim_lives_each out = msim_lives_outputs(&w->d.lives, w->t, op);

        if (w->a.rows[s].role != MSIM_ANATOMY_OPTIMIZER ||
            !(has_shared(x, in) || has_shared(x, out)))
            continue;
        x->calls[s] = 1;
        more |= share_all(x, in);
        more |= share_all(x, out);
    }
    return more;
}

enum msim_status msim_dtensor_find(struct msim_dtensor *x,
                                   const struct msim_shares *s,
                                   struct msim_weave *w)
{
    size_t n = (size_t)w->a.n + 1;

    *x = (struct msim_dtensor){.s = s, .w = w};
    x->shared = calloc((size_t)w->d.lives.n + 1, 1);
    x->calls = calloc(n, 1);
    x->forward = malloc(n * sizeof(*x->forward));
    x->first = malloc(n * sizeof(*x->first));
    x->last = malloc(n * sizeof(*x->last));
    if (!x->shared || !x->calls || !x->forward || !x->first || !x->last)
        return MSIM_ENOMEM;
    memset(x->first, 0xff, n * sizeof(*x->first));
    memset(x->last, 0xff, n * sizeof(*x->last));
    MSIM_TRY(msim_anatomy_forward(&w->a, x->forward));
    mark_forward(x);
    mark_backward(x);
    while (mark_steps(x))
        ;
    return MSIM_OK;
}

void msim_dtensor_release(struct msim_dtensor *x)
{
    free(x->shared);
    free(x->calls);
    free(x->forward);
    free(x->first);
    free(x->last);
    *x = (struct msim_dtensor){0};
}

/* ---- operators -----------------------------------------------------------
 */

/* What PyTorch takes apart before a subclass of tensors is asked. */
static bool is_composite(const char *name)
{
    static const char *const NAMES[] = {
        "aten::linear",     "aten::matmul",      "aten::layer_norm",
        "aten::rms_norm",   "aten::log_softmax", "aten::softmax",
        "aten::reshape",    "aten::flatten",     "aten::unflatten",
        "aten::contiguous", "aten::nll_loss_nd", "aten::nll_loss",
        "aten::dropout",    "aten::gelu",        "aten::cross_entropy_loss"};

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++)
        if (!strcmp(name, NAMES[i]))
            return true;
    return false;
}

/* Is operator `op` of a call dispatched? What runs below it is not. Numbers of
 * the optimizer, such as the count of steps, are no DTensors. */
static bool is_dispatched(const struct msim_dtensor *x, uint32_t s, uint32_t op)
{
    const struct msim_weave *w = x->w;

    if (w->a.rows[s].role == MSIM_ANATOMY_OPTIMIZER &&
        !has_shared(x, msim_lives_inputs(&w->d.lives, w->t, op)))
        return false;
    return msim_weave_begins(w, op, "aten::") &&
           !is_composite(msim_trace_text(w->t, w->t->ops[op].name));
}

static enum msim_status note(const struct msim_dtensor *x,
                             struct msim_draft_place at, const char *name)
{
    return msim_draft_add(
        &x->w->d, &(struct msim_draft_op){.name = name, .at = at}, NULL);
}

/* Autograd's node of what is called `name`, at the end of which `inner` runs
 * unless it is NULL. */
static enum msim_status node(const struct msim_dtensor *x,
                             struct msim_draft_place at, const char *name,
                             const char *inner)
{
    char text[80];

    snprintf(text, sizeof(text), "%s%s", MSIM_EMIT_BACKWARD, name);
    MSIM_TRY(msim_weave_hold(x->w, text, at, &at));
    MSIM_TRY(msim_weave_hold(x->w, name, at, &at));
    return inner ? note(x, at, inner) : MSIM_OK;
}

/* Does the call make a loss of DTensors, which stay such? */
static bool makes_loss(const struct msim_dtensor *x, uint32_t s)
{
    for (uint32_t i = x->w->a.rows[s].op; i < msim_anatomy_end(&x->w->a, s);
         i++)
        if (is_loss(x, i))
            return true;
    return false;
}

static enum msim_status enter(const struct msim_dtensor *x, uint32_t s,
                              struct msim_draft_place at)
{
    uint32_t f = x->forward[s];

    if (x->w->a.rows[s].role == MSIM_ANATOMY_FORWARD)
        return makes_loss(x, s) ? MSIM_OK : note(x, at, "_FromTorchTensor");
    if (f == MSIM_NONE || x->first[f] != s || makes_loss(x, f))
        return MSIM_OK;
    MSIM_TRY(node(x, at, "_ToTorchTensorBackward", "_FromTorchTensor"));
    return node(x, at, "RedistributeBackward", "NestedRedistribute");
}

static enum msim_status leave(const struct msim_dtensor *x, uint32_t s,
                              struct msim_draft_place at)
{
    uint32_t f = x->forward[s];

    if (x->w->a.rows[s].role == MSIM_ANATOMY_FORWARD) {
        if (makes_loss(x, s))
            return MSIM_OK;
        MSIM_TRY(note(x, at, "Redistribute"));
        return note(x, at, "_ToTorchTensor");
    }
    if (f == MSIM_NONE || x->last[f] != s || makes_loss(x, f))
        return MSIM_OK;
    return node(x, at, "_FromTorchTensorBackward", NULL);
}

/* ---- copies --------------------------------------------------------------
 */

/* `op`, or what is dispatched of it below it. `*inside` is up to where
 * operators are below one that is dispatched. */
static enum msim_status copy_op(const struct msim_dtensor *x, uint32_t s,
                                uint32_t op, const struct msim_draft_how *how,
                                uint32_t *inside, uint32_t *outer)
{
    struct msim_weave *w = x->w;
    struct msim_draft_how own = *how;

    if (op != w->a.rows[s].op)
        own.at.parent = w->d.placed[w->t->ops[op].parent];
    MSIM_TRY(msim_draft_copy(&w->d, op, &own));
    *outer = w->d.placed[op];
    if (op < *inside || !is_dispatched(x, s, op))
        return MSIM_OK;
    *inside = w->t->ops[op].end;
    own.at.parent = *outer;
    MSIM_TRY(msim_weave_hold(w, "PythonSubclass", own.at, &own.at));
    return msim_draft_copy(&w->d, op, &own);
}

enum msim_status msim_dtensor_copy(const struct msim_dtensor *x,
                                   uint32_t statement,
                                   const struct msim_draft_how *how)
{
    const struct msim_anatomy *a = &x->w->a;
    struct msim_draft_place at = how->at;
    uint32_t inside = 0, outer;

    if (!x->calls[statement])
        return msim_weave_copy_as(x->w, statement, how);
    for (uint32_t i = a->rows[statement].op; i < msim_anatomy_end(a, statement);
         i++) {
        MSIM_TRY(copy_op(x, statement, i, how, &inside, &outer));
        if (i != a->rows[statement].op)
            continue;
        at.parent = outer;
        if (a->rows[statement].role != MSIM_ANATOMY_OPTIMIZER)
            MSIM_TRY(enter(x, statement, at));
    }
    return a->rows[statement].role == MSIM_ANATOMY_OPTIMIZER
               ? MSIM_OK
               : leave(x, statement, at);
}
