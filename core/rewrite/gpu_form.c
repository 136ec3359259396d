/*
 * core/rewrite/gpu_form.c - a capture of a CPU as a GPU runs it.
 *
 * Attention. With dropout the CPU computes it in parts, since its fused kernel
 * has none: products, softmax, a mask and its products, all of the size
 * queries x keys, which backward needs. A GPU takes the fused kernel of 16-bit
 * types (flash) or that of others (memory-efficient), which keep one number a
 * query (sdp_utils.cpp and sdp_utils.h of ATen: what each can take). Both
 * passes become one operator each:
 *
 *     scaled_dot_product_attention        the same, around
 *       ..._math (mul, bmm, softmax, ...)   _..._efficient_attention
 *     MulBackward1, BmmBackward0, ...     ...EfficientAttentionBackward0
 *
 * Backward statements are those with the sequence numbers of what is replaced.
 * Gradients of queries, keys and values are what later statements read of them.
 *
 * Dropout. The CPU keeps a mask of the activation's type, a GPU one of bytes
 * (native_dropout).
 */

#include "core/rewrite/rewrite_internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPERANDS 3 /* queries, keys, values */

/* One operator that is replaced in both passes. */
struct replaced {
    uint32_t forward;        /* its statement */
    int32_t first, last;     /* sequence numbers of what is replaced */
    bool is_attention, done; /* done: its backward is there */
    bool causal, half;
    double dropout;
    struct msim_draft_tensor operands[OPERANDS], out, kept; /* kept: one number
                                                   a query, or the mask */
    int64_t dims[4];                                        /* of `kept` */
};

struct forming {
    struct msim_weave *w;
    struct replaced *rows; /* by first sequence number */
    uint32_t n;
    uint32_t *of; /* by statement: the row that replaces it, or NONE */
};

/* ---- what is replaced ---------------------------------------------------- */

static bool is_named(const struct forming *f, uint32_t op, const char *name)
{
    return !strcmp(msim_trace_text(f->w->t, f->w->t->ops[op].name), name);
}

/* Sequence numbers below `op`; false where there are none. */
static bool find_range(const struct forming *f, uint32_t op, struct replaced *r)
{
    const struct msim_trace *t = f->w->t;

    r->first = INT32_MAX;
    r->last = -1;
    for (uint32_t i = op; i < t->ops[op].end; i++) {
        if (t->ops[i].seq < 0)
            continue;
        r->first = t->ops[i].seq < r->first ? t->ops[i].seq : r->first;
        r->last = t->ops[i].seq > r->last ? t->ops[i].seq : r->last;
    }
    return r->last >= 0;
}

/* Argument `i` of `op`; NULL: it has none, or none was recorded. */
static const struct msim_arg *arg_of(const struct forming *f, uint32_t op,
                                     uint32_t i)
{
    const struct msim_op *o = &f->w->t->ops[op];

    return o->args == MSIM_NONE ? NULL : msim_args_get(f->w->t, o->args, i);
}

/* A tensor of the recorded trace, in the storage that its life has. */
static struct msim_draft_tensor tensor_of(const struct forming *f,
                                          const struct msim_lives_each *e)
{
    return (struct msim_draft_tensor){
        .dtype = e->arg->dtype,
        .device = e->arg->device,
        .n = e->arg->n,
        .storage = e->life == MSIM_NONE ? 0 : f->w->d.storage[e->life],
        .dims = msim_arg_dims(f->w->t, e->arg)};
}

/* The child of `op` of that name, or NONE. */
static uint32_t child_named(const struct forming *f, uint32_t op,
                            const char *name)
{
    for (uint32_t i = op + 1; i < f->w->t->ops[op].end; i++)
        if (is_named(f, i, name))
            return i;
    return MSIM_NONE;
}

/* Attention that a fused kernel takes: no mask that wants a gradient can be
 * told, so a mask is none that flash takes; double precision has none. */
static bool read_attention(const struct forming *f, uint32_t op,
                           struct replaced *r)
{
    struct msim_lives_each e = msim_lives_inputs(&f->w->d.lives, f->w->t, op);
    const struct msim_arg *p = arg_of(f, op, 4), *causal = arg_of(f, op, 5);
    const struct msim_arg *mask = arg_of(f, op, 3);

    for (int i = 0; i < OPERANDS; i++) {
        if (!msim_lives_next(&e) || e.arg->n != 4 ||
            e.arg->dtype == MSIM_DT_F64)
            return false;
        r->operands[i] = tensor_of(f, &e);
    }
    r->half = msim_dtype_bytes(r->operands[0].dtype) == 2 &&
              !(mask && mask->kind == MSIM_ARG_TENSOR);
    r->dropout = p && p->kind == MSIM_ARG_REAL ? p->v.f : 0;
    r->causal = causal && causal->kind == MSIM_ARG_BOOL && causal->v.i;
    memcpy(r->dims, r->operands[0].dims, sizeof(r->dims));
    r->kept = (struct msim_draft_tensor){.dtype = MSIM_DT_F32,
                                         .device = r->operands[0].device,
                                         .n = OPERANDS, /* batch, heads, rows */
                                         .dims = r->dims};
    return r->is_attention = true;
}

/* Dropout in training: it drew numbers. */
static bool read_dropout(const struct forming *f, uint32_t op,
                         struct replaced *r)
{
    struct msim_lives_each e = msim_lives_inputs(&f->w->d.lives, f->w->t, op);
    const struct msim_arg *p = arg_of(f, op, 1);

    if (child_named(f, op, "aten::bernoulli_") == MSIM_NONE ||
        !msim_lives_next(&e) || e.arg->n > 4)
        return false;
    r->operands[0] = tensor_of(f, &e);
    r->dropout = p && p->kind == MSIM_ARG_REAL ? p->v.f : 0;
    memcpy(r->dims, r->operands[0].dims, e.arg->n * sizeof(r->dims[0]));
    r->kept = (struct msim_draft_tensor){.dtype = MSIM_DT_BOOL,
                                         .device = r->operands[0].device,
                                         .n = e.arg->n,
                                         .dims = r->dims};
    return true;
}

static bool read_statement(const struct forming *f, uint32_t s,
                           struct replaced *r)
{
    uint32_t op = f->w->a.rows[s].op, math;

    *r = (struct replaced){.forward = s};
    if (is_named(f, op, MSIM_GPU_FORM_DROPOUT))
        return find_range(f, op, r) && read_dropout(f, op, r);
    if (!is_named(f, op, "aten::scaled_dot_product_attention"))
        return false;
    math = child_named(f, op, MSIM_GPU_FORM_MATH);
    return math != MSIM_NONE && find_range(f, math, r) &&
           read_attention(f, op, r);
}

/* The row whose sequence numbers hold that of statement `s`, or NONE. */
static uint32_t find_row(const struct forming *f, uint32_t s)
{
    int32_t seq = msim_anatomy_sequence(&f->w->a, s);
    uint32_t low = 0, high = f->n;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (f->rows[mid].last < seq)
            low = mid + 1;
        else
            high = mid;
    }
    return seq >= 0 && low < f->n && f->rows[low].first <= seq ? low
                                                               : MSIM_NONE;
}

static void find_replaced(struct forming *f)
{
    const struct msim_anatomy *a = &f->w->a;

    for (uint32_t s = 0; s < a->n; s++)
        if (a->rows[s].role == MSIM_ANATOMY_FORWARD &&
            read_statement(f, s, &f->rows[f->n]))
            f->of[s] = f->n++;
    for (uint32_t s = 0; s < a->n; s++)
        if (a->rows[s].role == MSIM_ANATOMY_BACKWARD)
            f->of[s] = find_row(f, s);
}

/* ---- forward ------------------------------------------------------------- */

static struct msim_arg real_arg(double v)
{
    return (struct msim_arg){.kind = MSIM_ARG_REAL, .v.f = v};
}

static struct msim_arg bool_arg(bool v)
{
    return (struct msim_arg){.kind = MSIM_ARG_BOOL, .v.i = v};
}

/* The statement's own operator, without what is below it. */
static enum msim_status copy_top(struct forming *f, uint32_t s,
                                 struct msim_draft_place *inside)
{
    const struct msim_draft_how how = {.at = msim_weave_place(f->w, s)};
    uint32_t op = f->w->a.rows[s].op;

    MSIM_TRY(msim_draft_copy(&f->w->d, op, &how));
    *inside = (struct msim_draft_place){f->w->d.placed[op], how.at.thread};
    return MSIM_OK;
}

/* Arguments: flash (q, k, v, dropout, causal), efficient (q, k, v, bias, sums,
 * dropout, causal). */
static enum msim_status add_attention(struct forming *f, struct replaced *r,
                                      struct msim_draft_place at)
{
    const struct msim_arg flash[] = {real_arg(r->dropout), bool_arg(r->causal)};
    const struct msim_arg efficient[] = {{.kind = MSIM_ARG_NONE},
                                         bool_arg(true),
                                         real_arg(r->dropout),
                                         bool_arg(r->causal)};
    const struct msim_draft_tensor out[] = {r->out, r->kept};

    return msim_draft_add(
        &f->w->d,
        &(struct msim_draft_op){
            .name = r->half ? "aten::_scaled_dot_product_flash_attention"
                            : "aten::_scaled_dot_product_efficient_attention",
            .et_id = f->w->t->ops[f->w->a.rows[r->forward].op].et_id,
            .at = at,
            .in = r->operands,
            .n_in = OPERANDS,
            .plain = r->half ? flash : efficient,
            .n_plain = r->half ? 2 : 4,
            .out = out,
            .n_out = 2},
        NULL);
}

static enum msim_status add_dropout(struct forming *f, struct replaced *r,
                                    struct msim_draft_place at)
{
    const struct msim_arg plain[] = {real_arg(r->dropout), bool_arg(true)};
    const struct msim_draft_tensor out[] = {r->out, r->kept};

    return msim_draft_add(
        &f->w->d,
        &(struct msim_draft_op){
            .name = "aten::native_dropout",
            .et_id = f->w->t->ops[f->w->a.rows[r->forward].op].et_id,
            .at = at,
            .in = r->operands,
            .n_in = 1,
            .plain = plain,
            .n_plain = 2,
            .out = out,
            .n_out = 2},
        NULL);
}

static enum msim_status put_forward(struct forming *f, struct replaced *r)
{
    struct msim_lives_each e = msim_lives_outputs(&f->w->d.lives, f->w->t,
                                                  f->w->a.rows[r->forward].op);
    struct msim_draft_place at;

    if (!msim_lives_next(&e)) /* what it makes is not recorded */
        return msim_weave_copy(f->w, r->forward);
    r->out = tensor_of(f, &e);
    r->kept.storage = msim_draft_fresh(&f->w->d);
    MSIM_TRY(copy_top(f, r->forward, &at));
    return r->is_attention ? add_attention(f, r, at) : add_dropout(f, r, at);
}

/* ---- backward ------------------------------------------------------------ */

/* The gradient that the first of the replaced statements is given. */
static struct msim_draft_tensor gradient_in(const struct forming *f, uint32_t s)
{
    for (uint32_t i = f->w->a.rows[s].op; i < msim_anatomy_end(&f->w->a, s);
         i++) {
        struct msim_lives_each e =
            msim_lives_inputs(&f->w->d.lives, f->w->t, i);

        if (msim_lives_next(&e))
            return tensor_of(f, &e);
    }
    return (struct msim_draft_tensor){.none = true};
}

/* Is the life read behind the statements of row `row`? */
static bool is_read_later(const struct forming *f, uint32_t row, uint32_t life)
{
    const struct msim_life *l = &f->w->d.lives.rows[life];
    uint32_t top = msim_op_topmost(f->w->t, l->last);
    uint32_t s = top == MSIM_NONE ? MSIM_NONE : f->w->a.statement[top];

    return s != MSIM_NONE && f->of[s] != row;
}

/* The storages of gradients that go on: of queries, keys and values, as many as
 * there are. */
static uint32_t gradients_out(const struct forming *f, uint32_t row,
                              uint32_t from, uint32_t storages[OPERANDS])
{
    const struct msim_anatomy *a = &f->w->a;
    uint32_t n = 0;

    for (uint32_t s = from; s < a->passes[a->rows[from].pass].tail; s++) {
        if (f->of[s] != row)
            continue;
        for (uint32_t i = a->rows[s].op; i < msim_anatomy_end(a, s); i++) {
            struct msim_lives_each e =
                msim_lives_outputs(&f->w->d.lives, f->w->t, i);

            while (msim_lives_next(&e) && n < OPERANDS) {
                bool known = e.life == MSIM_NONE ||
                             !is_read_later(f, row, e.life) ||
                             f->w->d.lives.rows[e.life].born == MSIM_NONE;

                for (uint32_t k = 0; k < n && !known; k++)
                    known = storages[k] == f->w->d.storage[e.life];
                if (!known)
                    storages[n++] = f->w->d.storage[e.life];
            }
        }
    }
    return n;
}

/* autograd's frame, its function, and the operator in it. */
static enum msim_status put_function(struct forming *f, uint32_t s,
                                     const char *function,
                                     struct msim_draft_op *op)
{
    char frame[128];
    struct msim_draft_place outer, inner;

    snprintf(frame, sizeof(frame), "autograd::engine::evaluate_function: %s",
             function);
    MSIM_TRY(msim_weave_hold(f->w, frame, msim_weave_place(f->w, s), &outer));
    MSIM_TRY(msim_weave_hold(f->w, function, outer, &inner));
    op->at = inner;
    op->et_id = f->w->t->ops[f->w->a.rows[s].op].et_id;
    return msim_draft_add(&f->w->d, op, NULL);
}

/* Arguments: flash (gradient, q, k, v, out, sums, ..., causal at 11), efficient
 * (gradient, q, k, v, bias, out, sums, seed, offset, dropout, wanted, causal).
 */
static enum msim_status put_attention(struct forming *f, struct replaced *r,
                                      uint32_t s)
{
    const struct msim_draft_tensor none = {.none = true};
    const struct msim_draft_tensor flash[] = {
        gradient_in(f, s), r->operands[0], r->operands[1],
        r->operands[2],    r->out,         r->kept};
    const struct msim_draft_tensor efficient[] = {
        flash[0], flash[1], flash[2], flash[3], none, flash[4], flash[5]};
    const struct msim_arg no = {.kind = MSIM_ARG_NONE};
    const struct msim_arg rest[] = {no, no, no, no, bool_arg(r->causal)};
    const struct msim_arg behind_flash[] = {
        no, no, no, no, real_arg(r->dropout), bool_arg(r->causal)};
    struct msim_draft_tensor out[OPERANDS];
    uint32_t storages[OPERANDS];
    uint32_t n = gradients_out(f, f->of[s], s, storages);
    struct msim_draft_op op = {
        .name = r->half
                    ? "aten::_scaled_dot_product_flash_attention_backward"
                    : "aten::_scaled_dot_product_efficient_attention_backward",
        .in = r->half ? flash : efficient,
        .n_in = r->half ? 6 : 7,
        .plain = r->half ? behind_flash : rest,
        .n_plain = r->half ? 6 : 5,
        .out = out,
        .n_out = OPERANDS};

    for (uint32_t i = 0; i < OPERANDS; i++) {
        out[i] = r->operands[i];
        out[i].storage = i < n ? storages[i] : msim_draft_fresh(&f->w->d);
    }
    return put_function(f, s,
                        r->half ? "ScaledDotProductFlashAttentionBackward0"
                                : "ScaledDotProductEfficientAttentionBackward0",
                        &op);
}

static enum msim_status put_dropout(struct forming *f, struct replaced *r,
                                    uint32_t s)
{
    const struct msim_draft_tensor in[] = {gradient_in(f, s), r->kept};
    const struct msim_arg scale = real_arg(1 / (1 - r->dropout));
    struct msim_draft_tensor out = r->operands[0];
    uint32_t storages[OPERANDS];

    out.storage = gradients_out(f, f->of[s], s, storages)
                      ? storages[0]
                      : msim_draft_fresh(&f->w->d);
    return put_function(
        f, s, "NativeDropoutBackward0",
        &(struct msim_draft_op){.name = "aten::native_dropout_backward",
                                .in = in,
                                .n_in = 2,
                                .plain = &scale,
                                .n_plain = 1,
                                .out = &out,
                                .n_out = 1});
}

/* ---- all of it ----------------------------------------------------------- */

static enum msim_status visit(void *ctx, uint32_t s)
{
    struct forming *f = ctx;
    struct replaced *r;

    if (f->of[s] == MSIM_NONE)
        return msim_weave_copy(f->w, s);
    r = &f->rows[f->of[s]];
    if (s == r->forward)
        return put_forward(f, r);
    if (r->done)
        return MSIM_OK;
    r->done = true;
    return r->is_attention ? put_attention(f, r, s) : put_dropout(f, r, s);
}

enum msim_status msim_stage_gpu(struct msim_weave *w,
                                const struct msim_rewrite *r)
{
    struct forming f = {.w = w};
    enum msim_status status = MSIM_ENOMEM;

    (void)r;
    f.rows = calloc((size_t)w->a.n + 1, sizeof(*f.rows));
    f.of = malloc(((size_t)w->a.n + 1) * sizeof(*f.of));
    if (f.rows && f.of) {
        memset(f.of, 0xff, w->a.n * sizeof(*f.of));
        find_replaced(&f);
        status = msim_weave_walk(w, &f, visit);
    }
    free(f.rows);
    free(f.of);
    return status;
}
