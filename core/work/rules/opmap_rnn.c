/*
 * core/work/rules/opmap_rnn.c - recurrent layers of cuDNN, and cells.
 *
 * The products of all inputs are made at once for each layer. The steps of a
 * layer follow each other: a small product of the state and a pointwise kernel
 * each (Appleyard, Kocisky and Blunsom, "Optimizing Performance of Recurrent
 * Neural Networks on GPUs", 2016).
 *
 * A CPU unrolls aten::gru and the like, and gives LSTM layers to oneDNN: of its
 * captures they are what cuDNN is asked for (use_cudnn in
 * aten/src/ATen/native/RNN.cpp).
 */
#include "core/work/rules/opmap_rule.h"
#include "core/work/rules/opmap_rules.h"

/* Gates by mode: ReLU, tanh, LSTM, GRU (cudnnRNNMode_t). */
static const int64_t GATES[] = {1, 1, 4, 3};
#define N_MODES   (int64_t)(sizeof(GATES) / sizeof(*GATES))
#define GATES_MAX 4

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

static void add_forward(struct msim_opmap_ctx *c, const struct layers *r)
{
    int64_t places = r->steps * r->batch;
    int64_t later = (r->layers - 1) * r->directions;

    add_product(c, r, places, r->gates, r->input, r->directions);
    add_product(c, r, places, r->gates, r->hidden * r->directions, later);
    add_steps(c, r, r->gates, r->hidden);
}

bool msim_rule_cudnn_rnn(struct msim_opmap_ctx *c,
                         const struct msim_opmap_row *row)
{
    struct layers r;

    (void)row;
    if (!layers_of(c, FORWARD, &r))
        return false;
    add_forward(c, &r);
    return true;
}

/* Gradients of the states follow each other, too; those of all weights and of
 * all inputs are products of all steps at once. */
bool msim_rule_cudnn_rnn_backward(struct msim_opmap_ctx *c,
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

/* Elements of a state, of all layers and directions: of a tensor, or of each of
 * an LSTM's list of two. */
static double state_elems(const struct msim_opmap_ctx *c, uint32_t k)
{
    struct msim_tensor_list l;
    struct msim_operand x;

    if (msim_opmap_tensor(c, k, &x))
        return x.elems;
    return msim_opmap_list(c, k, &l) && l.n > 0 ? l.elems / (double)l.n : 0;
}

/* aten::gru(input, hx, params, biases, layers, dropout, train, bidirectional,
 * batch first). Packed sequences, in one row each step, have their lengths
 * behind the input. */
bool msim_rule_rnn(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    struct layers r = {.layers = 1};
    int64_t both = 0, batch_first = 0;
    struct msim_operand x, lengths;
    bool packed;

    if (!msim_opmap_tensor(c, 0, &x) || (x.rank != 3 && x.rank != 2))
        return false;
    packed = x.rank == 2;
    if (packed && !msim_opmap_tensor(c, 1, &lengths))
        return false;
    msim_opmap_int(c, 4 + packed, &r.layers);
    msim_opmap_int(c, 7 + packed, &both);
    if (!packed)
        msim_opmap_int(c, 8, &batch_first);
    r.directions = both ? 2 : 1;
    r.dtype = x.dtype;
    r.input = msim_operand_dim(&x, -1);
    r.steps = packed ? msim_opmap_count(lengths.elems)
                     : msim_operand_dim(&x, batch_first ? 1 : 0);
    if (!is_size(r.layers) || !is_size(r.steps) || !is_size(r.input))
        return false;
    r.batch = msim_opmap_count(x.elems / (double)r.input / (double)r.steps);
    if (!is_size(r.batch))
        return false;
    r.hidden = msim_opmap_count(
        state_elems(c, 1 + packed) /
        ((double)r.batch * (double)r.layers * (double)r.directions));
    r.gates = row->arg * r.hidden;
    if (!is_size(r.hidden) || row->arg > GATES_MAX)
        return false;
    add_forward(c, &r);
    return true;
}

/* oneDNN's gradient of an LSTM: a layer and a direction each, steps first. */
bool msim_rule_onednn_rnn_backward(struct msim_opmap_ctx *c,
                                   const struct msim_opmap_row *row)
{
    struct layers r = {.layers = 1, .directions = 1};
    struct msim_operand x;
    int64_t mode, places;

    (void)row;
    if (!msim_opmap_tensor(c, 0, &x) || x.rank != 3 ||
        !msim_opmap_int(c, 14, &mode) || mode < 0 || mode >= N_MODES ||
        !msim_opmap_int(c, 15, &r.hidden) || !is_size(r.hidden))
        return false;
    r.dtype = x.dtype;
    r.steps = msim_operand_dim(&x, 0);
    r.batch = msim_operand_dim(&x, 1);
    r.input = msim_operand_dim(&x, 2);
    r.gates = GATES[mode] * r.hidden;
    if (!is_size(r.steps) || !is_size(r.batch) || !is_size(r.input))
        return false;
    places = r.steps * r.batch;
    add_product(c, &r, r.gates, r.input + r.hidden, places, 1);
    add_product(c, &r, places, r.input, r.gates, 1);
    add_steps(c, &r, r.hidden, r.gates);
    return true;
}

/* A cell in one kernel, around products of its own: all tensors are read, and
 * as many gates written (RNN.cu). */
bool msim_rule_rnn_cell(struct msim_opmap_ctx *c,
                        const struct msim_opmap_row *row)
{
    struct msim_work *w;
    struct msim_operand x;
    double bytes = 0, most = 0;
    enum msim_dtype dtype = MSIM_DT_F32;

    for (uint32_t k = 0; msim_opmap_nth_tensor(c, k, &x); k++) {
        bytes += x.bytes;
        if (x.elems > most) {
            most = x.elems;
            dtype = x.dtype;
        }
    }
    w = most > 0 ? msim_opmap_work(c, MSIM_FAMILY_POINTWISE, dtype,
                                   msim_opmap_variant(row))
                 : NULL;
    if (!w)
        return false;
    msim_opmap_set_rows(w, 1, most);
    w->flops = 8 * most;
    w->bytes_read = bytes;
    w->bytes_written = most * msim_dtype_bytes(dtype);
    return true;
}
