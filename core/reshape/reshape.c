/*
 * core/reshape/reshape.c - a trace with other sizes.
 *
 * Argument lists are interned, so that a list is changed once for each name of
 * operator that has it (which size of a matrix belongs to the batch depends on
 * what multiplies it), and once for each choice of its tensors that are
 * weights: a weight and data may have one shape.
 */
#include "core/reshape/reshape.h"

#include "core/base/containers.h"
#include "core/base/hash.h"
#include "core/trace/trace_columns.h"
#include "core/trace/trace_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANK_MOST 64 /* sizes of a tensor that is changed */

struct reshaping {
    const struct msim_trace *t;
    struct msim_trace *view;
    enum msim_dtype dtype;       /* of what is fp32; UNKNOWN: as it is */
    bool tf32;                   /* which is what is asked for */
    struct msim_axis_sizes axis; /* the one that is changed; t NULL: none */
    struct msim_argpool pool;    /* of the view */
    struct msim_idmap lists;     /* list and name -> the view's list */
    struct msim_arg *args;       /* one list that is made */
    uint8_t *weight;             /* of those: it is a weight */
    uint32_t cap, cap_weight;
    bool optimizer;   /* the operator is inside an optimizer's step */
    uint32_t changed; /* tensors */
};

/* ---- one axis -------------------------------------------------------------
 */

/* A vector that is spread over all samples: [1, 64, 1, 1] is a bias. */
static bool is_spread(const int64_t *dims, uint32_t n)
{
    uint32_t sizes = 0;

    for (uint32_t i = 0; i < n; i++)
        sizes += dims[i] != 1;
    return n > 1 && dims[0] == 1 && sizes == 1;
}

/*
 * Which sizes of a tensor change, a bit each. A size equal to the axis comes
 * first; else the first that a flattening makes; else the first of three or
 * more that is a multiple (samples times heads).
 */
static uint64_t changes(const struct reshaping *g, const struct msim_arg *a,
                        bool weight, const char *name)
{
    const struct msim_axis_sizes *s = &g->axis;
    const int64_t *d = msim_arg_dims(g->t, a);
    uint64_t equal = 0;
    uint32_t feature = msim_axis_feature(s, a, name);

    if (a->n > RANK_MOST || weight || (!s->axis.every && is_spread(d, a->n)))
        return 0;
    for (uint32_t i = 0; i < a->n; i++)
        if (i != feature && d[i] == s->axis.from && (s->axis.every || !equal))
            equal |= UINT64_C(1) << i;
    if (equal)
        return equal;
    for (uint32_t i = 0; i < a->n; i++)
        if (i != feature && msim_axis_times(s, d[i]))
            return UINT64_C(1) << i;
    return a->n >= 3 && !s->axis.every && s->axis.from > 1 &&
                   d[0] % s->axis.from == 0
               ? 1
               : 0;
}

/* A size that changes. One that no flattening explains holds the axis once. */
static int64_t changed_size(const struct reshaping *g, int64_t size)
{
    uint32_t times = msim_axis_times(&g->axis, size);

    return msim_axis_changed(&g->axis.axis, size, times ? times : 1);
}

static enum msim_status put_dims(struct reshaping *g, struct msim_arg *a,
                                 uint64_t which)
{
    int64_t dims[RANK_MOST];
    uint32_t index;

    if (!which)
        return MSIM_OK;
    memcpy(dims, msim_arg_dims(g->t, a), a->n * sizeof(*dims));
    for (uint32_t i = 0; i < a->n; i++)
        if (which >> i & 1)
            dims[i] = changed_size(g, dims[i]);
    MSIM_TRY(msim_argpool_dims(&g->pool, dims, a->n, &index));
    a->v.i = index;
    g->changed++;
    return MSIM_OK;
}

/* ---- products of matrices -------------------------------------------------
 */

/* The two matrices of a product, and where they are in the list. */
struct product {
    uint32_t a, b;
};

static bool is_product(const char *name, const struct msim_arg *first,
                       uint32_t n, struct product *p)
{
    if (!strcmp(name, "aten::mm"))
        *p = (struct product){0, 1};
    else if (!strcmp(name, "aten::addmm"))
        *p = (struct product){1, 2};
    else
        return false;
    return p->b < n && first[p->a].kind == MSIM_ARG_TENSOR &&
           first[p->a].n == 2 && first[p->b].kind == MSIM_ARG_TENSOR &&
           first[p->b].n == 2;
}

static bool can_change(const struct reshaping *g, uint32_t arg, uint32_t i)
{
    const struct msim_arg *a = &g->args[arg];

    return !g->weight[arg] &&
           msim_axis_times(&g->axis, msim_arg_dims(g->t, a)[i]) != 0;
}

/* [m, k] x [k, n]: two tensors of data that have the axis in k make the
 * gradient of a weight; else it is in m, or in n, or in both. */
static enum msim_status put_product(struct reshaping *g,
                                    const struct product *p)
{
    bool k = can_change(g, p->a, 1) && can_change(g, p->b, 0);
    uint64_t a = k ? 2 : can_change(g, p->a, 0) ? 1 : 0;
    uint64_t b = k ? 1 : can_change(g, p->b, 1) ? 2 : 0;

    MSIM_TRY(put_dims(g, &g->args[p->a], a));
    return put_dims(g, &g->args[p->b], b);
}

/* ---- lists ----------------------------------------------------------------
 */

static bool is_float32(const struct msim_arg *a)
{
    return a->dtype == MSIM_DT_F32;
}

static enum msim_status put_tensors(struct reshaping *g, const char *name,
                                    uint32_t n)
{
    struct product p;
    bool product = g->axis.t && is_product(name, g->args, n, &p);

    for (uint32_t i = 0; i < n; i++) {
        struct msim_arg *a = &g->args[i];

        if (a->kind != MSIM_ARG_TENSOR)
            continue;
        if (g->axis.t && !(product && (i == p.a || i == p.b)))
            MSIM_TRY(put_dims(g, a, changes(g, a, g->weight[i], name)));
        g->changed |= g->tf32 && is_float32(a);
        if (g->dtype && is_float32(a) && !g->optimizer) {
            a->dtype = (uint8_t)g->dtype;
            g->changed++;
        }
    }
    return product ? put_product(g, &p) : MSIM_OK;
}

static enum msim_status make_room(struct reshaping *g, uint32_t n)
{
    while (g->cap < n || g->cap_weight < n) {
        MSIM_TRY(
            msim_grow((void **)&g->args, &g->cap, g->cap, sizeof(*g->args)));
        MSIM_TRY(msim_grow((void **)&g->weight, &g->cap_weight, g->cap_weight,
                           sizeof(*g->weight)));
    }
    return MSIM_OK;
}

/* Which tensors of the list are weights; the list's key goes with that. */
static uint64_t note_weights(struct reshaping *g, uint32_t block, uint32_t id,
                             uint32_t name)
{
    const struct msim_arg_block b = g->t->blocks[block];
    const uint32_t list[] = {block, name, g->optimizer};
    uint64_t key = msim_hash_bytes(MSIM_HASH_START, list, sizeof(list));

    for (uint32_t i = 0; i < b.count; i++) {
        const struct msim_arg *a = &g->t->args[b.first + i];
        bool tensor = a->kind == MSIM_ARG_TENSOR;

        g->weight[i] =
            tensor && g->axis.t && msim_weights_have(&g->axis.weights, a, id);
        id += tensor && id != MSIM_NONE;
    }
    return msim_hash_bytes(key, g->weight, b.count);
}

/* The view's list for list `block` of an operator of that name, whose tensors
 * have ids from `id` on. */
static enum msim_status put_list(struct reshaping *g, uint32_t *block,
                                 uint32_t id, uint32_t name)
{
    struct msim_arg_block b;
    uint32_t *at, made;
    uint64_t key;

    if (*block == MSIM_NONE)
        return MSIM_OK;
    b = g->t->blocks[*block];
    MSIM_TRY(make_room(g, b.count));
    key = note_weights(g, *block, id, name);
    made = msim_idmap_get(&g->lists, key);
    if (made == MSIM_NONE) {
        if (b.count)
            memcpy(g->args, g->t->args + b.first, b.count * sizeof(*g->args));
        MSIM_TRY(put_tensors(g, msim_trace_text(g->t, name), b.count));
        MSIM_TRY(msim_argpool_block(&g->pool, g->args, b.count, &made));
        MSIM_TRY(msim_idmap_put(&g->lists, key, made, &at));
    }
    *block = made;
    return MSIM_OK;
}

/* ---- operators and messages -----------------------------------------------
 */

double msim_reshaped_growth(const struct msim_trace *view,
                            const struct msim_trace *t, uint32_t op)
{
    double before = op == MSIM_NONE ? 0 : msim_args_bytes(t, t->ops[op].args);

    return before > 0 ? msim_args_bytes(view, view->ops[op].args) / before : 1;
}

/* A message is as much larger as the tensors of its call. */
static void put_message(struct reshaping *g, struct msim_comm *c)
{
    double growth = msim_reshaped_growth(g->view, g->t, c->op);

    if (g->dtype && c->dtype == MSIM_DT_F32) {
        c->dtype = (uint8_t)g->dtype;
        growth *= 4.0 / msim_dtype_bytes(g->dtype);
    }
    c->in_elems = (uint64_t)((double)c->in_elems * growth + 0.5);
    c->out_elems = (uint64_t)((double)c->out_elems * growth + 0.5);
}

static bool is_step(const struct msim_trace *t, const struct msim_op *op)
{
    return !strncmp(msim_trace_text(t, op->name), "Optimizer.", 10);
}

static enum msim_status put_all(struct reshaping *g)
{
    struct msim_trace *v = g->view;
    uint32_t end = 0; /* of the optimizer's step */

    for (uint32_t i = 0; i < v->n_ops; i++) {
        if (i >= end && is_step(g->t, &v->ops[i]))
            end = v->ops[i].end;
        g->optimizer = i < end;
        MSIM_TRY(put_list(g, &v->ops[i].args, v->ops[i].ids, v->ops[i].name));
        MSIM_TRY(
            put_list(g, &v->ops[i].outs, v->ops[i].out_ids, v->ops[i].name));
    }
    for (uint32_t i = 0; i < v->n_comms; i++)
        put_message(g, &v->comms[i]);
    return MSIM_OK;
}

/* ---- views ----------------------------------------------------------------
 */

void msim_reshaped_free(struct msim_trace *view)
{
    msim_trace_view_free(view);
}

/* ---- what is asked for ----------------------------------------------------
 */

bool msim_reshape_is_none(const struct msim_reshape *r)
{
    return !r->n_axes && !r->n_sizes && !r->dtype && !r->tf32;
}

static enum msim_status complete(struct msim_axis *axis,
                                 const struct msim_trace *t,
                                 struct msim_error *err)
{
    if (axis->to && !axis->from)
        axis->from = msim_axis_batch_of(t);
    if (axis->to && !axis->from)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "no operator of the trace says what the batch is; "
                         "want it as \"from\"");
    return MSIM_OK;
}

static enum msim_status fill(struct reshaping *g, struct msim_axis axis,
                             struct msim_error *err)
{
    MSIM_TRY(complete(&axis, g->t, err));
    if (axis.to)
        MSIM_TRY(msim_axis_sizes_find(&g->axis, g->t, &axis));
    if (axis.to > 1 && axis.from == 1 && !g->axis.weights.of_id)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "a size of 1 cannot be told from others without ids "
                         "of tensors; want an execution trace, or a trace of "
                         "a batch of 2 or more");
    msim_argpool_init(&g->pool, g->view);
    MSIM_TRY(put_all(g));
    if (!g->changed)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         axis.to ? "no tensor of the trace has a size of %lld "
                                   "that is not a weight's"
                                 : "no tensor of the trace is fp32%.0lld",
                         (long long)axis.from);
    return MSIM_OK;
}

static void sizes_text(char *text, size_t size, const struct msim_trace *t,
                       const struct msim_arg *a)
{
    size_t n = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < a->n && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%lld", i ? ", " : "",
                              (long long)msim_arg_dims(t, a)[i]);
}

static void doubt(char text[MSIM_RESHAPE_DOUBT],
                  const struct msim_axis_sizes *s)
{
    const struct msim_arg *data;
    char sizes[64];
    uint32_t op;

    if (!msim_axis_doubtful(s, &op, &data))
        return;
    sizes_text(sizes, sizeof(sizes), s->t, data);
    snprintf(text, MSIM_RESHAPE_DOUBT,
             "'%.60s' reads [%s], which is shaped as a weight: it is taken for "
             "one and keeps its sizes; an execution trace beside the Kineto "
             "trace tells them apart",
             msim_trace_text(s->t, s->t->ops[op].name), sizes);
}

enum msim_status msim_reshape_doubt(char text[MSIM_RESHAPE_DOUBT],
                                    const struct msim_trace *t,
                                    const struct msim_reshape *r,
                                    struct msim_error *err)
{
    enum msim_status status = MSIM_OK;

    text[0] = '\0';
    for (uint32_t i = 0; i < r->n_axes && status == MSIM_OK && !*text; i++) {
        struct msim_axis axis = r->axes[i];
        struct msim_axis_sizes s = {0};

        MSIM_TRY(complete(&axis, t, err));
        status = msim_axis_sizes_find(&s, t, &axis);
        if (status == MSIM_OK)
            doubt(text, &s);
        msim_axis_sizes_release(&s);
    }
    return status;
}

/* One axis and the type; `t` is the trace, or a view of it. */
static enum msim_status change(struct msim_trace **out,
                               const struct msim_trace *t,
                               const struct msim_axis *axis,
                               enum msim_dtype dtype, bool tf32,
                               struct msim_error *err)
{
    struct reshaping g = {.t = t, .dtype = dtype, .tf32 = tf32};
    enum msim_status status = msim_trace_view_new(&g.view, t);

    *out = NULL;
    if (status == MSIM_OK)
        status = fill(&g, *axis, err);
    msim_argpool_release(&g.pool);
    msim_idmap_release(&g.lists);
    msim_axis_sizes_release(&g.axis);
    free(g.args);
    free(g.weight);
    if (status == MSIM_OK)
        *out = g.view;
    else
        msim_reshaped_free(g.view);
    return status;
}

/* What of `r` is asked for beside sizes of the model, of a view that is `*v`
 * from then on: one more view for each axis. */
static enum msim_status change_rest(struct msim_trace **v,
                                    const struct msim_reshape *r,
                                    struct msim_error *err)
{
    const struct msim_axis none = {0};
    bool typed = r->dtype || r->tf32;

    for (uint32_t i = 0; i < r->n_axes || (typed && !i); i++) {
        struct msim_trace *last = *v;
        enum msim_status status =
            change(v, last, i < r->n_axes ? &r->axes[i] : &none,
                   i ? MSIM_DT_UNKNOWN : r->dtype, i ? false : r->tf32, err);

        msim_reshaped_free(last); /* a view has what it changed for itself */
        MSIM_TRY(status);
    }
    (*v)->tf32 |= r->tf32;
    return MSIM_OK;
}

enum msim_status msim_reshaped_new(struct msim_trace **out,
                                   const struct msim_trace *t,
                                   const struct msim_reshape *r,
                                   struct msim_error *err)
{
    if (r->n_sizes)
        MSIM_TRY(msim_model_resized_new(out, t, r->sizes, r->n_sizes, err));
    else
        MSIM_TRY(msim_trace_view_new(out, t));
    return change_rest(out, r, err);
}

enum msim_status msim_reshaped_ranks(struct msim_trace ***out,
                                     struct msim_trace *const *ranks,
                                     uint32_t n, const struct msim_reshape *r,
                                     struct msim_error *err)
{
    enum msim_status status = MSIM_OK;
    struct msim_trace **views =
        calloc((size_t)n + 1, sizeof(struct msim_trace *));

    *out = NULL;
    if (!views)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n && status == MSIM_OK; i++)
        status = msim_reshaped_new(&views[i], ranks[i], r, err);
    if (status == MSIM_OK)
        *out = views;
    else
        msim_reshaped_free_ranks(views, n);
    return status;
}

void msim_reshaped_free_ranks(struct msim_trace **views, uint32_t n)
{
    for (uint32_t i = 0; views && i < n; i++)
        msim_reshaped_free(views[i]);
    free(views);
}
