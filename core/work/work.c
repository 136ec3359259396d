/*
 * core/work/work.c - names of families, and what follows from a work's sizes.
 */
#include "core/work/work.h"

#include "core/base/texts.h"

#include <math.h>
#include <string.h>

static const char *const FAMILY_TEXT[] = {
#define X(name, text) text,
    MSIM_FAMILY_MAP(X)
#undef X
};

const char *msim_family_text(enum msim_family f)
{
    return (unsigned)f < MSIM_FAMILY_COUNT ? FAMILY_TEXT[f] : "unknown";
}

bool msim_work_is_in_place(const char *op)
{
    size_t n = strlen(op);

    return n > 1 && op[n - 1] == '_' && op[n - 2] != '_';
}

double msim_work_repeats(const struct msim_work *w)
{
    return w->repeats > 1 ? w->repeats : 1;
}

const char *msim_work_variant(const struct msim_work *w)
{
    return w->variant ? w->variant : "";
}

double msim_work_weight_bytes(const struct msim_work *w)
{
    const char *v = msim_work_variant(w);

    if (msim_same_text(v, "nvfp4"))
        return 0.5625; /* 4 bits and an 8-bit scale for every 16 */
    if (strncmp(v, "w4a", 3) == 0)
        return 0.53125; /* mxfp4: 4 bits and an 8-bit scale for every 32 */
    if (msim_same_text(v, "int4_wo"))
        return 0.5;
    if (msim_same_text(v, "int8_wo"))
        return 1;
    return msim_dtype_bytes(w->dtype);
}

static double input_bytes(const struct msim_work *w)
{
    return msim_same_text(msim_work_variant(w), "nvfp4")
               ? 0.5625
               : msim_dtype_bytes(w->dtype);
}

static void count_gemm(struct msim_work *w)
{
    double m = (double)w->u.gemm.m;
    double n = (double)w->u.gemm.n;
    double k = (double)w->u.gemm.k;
    double batch = (double)w->u.gemm.batch;
    /* Narrow inputs are accumulated and written in a wider type. */
    double out =
        msim_dtype_bytes(w->dtype) > 2 ? msim_dtype_bytes(w->dtype) : 2;

    w->flops = 2 * m * n * k * batch;
    w->bytes_read =
        batch * (m * k * input_bytes(w) + n * k * msim_work_weight_bytes(w));
    w->bytes_written = batch * m * n * out;
}

double msim_attention_pairs(const struct msim_work *w)
{
    double q = (double)w->u.attention.q_len;
    double kv = (double)w->u.attention.kv_len;
    double window = (double)w->u.attention.window;
    double pairs, cut;

    if (w->u.attention.phase != MSIM_ATTENTION_PREFILL) {
        pairs = q * kv;
        if (window > 0 && window < kv)
            pairs = q * window;
        return pairs;
    }
    pairs = q * (kv - q) + q * (q + 1) / 2;
    if (window > 0 && window < kv) {
        /* Queries whose last key is past the window lose the keys before
         * it: query i of 1..q sees kv - q + i keys. */
        cut = kv - window;
        if (cut <= q)
            pairs -= cut * (cut + 1) / 2;
        else
            pairs = q * window;
    }
    return pairs > 0 ? pairs : q;
}

static void count_attention(struct msim_work *w)
{
    double batch = (double)w->u.attention.batch;
    double heads = (double)w->u.attention.heads;
    double kv_heads = (double)w->u.attention.kv_heads;
    double q = (double)w->u.attention.q_len;
    double kv = (double)w->u.attention.kv_len;
    double d = (double)w->u.attention.head_dim;
    double v = w->u.attention.v_dim ? (double)w->u.attention.v_dim : d;
    bool latent = v < d && w->u.attention.kv_heads == 1;
    double kv_bytes = msim_dtype_bytes(w->u.attention.kv_dtype);

    if (w->u.attention.window > 0 && (double)w->u.attention.window + q < kv)
        kv = (double)w->u.attention.window + q;
    w->flops = 2 * batch * heads * (d + v) * msim_attention_pairs(w);
    w->bytes_read = batch * (heads * q * d * msim_dtype_bytes(w->dtype) +
                             kv_heads * kv * kv_bytes * (latent ? d : d + v));
    w->bytes_written = 2 * batch * heads * q * v;
    if (w->u.attention.backward) {
        /* Five products instead of two; each operand and its gradient. */
        w->flops *= 2.5;
        w->bytes_read *= 2;
        w->bytes_written *= 3;
    }
}

/* Positions along one axis, in floating point: a broken trace may hold any
 * sizes, whose products overflow integers. */
static int64_t output_size(double in, double filter, double stride, double pad,
                           double dilation, bool transposed)
{
    double span = (dilation > 0 ? dilation : 1) * (filter - 1);
    double out;

    if (stride < 1)
        stride = 1;
    if (transposed)
        out = (in - 1) * stride - 2 * pad + span + 1;
    else
        out = floor((in + 2 * pad - span - 1) / stride) + 1;
    return out < 1 ? 1 : out > 1e15 ? (int64_t)1e15 : (int64_t)out;
}

void msim_conv_output(const struct msim_work *w, int64_t *p, int64_t *q)
{
    *p = output_size((double)w->u.conv.h, (double)w->u.conv.r,
                     (double)w->u.conv.stride_h, (double)w->u.conv.pad_h,
                     (double)w->u.conv.dilation_h, w->u.conv.transposed);
    *q = output_size((double)w->u.conv.w, (double)w->u.conv.s,
                     (double)w->u.conv.stride_w, (double)w->u.conv.pad_w,
                     (double)w->u.conv.dilation_w, w->u.conv.transposed);
}

static void count_conv(struct msim_work *w)
{
    double bytes = msim_dtype_bytes(w->dtype);
    double groups = w->u.conv.groups > 0 ? (double)w->u.conv.groups : 1;
    double in, out, filter, places;
    int64_t p, q;

    msim_conv_output(w, &p, &q);
    in = (double)w->u.conv.n * (double)w->u.conv.c * (double)w->u.conv.h *
         (double)w->u.conv.w;
    out = (double)w->u.conv.n * (double)w->u.conv.k * (double)p * (double)q;
    filter = (double)w->u.conv.k * (double)w->u.conv.c / groups *
             (double)w->u.conv.r * (double)w->u.conv.s;
    /* A transposed convolution is the data gradient of a plain one: its
     * input takes the place of the output. */
    places = w->u.conv.transposed ? (double)w->u.conv.n * (double)w->u.conv.h *
                                        (double)w->u.conv.w
                                  : (double)w->u.conv.n * (double)p * (double)q;
    w->flops = 2 * places * filter;
    switch (w->u.conv.pass) {
    case MSIM_CONV_BACKWARD_DATA:
        w->bytes_read = (out + filter) * bytes;
        w->bytes_written = in * bytes;
        break;
    case MSIM_CONV_BACKWARD_WEIGHT:
        w->bytes_read = (in + out) * bytes;
        w->bytes_written = filter * bytes;
        break;
    case MSIM_CONV_FORWARD:
        w->bytes_read = (in + filter) * bytes;
        w->bytes_written = out * bytes;
        break;
    }
}

/*
 * The matrices of the active experts, once each; inputs and outputs of each
 * product; and the tokens, which are spread out before and summed after.
 * Products of narrow inputs are written in 16 bits.
 */
static void count_moe(struct msim_work *w)
{
    const struct msim_moe_load *load = &w->u.moe.load;
    double matrices = w->u.moe.plain ? 2 : 3;
    double tp = w->u.moe.tp > 1 ? (double)w->u.moe.tp : 1;
    double inter = (double)w->u.moe.inter / tp;
    double hidden = (double)w->u.moe.hidden;
    double in = input_bytes(w);
    double tokens = (double)w->u.moe.routing.tokens;

    w->flops = 2 * matrices * load->pairs * hidden * inter;
    w->bytes_read =
        load->active * matrices * hidden * inter * msim_work_weight_bytes(w) +
        load->pairs * (hidden * (in + 2) + inter * (2 * (matrices - 1) + in)) +
        tokens * hidden * 2;
    w->bytes_written =
        load->pairs * (hidden * 2 + inter * in) + tokens * hidden * 2;
}

static void count(struct msim_work *w)
{
    if (w->family == MSIM_FAMILY_GEMM)
        count_gemm(w);
    else if (w->family == MSIM_FAMILY_ATTENTION)
        count_attention(w);
    else if (w->family == MSIM_FAMILY_CONV)
        count_conv(w);
    else if (w->family == MSIM_FAMILY_MOE)
        count_moe(w);
}

void msim_work_count(struct msim_work *w)
{
    if (w->family == MSIM_FAMILY_MOE)
        msim_moe_load_make(&w->u.moe.load, &w->u.moe.routing);
    count(w);
}

struct msim_work msim_work_counted(const struct msim_work *w)
{
    struct msim_work all = *w;

    if (w->family == MSIM_FAMILY_MOE && !(w->u.moe.load.pairs > 0))
        msim_work_count(&all);
    else
        count(&all);
    return all;
}
