/*
 * models/conv.c - convolutions.
 *
 * A convolution is a matrix product in disguise: m = n p q places, n = k
 * output channels, k = c r s inputs of each (Chetlur et al., "cuDNN", 2014).
 * Rows exist for 3 x 3 filters in plain fp32, where libraries use Winograd's
 * algorithm and beat the data-sheet rate. So:
 *   3 x 3, stride 1, fp32   law of the rows of convolutions, below
 *   everything else         the law of matrix products on the same m, n, k
 * Tensor-core kernels want channels last; for tensors with channels first
 * cuDNN transposes input and output, which costs their bytes twice more.
 */
#include "models/conv_shape.h"
#include "models/platform_data.h"

#include <math.h>
#include <string.h>

static const char *pass_text(const struct msim_work *w)
{
    static const char *const TEXT[] = {
        [MSIM_CONV_FORWARD] = "forward",
        [MSIM_CONV_BACKWARD_DATA] = "backward_data",
        [MSIM_CONV_BACKWARD_WEIGHT] = "backward_weight",
    };

    return TEXT[w->u.conv.pass];
}

static bool conv_covers(const struct msim_platform *p,
                        const struct msim_work *w)
{
    (void)p;
    return w->family == MSIM_FAMILY_CONV && w->u.conv.n > 0 &&
           w->u.conv.c > 0 && w->u.conv.h > 0 && w->u.conv.w > 0 &&
           w->u.conv.k > 0 && w->u.conv.r > 0 && w->u.conv.s > 0;
}

static bool is_plain_fp32(const struct msim_platform *p,
                          const struct msim_work *w)
{
    enum msim_rate rate = msim_spec_rate(w->dtype, w->variant);

    /* A GPU without TF32 has its fp32 rate in that place. */
    return rate == MSIM_RATE_FP32 ||
           (rate == MSIM_RATE_TF32 &&
            p->spec.rate[MSIM_RATE_TF32] <= p->spec.rate[MSIM_RATE_FP32]);
}

/*
 * The conv cell that covers the work. Rows that name a stack are looked up as
 * they are; a bare convolution uses the rows for what they hold.
 */
static bool conv_pick(const struct msim_platform *p, const struct msim_work *w,
                      struct msim_pick *out)
{
    static const char *const PREFER[] = {"NeuSight", "DeepBench", NULL};
    char key[72];
    const char *keys[3] = {key, NULL, NULL};

    MSIM_LAW_CONV.key(w, key, sizeof(key));
    if (w->framework && strcmp(w->framework, "pytorch") != 0)
        return msim_cell_pick(p, &MSIM_LAW_CONV, w->framework, PREFER, keys,
                              out);
    if (!is_plain_fp32(p, w) || w->u.conv.r != 3 || w->u.conv.s != 3 ||
        w->u.conv.stride_h > 1 || w->u.conv.stride_w > 1 ||
        w->u.conv.groups > 1 || w->u.conv.transposed)
        return false;
    if (w->u.conv.pass == MSIM_CONV_FORWARD)
        return msim_cell_pick(p, &MSIM_LAW_CONV, NULL, PREFER, keys, out);
    keys[0] = "forward/fp32";
    return msim_cell_pick(p, &MSIM_LAW_CONV, NULL, PREFER, keys, out);
}

static int64_t whole(double v)
{
    return v < 1 ? 1 : v > 1e15 ? (int64_t)1e15 : (int64_t)v;
}

/*
 * The matrix product that does the same arithmetic; flops and bytes stay the
 * convolution's own. The weight gradient sums over all places: libraries split
 * that sum over the SMs, so that its product is as well spread as the forward
 * one, whose shape it is given.
 */
static void as_gemm(const struct msim_work *w, struct msim_work *g)
{
    struct msim_conv_product product;
    struct msim_conv_shape s;

    msim_conv_shape(w, &s);
    if (s.pass == MSIM_CONV_BACKWARD_WEIGHT)
        s.pass = MSIM_CONV_FORWARD;
    msim_conv_product(&s, &product);
    *g = *w;
    g->family = MSIM_FAMILY_GEMM;
    memset(&g->u, 0, sizeof(g->u));
    g->u.gemm.batch = whole(product.batch);
    g->u.gemm.m = whole(product.m);
    g->u.gemm.n = whole(product.n);
    g->u.gemm.k = whole(product.k);
}

/* Bytes that cuDNN moves to bring channels last and back, in both directions
 * of each transposition; 0 where the kernel takes the tensors as they are. */
static double transposed_bytes(const struct msim_platform *p,
                               const struct msim_work *w)
{
    if (w->u.conv.channels_last || is_plain_fp32(p, w))
        return 0;
    return 2 * (w->bytes_read + w->bytes_written);
}

/* No rows of tensor-core or 1 x 1 convolutions: what the matrix product's
 * interval does not know. */
#define IMPLICIT_GEMM_SPREAD 0.30
#define BACKWARD_SPREAD      0.30

static enum msim_status implicit_gemm(const struct msim_platform *p,
                                      const struct msim_work *w,
                                      struct msim_estimate *out)
{
    struct msim_adjust adjust = {.factor = 1, .spread = IMPLICIT_GEMM_SPREAD};
    struct msim_work gemm;
    struct msim_pick pick;
    double bytes = transposed_bytes(p, w);
    double share;

    as_gemm(w, &gemm);
    if (!msim_gemm_pick(p, &gemm, &pick))
        return MSIM_ENOMODEL;
    if (w->u.conv.pass == MSIM_CONV_BACKWARD_WEIGHT)
        adjust.factor = p->conv_backward_weight;
    msim_cell_estimate(p, &pick, &gemm, &adjust, out);
    if (bytes > 0) {
        share = 1 + (2 * p->spec.floor_us +
                     bytes * 1e6 / (p->spec.bandwidth * 0.8)) /
                        out->us;
        out->us *= share;
        out->low_us *= share;
        out->high_us *= share;
    }
    return MSIM_OK;
}

static enum msim_status conv_predict(const struct msim_platform *p,
                                     const struct msim_work *w,
                                     struct msim_estimate *out)
{
    struct msim_work work = *w;
    struct msim_pick pick;
    enum msim_status status = MSIM_OK;
    struct msim_adjust adjust = {.factor = 1};

    msim_work_count(&work);
    if (!conv_pick(p, &work, &pick)) {
        status = implicit_gemm(p, &work, out);
    } else {
        if (strncmp(pick.cell->key, "forward", 7) == 0 &&
            w->u.conv.pass != MSIM_CONV_FORWARD) {
            adjust.factor = w->u.conv.pass == MSIM_CONV_BACKWARD_DATA
                                ? p->conv_backward_data
                                : p->conv_backward_weight;
            adjust.spread = BACKWARD_SPREAD;
            work.u.conv.pass = MSIM_CONV_FORWARD;
            msim_work_count(&work);
        }
        msim_cell_estimate(p, &pick, &work, &adjust, out);
    }
    out->family = MSIM_FAMILY_CONV;
    return status;
}

static void conv_explain(const struct msim_platform *p,
                         const struct msim_work *w, FILE *out)
{
    struct msim_work work = *w;
    struct msim_work gemm;
    struct msim_pick pick;

    fprintf(out,
            "inputs: %s, n %lld, c %lld, %lld x %lld, k %lld, filter %lld x "
            "%lld, stride %lld, groups %lld, %s%s\n",
            pass_text(w), (long long)w->u.conv.n, (long long)w->u.conv.c,
            (long long)w->u.conv.h, (long long)w->u.conv.w,
            (long long)w->u.conv.k, (long long)w->u.conv.r,
            (long long)w->u.conv.s, (long long)w->u.conv.stride_h,
            (long long)w->u.conv.groups, msim_dtype_text(w->dtype),
            is_plain_fp32(p, w) ? "" : " on tensor cores");
    msim_work_count(&work);
    if (conv_pick(p, &work, &pick)) {
        fprintf(out, "law: t0 + norm(flops / rate, bytes / bandwidth)\n");
        msim_cell_explain(p, &pick, &work, out);
        return;
    }
    as_gemm(&work, &gemm);
    fprintf(out,
            "law: the matrix product m %lld, n %lld, k %lld, and %.3g bytes "
            "of transposition\n",
            (long long)gemm.u.gemm.m, (long long)gemm.u.gemm.n,
            (long long)gemm.u.gemm.k, transposed_bytes(p, &work));
    if (msim_gemm_pick(p, &gemm, &pick))
        msim_cell_explain(p, &pick, &gemm, out);
}

const struct msim_model MSIM_MODEL_CONV = {"conv", conv_covers, conv_predict,
                                           conv_explain};
