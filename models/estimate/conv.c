/*
 * models/estimate/conv.c - convolutions.
 *
 * Fits of bare kernels (models/law/conv_law.c) exist for 3 x 3 filters of
 * stride 1 in plain fp32, and on five GPUs for others. All other convolutions
 * are estimated as the matrix product with the same arithmetic, by the law of
 * products.
 *
 * Tensor-core kernels need channels last, in steps of 16 bytes. For tensors
 * with channels first cuDNN transposes inputs and outputs. It does not for 1 x
 * 1 filters where the rows of an image are in such steps: these it multiplies
 * image by image. A few channels are padded to a step; but forward passes and
 * data gradients in fp32 and fp16 with channels first use a plain kernel.
 */
#include "core/base/print.h"
#include "core/work/kernel_fact.h"
#include "core/work/work.h"
#include "models/estimate/model.h"
#include "models/estimate/model_internal.h"
#include "models/law/law.h"
#include "models/platform/fit.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <stack_rows.h>
#include <string.h>

static bool conv_covers(const struct msim_platform *p,
                        const struct msim_work *w)
{
    (void)p;
    return w->family == MSIM_FAMILY_CONV && w->u.conv.n > 0 &&
           w->u.conv.c > 0 && w->u.conv.h > 0 && w->u.conv.w > 0 &&
           w->u.conv.k > 0 && w->u.conv.r > 0 && w->u.conv.s > 0;
}

static double step_elems(const struct msim_work *w)
{
    int64_t bytes = msim_dtype_bytes(w->dtype);
    int64_t step = (int64_t)MSIM_FACT(NULL, TENSOR_CORE_STEP_BYTES);

    return bytes > 0 && bytes < step ? (double)(step / bytes) : 1;
}

static bool in_steps(double v, double step)
{
    return fmod(v, step) == 0;
}

/* Plain kernels exist for fp32 and fp16; other types are padded. */
static bool may_be_plain(const struct msim_work *w)
{
    return w->dtype == MSIM_DT_F32 || w->dtype == MSIM_DT_F16;
}

static bool is_depthwise(const struct msim_work *w)
{
    struct msim_conv_shape s;

    if (w->u.conv.groups <= 1)
        return false;
    msim_conv_shape_of(w, &s);
    /* the channels of a third dimension are its filter taps */
    return s.c == 1 || (w->u.conv.deep && !w->u.conv.transposed &&
                        s.c == fmax((double)w->u.conv.depth, 1));
}

/* Channels that a forward pass or a data gradient sums over. The taps of a
 * third dimension are among those that the work reads (transposed: what its
 * plain convolution writes). */
static double summed_channels(const struct msim_work *w,
                              const struct msim_conv_shape *s)
{
    bool has_taps = (s->pass == MSIM_CONV_FORWARD) == !w->u.conv.transposed;

    return (s->pass == MSIM_CONV_FORWARD ? s->c : s->k) /
           (has_taps ? msim_conv_depth(w) : 1);
}

/* The work with its counts; as plain fp32 where no tensor-core kernel can
 * compute its channels. */
static void settle(const struct msim_platform *p, const struct msim_work *w,
                   struct msim_work *out)
{
    struct msim_conv_shape s;

    *out = *w;
    msim_work_count(out);
    /* with a third dimension the shape does not have all of its strides */
    if (w->u.conv.deep && w->flops > 0)
        out->flops = w->flops;
    if (!msim_conv_is_bare(w) || is_depthwise(w) || !may_be_plain(w) ||
        w->u.conv.channels_last || msim_conv_is_plain(p, w) ||
        msim_conv_pass_of(w) == MSIM_CONV_BACKWARD_WEIGHT ||
        msim_conv_is_deep_gradient(p, w))
        return;
    msim_conv_shape_of(w, &s);
    if (in_steps(summed_channels(w, &s), step_elems(w)))
        return;
    out->dtype = MSIM_DT_F32;
    out->variant = NULL;
}

static bool is_winograds(const struct msim_work *w)
{
    return w->u.conv.r == 3 && w->u.conv.s == 3 && w->u.conv.stride_h <= 1 &&
           w->u.conv.stride_w <= 1;
}

/* Pick a fit of this very device that covers filters of many sizes: of a
 * calibration (PyTorch's first), or of DeepBench. */
static bool pick_own(const struct msim_platform *p, const struct msim_law *law,
                     const char *const *keys, struct msim_pick *out)
{
    static const char *const STACKS[] = {"torch", "cuda", "cpu", "DeepBench"};
    static const char *const NONE[] = {NULL};

    if (!msim_fit_has_key(p, law, *keys))
        return false;
    for (size_t i = 0; i < sizeof(STACKS) / sizeof(*STACKS); i++)
        if (msim_fit_pick(p, law, STACKS[i], NONE, keys, out) &&
            out->platform == p && !out->other_framework)
            return true;
    return false;
}

/* A filter as large as the image, without padding: a linear layer. All its
 * passes are products, and no kernel of convolutions shares anything there. */
static bool is_linear(const struct msim_work *w)
{
    struct msim_conv_shape s;

    msim_conv_shape_of(w, &s);
    return s.r * s.s > 1 && s.p * s.q <= 1 && s.h <= s.r && s.w <= s.s;
}

/*
 * Pick the fit of convolutions that covers the work. A work that names a stack
 * uses its fits for all sizes. A bare convolution uses them for the sizes of
 * their rows only: 3 x 3 filters of stride 1, forward; of a GPU with fits of
 * many sizes for all but what is a linear layer, which no table has.
 */
static bool conv_pick(const struct msim_platform *p, const struct msim_work *w,
                      struct msim_pick *out)
{
    static const char *const PREFER[] = {MSIM_STACKS_CONV};
    const struct msim_law *law = msim_law_of(MSIM_FAMILY_CONV, p->is_host);
    char key[72];
    const char *keys[2] = {key, NULL};

    law->key(w, key, sizeof(key));
    if (w->framework && strcmp(w->framework, "pytorch") != 0)
        return msim_fit_pick(p, law, w->framework, PREFER, keys, out);
    if (p->is_host)
        return pick_own(p, law, keys, out);
    if (!msim_conv_is_plain(p, w) || w->u.conv.groups > 1 ||
        w->u.conv.transposed || w->u.conv.deep || is_linear(w))
        return false;
    if (!is_winograds(w) || w->u.conv.pass != MSIM_CONV_FORWARD) {
        if (pick_own(p, law, keys, out))
            return true;
        if (!is_winograds(w))
            return false;
        keys[0] = "forward/fp32";
    }
    return msim_fit_pick(p, law, NULL, PREFER, keys, out);
}

static int64_t whole(double v)
{
    return v < 1 ? 1 : v > 1e15 ? (int64_t)1e15 : (int64_t)v;
}

static double up_to(double v, double step)
{
    return ceil(v / step) * step;
}

/* How a product is computed. */
struct way {
    double parts;  /* that each sum is split into */
    double layout; /* bytes that transpositions move */
};

/* A weight gradient sums over all places. The sum is split into as many parts
 * as the SMs can compute at once. */
static double parts_of(const struct msim_platform *p,
                       const struct msim_conv_product *g)
{
    double side = MSIM_FACT(NULL, WEIGHT_GRADIENT_TILE);
    double tiles = ceil(g->m / side) * ceil(g->n / side) * g->batch;
    double parts = fmin(floor(p->sheet.sms / tiles),
                        floor(g->k / MSIM_FACT(NULL, WEIGHT_GRADIENT_TERMS)));

    return fmax(parts, 1);
}

/* Whether cuDNN multiplies 1 x 1 filters with channels first, image by image.
 */
static bool is_direct(const struct msim_conv_shape *s, double step)
{
    return s->r * s->s == 1 && s->stride_h <= 1 && s->stride_w <= 1 &&
           in_steps(s->h * s->w, step) && in_steps(s->p * s->q, step);
}

static void layout_of(const struct msim_work *w,
                      const struct msim_conv_shape *s, struct way *out)
{
    if (w->u.conv.channels_last || is_direct(s, step_elems(w)))
        return;
    out->layout = 2 * (w->bytes_read + w->bytes_written);
}

/*
 * The matrix product with the same arithmetic. Its flops and bytes are those of
 * the convolution, with those of padding and of sums in parts.
 */
static void as_gemm(const struct msim_platform *p, const struct msim_work *w,
                    struct msim_work *g, struct way *way)
{
    struct msim_conv_product product;
    struct msim_conv_shape s;
    double step = step_elems(w), c;

    *way = (struct way){.parts = 1};
    *g = *w;
    msim_conv_shape_of(w, &s);
    if (!msim_conv_is_plain(p, w)) {
        layout_of(w, &s, way);
        c = s.c;
        s.c = up_to(c, step);
        g->flops *= s.c / c;
    }
    g->flops *= msim_conv_way_fill(p, w, &s);
    msim_conv_product_of(&s, &product);
    if (s.pass == MSIM_CONV_BACKWARD_WEIGHT)
        way->parts = parts_of(p, &product);
    if (way->parts > 1) {
        g->bytes_written +=
            way->parts * product.m * product.n * product.batch * sizeof(float);
        g->bytes_read +=
            way->parts * product.m * product.n * product.batch * sizeof(float);
        g->kernels = 2;
    }
    g->family = MSIM_FAMILY_GEMM;
    memset(&g->u, 0, sizeof(g->u));
    g->u.gemm.batch = whole(product.batch * way->parts);
    g->u.gemm.m = whole(product.m);
    g->u.gemm.n = whole(product.n);
    g->u.gemm.k = whole(product.k / way->parts);
}

/* The time of a pass over that of a forward pass with the same arithmetic. */
static double pass_factor(const struct msim_platform *p,
                          const struct msim_work *w)
{
    enum msim_conv_pass pass = msim_conv_pass_of(w);

    if (pass == MSIM_CONV_BACKWARD_WEIGHT)
        return p->conv_weight;
    return pass == MSIM_CONV_BACKWARD_DATA &&
                   (w->u.conv.stride_h > 1 || w->u.conv.stride_w > 1)
               ? p->conv_strided_data
               : 1;
}

/* Microseconds of a transposition, as of a copy. */
static enum msim_status transpose_us(const struct msim_platform *p,
                                     const struct msim_work *w, double elems,
                                     double *us)
{
    struct msim_work copy = {.family = MSIM_FAMILY_COPY,
                             .dtype = w->dtype,
                             .variant = "copy",
                             .kernels = 1};
    struct msim_estimate e;

    copy.bytes_read = copy.bytes_written = elems * msim_dtype_bytes(w->dtype);
    copy.u.vector.copy = MSIM_COPY_D2D;
    copy.u.vector.rows = 1;
    copy.u.vector.elems = copy.u.vector.cols = whole(elems);
    MSIM_TRY(msim_model_predict(p, &copy, false, &e, NULL));
    *us += e.us;
    return MSIM_OK;
}

/* Microseconds of transpositions: of input and filters, of the result. */
struct layout {
    double before, after;
};

/* Taps of a third dimension are no further elements of the image of a gradient.
 * Of forward passes in TF32 measured times are nearer with the taps (by 0.4
 * points on H100, by 0.6 on A100). */
static double image_taps(const struct msim_work *w)
{
    return w->u.conv.pass == MSIM_CONV_FORWARD ? 1 : msim_conv_depth(w);
}

static enum msim_status layout_us(const struct msim_platform *p,
                                  const struct msim_work *w, struct layout *l)
{
    struct msim_conv_shape s;
    double image, result, filters;

    msim_conv_shape_of(w, &s);
    image = s.n * s.groups * s.c * s.h * s.w;
    result = s.n * s.groups * s.k * s.p * s.q;
    filters = s.groups * s.k * s.c * s.r * s.s;
    *(w->u.conv.transposed ? &result : &image) /= image_taps(w);
    *l = (struct layout){0};
    MSIM_TRY(transpose_us(p, w, image, &l->before));
    MSIM_TRY(transpose_us(p, w, filters, &l->before));
    return transpose_us(p, w, result, &l->after);
}

/*
 * Kernels of Ampere and Ada write the result of a forward pass with channels
 * first themselves, those of Hopper do not. Hopper runs Ampere's kernels, which
 * take longer, where that is less than to transpose the result.
 */
static double after_product(const struct msim_platform *p,
                            const struct msim_work *w, double product_us,
                            double after)
{
    if (msim_conv_pass_of(w) != MSIM_CONV_FORWARD)
        return after;
    return fmin(after,
                (MSIM_FACT(&p->sheet, OLDER_CONV_FACTOR) - 1) * product_us);
}

static double sum_of(const struct msim_work *w)
{
    struct msim_conv_shape s;

    msim_conv_shape_of(w, &s);
    return (s.pass == MSIM_CONV_FORWARD ? s.c : s.k) * s.r * s.s;
}

static enum msim_status implicit_gemm(const struct msim_platform *p,
                                      const struct msim_work *w,
                                      struct msim_estimate *out)
{
    struct msim_adjust adjust = {
        .factor = 1, .log_sd = MSIM_FACT(NULL, IMPLICIT_PRODUCT_LOG_SD)};
    struct msim_work gemm;
    struct msim_pick pick;
    struct way way;
    struct layout layout;

    as_gemm(p, w, &gemm, &way);
    if (!msim_gemm_pick(p, &gemm, &pick))
        return MSIM_ENOMODEL;
    /* what another GPU's rows correct: none is of such short sums */
    if (pick.platform != p &&
        sum_of(w) < MSIM_FACT(NULL, IMPLICIT_PRODUCT_SHORT))
        pick.trees = false;
    adjust.factor = pass_factor(p, w) * msim_conv_deep_factor(p, w);
    msim_fit_estimate(p, &pick, &gemm, &adjust, out);
    if (way.layout > 0) {
        MSIM_TRY(layout_us(p, w, &layout));
        msim_pace_add(
            layout.before + after_product(p, w, out->us, layout.after), out);
    }
    return MSIM_OK;
}

/* With a filter for each channel there is no product with shared operands. Its
 * kernels are bound by memory, as additions are, or reductions for a gradient.
 */
static void as_vector(const struct msim_work *w, struct msim_work *v)
{
    struct msim_conv_shape s;
    bool sums = w->u.conv.pass == MSIM_CONV_BACKWARD_WEIGHT;
    double elems;

    msim_conv_shape_of(w, &s);
    elems = s.n * s.groups * fmax(s.h * s.w, s.k * s.p * s.q);
    *v = *w;
    v->family = sums ? MSIM_FAMILY_REDUCTION : MSIM_FAMILY_POINTWISE;
    v->variant = sums ? "sum" : "add";
    memset(&v->u, 0, sizeof(v->u));
    v->u.vector.elems = whole(elems);
    v->u.vector.rows = sums ? whole(s.groups) : 1;
    v->u.vector.cols = whole(elems / (double)v->u.vector.rows);
}

/*
 * Whether PyTorch asks cuDNN for the filter a channel of an fp16 tensor with
 * channels first: it knows where cuDNN is the faster one
 * (check_cudnn_depthwise_workload_with_filter() in
 * aten/src/ATen/native/Convolution.cpp). Sizes are those of the forward pass.
 */
static bool cudnn_is_faster(const struct msim_work *w)
{
    int64_t n = w->u.conv.n, c = w->u.conv.c, width = w->u.conv.w;
    int64_t size = w->u.conv.s, stride = w->u.conv.stride_w;

    if (c < 32 || width < 7 || (size != 1 && size != 3 && size != 5) ||
        (stride != 1 && stride != 2))
        return false;
    if (stride == 1)
        return true;
    if (n == 1)
        return size > 1 || width <= 28;
    if (size == 1)
        return n <= 16 && c >= 128 && width <= 7;
    return c >= 512 || (c >= 256 && width >= 28);
}

static bool asks_cudnn(const struct msim_work *w)
{
    return w->dtype == MSIM_DT_F16 && !w->u.conv.deep &&
           w->u.conv.dilation_h <= 1 && w->u.conv.dilation_w <= 1 &&
           w->u.conv.r == w->u.conv.s &&
           w->u.conv.stride_h == w->u.conv.stride_w && cudnn_is_faster(w);
}

/* PyTorch has a depthwise kernel of its own for channels first, and asks cuDNN
 * for channels last, and in half precision for some (use_cudnn_depthwise(),
 * there). */
static bool is_native(const struct msim_platform *p, const struct msim_work *w)
{
    if (w->u.conv.channels_last)
        return false;
    /* of MIOpen only fp32 is known, and no gradient of weights */
    return p->sheet.miopen ? w->dtype == MSIM_DT_F32 &&
                                 w->u.conv.pass != MSIM_CONV_BACKWARD_WEIGHT
                           : !asks_cudnn(w);
}

/* cuDNN's gradients with channels last go tap by tap, at a rate of their own
 * (data/laws/kernels.json); 0: others. */
static double gradient_us(const struct msim_platform *p,
                          const struct msim_work *w)
{
    double rate = p->shared.kernels.last_gradient;

    return rate > 0 && w->u.conv.channels_last && !w->u.conv.deep &&
                   !p->is_host && !p->sheet.miopen &&
                   msim_dtype_bytes(w->dtype) == 2 &&
                   w->u.conv.pass != MSIM_CONV_FORWARD
               ? w->flops / 2 * 1e6 /
                     (rate * p->sheet.sms * p->sheet.clock_hz *
                      sqrt(p->sheet.sustained))
               : 0;
}

static enum msim_status depthwise(const struct msim_platform *p,
                                  const struct msim_work *w,
                                  struct msim_estimate *out)
{
    struct msim_work v;

    as_vector(w, &v);
    MSIM_TRY(msim_model_predict(p, &v, false, out, NULL));
    if (is_native(p, w) && !p->is_host)
        msim_pace_join(msim_conv_depthwise_us(p, w), out);
    msim_pace_join(gradient_us(p, w), out);
    out->low_us /= MSIM_FACT(NULL, DEPTHWISE_INTERVAL);
    out->high_us *= MSIM_FACT(NULL, DEPTHWISE_INTERVAL);
    return MSIM_OK;
}

static enum msim_status conv_predict(const struct msim_platform *p,
                                     const struct msim_work *w,
                                     struct msim_estimate *out)
{
    struct msim_work work;
    struct msim_pick pick;
    enum msim_status status = MSIM_OK;
    struct msim_adjust adjust = {.factor = 1};

    settle(p, w, &work);
    if (!conv_pick(p, &work, &pick)) {
        status = is_depthwise(w) ? depthwise(p, &work, out)
                                 : implicit_gemm(p, &work, out);
        if (status == MSIM_OK && !is_depthwise(w))
            msim_conv_way_join(p, w, &work, out);
    } else {
        if (strncmp(pick.fit->key, "forward", 7) == 0 &&
            w->u.conv.pass != MSIM_CONV_FORWARD) {
            adjust.factor = pass_factor(p, &work);
            adjust.log_sd = MSIM_FACT(NULL, CONV_BACKWARD_LOG_SD);
        }
        msim_fit_estimate(p, &pick, &work, &adjust, out);
    }
    out->family = MSIM_FAMILY_CONV;
    return status;
}

static void conv_explain(const struct msim_platform *p,
                         const struct msim_work *w, FILE *out)
{
    struct msim_work work;
    struct msim_work gemm;
    struct msim_pick pick;
    struct way way;

    settle(p, w, &work);
    msim_print(out,
               "inputs: %s, n %lld, c %lld, %lld x %lld, k %lld, filter %lld x "
               "%lld, stride %lld, groups %lld, %s%s\n",
               msim_conv_key_pass(w->u.conv.pass), (long long)w->u.conv.n,
               (long long)w->u.conv.c, (long long)w->u.conv.h,
               (long long)w->u.conv.w, (long long)w->u.conv.k,
               (long long)w->u.conv.r, (long long)w->u.conv.s,
               (long long)w->u.conv.stride_h, (long long)w->u.conv.groups,
               msim_dtype_text(w->dtype),
               msim_conv_is_plain(p, &work) ? "" : " on tensor cores");
    if (conv_pick(p, &work, &pick)) {
        fprintf(out, "law: t0 + norm(fastest algorithm, bytes / bandwidth)\n");
        msim_fit_explain(p, &pick, &work, out);
        return;
    }
    if (is_depthwise(w)) {
        as_vector(&work, &gemm);
        fprintf(out, "law: a filter for each channel, at memory's pace\n");
        msim_model_explain(p, &gemm, out);
        return;
    }
    as_gemm(p, &work, &gemm, &way);
    fprintf(out,
            "law: %lld matrix products m %lld, n %lld, k %lld (sums in %.0f "
            "parts), and %.3g bytes of transposition\n",
            (long long)gemm.u.gemm.batch, (long long)gemm.u.gemm.m,
            (long long)gemm.u.gemm.n, (long long)gemm.u.gemm.k, way.parts,
            way.layout);
    if (msim_gemm_pick(p, &gemm, &pick))
        msim_fit_explain(p, &pick, &gemm, out);
    msim_conv_way_explain(p, w, &work, out);
}

const struct msim_model MSIM_MODEL_CONV = {"conv", conv_covers, conv_predict,
                                           conv_explain};
