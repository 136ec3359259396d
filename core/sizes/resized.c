/*
 * core/sizes/resized.c - a view of a trace with other sizes.
 */
#include "core/base/containers.h"
#include "core/sizes/sizes_internal.h"
#include "core/trace/trace_columns.h"
#include "core/trace/trace_steps.h"

#include <stdlib.h>
#include <string.h>

#define RANK_MOST 64

struct resizing {
    const struct msim_sizes *s;
    const int64_t *to;
    struct msim_trace *view;
    struct msim_argpool pool;
    struct msim_arg *args, *outs; /* of one call, as they are to be */
    uint32_t cap_args, cap_outs;
    uint64_t *was, *is; /* by life: elements of the largest tensor on it */
};

/* ---- lists --------------------------------------------------------------- */

static enum msim_status resize_tensor(struct resizing *g, struct msim_arg *a,
                                      uint32_t id)
{
    const int64_t *dims = msim_arg_dims(g->s->t, a);
    int64_t to[RANK_MOST];
    uint32_t index;

    if (a->n > RANK_MOST || id == MSIM_NONE)
        return MSIM_OK;
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t c = msim_size_class_of(g->s, id, i);

        to[i] = c == MSIM_NONE ? dims[i] : g->to[c];
    }
    MSIM_TRY(msim_argpool_dims(&g->pool, to, a->n, &index));
    a->v.i = index;
    return MSIM_OK;
}

/* List `block` with the sizes of its tensors, in `*args`; `*n` of them. */
static enum msim_status resize_list(struct resizing *g, uint32_t block,
                                    uint32_t id, struct msim_arg **args,
                                    uint32_t *cap, uint32_t *n)
{
    const struct msim_trace *t = g->s->t;

    *n = block == MSIM_NONE ? 0 : t->blocks[block].count;
    while (*cap < *n || !*args)
        MSIM_TRY(msim_grow((void **)args, cap, *cap, sizeof(**args)));
    if (!*n)
        return MSIM_OK;
    memcpy(*args, t->args + t->blocks[block].first, *n * sizeof(**args));
    for (uint32_t i = 0; i < *n; i++) {
        if ((*args)[i].kind != MSIM_ARG_TENSOR)
            continue;
        MSIM_TRY(resize_tensor(g, &(*args)[i], id));
        id += id != MSIM_NONE;
    }
    return MSIM_OK;
}

static const struct msim_arg *list_of(const struct msim_trace *t,
                                      uint32_t block)
{
    return block == MSIM_NONE ? NULL : t->args + t->blocks[block].first;
}

static enum msim_status resize_call(struct resizing *g, uint32_t i)
{
    const struct msim_trace *t = g->s->t;
    const struct msim_op *op = &t->ops[i];
    struct msim_op *to = &g->view->ops[i];
    struct msim_number_call c = {.t = t,
                                 .view = g->view,
                                 .name = msim_trace_text(t, op->name),
                                 .was = list_of(t, op->args),
                                 .outs_were = list_of(t, op->outs)};

    MSIM_TRY(resize_list(g, op->args, op->ids, &g->args, &g->cap_args, &c.n));
    MSIM_TRY(
        resize_list(g, op->outs, op->out_ids, &g->outs, &g->cap_outs, &c.m));
    c.args = g->args;
    c.outs = g->outs;
    msim_numbers_follow(&c);
    if (op->args != MSIM_NONE)
        MSIM_TRY(msim_argpool_block(&g->pool, g->args, c.n, &to->args));
    if (op->outs != MSIM_NONE)
        MSIM_TRY(msim_argpool_block(&g->pool, g->outs, c.m, &to->outs));
    return MSIM_OK;
}

/* ---- messages ------------------------------------------------------------ */

/* As many elements as a tensor of its call has, or as much more as all of
 * them. */
static uint64_t message(const struct resizing *g, const struct msim_op *was,
                        const struct msim_op *is, uint64_t elems)
{
    const struct msim_trace *t = g->s->t, *v = g->view;
    const struct msim_arg *a = list_of(t, was->args), *b = list_of(v, is->args);
    double before = msim_args_bytes(t, was->args);

    for (uint32_t i = 0; a && i < t->blocks[was->args].count; i++)
        if (a[i].kind == MSIM_ARG_TENSOR && msim_arg_elems(t, &a[i]) == elems)
            return msim_arg_elems(v, &b[i]);
    if (!(before > 0))
        return elems;
    return (uint64_t)((double)elems * msim_args_bytes(v, is->args) / before +
                      0.5);
}

static void resize_messages(struct resizing *g)
{
    for (uint32_t i = 0; i < g->view->n_comms; i++) {
        struct msim_comm *c = &g->view->comms[i];

        if (c->op == MSIM_NONE)
            continue;
        c->in_elems =
            message(g, &g->s->t->ops[c->op], &g->view->ops[c->op], c->in_elems);
        c->out_elems = message(g, &g->s->t->ops[c->op], &g->view->ops[c->op],
                               c->out_elems);
    }
}

/* ---- places in storages -------------------------------------------------- */

static void note_largest(struct resizing *g, uint32_t block, uint32_t made,
                         uint32_t id, bool second)
{
    const struct msim_trace *t = g->s->t;
    const struct msim_arg *a = list_of(t, block), *b = list_of(g->view, made);

    for (uint32_t i = 0; a && id != MSIM_NONE && i < t->blocks[block].count;
         i++) {
        uint32_t life;

        if (a[i].kind != MSIM_ARG_TENSOR)
            continue;
        life = g->s->lives.of[id];
        if (life != MSIM_NONE && !second) {
            uint64_t n = msim_arg_elems(t, &a[i]);

            if (n > g->was[life]) {
                g->was[life] = n;
                g->is[life] = msim_arg_elems(g->view, &b[i]);
            }
        } else if (life != MSIM_NONE && g->was[life] != g->is[life]) {
            uint64_t end = g->is[life], n = msim_arg_elems(g->view, &b[i]);
            double at = (double)t->tensor_ids[id].offset * (double)end /
                        (double)g->was[life];

            if (n <= end && at > (double)(end - n))
                at = (double)(end - n);
            g->view->tensor_ids[id].offset = (int64_t)at;
        }
        id++;
    }
}

/* A part of a storage begins as far on, of all of it, as it did. */
static enum msim_status move_parts(struct resizing *g)
{
    size_t n = (size_t)g->s->lives.n + 1;

    g->was = calloc(n, sizeof(*g->was));
    g->is = calloc(n, sizeof(*g->is));
    if (!g->was || !g->is)
        return MSIM_ENOMEM;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < g->view->n_ops; i++) {
            const struct msim_op *was = &g->s->t->ops[i],
                                 *is = &g->view->ops[i];

            note_largest(g, was->args, is->args, was->ids, pass);
            note_largest(g, was->outs, is->outs, was->out_ids, pass);
        }
    return MSIM_OK;
}

/* ---- views ----------------------------------------------------------------
 */

static enum msim_status resize_all(struct resizing *g)
{
    msim_argpool_init(&g->pool, g->view);
    for (uint32_t i = 0; i < g->view->n_ops; i++)
        MSIM_TRY(resize_call(g, i));
    resize_messages(g);
    return move_parts(g);
}

enum msim_status msim_resized_new(struct msim_trace **out,
                                  const struct msim_sizes *s, const int64_t *to)
{
    struct resizing g = {.s = s, .to = to};
    enum msim_status status = msim_trace_view_new(&g.view, s->t);

    *out = NULL;
    if (status == MSIM_OK)
        status = resize_all(&g);
    msim_argpool_release(&g.pool);
    free(g.args);
    free(g.outs);
    free(g.was);
    free(g.is);
    if (status == MSIM_OK)
        *out = g.view;
    else
        msim_trace_view_free(g.view);
    return status;
}

void msim_resized_free(struct msim_trace *view)
{
    msim_trace_view_free(view);
}
