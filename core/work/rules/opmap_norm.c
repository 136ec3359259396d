/*
 * core/work/rules/opmap_norm.c - normalisations: a row is what shares one mean.
 */
#include "core/work/rules/opmap_vector.h"

enum {
    LAYER,   /* input, normalized_shape, weight */
    PLAIN,   /* input, weight: the weight's elements are a row */
    GROUP,   /* groups in a later argument */
    CHANNEL, /* a row for every channel: batch norm */
    LAST,    /* the last dimension is a row */
    FIRST,   /* a row for every index of the first dimension */
};

/* Columns: the elements that share a mean. */
static double columns(const struct msim_opmap_ctx *c, uint8_t kind,
                      const struct msim_operand *x, bool back)
{
    uint32_t input = back ? 1 : 0;
    struct msim_operand weight;
    int64_t shape[8], n, groups;
    uint32_t dims;
    double cols = 1;

    switch (kind) {
    case LAYER:
        dims = msim_opmap_ints(c, input + 1, shape, 8);
        for (uint32_t j = 0; j < dims; j++)
            cols *= (double)msim_opmap_count((double)shape[j]);
        if (dims)
            return cols;
        if (msim_opmap_tensor(c, back ? 5 : 2, &weight))
            return weight.elems;
        return (double)msim_operand_dim(x, -1);
    case PLAIN:
        if (msim_opmap_nth_tensor(c, 1, &weight) && weight.rank == 1)
            return weight.elems;
        return (double)msim_operand_dim(x, -1);
    case GROUP:
        /* input, weight, bias, N, C, HxW, group; the gradient is summed for
         * each channel first */
        if (back) {
            double channels =
                (double)msim_operand_dim(x, 0) * (double)msim_operand_dim(x, 1);

            return channels > 0 ? x->elems / channels : x->elems;
        }
        if (msim_opmap_int(c, 6, &groups) && groups > 0) {
            n = msim_operand_dim(x, 0);
            return n > 0 ? x->elems / ((double)n * (double)groups) : x->elems;
        }
        return (double)msim_operand_dim(x, -1);
    case CHANNEL:
        n = msim_operand_dim(x, x->rank > 1 ? 1 : 0);
        return n > 0 ? x->elems / (double)n : x->elems;
    case FIRST:
        n = msim_operand_dim(x, 0);
        return n > 0 ? x->elems / (double)n : x->elems;
    default:
        return (double)msim_operand_dim(x, -1);
    }
}

/* input, weight, bias, running mean, running variance, training: in evaluation
 * the running moments replace those of the batch. */
static bool is_inference(const struct msim_opmap_ctx *c,
                         const struct msim_opmap_row *row)
{
    bool back = row->flags & MSIM_OPMAP_BACKWARD;
    int64_t training;

    return row->arg == CHANNEL && !back && msim_opmap_int(c, 5, &training) &&
           !training;
}

/*
 * Forward reads the input and writes the result; backward reads the gradient
 * and the input and writes a gradient. Weights and moments are small: a few
 * numbers a row or a column. row->inputs tensors of the input's size are
 * read, row->flops passes over it are made.
 */
static bool norm(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    bool back = row->flags & MSIM_OPMAP_BACKWARD;
    uint32_t first = row->flags & MSIM_OPMAP_OUT_FIRST ? 1 : 0;
    struct msim_operand x;
    double cols, rows;
    struct msim_work *w;

    if (!msim_opmap_nth_tensor(c, first, &x))
        return false;
    cols = columns(c, row->arg, &x, back);
    rows = cols > 0 ? x.elems / cols : 0;
    w = msim_opmap_work(c, MSIM_FAMILY_NORM, x.dtype,
                        is_inference(c, row) ? "batch_norm_elemt"
                                             : msim_opmap_variant(row));
    if (!w)
        return false;
    msim_opmap_set_rows(w, rows, cols);
    if (row->arg == CHANNEL)
        w->u.vector.fold =
            x.layout == MSIM_LAYOUT_TURNED ? MSIM_FOLD_ACROSS : MSIM_FOLD_ALONG;
    w->flops = x.elems * row->flops;
    w->bytes_read = x.bytes * row->inputs;
    w->bytes_written = x.bytes;
    /* gradients of weight and bias are summed over rows by a second kernel,
     * but for batch norm, where they are the row's own sums */
    w->kernels = back && row->arg != CHANNEL ? 2 : 1;
    return true;
}

/* Moments alone: nothing of the input's size is written. */
static bool moments(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    if (!norm(c, row))
        return false;
    c->works[0].bytes_written =
        2.0 * (double)c->works[0].u.vector.rows * msim_dtype_bytes(MSIM_DT_F32);
    return true;
}

#define BACK MSIM_OPMAP_BACKWARD
#define COMP MSIM_OPMAP_COMPOSITE
#define OUT1 MSIM_OPMAP_OUT_FIRST
/* F: forward, X: backward; tensors read, flops an element */
#define F(name, variant, kind)                                                 \
    {                                                                          \
        name, norm, variant, 1, 8, 0, kind                                     \
    }
#define X(name, variant, kind)                                                 \
    {                                                                          \
        name, norm, variant, 2, 12, BACK, kind                                 \
    }

static const struct msim_opmap_row rows[] = {
    F("FastLayerNormFN", "layer_norm", PLAIN),
    X("FastLayerNormFNBackward", "layer_norm_backward", LAST),
    F("FusedLayerNormAffineFunction", "layer_norm", PLAIN),
    X("FusedLayerNormAffineFunctionBackward", "layer_norm_backward", LAST),
    F("FusedLayerNormAffineMixedDtypesFunction", "layer_norm", PLAIN),
    X("FusedLayerNormAffineMixedDtypesFunctionBackward", "layer_norm_backward",
      LAST),
    F("FusedLayerNormFunction", "layer_norm", LAST),
    X("FusedLayerNormFunctionBackward", "layer_norm_backward", LAST),
    F("FusedRMSNormAffineFunction", "rms_norm", PLAIN),
    X("FusedRMSNormAffineFunctionBackward", "rms_norm_backward", LAST),
    F("FusedRMSNormAffineMixedDtypesFunction", "rms_norm", PLAIN),
    X("FusedRMSNormAffineMixedDtypesFunctionBackward", "rms_norm_backward",
      LAST),
    {"_C::fused_add_rms_norm", norm, "rms_norm", 2, 8, 0, LAST},
    {"_C::rms_norm", norm, "rms_norm", 1, 8, OUT1, LAST},
    {"_batch_norm_with_update", norm, "batch_norm", 1, 8, COMP, CHANNEL},
    F("_fused_rms_norm", "rms_norm", LAST),
    X("_fused_rms_norm_backward", "rms_norm_backward", LAST),
    {"_native_batch_norm_legit", norm, "batch_norm", 1, 8, COMP, CHANNEL},
    {"_native_batch_norm_legit_no_training", norm, "batch_norm_elemt", 1, 8,
     COMP, CHANNEL},
    {"_weight_norm", norm, "weight_norm", 1, 3, COMP, FIRST},
    F("_weight_norm_interface", "weight_norm", FIRST),
    X("_weight_norm_interface_backward", "weight_norm_backward", FIRST),
    X("batch_norm_backward", "batch_norm_backward", CHANNEL),
    {"batch_norm_backward_elemt", norm, NULL, 2, 6, 0, CHANNEL},
    {"batch_norm_backward_reduce", moments, "batch_norm_stats", 2, 6, 0,
     CHANNEL},
    {"batch_norm_elemt", norm, NULL, 1, 4, 0, CHANNEL},
    {"batch_norm_gather_stats_with_counts", moments, "batch_norm_stats", 1, 6,
     0, LAST},
    {"batch_norm_stats", moments, "batch_norm_stats", 1, 4, 0, CHANNEL},
    F("cudnn_batch_norm", "batch_norm", CHANNEL),
    X("cudnn_batch_norm_backward", "batch_norm_backward", CHANNEL),
    F("miopen_batch_norm", "batch_norm", CHANNEL),
    X("miopen_batch_norm_backward", "batch_norm_backward", CHANNEL),
    {"native_batch_norm", norm, "batch_norm", 1, 8, COMP, CHANNEL},
    {"native_batch_norm_backward", norm, "batch_norm_backward", 2, 12,
     BACK | COMP, CHANNEL},
    F("native_group_norm", "group_norm", GROUP),
    X("native_group_norm_backward", "group_norm_backward", GROUP),
    F("native_layer_norm", "layer_norm", LAYER),
    X("native_layer_norm_backward", "layer_norm_backward", LAYER),
    {"rms_norm", norm, NULL, 1, 8, COMP, LAST},
    {"sgl_kernel::fused_add_rmsnorm", norm, "rms_norm", 2, 8, 0, LAST},
    {"sgl_kernel::rmsnorm", norm, "rms_norm", 1, 8, OUT1, LAST},
};

const struct msim_opmap_table msim_opmap_norm = {rows, sizeof(rows) /
                                                           sizeof(rows[0])};
