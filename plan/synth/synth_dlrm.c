/*
 * plan/synth/synth_dlrm.c - one rank's step of a recommendation model.
 */
#include "plan/synth/synth_dlrm.h"

#include "core/base/containers.h"

#include <stdlib.h>
#include <string.h>

/* ---- which rank has which tables ------------------------------------------
 */

static int by_pooling(const void *a, const void *b)
{
    const struct msim_dlrm_share *x = a, *y = b;

    return MSIM_ORDER(y->pooling, x->pooling);
}

void msim_dlrm_spread(const struct msim_described *m, int64_t ranks,
                      struct msim_dlrm_share *shares)
{
    struct msim_dlrm_share kinds[MSIM_DLRM_TABLES];
    int64_t dealt = 0;

    for (uint32_t i = 0; i < m->dlrm.n_kinds; i++)
        kinds[i] = (struct msim_dlrm_share){m->dlrm.tables[i].count,
                                            m->dlrm.tables[i].pooling,
                                            m->dlrm.tables[i].rows};
    qsort(kinds, m->dlrm.n_kinds, sizeof(*kinds), by_pooling);
    memset(shares, 0, (size_t)ranks * sizeof(*shares));
    for (uint32_t i = 0; i < m->dlrm.n_kinds; i++)
        for (int64_t k = 0; k < kinds[i].tables; k++, dealt++) {
            int64_t at = dealt % (2 * ranks);
            struct msim_dlrm_share *to =
                &shares[at < ranks ? at : 2 * ranks - 1 - at];

            to->tables++;
            to->pooling += kinds[i].pooling;
            to->rows += kinds[i].rows;
        }
}

/* ---- MLPs -----------------------------------------------------------------
 */

static struct msim_synth_parameter parameter(struct msim_synth *y,
                                             struct msim_etw_tensor weight)
{
    struct msim_synth_parameter p = {.weight = weight};

    if (msim_synth_has_masters(y)) {
        p.grad = weight;
        p.grad.id = ++y->e->last;
        p.grad.storage = ++y->e->last;
        p.grad.dtype = MSIM_DT_F32;
    }
    return p;
}

static void make_mlp(struct msim_synth *y, struct msim_dlrm_mlp *mlp,
                     int64_t in, const int64_t *out, uint32_t n)
{
    mlp->n = n;
    for (uint32_t i = 0; i < n; in = out[i++]) {
        struct msim_synth_parameter *own = mlp->layers[i].own;

        own[MSIM_SYNTH_WEIGHT] =
            parameter(y, msim_etw_new(y->e, y->dtype, 2, out[i], in));
        own[MSIM_SYNTH_BIAS] =
            parameter(y, msim_etw_new(y->e, y->dtype, 1, out[i]));
    }
}

static struct msim_etw_tensor relu(struct msim_synth_dlrm *d,
                                   const struct msim_etw_tensor *x)
{
    struct msim_etw_tensor out = msim_synth_new2(&d->w, x->dims[0], x->dims[1]);
    struct msim_etw_arg in[] = {msim_etw_of(x)};

    msim_etw_leaf(d->y.e, "aten::relu", "aten::relu(Tensor self) -> Tensor", in,
                  1, &out, 1);
    return out;
}

static struct msim_etw_tensor linear(struct msim_synth_dlrm *d,
                                     const struct msim_dlrm_layer *l)
{
    const struct msim_etw_tensor *weight = &l->own[MSIM_SYNTH_WEIGHT].weight;
    const struct msim_etw_tensor *bias = &l->own[MSIM_SYNTH_BIAS].weight;
    struct msim_etw_arg in[] = {msim_etw_of(&l->in), msim_etw_of(weight),
                                msim_etw_of(bias)};
    struct msim_etw_tensor t, out;

    msim_etw_open(d->y.e, "aten::linear",
                  "aten::linear(Tensor input, Tensor weight, Tensor? "
                  "bias=None) -> Tensor",
                  in, 3);
    t = msim_synth_transposed(&d->w, weight);
    out = msim_synth_addmm(&d->w, bias, &l->in, &t);
    msim_etw_close(d->y.e, &out, 1);
    return out;
}

/* `linear_last`: no activation behind the last layer. */
static struct msim_etw_tensor run(struct msim_synth_dlrm *d,
                                  struct msim_dlrm_mlp *mlp,
                                  struct msim_etw_tensor x, bool linear_last)
{
    for (uint32_t i = 0; i < mlp->n; i++) {
        struct msim_dlrm_layer *l = &mlp->layers[i];

        l->in = x;
        x = linear(d, l);
        if (i + 1 < mlp->n || !linear_last)
            x = l->out = relu(d, &x);
    }
    return x;
}

static struct msim_etw_tensor relu_back(struct msim_synth_dlrm *d,
                                        const struct msim_etw_tensor *grad,
                                        const struct msim_etw_tensor *made)
{
    struct msim_etw_tensor out =
        msim_synth_new2(&d->w, made->dims[0], made->dims[1]);
    struct msim_etw_arg in[] = {msim_etw_of(grad), msim_etw_of(made),
                                msim_etw_int(0)};

    msim_etw_backward(d->y.e, "ReluBackward0");
    msim_etw_leaf(d->y.e, "aten::threshold_backward",
                  "aten::threshold_backward(Tensor grad_output, Tensor self, "
                  "Scalar threshold) -> Tensor",
                  in, 3, &out, 1);
    msim_etw_close(d->y.e, NULL, 0);
    return out;
}

/* `input`: the gradient of what it was given is wanted, too. */
static struct msim_etw_tensor run_back(struct msim_synth_dlrm *d,
                                       struct msim_dlrm_mlp *mlp,
                                       struct msim_etw_tensor grad, bool input)
{
    for (uint32_t i = mlp->n; i-- > 0;) {
        struct msim_dlrm_layer *l = &mlp->layers[i];
        struct msim_etw_tensor t, weight, bias, next = grad;

        if (l->out.id)
            grad = relu_back(d, &grad, &l->out);
        msim_etw_backward(d->y.e, "AddmmBackward0");
        if (i > 0 || input)
            next =
                msim_synth_mm(&d->w, &grad, &l->own[MSIM_SYNTH_WEIGHT].weight);
        t = msim_synth_transposed(&d->w, &grad);
        weight = msim_synth_mm(&d->w, &t, &l->in);
        bias = msim_synth_sum(&d->w, &grad, 0);
        bias = msim_synth_flat(&d->w, &bias);
        msim_etw_close(d->y.e, NULL, 0);
        msim_dlrm_gradient(d, &bias, &l->own[MSIM_SYNTH_BIAS]);
        msim_dlrm_gradient(d, &weight, &l->own[MSIM_SYNTH_WEIGHT]);
        grad = next;
    }
    return grad;
}

/* ---- a rank ---------------------------------------------------------------
 */

static void add_parameters(struct msim_dlrm_buckets *b,
                           struct msim_dlrm_mlp *mlp)
{
    for (uint32_t i = mlp->n; i-- > 0;)
        for (int k = MSIM_SYNTH_OWN; k-- > 0;)
            b->params[b->n++] = &mlp->layers[i].own[k];
}

/* Tables that are parameters like others. */
static int64_t separate_tables(const struct msim_synth_dlrm *d)
{
    return d->y.m->dlrm.separate ? msim_described_tables(d->y.m) : 0;
}

static void make_tables(struct msim_synth_dlrm *d)
{
    const struct msim_described *m = d->y.m;
    int64_t n = 0;

    for (uint32_t i = 0; i < m->dlrm.n_kinds && m->dlrm.separate; i++)
        for (int64_t k = 0; k < m->dlrm.tables[i].count; k++)
            d->tables[n++] = parameter(
                &d->y, msim_etw_new(d->y.e, d->y.dtype, 2,
                                    m->dlrm.tables[i].rows, m->dlrm.dim));
}

enum msim_status msim_synth_dlrm_init(struct msim_synth_dlrm *d)
{
    const struct msim_described *m = d->y.m;
    size_t tables = (size_t)separate_tables(d);
    size_t most = tables + 4 * MSIM_DLRM_LAYERS;
    struct msim_dlrm_buckets *b = &d->buckets;

    d->w.y = &d->y;
    d->tables = calloc(tables + 1, sizeof(*d->tables));
    d->kept = calloc(tables + 1, sizeof(*d->kept));
    b->params = calloc(most, sizeof(*b->params));
    b->bucket = calloc(most, sizeof(*b->bucket));
    b->last = calloc(most, sizeof(*b->last));
    if (!d->tables || !d->kept || !b->params || !b->bucket || !b->last)
        return MSIM_ENOMEM;
    make_mlp(&d->y, &d->bottom, m->dlrm.dense, m->dlrm.bottom,
             m->dlrm.n_bottom);
    make_mlp(&d->y, &d->top, msim_described_interactions(m), m->dlrm.top,
             m->dlrm.n_top);
    make_tables(d);
    add_parameters(b, &d->top);
    for (size_t i = tables; i-- > 0;)
        b->params[b->n++] = &d->tables[i];
    add_parameters(b, &d->bottom);
    if (d->ranks > 1)
        msim_dlrm_make_buckets(d);
    MSIM_TRY(msim_synth_optimizer_init(&d->optimizer, &d->y, most));
    for (uint32_t i = 0; i < b->n; i++)
        msim_synth_optimizer_add(
            &d->optimizer, b->params[i],
            (int64_t)msim_etw_elems(&b->params[i]->weight));
    return MSIM_OK;
}

static void forward(struct msim_synth_dlrm *d)
{
    struct msim_etw_tensor x =
        msim_synth_new2(&d->w, d->batch, d->y.m->dlrm.dense);

    msim_etw_label(d->y.e, "forward");
    d->dense = run(d, &d->bottom, x, false);
    msim_dlrm_look_up(d);
    x = msim_dlrm_interact(d);
    d->logits = run(d, &d->top, x, true);
    msim_dlrm_loss(d);
    msim_etw_close(d->y.e, NULL, 0);
}

static void backward(struct msim_synth_dlrm *d)
{
    struct msim_etw_tensor grad, dense, tables;

    msim_etw_label(d->y.e, "backward");
    grad = msim_dlrm_loss_back(d);
    grad = run_back(d, &d->top, grad, true);
    tables = msim_dlrm_interact_back(d, &grad, &dense);
    msim_dlrm_look_up_back(d, &tables);
    (void)run_back(d, &d->bottom, dense, false);
    if (d->ranks > 1)
        msim_dlrm_out_of_buckets(d);
    msim_etw_close(d->y.e, NULL, 0);
}

void msim_synth_dlrm_step(struct msim_synth_dlrm *d)
{
    msim_etw_label(d->y.e, "ProfilerStep#1");
    forward(d);
    backward(d);
    msim_synth_optimizer_step(&d->optimizer);
    msim_etw_close(d->y.e, NULL, 0);
}

void msim_synth_dlrm_release(struct msim_synth_dlrm *d)
{
    msim_synth_optimizer_release(&d->optimizer);
    free(d->tables);
    free(d->kept);
    free(d->buckets.params);
    free(d->buckets.bucket);
    free(d->buckets.last);
}
