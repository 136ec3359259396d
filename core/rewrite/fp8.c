/*
 * core/rewrite/fp8.c - products of linear layers in 8 bits, forward and
 * backward, each operand scaled by its greatest element.
 *
 *     amax(x)  x in 8 bits  amax(w)  w in 8 bits  _scaled_mm     for mm(x, w)
 *
 * As torchao's Float8Linear with dynamic scaling of whole tensors does it, once
 * torch.compile has made one kernel of a scale and a cast: the greatest element
 * is found in one reading, the cast reads again and writes a byte an element.
 * Operands are cast in forward and again in backward, where gradient and
 * product keep their type. The kernels ask for rows of both matrices that are
 * multiples of 16 long (torch._scaled_mm); other products stay, and so does the
 * last product of a forward pass, the head: recipes leave it out, since a loss
 * needs its digits.
 */
#include "core/rewrite/stages.h"
#include "core/rewrite/weave/emit.h"

#include <stdlib.h>
#include <string.h>

#define MULTIPLE   16
#define CASTS_MOST 8 /* operands of one statement that are cast once */

struct operand {
    const struct msim_arg *arg;
    uint32_t life, storage; /* in 8 bits */
    uint32_t scale;         /* storage of it */
};

struct narrowing {
    struct msim_weave *w;
    uint32_t *forward; /* by backward statement: of what, or NONE */
    uint32_t head;     /* statement of the pass at hand; NONE: none */
    struct operand cast[CASTS_MOST]; /* of the statement at hand */
    uint32_t n_cast;
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
    return a->n == 2 && msim_arg_dims(t, a)[1] % MULTIPLE == 0 &&
           (a->dtype == MSIM_DT_F32 || a->dtype == MSIM_DT_F16 ||
            a->dtype == MSIM_DT_BF16);
}

/* The two matrices that product `op` is given: the last tensors. */
static bool find_operands(const struct narrowing *c, uint32_t op,
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
    return n == 2 && of[0].life != MSIM_NONE && of[1].life != MSIM_NONE &&
           fits(c->w->t, of[0].arg) && fits(c->w->t, of[1].arg);
}

/* ---- casts ---------------------------------------------------------------
 */

static enum msim_status cast(struct narrowing *c, struct msim_draft_place at,
                             struct operand *x)
{
    struct msim_draft *d = &c->w->d;
    const struct msim_emit_flat from = {
        (int64_t)msim_arg_elems(c->w->t, x->arg), d->storage[x->life],
        x->arg->dtype, x->arg->device};
    struct msim_emit_flat to = from, scale = from;
    struct msim_draft_place in;

    x->storage = to.storage = msim_draft_fresh(d);
    x->scale = scale.storage = msim_draft_fresh(d);
    to.dtype = MSIM_DT_F8;
    scale.elems = 1;
    MSIM_TRY(msim_weave_hold(c->w, "aten::to", at, &in));
    MSIM_TRY(msim_emit_op(d, in, "aten::amax", &scale, &from, NULL));
    MSIM_TRY(msim_emit_empty(d, in, &to));
    return msim_emit_copy(d, in, &to, &from);
}

/* In 8 bits, once a statement. */
static enum msim_status bring(struct narrowing *c, struct msim_draft_place at,
                              struct operand *x)
{
    for (uint32_t i = 0; i < c->n_cast; i++)
        if (c->cast[i].life == x->life) {
            x->storage = c->cast[i].storage;
            x->scale = c->cast[i].scale;
            return MSIM_OK;
        }
    MSIM_TRY(cast(c, at, x));
    if (c->n_cast < CASTS_MOST)
        c->cast[c->n_cast++] = *x;
    return MSIM_OK;
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
        in[2 + i] = (struct msim_draft_tensor){.dtype = MSIM_DT_F32,
                                               .device = in[i].device,
                                               .storage = of[i].scale};
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

/* A copy of statement `s` whose products are in 8 bits. */
static enum msim_status narrow(struct narrowing *c, uint32_t s)
{
    struct msim_weave *w = c->w;
    uint32_t top = w->a.rows[s].op;

    c->n_cast = 0;
    for (uint32_t i = top; i < msim_anatomy_end(&w->a, s); i++) {
        struct msim_draft_how how = {.at = msim_weave_place(w, s)};
        struct operand of[2];

        if (i != top)
            how.at.parent = w->d.placed[w->t->ops[i].parent];
        if (is_product(c, i) && find_operands(c, i, of)) {
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

static enum msim_status visit(void *ctx, uint32_t s)
{
    struct narrowing *c = ctx;
    const struct msim_anatomy_statement *row = &c->w->a.rows[s];
    bool forward = row->role == MSIM_ANATOMY_FORWARD;

    if (row->pass == MSIM_NONE || (!forward && c->forward[s] == MSIM_NONE))
        return msim_weave_copy(c->w, s);
    if (s == c->w->a.passes[row->pass].forward || c->head == MSIM_NONE)
        c->head = head_of(c, row->pass);
    if ((forward ? s : c->forward[s]) == c->head)
        return msim_weave_copy(c->w, s);
    return narrow(c, s);
}

enum msim_status msim_stage_fp8(struct msim_weave *w,
                                const struct msim_rewrite *r)
{
    struct narrowing c = {.w = w, .head = MSIM_NONE};
    enum msim_status status;

    (void)r;
    c.forward = malloc(((size_t)w->a.n + 1) * sizeof(*c.forward));
    if (!c.forward)
        return MSIM_ENOMEM;
    status = msim_anatomy_forward(&w->a, c.forward);
    if (status == MSIM_OK)
        status = msim_weave_walk(w, &c, visit);
    if (status == MSIM_OK && !c.products)
        status = msim_weave_refuse(
            w, "no product of a linear layer before the last one "
               "has rows of a multiple of 16 elements, as 8 bits need them");
    free(c.forward);
    return status;
}
