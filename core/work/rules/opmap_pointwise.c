/*
 * core/work/rules/opmap_pointwise.c - operators on each element by itself.
 *
 * Each operand is read once in its own size (a broadcast one is small), and the
 * result is written once.
 */
#include "core/work/rules/opmap_vector.h"

#include <string.h>

#define MAX_INPUTS 8
#define MAX_RANK   16

void msim_opmap_set_rows(struct msim_work *w, double rows, double cols)
{
    w->u.vector.rows = msim_opmap_count(rows);
    w->u.vector.cols = msim_opmap_count(cols);
    w->u.vector.elems = msim_opmap_count(rows * cols);
}

/* Elements of the result of broadcasting `n` operands. */
static double broadcast_elems(const struct msim_operand *o, uint32_t n)
{
    double elems = 1;

    for (int k = 1; k <= MAX_RANK; k++) {
        double size = 1;

        for (uint32_t j = 0; j < n; j++) {
            double s = (double)msim_operand_dim(&o[j], -k);

            /* a size of 1 stretches, also to 0 */
            if (s != 1)
                size = s;
        }
        elems *= size;
    }
    return elems;
}

/* The type that the result of these operands has: the widest float of those
 * that are not scalars (PyTorch's type promotion, for what matters here). */
static enum msim_dtype promoted(const struct msim_operand *o, uint32_t n)
{
    enum msim_dtype best = o[0].dtype;
    bool have = false;

    for (uint32_t j = 0; j < n; j++) {
        bool is_float = o[j].dtype <= MSIM_DT_F8;

        if (o[j].rank == 0 && n > 1)
            continue;
        if (!have ||
            (is_float && (best > MSIM_DT_F8 || msim_dtype_bytes(o[j].dtype) >
                                                   msim_dtype_bytes(best))))
            best = o[j].dtype;
        have = true;
    }
    return best;
}

static void set_result(struct msim_opmap_ctx *c,
                       const struct msim_opmap_row *row,
                       const struct msim_operand *o, uint32_t n,
                       struct msim_work *w)
{
    struct msim_operand out;
    double elems = broadcast_elems(o, n);
    enum msim_dtype type = promoted(o, n);

    if (row->flags & MSIM_OPMAP_BOOL_RESULT)
        type = MSIM_DT_BOOL;
    if (msim_work_is_in_place(c->name) || row->flags & MSIM_OPMAP_WRITES_ONLY) {
        elems = o[0].elems;
        type = o[0].dtype;
    } else if (msim_opmap_output(c, 0, &out)) {
        elems = out.elems;
        type = out.dtype;
    }
    w->bytes_written = elems * msim_dtype_bytes(type);
    if (elems > (double)w->u.vector.elems)
        msim_opmap_set_rows(w, 1, elems);
    w->flops = elems * (row->flops ? row->flops : 1);
}

/* The names of these in measured tables, where the second operand is a
 * number. */
static const char *with_number(const char *variant,
                               const struct msim_operand *o, uint32_t n)
{
    static const char *const forms[][2] = {
        {"add", "addu"}, {"div", "divu"}, {"mul", "mulu"}, {"pow", "powu"}};
    uint32_t tensors = 0;

    for (uint32_t j = 0; j < n; j++)
        tensors += o[j].elems > 1;
    for (size_t k = 0; k < sizeof(forms) / sizeof(forms[0]) && tensors == 1;
         k++)
        if (strcmp(variant, forms[k][0]) == 0)
            return forms[k][1];
    return variant;
}

/*
 * Whether the kernel computes the address of each element (elementwise_kernel
 * with an offset calculator, aten/src/ATen/native/cuda/CUDALoops.cuh): operands
 * of the result's size lie with gaps or in different orders, or one is smaller
 * and stretches. The iterator sorts sizes by stride first, so that operands
 * that are all turned alike count as plain.
 */
static bool addressed(const struct msim_operand *o, uint32_t n, double elems)
{
    uint32_t turned = 0, whole = 0;

    for (uint32_t j = 0; j < n; j++) {
        if (o[j].elems <= 1)
            continue;
        if (o[j].elems < elems || o[j].layout == MSIM_LAYOUT_GAPS)
            return true;
        whole++;
        turned += o[j].layout == MSIM_LAYOUT_TURNED;
    }
    return turned > 0 && turned < whole;
}

/*
 * A pointwise work of `n` operands: all are read unless the row says that
 * the first is only written; the result is the first output where there is
 * one, else what broadcasting gives.
 */
static struct msim_work *pointwise_work(struct msim_opmap_ctx *c,
                                        const struct msim_opmap_row *row,
                                        const struct msim_operand *o,
                                        uint32_t n)
{
    struct msim_work *w =
        msim_opmap_work(c, MSIM_FAMILY_POINTWISE, promoted(o, n),
                        with_number(msim_opmap_variant(row), o, n));
    uint32_t first = row->flags & MSIM_OPMAP_WRITES_ONLY ? 1 : 0;
    double most = 0;

    if (!w)
        return NULL;
    for (uint32_t j = 0; j < n; j++) {
        if (j >= first)
            w->bytes_read += o[j].bytes;
        if (o[j].elems > most)
            most = o[j].elems;
    }
    msim_opmap_set_rows(w, 1, most);
    set_result(c, row, o, n, w);
    w->u.vector.addressed =
        addressed(o + first, n - first, (double)w->u.vector.elems);
    return w;
}

/* Threads that were launched: what makes a tensor has one an element. */
static double threads(const struct msim_opmap_ctx *c)
{
    const struct msim_gpu *g;
    struct msim_opmap_launches launches = {0};
    double n = 0;

    while ((g = msim_opmap_kernel(c, &launches))) {
        const struct msim_launch_config *k;

        if (g->config == MSIM_NONE)
            continue;
        k = &c->t->configs[g->config];
        n += (double)k->grid[0] * k->block[0];
    }
    return n;
}

/*
 * Operators that make a tensor of nothing (arange, randn): the output has the
 * size; without an output the launch has it.
 */
static bool generated(struct msim_opmap_ctx *c,
                      const struct msim_opmap_row *row)
{
    struct msim_operand out;
    struct msim_work *w;

    memset(&out, 0, sizeof(out));
    if (!msim_opmap_output(c, 0, &out) && !msim_opmap_nth_tensor(c, 0, &out)) {
        out.dtype = MSIM_DT_F32;
        out.elems = 0;
    }
    if (out.elems == 0)
        out.elems = threads(c);
    if (out.elems == 0)
        return false;
    w = msim_opmap_work(c, MSIM_FAMILY_POINTWISE, out.dtype,
                        msim_opmap_variant(row));
    if (!w)
        return false;
    w->bytes_written = out.elems * msim_dtype_bytes(out.dtype);
    w->flops = out.elems;
    msim_opmap_set_rows(w, 1, out.elems);
    return true;
}

/* Sizes not recorded: as many elements as the launches can have had. */
static bool after_launch(struct msim_opmap_ctx *c,
                         const struct msim_opmap_row *row)
{
    double elems = msim_opmap_grid_elems(c);
    struct msim_operand o[MAX_INPUTS];
    uint32_t n = row->inputs < MAX_INPUTS ? row->inputs : MAX_INPUTS;

    if (elems == 0 || n == 0)
        return false;
    memset(o, 0, sizeof(o));
    for (uint32_t j = 0; j < n; j++) {
        o[j].dtype = MSIM_DT_F32;
        o[j].elems = elems;
        o[j].bytes = elems * msim_dtype_bytes(MSIM_DT_F32);
    }
    struct msim_work *w = pointwise_work(c, row, o, n);

    if (w)
        w->bytes_written = o[0].bytes;
    return w != NULL;
}

/* Operands stand first; what follows is settings, and out= of the forms that
 * have it. row->arg: the operands are among that many arguments. */
bool msim_opmap_pointwise_rule(struct msim_opmap_ctx *c,
                               const struct msim_opmap_row *row)
{
    struct msim_operand o[MAX_INPUTS];
    uint32_t first = row->flags & MSIM_OPMAP_OUT_FIRST ? 1 : 0;
    uint32_t end = first + (row->arg ? row->arg : row->inputs), n = 0;

    for (uint32_t k = first; k < end && n < MAX_INPUTS; k++)
        if (msim_opmap_tensor(c, k, &o[n]))
            n++;
    if (n == 0)
        return after_launch(c, row);
    return pointwise_work(c, row, o, n) != NULL;
}

/* Writes the result and a mask of one byte an element. */
static bool dropout(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    struct msim_operand x;
    struct msim_work *w;

    if (!msim_opmap_tensor(c, 0, &x))
        return after_launch(c, row);
    w = pointwise_work(c, row, &x, 1);
    if (w)
        w->bytes_written = x.bytes + x.elems;
    return w != NULL;
}

/*
 * aten::dropout calls native_dropout on a GPU, and nothing in evaluation or at
 * probability 0. On a CPU it calls a chain of operators that a GPU would not
 * run: then it stands for the fused kernel, and its children do not count.
 */
static bool whole_dropout(struct msim_opmap_ctx *c,
                          const struct msim_opmap_row *row)
{
    if (c->place != MSIM_OPMAP_ON_GPU || c->op->end <= c->index + 1)
        return true;
    return dropout(c, row);
}

/* Does an operator below this one average or add up? */
static bool reduces_below(const struct msim_opmap_ctx *c)
{
    const struct msim_op *ops = c->t->ops;

    for (uint32_t j = c->index + 1; j < c->op->end; j++) {
        const char *name = msim_trace_text(c->t, ops[j].name);

        if (strcmp(name, "aten::mean") == 0 || strcmp(name, "aten::sum") == 0)
            return true;
    }
    return false;
}

/* A loss of each element; row->arg is the argument that says whether their mean
 * or sum is wanted, which a second kernel makes. */
static bool loss(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    const struct msim_opmap_row plain = {.name = row->name,
                                         .variant = row->variant,
                                         .inputs = row->inputs,
                                         .flops = row->flops};
    struct msim_operand o[2];
    struct msim_work *w;
    double elems;
    int64_t how;

    if (!msim_opmap_tensor(c, 0, &o[0]) || !msim_opmap_tensor(c, 1, &o[1]))
        return after_launch(c, &plain);
    w = pointwise_work(c, &plain, o, 2);
    if (!w || !msim_opmap_int(c, row->arg, &how) || how == 0)
        return w != NULL;
    elems = broadcast_elems(o, 2);
    w->bytes_written = elems * msim_dtype_bytes(w->dtype);
    /* what a CPU calls below has no work of its own on a GPU */
    if (c->place != MSIM_OPMAP_ON_GPU && reduces_below(c))
        return true;
    w = msim_opmap_work(c, MSIM_FAMILY_REDUCTION, w->dtype, "mean");
    if (!w)
        return false;
    msim_opmap_set_rows(w, 1, elems);
    w->u.vector.fold = MSIM_FOLD_ALONG;
    w->flops = elems;
    w->bytes_read = elems * msim_dtype_bytes(w->dtype);
    w->bytes_written = msim_dtype_bytes(w->dtype);
    return true;
}

#define RULE msim_opmap_pointwise_rule
/* L: a loss, and the argument that says how it is reduced */
#define L(name, flops, how)                                                    \
    {                                                                          \
        name, loss, NULL, 2, flops, 0, how                                     \
    }
/* name, flops an element; U: one tensor in, B: two, T: three */
#define U(name, flops)                                                         \
    {                                                                          \
        name, RULE, NULL, 1, flops, 0, 0                                       \
    }
#define B(name, flops)                                                         \
    {                                                                          \
        name, RULE, NULL, 2, flops, 0, 0                                       \
    }
#define T(name, flops)                                                         \
    {                                                                          \
        name, RULE, NULL, 3, flops, 0, 0                                       \
    }
/* comparisons: the result is one byte an element */
#define C(name)                                                                \
    {                                                                          \
        name, RULE, NULL, 2, 1, MSIM_OPMAP_BOOL_RESULT, 0                      \
    }
/* written without being read */
#define W(name)                                                                \
    {                                                                          \
        name, RULE, NULL, 1, 1, MSIM_OPMAP_WRITES_ONLY, 0                      \
    }
/* made from nothing */
#define G(name)                                                                \
    {                                                                          \
        name, generated, NULL, 0, 1, 0, 0                                      \
    }
/* launches only where no child does */
#define UC(name, flops)                                                        \
    {                                                                          \
        name, RULE, NULL, 1, flops, MSIM_OPMAP_COMPOSITE, 0                    \
    }
#define BC(name, flops)                                                        \
    {                                                                          \
        name, RULE, NULL, 2, flops, MSIM_OPMAP_COMPOSITE, 0                    \
    }
/* op(out, in, ...) */
#define O(name, inputs, flops)                                                 \
    {                                                                          \
        name, RULE, NULL, inputs, flops, MSIM_OPMAP_OUT_FIRST, 0               \
    }

static const struct msim_opmap_row rows[] = {
    BC("BiasGeGLUFunction", 14),
    BC("BiasSwiGLUFunction", 9),
    UC("FusedRoPEFunc", 6),
    UC("GeLUFunction", 12),
    BC("GeLUFunctionBackward", 16),
    UC("SwiGLUFunction", 8),
    BC("SwiGLUFunctionBackward", 12),
    O("_C::gelu_and_mul", 1, 12),
    O("_C::gelu_tanh_and_mul", 1, 12),
    T("_C::rotary_embedding", 6),
    O("_C::silu_and_mul", 1, 8),
    BC("__and__", 1),
    BC("__lshift__", 1),
    BC("__or__", 1),
    BC("__rshift__", 1),
    BC("__xor__", 1),
    {"_fused_dropout", dropout, "dropout", 0, 4, 0, 0},
    U("_make_per_tensor_quantized_tensor", 2),
    B("_prelu_kernel", 2),
    T("_prelu_kernel_backward", 3),
    U("abs", 1),
    U("acos", 10),
    B("add", 1),
    T("addcdiv", 3),
    T("addcmul", 3),
    T("addr", 2),
    U("angle", 10),
    G("arange"),
    U("asin", 10),
    U("asinh", 10),
    U("atan", 10),
    B("atan2", 10),
    W("bernoulli_"),
    B("binary_cross_entropy", 20),
    T("binary_cross_entropy_backward", 6),
    B("bitwise_and", 1),
    B("bitwise_left_shift", 1),
    U("bitwise_not", 1),
    B("bitwise_or", 1),
    B("bitwise_right_shift", 1),
    B("bitwise_xor", 1),
    W("cauchy_"),
    U("ceil", 1),
    U("celu", 8),
    U("clamp", 2),
    B("clamp_max", 1),
    B("clamp_min", 1),
    B("complex", 1),
    U("conj_physical", 1),
    B("copysign", 1),
    U("cos", 10),
    U("cosh", 10),
    U("deg2rad", 1),
    U("digamma", 20),
    B("div", 1),
    {"dropout", whole_dropout, "dropout", 0, 4, MSIM_OPMAP_COMPOSITE, 0},
    U("elu", 8),
    {"elu_backward", RULE, NULL, 2, 8, 0, 6},
    C("eq"),
    U("erf", 10),
    U("erfc", 10),
    U("erfinv", 10),
    U("exp", 8),
    U("exp2", 8),
    U("expm1", 8),
    W("exponential_"),
    G("eye"),
    U("fake_quantize_per_tensor_affine_cachemask", 4),
    {"fbgemm::Bfloat16QuantizedToFloat", RULE, "dequantize", 1, 2, 0, 0},
    {"fbgemm::FP8RowwiseQuantizedToFloat", RULE, "dequantize", 1, 2, 0, 0},
    {"fbgemm::FloatOrHalfToFusedNBitRowwiseQuantizedSBHalf", RULE, "quantize",
     1, 4, 0, 0},
    {"fbgemm::FloatToBfloat16Quantized", RULE, "quantize", 1, 2, 0, 0},
    {"fbgemm::FloatToFP8RowwiseQuantized", RULE, "quantize", 1, 4, 0, 0},
    {"fbgemm::FloatToFused8BitRowwiseQuantized", RULE, "quantize", 1, 4, 0, 0},
    {"fbgemm::FloatToHFP8Quantized", RULE, "quantize", 1, 4, 0, 0},
    {"fbgemm::FloatToPaddedFP8RowwiseQuantized", RULE, "quantize", 1, 4, 0, 0},
    {"fbgemm::Fused8BitRowwiseQuantizedToFloat", RULE, "dequantize", 1, 2, 0,
     0},
    {"fbgemm::FusedNBitRowwiseQuantizedSBHalfToFloatOrHalf", RULE, "dequantize",
     1, 2, 0, 0},
    {"fbgemm::HFP8QuantizedToFloat", RULE, "dequantize", 1, 2, 0, 0},
    {"fbgemm::PaddedFP8RowwiseQuantizedToFloat", RULE, "dequantize", 1, 2, 0,
     0},
    U("floor", 1),
    B("floor_divide", 1),
    B("fmax", 1),
    B("fmin", 1),
    B("fmod", 2),
    U("frac", 1),
    C("ge"),
    U("gelu", 12),
    B("gelu_backward", 16),
    W("geometric_"),
    U("glu", 6),
    B("glu_backward", 8),
    C("greater"),
    C("gt"),
    B("hardshrink", 1),
    U("hardsigmoid", 3),
    B("hardsigmoid_backward", 3),
    U("hardswish", 4),
    B("hardswish_backward", 4),
    U("hardtanh", 2),
    B("hardtanh_backward", 2),
    B("heaviside", 1),
    L("huber_loss", 4, 2),
    T("huber_loss_backward", 4),
    B("hypot", 4),
    U("i0", 20),
    C("isfinite"),
    {"isin", RULE, NULL, 2, 1, MSIM_OPMAP_BOOL_RESULT | MSIM_OPMAP_NEAREST, 0},
    UC("isinf", 1),
    {"isnan", RULE, NULL, 1, 1, MSIM_OPMAP_COMPOSITE | MSIM_OPMAP_BOOL_RESULT,
     0},
    C("isneginf"),
    C("isposinf"),
    C("le"),
    U("leaky_relu", 2),
    B("leaky_relu_backward", 2),
    B("lerp", 3),
    U("lgamma", 20),
    B("linalg_cross", 6),
    G("linspace"),
    U("log", 8),
    U("log10", 8),
    U("log1p", 8),
    U("log2", 8),
    W("log_normal_"),
    T("log_sigmoid_backward", 12),
    U("log_sigmoid_forward", 12),
    B("logaddexp", 16),
    B("logaddexp2", 16),
    C("logical_and"),
    C("logical_not"),
    C("logical_or"),
    C("logical_xor"),
    U("logit", 10),
    G("logspace"),
    C("lt"),
    B("masked_fill_", 1),
    {"masked_scatter_", RULE, NULL, 3, 2, MSIM_OPMAP_NEAREST, 0},
    {"maximum", RULE, "max", 2, 1, 0, 0},
    {"minimum", RULE, "min", 2, 1, 0, 0},
    U("mish", 16),
    B("mish_backward", 20),
    L("mse_loss", 2, 2),
    T("mse_loss_backward", 3),
    B("mul", 1),
    U("nan_to_num", 2),
    {"native_dropout", dropout, "dropout", 0, 4, 0, 0},
    {"native_dropout_backward", RULE, "dropout", 2, 2, 0, 0},
    C("ne"),
    U("neg", 1),
    B("nextafter", 1),
    W("normal_"),
    B("polar", 20),
    U("polygamma", 20),
    B("pow", 10),
    U("quantize_per_tensor", 2),
    W("random_"),
    {"randperm", generated, NULL, 0, 1, MSIM_OPMAP_NEAREST, 0},
    G("range"),
    U("reciprocal", 1),
    UC("relu", 1),
    B("remainder", 3),
    {"renorm", RULE, NULL, 1, 3, MSIM_OPMAP_NEAREST, 0},
    T("rotary_embedding", 6),
    U("round", 1),
    T("rrelu_with_noise", 2),
    U("rsqrt", 2),
    {"rsub", RULE, NULL, 2, 1, MSIM_OPMAP_COMPOSITE, 0},
    U("sgn", 1),
    U("sigmoid", 8),
    B("sigmoid_backward", 3),
    U("sign", 1),
    C("signbit"),
    U("silu", 9),
    B("silu_backward", 12),
    U("sin", 10),
    U("sinc", 10),
    U("sinh", 10),
    L("smooth_l1_loss", 4, 2),
    T("smooth_l1_loss_backward", 4),
    B("soft_margin_loss", 12),
    U("softplus", 12),
    B("softplus_backward", 10),
    U("softshrink", 2),
    U("special_entr", 10),
    U("sqrt", 2),
    UC("square", 1),
    B("sub", 1),
    U("tan", 10),
    U("tanh", 10),
    B("tanh_backward", 3),
    U("threshold", 1),
    B("threshold_backward", 1),
    U("tril", 1),
    G("tril_indices"),
    U("triu", 1),
    G("triu_indices"),
    U("trunc", 1),
    W("uniform_"),
    T("where", 1),
    B("xlogy", 10),
};

const struct msim_opmap_table msim_opmap_pointwise = {
    rows, sizeof(rows) / sizeof(rows[0])};
