/*
 * core/rewrite/fp8.c - products of linear layers in 8 bits, forward and
 * backward, as synth writes them and plan prices them
 * (plan/parts/parts_maker.h).
 *
 *     x in 8 bits  w in 8 bits  _scaled_mm          for mm(x, w)
 *
 * A matrix is cast once, by a kernel that reads it and writes a byte an
 * element; a later product that reads it, too, reads it along its other
 * dimension, and so a copy of the 8 bits in that order: backward multiplies
 * input and weight of forward, and the gradient twice. Scales are those that
 * earlier steps gave (Transformer Engine's DelayedScaling), so that nobody
 * reads a matrix to find its greatest element. Gradient and product keep their
 * type. The kernels ask for rows of both matrices that are multiples of 16 long
 * (torch._scaled_mm); other products stay, and so does the last product of a
 * forward pass, the head: recipes leave it out, since a loss needs its digits.
 */
#include "core/rewrite/rewrite_internal.h"
#include "core/rewrite/weave/draft.h"
#include "core/trace/trace_columns.h"

#include <stdlib.h>
#include <string.h>

struct operand {
    const struct msim_arg *arg;
    uint32_t life, storage; /* in 8 bits */
};

struct narrowing {
    struct msim_weave *w;
    uint32_t *narrow;    /* by life: its storage in 8 bits, or NONE */
    uint32_t head;       /* statement of the pass at hand; NONE: none */
    uint32_t of_head[2]; /* lives that it multiplies */
    uint32_t products;
};

/* ---- which products ------------------------------------------------------
 */

static bool is_product(const struct narrowing *c, uint32_t op)
{
    const char *name = msim_trace_text(c->w->t, c->w->t->ops[op].name);

    return !strcmp(name, "aten::mm") || !strcmp(name, "aten::addmm");
}

static bool holds_product(const struct narrowing *c, uint32_t s)
{
    for (uint32_t i = c->w->a.rows[s].op; i < msim_anatomy_end(&c->w->a, s);
         i++)
        if (is_product(c, i))
            return true;
    return false;
}

static bool fits(const struct msim_trace *t, const struct msim_arg *a)
{
    return a->n == 2 && msim_arg_dims(t, a)[1] % MSIM_NARROW_MULTIPLE == 0 &&
           (a->dtype == MSIM_DT_F32 || a->dtype == MSIM_DT_F16 ||
            a->dtype == MSIM_DT_BF16);
}

/* The two matrices that product `op` is given: the last tensors. */
static bool operands_of(const struct narrowing *c, uint32_t op,
                        struct operand *of)
{
    struct msim_lives_each e = msim_lives_inputs(&c->w->d.lives, c->w->t, op);
    uint32_t n = 0;

    while (msim_lives_next(&e)) {
        if (n == 2)
            of[0] = of[1];
        n = n < 2 ? n + 1 : 2;
        of[n - 1] = (struct operand){.arg = e.arg, .life = e.life};
    }
    return n == 2 && of[0].life != MSIM_NONE && of[1].life != MSIM_NONE;
}

/* Those that may be in 8 bits. */
static bool find_operands(const struct narrowing *c, uint32_t op,
                          struct operand *of)
{
    return operands_of(c, op, of) && fits(c->w->t, of[0].arg) &&
           fits(c->w->t, of[1].arg);
}

/* ---- casts ---------------------------------------------------------------
 */

/* The operand in 8 bits: cast, or, where it was, in the other order. */
static enum msim_status bring(struct narrowing *c, struct msim_draft_place at,
                              struct operand *x)
{
    struct msim_draft *d = &c->w->d;
    uint32_t *known = &c->narrow[x->life];
    struct msim_emit_flat from = {(int64_t)msim_arg_elems(c->w->t, x->arg),
                                  d->storage[x->life], x->arg->dtype,
                                  x->arg->device};
    struct msim_emit_flat to = from;
    bool cast = *known == MSIM_NONE;
    struct msim_draft_place in;

    to.dtype = MSIM_DT_F8;
    to.storage = x->storage = msim_draft_fresh(d);
    if (cast) {
        *known = to.storage;
    } else {
        from.dtype = MSIM_DT_F8;
        from.storage = *known;
    }
    MSIM_TRY(msim_weave_hold(c->w, cast ? "aten::to" : "aten::clone", at, &in));
    MSIM_TRY(msim_emit_empty(d, in, &to));
    return msim_emit_copy(d, in, &to, &from);
}

static struct msim_draft_tensor tensor(const struct narrowing *c,
                                       const struct operand *x)
{
    return (struct msim_draft_tensor){.dtype = MSIM_DT_F8,
                                      .device = x->arg->device,
                                      .n = x->arg->n,
                                      .storage = x->storage,
                                      .dims = msim_arg_dims(c->w->t, x->arg)};
}

/* ---- products ------------------------------------------------------------
 */

static enum msim_status multiply(struct narrowing *c, uint32_t op,
                                 struct msim_draft_place at, struct operand *of)
{
    struct msim_lives_each e = msim_lives_outputs(&c->w->d.lives, c->w->t, op);
    struct msim_draft_tensor in[4], out = {0};

    MSIM_TRY(bring(c, at, &of[0]));
    MSIM_TRY(bring(c, at, &of[1]));
    for (int i = 0; i < 2; i++) {
        in[i] = tensor(c, &of[i]);
        in[2 + i] =
            (struct msim_draft_tensor){.dtype = MSIM_DT_F32,
                                       .device = in[i].device,
                                       .storage = msim_draft_fresh(&c->w->d)};
    }
    if (!msim_lives_next(&e) || e.life == MSIM_NONE)
        return MSIM_OK;
    out = (struct msim_draft_tensor){.dtype = e.arg->dtype,
                                     .device = e.arg->device,
                                     .n = e.arg->n,
                                     .storage = c->w->d.storage[e.life],
                                     .dims = msim_arg_dims(c->w->t, e.arg)};
    c->products++;
    return msim_draft_add(&c->w->d,
                          &(struct msim_draft_op){.name = "aten::_scaled_mm",
                                                  .at = at,
                                                  .in = in,
                                                  .n_in = 4,
                                                  .out = &out,
                                                  .n_out = 1},
                          &c->w->d.placed[op]);
}

/* Backward of the head multiplies what the head did, whatever a trace says of
 * which operator it is the backward of. */
static bool is_heads(const struct narrowing *c, const struct operand *of)
{
    for (int i = 0; i < 2; i++)
        if (of[i].life == c->of_head[0] || of[i].life == c->of_head[1])
            return true;
    return false;
}

/* A copy of statement `s` whose products are in 8 bits. */
static enum msim_status narrow(struct narrowing *c, uint32_t s)
{
    struct msim_weave *w = c->w;
    uint32_t top = w->a.rows[s].op;

    for (uint32_t i = top; i < msim_anatomy_end(&w->a, s); i++) {
        struct msim_draft_how how = {.at = msim_weave_place(w, s)};
        struct operand of[2];

        if (i != top)
            how.at.parent = w->d.placed[w->t->ops[i].parent];
        if (is_product(c, i) && find_operands(c, i, of) && !is_heads(c, of)) {
            MSIM_TRY(multiply(c, i, how.at, of));
            i = w->t->ops[i].end - 1;
        } else {
            MSIM_TRY(msim_draft_copy(&w->d, i, &how));
        }
    }
    return MSIM_OK;
}

/* The last statement of a forward pass that multiplies. */
static uint32_t head_of(const struct narrowing *c, uint32_t pass)
{
    const struct msim_anatomy_pass *p = &c->w->a.passes[pass];

    for (uint32_t s = p->backward; s-- > p->forward;)
        if (holds_product(c, s))
            return s;
    return MSIM_NONE;
}

static void find_head(struct narrowing *c, uint32_t pass)
{
    uint32_t end, i;
    struct operand of[2];

    c->head = head_of(c, pass);
    c->of_head[0] = c->of_head[1] = MSIM_NONE;
    if (c->head == MSIM_NONE)
        return;
    end = msim_anatomy_end(&c->w->a, c->head);
    for (i = c->w->a.rows[c->head].op; i < end; i++)
        if (is_product(c, i) && operands_of(c, i, of)) {
            c->of_head[0] = of[0].life;
            c->of_head[1] = of[1].life;
        }
}

static enum msim_status visit(void *ctx, uint32_t s)
{
    struct narrowing *c = ctx;
    const struct msim_anatomy_statement *row = &c->w->a.rows[s];

    if (row->pass == MSIM_NONE || (row->role != MSIM_ANATOMY_FORWARD &&
                                   row->role != MSIM_ANATOMY_BACKWARD))
        return msim_weave_copy(c->w, s);
    if (s == c->w->a.passes[row->pass].forward || c->head == MSIM_NONE)
        find_head(c, row->pass);
    return s == c->head ? msim_weave_copy(c->w, s) : narrow(c, s);
}

enum msim_status msim_stage_fp8(struct msim_weave *w,
                                const struct msim_rewrite *r)
{
    struct narrowing c = {.w = w, .head = MSIM_NONE};
    enum msim_status status;

    (void)r;
    c.narrow = malloc(((size_t)w->d.lives.n + 1) * sizeof(*c.narrow));
    for (uint32_t i = 0; c.narrow && i < w->d.lives.n; i++)
        c.narrow[i] = MSIM_NONE;
    status = c.narrow ? msim_weave_walk(w, &c, visit) : MSIM_ENOMEM;
    if (status == MSIM_OK && !c.products)
        status = msim_weave_refuse(
            w, "no product of a linear layer before the last one "
               "has rows of a multiple of 16 elements, as 8 bits need them");
    free(c.narrow);
    return status;
}
