/*
 * core/work/rules/opmap_rnn.c - recurrent layers of cuDNN.
 *
 * The products of all inputs are made at once for each layer. The steps of a
 * layer follow each other: a small product of the state and a pointwise kernel
 * each (Appleyard, Kocisky and Blunsom, "Optimizing Performance of Recurrent
 * Neural Networks on GPUs", 2016).
 */
#include "core/work/rules/opmap_vector.h"

/* Gates by mode: ReLU, tanh, LSTM, GRU (cudnnRNNMode_t). */
static const int64_t GATES[] = {1, 1, 4, 3};
#define N_MODES (int64_t)(sizeof(GATES) / sizeof(*GATES))

/* Where the arguments begin that describe the layers: the mode, hidden size,
 * projection, layers, batch first, dropout, training, bidirectional. */
#define FORWARD  6
#define BACKWARD 10

/* No layer is larger, and products of three sizes still fit. */
#define LAYER_MAX 1000000

struct layers {
    enum msim_dtype dtype;
    int64_t batch, steps, input, hidden, gates, layers, directions;
};

static bool is_size(int64_t v)
{
    return v > 0 && v <= LAYER_MAX;
}

static bool layers_of(const struct msim_opmap_ctx *c, uint32_t first,
                      struct layers *r)
{
    int64_t mode, both = 0, batch_first = 0;
    struct msim_operand x;

    if (!msim_opmap_tensor(c, 0, &x) || x.rank != 3 ||
        !msim_opmap_int(c, first, &mode) || mode < 0 || mode >= N_MODES ||
        !msim_opmap_int(c, first + 1, &r->hidden) || !is_size(r->hidden) ||
        !msim_opmap_int(c, first + 3, &r->layers) || !is_size(r->layers))
        return false;
    msim_opmap_int(c, first + 4, &batch_first);
    msim_opmap_int(c, first + 7, &both);
    r->dtype = x.dtype;
    r->batch = msim_operand_dim(&x, batch_first ? 0 : 1);
    r->steps = msim_operand_dim(&x, batch_first ? 1 : 0);
    r->input = msim_operand_dim(&x, 2);
    r->gates = GATES[mode] * r->hidden;
    r->directions = both ? 2 : 1;
    return is_size(r->batch) && is_size(r->steps) && is_size(r->input);
}

static struct msim_work *add_product(struct msim_opmap_ctx *c,
                                     const struct layers *r, int64_t m,
                                     int64_t n, int64_t k, int64_t batch)
{
    struct msim_work *w =
        batch > 0 ? msim_opmap_work(c, MSIM_FAMILY_GEMM, r->dtype, "") : NULL;

    if (!w)
        return NULL;
    w->u.gemm.m = m;
    w->u.gemm.n = n;
    w->u.gemm.k = k;
    w->u.gemm.batch = batch;
    msim_work_count(w);
    return w;
}

static uint32_t repeats(const struct layers *r)
{
    double times = (double)r->steps * (double)r->layers * (double)r->directions;

    return times < UINT32_MAX ? (uint32_t)times : UINT32_MAX;
}

/* A step: the product that needs the step before, and what is made of it. */
static void add_steps(struct msim_opmap_ctx *c, const struct layers *r,
                      int64_t n, int64_t k)
{
    struct msim_work *w = add_product(c, r, r->batch, n, k, 1);

    if (w)
        w->repeats = repeats(r);
    w = msim_opmap_work(c, MSIM_FAMILY_POINTWISE, r->dtype, "rnn_cell");
    if (!w)
        return;
    msim_opmap_set_rows(w, 1, (double)r->batch * (double)r->gates);
    w->flops = 8 * (double)w->u.vector.elems;
    w->bytes_read = (double)w->u.vector.elems * msim_dtype_bytes(r->dtype);
    w->bytes_written =
        (double)r->batch * (double)r->hidden * msim_dtype_bytes(r->dtype);
    w->repeats = repeats(r);
}

bool msim_opmap_cudnn_rnn(struct msim_opmap_ctx *c,
                          const struct msim_opmap_row *row)
{
    struct layers r;
    int64_t places, later;

    (void)row;
    if (!layers_of(c, FORWARD, &r))
        return false;
    places = r.steps * r.batch;
    later = (r.layers - 1) * r.directions;
    add_product(c, &r, places, r.gates, r.input, r.directions);
    add_product(c, &r, places, r.gates, r.hidden * r.directions, later);
    add_steps(c, &r, r.gates, r.hidden);
    return true;
}

/* Gradients of the states follow each other, too; those of all weights and of
 * all inputs are products of all steps at once. */
bool msim_opmap_cudnn_rnn_backward(struct msim_opmap_ctx *c,
                                   const struct msim_opmap_row *row)
{
    struct layers r;
    int64_t places, all;

    (void)row;
    if (!layers_of(c, BACKWARD, &r))
        return false;
    places = r.steps * r.batch;
    all = r.layers * r.directions;
    add_product(c, &r, r.gates, r.hidden * (r.directions + 1), places, all);
    add_product(c, &r, places, r.hidden * r.directions, r.gates, all);
    add_steps(c, &r, r.hidden, r.gates);
    return true;
}
