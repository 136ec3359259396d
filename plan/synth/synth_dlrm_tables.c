/*
 * plan/synth/synth_dlrm_tables.c - look-ups of a DLRM.
 *
 * Fused ones are FBGEMM's, whose operators have no schema here: their arguments
 * differ from version to version. What is read of them is the order of tables,
 * indices and offsets (core/work/rules/opmap_embedding.c).
 */
#include "plan/synth/synth_dlrm.h"

#define SEQUENCE 1 /* of the look-up and of its backward pass */

static struct msim_etw_tensor ints(struct msim_synth_dlrm *d, int64_t n)
{
    return msim_etw_new(d->y.e, MSIM_DT_I64, 1, n);
}

static struct msim_etw_tensor floats(struct msim_synth_dlrm *d, int64_t rows,
                                     int64_t cols)
{
    return msim_etw_new(d->y.e, MSIM_DT_F32, 2, rows, cols);
}

/* Memory that a collective writes. */
static struct msim_etw_tensor made(struct msim_synth_dlrm *d,
                                   struct msim_etw_tensor t)
{
    msim_synth_write_empty(d->y.e, &t);
    return t;
}

static const struct msim_dlrm_share *own(const struct msim_synth_dlrm *d)
{
    return &d->shares[d->y.rank];
}

static int64_t pooling_of_all(const struct msim_synth_dlrm *d)
{
    int64_t n = 0;

    for (int64_t r = 0; r < d->ranks; r++)
        n += d->shares[r].pooling;
    return n;
}

/* ---- fused ----------------------------------------------------------------
 */

/* Lengths of bags and indices in another order. */
static void permute(struct msim_synth_dlrm *d, struct msim_etw_tensor *lengths,
                    struct msim_etw_tensor *indices, int64_t groups)
{
    struct msim_etw_tensor order = msim_etw_new(d->y.e, MSIM_DT_I32, 1, groups);
    struct msim_etw_tensor view =
        msim_etw_view(d->y.e, lengths, 2, groups,
                      (int64_t)msim_etw_elems(lengths) / (groups ? groups : 1));
    struct msim_etw_tensor out[] = {
        msim_etw_new(d->y.e, MSIM_DT_I64, 2, view.dims[0], view.dims[1]),
        ints(d, indices->dims[0])};
    struct msim_etw_arg in[] = {msim_etw_of(&order), msim_etw_of(&view),
                                msim_etw_of(indices), msim_synth_none(),
                                msim_etw_int(indices->dims[0])};

    msim_etw_leaf(d->y.e, "fbgemm::permute_2D_sparse_data", NULL, in, 5, out,
                  2);
    *lengths =
        msim_etw_view(d->y.e, &out[0], 1, (int64_t)msim_etw_elems(&out[0]));
    *indices = out[1];
}

/* Look-ups of this rank's samples to the ranks of their tables; those of all
 * samples in this rank's tables come back. */
static void send_look_ups(struct msim_synth_dlrm *d,
                          struct msim_etw_tensor *lengths)
{
    int64_t tables = msim_described_tables(d->y.m), all = d->batch * d->ranks;
    struct msim_etw_tensor mine = ints(d, tables * d->batch);
    struct msim_etw_tensor asked = ints(d, pooling_of_all(d) * d->batch);

    permute(d, &mine, &asked, tables);
    *lengths = made(d, ints(d, own(d)->tables * all));
    msim_dlrm_exchange(d, &d->spread, "all_to_allv", &mine, lengths);
    d->indices = made(d, ints(d, own(d)->pooling * all));
    msim_dlrm_exchange(d, &d->spread, "all_to_allv", &asked, &d->indices);
    msim_dlrm_wait(d, &d->spread);
    permute(d, lengths, &d->indices, own(d)->tables * d->ranks);
}

static void bounds(struct msim_synth_dlrm *d,
                   const struct msim_etw_tensor *lengths)
{
    struct msim_etw_tensor rows = ints(d, own(d)->tables), warning = ints(d, 1);
    struct msim_etw_arg sum[] = {msim_etw_of(lengths)};
    struct msim_etw_arg in[] = {msim_etw_of(&rows),    msim_synth_none(),
                                msim_synth_none(),     msim_etw_int(1),
                                msim_etw_of(&warning), msim_synth_none()};

    d->offsets = ints(d, lengths->dims[0] + 1);
    msim_etw_leaf(d->y.e, "fbgemm::asynchronous_complete_cumsum", NULL, sum, 1,
                  &d->offsets, 1);
    in[1] = msim_etw_of(&d->indices);
    in[2] = msim_etw_of(&d->offsets);
    msim_etw_leaf(d->y.e, "fbgemm::bounds_check_indices", NULL, in, 6, NULL, 0);
}

static const char *look_up_name(const struct msim_synth_dlrm *d, bool back)
{
    static const char *const NAMES[][2] = {
        [MSIM_TABLE_OPTIMIZER_ROWWISE_ADAGRAD] =
            {"fbgemm::split_embedding_codegen_lookup_rowwise_adagrad_function",
             "torch::autograd::CppNode<SplitLookupFunction_rowwise_adagrad_"
             "Op>"},
        [MSIM_TABLE_OPTIMIZER_SGD] = {
            "fbgemm::split_embedding_codegen_lookup_sgd_function",
            "torch::autograd::CppNode<SplitLookupFunction_sgd_Op>"}};

    return NAMES[d->y.s->table_optimizer][back];
}

/* All tables of this rank, for the samples of all ranks. Weights and the
 * optimizer's number of each row are one piece of memory each. */
static struct msim_etw_tensor look_up(struct msim_synth_dlrm *d)
{
    int64_t dim = d->y.m->dlrm.dim, tables = own(d)->tables;
    bool adagrad =
        d->y.s->table_optimizer == MSIM_TABLE_OPTIMIZER_ROWWISE_ADAGRAD;
    struct msim_etw_tensor none =
        msim_etw_new(d->y.e, MSIM_DT_F32, 1, (int64_t)0);
    struct msim_etw_tensor weights =
        msim_etw_new(d->y.e, MSIM_DT_F32, 1, own(d)->rows * dim);
    struct msim_etw_tensor each = ints(d, tables), sums = ints(d, tables + 1);
    struct msim_etw_tensor states =
        msim_etw_new(d->y.e, MSIM_DT_F32, 1, own(d)->rows);
    struct msim_etw_arg in[] = {
        msim_etw_of(&none),       msim_etw_of(&weights),
        msim_etw_of(&none),       msim_etw_of(&none),
        msim_etw_of(&each),       msim_etw_of(&each),
        msim_etw_of(&sums),       msim_etw_int(tables * dim),
        msim_etw_int(dim),        msim_etw_of(&sums),
        msim_etw_int(64),         msim_etw_of(&d->indices),
        msim_etw_of(&d->offsets), msim_etw_int(0),
        msim_synth_none(),        msim_synth_none(),
        msim_etw_of(&none),       msim_synth_flag(false),
        msim_synth_real(1),       msim_synth_flag(false),
        msim_etw_of(&states),     msim_etw_of(&none),
        msim_etw_of(&each),       msim_etw_of(&each),
        msim_synth_real(1e-8),    msim_synth_real(0.01)};
    struct msim_etw_tensor out = floats(d, d->batch * d->ranks, tables * dim);

    msim_etw_open(d->y.e, look_up_name(d, false), NULL, in, adagrad ? 26 : 20);
    msim_etw_sequence(d->y.e, SEQUENCE);
    msim_etw_close(d->y.e, &out, 1);
    return out;
}

/* Pooled rows of this rank's samples from all ranks, side by side. */
static struct msim_etw_tensor fetch(struct msim_synth_dlrm *d,
                                    const struct msim_etw_tensor *rows)
{
    int64_t dim = d->y.m->dlrm.dim, tables = msim_described_tables(d->y.m);
    struct msim_etw_tensor got =
        made(d, msim_etw_new(d->y.e, MSIM_DT_F32, 1, d->batch * tables * dim));
    struct msim_etw_tensor parts[MSIM_DLRM_RANKS];

    msim_dlrm_exchange(d, &d->spread, "all_to_allv", rows, &got);
    msim_dlrm_wait(d, &d->spread);
    for (int64_t r = 0; r < d->ranks; r++)
        parts[r] =
            msim_etw_view(d->y.e, &got, 2, d->batch, d->shares[r].tables * dim);
    return msim_synth_cat(&d->w, parts, (uint32_t)d->ranks, 1);
}

static void fused(struct msim_synth_dlrm *d)
{
    int64_t dim = d->y.m->dlrm.dim, tables = msim_described_tables(d->y.m);
    struct msim_etw_tensor lengths = ints(d, tables * d->batch), rows, parts[2];

    d->indices = ints(d, pooling_of_all(d) * d->batch);
    if (d->ranks > 1)
        send_look_ups(d, &lengths);
    bounds(d, &lengths);
    rows = look_up(d);
    if (d->ranks > 1)
        rows = fetch(d, &rows);
    if (d->y.dtype != MSIM_DT_F32)
        rows = msim_synth_to_type(&d->w, &rows, d->y.dtype);
    parts[0] = msim_etw_view(d->y.e, &d->dense, 3, d->batch, (int64_t)1, dim);
    parts[1] = msim_etw_view(d->y.e, &rows, 3, d->batch, tables, dim);
    d->vectors = msim_synth_cat(&d->w, parts, 2, 1);
}

/* The gradient of pooled rows to the ranks of their tables: a copy for each,
 * all of them in a row. */
static struct msim_etw_tensor give_back(struct msim_synth_dlrm *d,
                                        const struct msim_etw_tensor *grad)
{
    int64_t dim = d->y.m->dlrm.dim, all = d->batch * d->ranks;
    struct msim_etw_tensor parts[MSIM_DLRM_RANKS], sent, got;
    struct msim_etw_arg share[2];

    for (int64_t r = 0; r < d->ranks; r++) {
        struct msim_etw_tensor from =
            msim_etw_view(d->y.e, grad, 2, d->batch, d->shares[r].tables * dim);
        struct msim_etw_tensor to = floats(d, d->batch, from.dims[1]);
        struct msim_etw_arg in[] = {msim_etw_of(&from), msim_synth_none()};

        msim_etw_leaf(d->y.e, "aten::clone",
                      "aten::clone(Tensor self, *, MemoryFormat? "
                      "memory_format=None) -> Tensor",
                      in, 2, &to, 1);
        parts[r] = msim_etw_view(d->y.e, &to, 1, (int64_t)msim_etw_elems(&to));
    }
    sent = msim_synth_cat(&d->w, parts, (uint32_t)d->ranks, 0);
    got = made(d, floats(d, all, own(d)->tables * dim));
    msim_dlrm_exchange(d, &d->spread, "all_to_allv", &sent, &got);
    msim_dlrm_wait(d, &d->spread);
    share[0] = msim_etw_of(&got);
    share[1] = msim_etw_int(d->ranks);
    msim_etw_leaf(d->y.e, "aten::div_",
                  "aten::div_.Scalar(Tensor(a!) self, Scalar other) -> "
                  "Tensor(a!)",
                  share, 2, &got, 1);
    return got;
}

static void fused_back(struct msim_synth_dlrm *d,
                       const struct msim_etw_tensor *grad)
{
    int64_t dim = d->y.m->dlrm.dim, tables = msim_described_tables(d->y.m);
    struct msim_etw_tensor rows =
        msim_etw_view(d->y.e, grad, 2, d->batch, tables * dim);

    if (d->y.dtype != MSIM_DT_F32)
        rows = msim_synth_to_type(&d->w, &rows, MSIM_DT_F32);
    if (d->ranks > 1)
        rows = give_back(d, &rows);
    msim_etw_backward_of(d->y.e, look_up_name(d, true), &rows, SEQUENCE);
    msim_etw_close(d->y.e, NULL, 0);
}

/* ---- separate -------------------------------------------------------------
 */

static struct msim_etw_tensor bag(struct msim_synth_dlrm *d,
                                  const struct msim_etw_tensor *table,
                                  int64_t pooling, struct msim_synth_kept *kept)
{
    struct msim_etw_tensor indices = ints(d, d->batch * pooling);
    struct msim_etw_tensor offsets = ints(d, d->batch), out[4];
    struct msim_etw_arg in[] = {
        msim_etw_of(table),     msim_etw_of(&indices),  msim_etw_of(&offsets),
        msim_synth_flag(false), msim_etw_int(0),        msim_synth_flag(false),
        msim_synth_none(),      msim_synth_flag(false), msim_etw_int(-1)};

    msim_etw_open(d->y.e, "aten::embedding_bag",
                  "aten::embedding_bag.padding_idx(Tensor weight, Tensor "
                  "indices, Tensor offsets, bool scale_grad_by_freq, int mode, "
                  "bool sparse, Tensor? per_sample_weights, bool "
                  "include_last_offset, int? padding_idx) -> (Tensor, Tensor, "
                  "Tensor, Tensor)",
                  in, 9);
    out[0] = msim_synth_new2(&d->w, d->batch, table->dims[1]);
    out[1] = ints(d, d->batch * pooling); /* the bag of each index */
    out[2] = ints(d, d->batch);           /* sizes of bags */
    out[3] = ints(d, 0);
    msim_etw_leaf(d->y.e, "aten::_embedding_bag",
                  "aten::_embedding_bag(Tensor weight, Tensor indices, Tensor "
                  "offsets, bool scale_grad_by_freq=False, int mode=0, bool "
                  "sparse=False, Tensor? per_sample_weights=None, bool "
                  "include_last_offset=False, int padding_idx=-1) -> (Tensor, "
                  "Tensor, Tensor, Tensor)",
                  in, 9, out, 4);
    msim_etw_close(d->y.e, out, 4);
    *kept = (struct msim_synth_kept){
        .in = indices, .other = out[1], .out = out[2], .extra = out[3]};
    return out[0];
}

static void separate(struct msim_synth_dlrm *d)
{
    const struct msim_described *m = d->y.m;
    int64_t dim = m->dlrm.dim, n = 0;
    struct msim_etw_tensor parts[MSIM_DLRM_SEPARATE + 1];

    parts[n++] = msim_etw_view(d->y.e, &d->dense, 3, d->batch, (int64_t)1, dim);
    for (uint32_t i = 0; i < m->dlrm.n_kinds; i++)
        for (int64_t k = 0; k < m->dlrm.tables[i].count; k++, n++) {
            struct msim_etw_tensor out =
                bag(d, &d->tables[n - 1].weight, m->dlrm.tables[i].pooling,
                    &d->kept[n - 1]);

            parts[n] =
                msim_etw_view(d->y.e, &out, 3, d->batch, (int64_t)1, dim);
        }
    d->vectors = msim_synth_cat(&d->w, parts, (uint32_t)n, 1);
}

static void bag_back(struct msim_synth_dlrm *d,
                     const struct msim_etw_tensor *grad, int64_t i)
{
    struct msim_synth_parameter *table = &d->tables[i];
    const struct msim_synth_kept *kept = &d->kept[i];
    struct msim_etw_tensor rows =
        msim_etw_view(d->y.e, grad, 2, d->batch, table->weight.dims[1]);
    struct msim_etw_tensor out;
    struct msim_etw_arg in[] = {
        msim_synth_none(),         msim_etw_of(&kept->in),
        msim_etw_of(&kept->other), msim_etw_of(&kept->out),
        msim_etw_of(&kept->extra), msim_etw_int(table->weight.dims[0]),
        msim_synth_flag(false),    msim_etw_int(0),
        msim_synth_none(),         msim_etw_int(-1)};

    in[0] = msim_etw_of(&rows);
    out = msim_synth_new2(&d->w, table->weight.dims[0], table->weight.dims[1]);
    msim_etw_backward(d->y.e, "EmbeddingBagBackward0");
    msim_etw_leaf(d->y.e, "aten::_embedding_bag_dense_backward",
                  "aten::_embedding_bag_dense_backward(Tensor grad, Tensor "
                  "indices, Tensor offset2bag, Tensor bag_size, Tensor "
                  "maximum_indices, SymInt num_weights, bool "
                  "scale_grad_by_freq, int mode, Tensor? per_sample_weights, "
                  "int padding_idx=-1) -> Tensor",
                  in, 10, &out, 1);
    msim_etw_close(d->y.e, NULL, 0);
    msim_dlrm_gradient(d, &out, table);
}

/* ---- both -----------------------------------------------------------------
 */

void msim_dlrm_look_up(struct msim_synth_dlrm *d)
{
    (d->y.m->dlrm.separate ? separate : fused)(d);
}

void msim_dlrm_look_up_back(struct msim_synth_dlrm *d,
                            const struct msim_etw_tensor *grad)
{
    if (!d->y.m->dlrm.separate) {
        fused_back(d, grad);
        return;
    }
    for (int64_t i = msim_described_tables(d->y.m); i-- > 0;)
        bag_back(d, grad, i);
}
