/*
 * predict/edit/fuse_attention.c - attention that is written out (product,
 * softmax, product) as one flash kernel.
 *
 * In the order of a stream: a batched product, at most LIMIT kernels (scale,
 * mask), a softmax, at most LIMIT kernels (dropout, casts), a batched product.
 * The first product's sizes say queries, keys and the head's dimension:
 * [B H, S, D] x [B H, D, T]. The backward pass are the kernels of the same
 * autograd nodes, by their sequence numbers; they become one flash kernel, too.
 * The times are those of the models of the GPU for attention.
 */
#include "core/base/containers.h"
#include "predict/edit/edit_internal.h"

#include <stdlib.h>
#include <string.h>

#define LIMIT 6 /* kernels between a product and the softmax */

struct attention {
    uint32_t first, last;        /* products, indices of the lane's kernels */
    struct msim_work work;       /* of the forward pass */
    int32_t least_seq, most_seq; /* autograd nodes; -1: none */
    uint32_t rank, lane;
    uint32_t *back, n_back, cap_back; /* kernels of the backward pass */
};

struct finding {
    struct msim_remake *d;
    uint32_t *tasks, n; /* kernels, lane by lane */
    struct attention *of;
    uint32_t n_of;
};

static const char *op_name(const struct finding *f, uint32_t i)
{
    const struct msim_task_ref *ref = &f->d->g->refs[f->tasks[i]];
    const struct msim_trace *t = f->d->ranks[ref->rank];

    return ref->op == MSIM_NONE ? "" : msim_trace_text(t, t->ops[ref->op].name);
}

static bool is_product(const struct finding *f, uint32_t i)
{
    const char *name = op_name(f, i);

    return !strcmp(name, "aten::bmm") || !strcmp(name, "aten::baddbmm");
}

static bool is_softmax(const struct finding *f, uint32_t i)
{
    const char *name = op_name(f, i);

    return strstr(name, "softmax") && !strstr(name, "backward") &&
           !strstr(name, "log_softmax");
}

/* The nearest product from a softmax on, in steps of 1 or -1; NONE. */
static uint32_t product_by(const struct finding *f, uint32_t softmax, int step)
{
    uint32_t lane = f->d->g->lane[f->tasks[softmax]];

    for (uint32_t k = 1; k <= LIMIT + 1; k++) {
        uint32_t i = softmax + (uint32_t)step * k;

        if (i >= f->n || f->d->g->lane[f->tasks[i]] != lane || is_softmax(f, i))
            return MSIM_NONE;
        if (is_product(f, i))
            return i;
    }
    return MSIM_NONE;
}

/* Tensor argument `k` of the operator of kernel `i`, of three sizes. */
static const struct msim_arg *matrices(const struct finding *f, uint32_t i,
                                       uint32_t k)
{
    const struct msim_task_ref *ref = &f->d->g->refs[f->tasks[i]];
    const struct msim_trace *t = f->d->ranks[ref->rank];
    const struct msim_arg *a;

    k += strcmp(op_name(f, i), "aten::baddbmm") == 0;
    a = msim_args_get(t, t->ops[ref->op].args, k);
    return a && a->kind == MSIM_ARG_TENSOR && a->n == 3 ? a : NULL;
}

static bool find_work(const struct finding *f, uint32_t first,
                      struct msim_work *w)
{
    const struct msim_task_ref *ref = &f->d->g->refs[f->tasks[first]];
    const struct msim_trace *t = f->d->ranks[ref->rank];
    const struct msim_arg *a = matrices(f, first, 0),
                          *b = matrices(f, first, 1);
    const int64_t *q, *k;

    if (!a || !b)
        return false;
    q = msim_arg_dims(t, a);
    k = msim_arg_dims(t, b);
    memset(w, 0, sizeof(*w));
    w->family = MSIM_FAMILY_ATTENTION;
    w->dtype = (enum msim_dtype)a->dtype;
    w->variant = "";
    w->kernels = 1;
    w->u.attention.phase = MSIM_ATTENTION_ENCODER;
    w->u.attention.batch = 1;
    w->u.attention.heads = w->u.attention.kv_heads = q[0];
    w->u.attention.q_len = q[1];
    w->u.attention.head_dim = q[2];
    w->u.attention.kv_len = k[2];
    w->u.attention.kv_dtype = w->dtype;
    msim_work_count(w);
    return true;
}

/* The autograd nodes between two kernels. */
static void find_nodes(const struct finding *f, struct attention *a)
{
    const struct msim_trace *t = f->d->ranks[a->rank];

    a->least_seq = a->most_seq = -1;
    for (uint32_t i = a->first; i <= a->last; i++)
        for (uint32_t op = f->d->g->refs[f->tasks[i]].op; op != MSIM_NONE;
             op = t->ops[op].parent) {
            int32_t seq = t->ops[op].seq;

            if (seq < 0)
                continue;
            a->least_seq =
                a->least_seq < 0 || seq < a->least_seq ? seq : a->least_seq;
            a->most_seq = seq > a->most_seq ? seq : a->most_seq;
            break;
        }
}

static enum msim_status find_forward(struct finding *f)
{
    for (uint32_t i = 0; i < f->n; i++) {
        struct attention a = {0};

        if (!is_softmax(f, i))
            continue;
        a.first = product_by(f, i, -1);
        a.last = product_by(f, i, 1);
        if (a.first == MSIM_NONE || a.last == MSIM_NONE)
            continue;
        if (!find_work(f, a.first, &a.work))
            return msim_remake_refuse(
                f->d, "the trace does not record the sizes of products");
        a.rank = f->d->g->refs[f->tasks[i]].rank;
        a.lane = f->d->g->lane[f->tasks[i]];
        find_nodes(f, &a);
        f->of[f->n_of++] = a;
    }
    return f->n_of
               ? MSIM_OK
               : msim_remake_refuse(f->d,
                                    "no attention of the job is written out: "
                                    "product, softmax, product");
}

/* ---- backward ------------------------------------------------------------ */

/* The sequence number of the backward node around a kernel, or -1. */
static int32_t node_of(const struct finding *f, uint32_t i)
{
    const struct msim_task_ref *ref = &f->d->g->refs[f->tasks[i]];
    const struct msim_trace *t = f->d->ranks[ref->rank];

    for (uint32_t op = ref->op; op != MSIM_NONE; op = t->ops[op].parent)
        if (t->ops[op].fw_thread != MSIM_NONE)
            return t->ops[op].seq;
    return -1;
}

static int by_seq(const void *a, const void *b)
{
    const struct attention *x = a, *y = b;

    if (x->rank != y->rank)
        return MSIM_ORDER(x->rank, y->rank);
    return MSIM_ORDER(x->least_seq, y->least_seq);
}

/* The attention of a rank that has the node; NULL. Sorted by_seq. */
static struct attention *owner(struct finding *f, uint32_t rank, int32_t seq)
{
    uint32_t lo = 0, hi = f->n_of;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        const struct attention *a = &f->of[mid];

        if (a->rank < rank || (a->rank == rank && a->least_seq <= seq))
            lo = mid + 1;
        else
            hi = mid;
    }
    if (!lo || f->of[lo - 1].rank != rank || f->of[lo - 1].most_seq < seq ||
        f->of[lo - 1].least_seq < 0)
        return NULL;
    return &f->of[lo - 1];
}

static enum msim_status find_backward(struct finding *f)
{
    qsort(f->of, f->n_of, sizeof(*f->of), by_seq);
    for (uint32_t i = 0; i < f->n; i++) {
        int32_t seq = node_of(f, i);
        struct attention *a =
            seq < 0 ? NULL : owner(f, f->d->g->refs[f->tasks[i]].rank, seq);

        if (!a)
            continue;
        MSIM_TRY(msim_grow((void **)&a->back, &a->cap_back, a->n_back,
                           sizeof(*a->back)));
        a->back[a->n_back++] = f->tasks[i];
    }
    return MSIM_OK;
}

/* ---- one kernel each ----------------------------------------------------- */

static enum msim_status fuse(struct finding *f, struct attention *a)
{
    struct msim_cost_added cost;

    MSIM_TRY(msim_price_work(f->d, &a->work, &cost));
    msim_fuse_tasks(f->d, f->tasks + a->first, a->last - a->first + 1, &cost);
    if (!a->n_back)
        return MSIM_OK;
    a->work.u.attention.backward = true;
    msim_work_count(&a->work);
    MSIM_TRY(msim_price_work(f->d, &a->work, &cost));
    msim_fuse_tasks(f->d, a->back, a->n_back, &cost);
    return MSIM_OK;
}

/* Kernels lane by lane, each in its order. */
static enum msim_status list_kernels(struct finding *f)
{
    const struct msim_graph *g = f->d->g;
    uint32_t *at = calloc((size_t)g->n_lanes + 2, sizeof(*at));

    f->tasks = malloc(((size_t)g->n_tasks + 1) * sizeof(*f->tasks));
    f->of = malloc(((size_t)g->n_tasks + 1) * sizeof(*f->of));
    if (!at || !f->tasks || !f->of) {
        free(at);
        return MSIM_ENOMEM;
    }
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t t = 0; t < g->n_tasks; t++)
            if (g->kind[t] == MSIM_TASK_KERNEL && !f->d->costs->removed[t]) {
                if (fill)
                    f->tasks[at[g->lane[t]]++] = t;
                else
                    at[g->lane[t] + 1]++;
            }
        for (uint32_t l = 0; !fill && l < g->n_lanes; l++)
            at[l + 1] += at[l];
    }
    f->n = g->n_lanes ? at[g->n_lanes - 1] : 0;
    free(at);
    return MSIM_OK;
}

enum msim_status msim_fuse_attention(struct msim_remake *d)
{
    struct finding f = {.d = d};
    enum msim_status status = list_kernels(&f);

    if (status == MSIM_OK)
        status = find_forward(&f);
    if (status == MSIM_OK)
        status = find_backward(&f);
    for (uint32_t i = 0; i < f.n_of; i++) {
        if (status == MSIM_OK)
            status = fuse(&f, &f.of[i]);
        free(f.of[i].back);
    }
    free(f.of);
    free(f.tasks);
    return status;
}
