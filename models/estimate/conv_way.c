/*
 * models/estimate/conv_way.c - how cuDNN and MIOpen compute convolutions that
 * are no plain product on tensor cores.
 */
#include "models/estimate/conv_way.h"

#include "core/base/print.h"
#include "core/work/conv_shape.h"
#include "models/estimate/pace.h"
#include "models/law/scatter_law.h"
#include "models/law/sm_pace.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <string.h>

bool msim_conv_is_bare(const struct msim_work *w)
{
    return !w->framework || strcmp(w->framework, "pytorch") == 0;
}

bool msim_conv_is_plain(const struct msim_platform *p,
                        const struct msim_work *w)
{
    return msim_data_sheet_rate_on(&p->sheet, w->dtype, w->variant) ==
           MSIM_RATE_FP32;
}

double msim_conv_depth(const struct msim_work *w)
{
    return fmax((double)w->u.conv.depth, 1);
}

static bool is_of(const struct msim_platform *p, const char *generation)
{
    return strcmp(p->sheet.generation, generation) == 0;
}

static bool is_hopper(const struct msim_platform *p)
{
    return is_of(p, "hopper");
}

static bool is_strided(const struct msim_conv_shape *s)
{
    return s->stride_h > 1 || s->stride_w > 1;
}

bool msim_conv_is_deep_gradient(const struct msim_platform *p,
                                const struct msim_work *w)
{
    struct msim_conv_shape s;

    msim_conv_shape_of(w, &s);
    return w->u.conv.deep && !p->is_host && !p->sheet.miopen &&
           msim_conv_is_bare(w) && w->dtype == MSIM_DT_F32 &&
           s.pass == MSIM_CONV_BACKWARD_DATA && s.groups <= 1 &&
           !is_strided(&s);
}

/*
 * Whether a data gradient is added up in memory. MIOpen does so for three
 * spatial dimensions and for groups. cuDNN's kernels on tensor cores take
 * strided gradients of at least NARROW channels; it adds up those of fewer,
 * those in groups, and those on plain fp32 units. Seen in KernelBench's
 * transposed convolutions, whose time an element is the same for 3, 8 and 32
 * input channels there. Those of three dimensions without strides, to WIDE
 * channels, it adds up on GA10x (compute capability 8.6): on RTX A6000 and A10
 * with one version, not with a later one on RTX A6000; of 16, 24 and 48
 * channels with neither.
 */
#define NARROW 32
#define WIDE   64

/* Whether data gradients of three dimensions are computed in the later way. */
#define LATER_SINCE 2.9

static bool is_later(const struct msim_platform *p)
{
    return p->sheet.pytorch >= LATER_SINCE;
}

static bool adds_up(const struct msim_platform *p, const struct msim_work *w)
{
    struct msim_conv_shape s;

    msim_conv_shape_of(w, &s);
    if (p->is_host || !msim_conv_is_bare(w) || w->dtype != MSIM_DT_F32 ||
        w->u.conv.channels_last || s.pass != MSIM_CONV_BACKWARD_DATA)
        return false;
    if (p->sheet.miopen)
        return w->u.conv.deep || (is_strided(&s) && s.groups > 1);
    if (msim_conv_is_deep_gradient(p, w))
        return is_of(p, "ampere-graphics") && s.c >= WIDE && !is_later(p);
    return is_strided(&s) &&
           (s.groups > 1 || s.c < NARROW || msim_conv_is_plain(p, w));
}

bool msim_conv_since_hopper(const struct msim_platform *p)
{
    return is_hopper(p) || strncmp(p->sheet.generation, "blackwell", 9) == 0;
}

/* Hopper has no such kernel for groups: they take as many cycles as before. */
static bool adds_vectors(const struct msim_platform *p,
                         const struct msim_work *w)
{
    return msim_conv_since_hopper(p) &&
           (!is_hopper(p) || w->u.conv.groups <= 1);
}

/* MIOpen copies the image into columns where there is a third dimension. */
static bool has_columns(const struct msim_platform *p,
                        const struct msim_work *w)
{
    return p->sheet.miopen && !p->is_host && msim_conv_is_bare(w) &&
           w->u.conv.deep && !w->u.conv.transposed &&
           w->u.conv.pass == MSIM_CONV_FORWARD;
}

static double up_to(double v, double step)
{
    return ceil(v / step) * step;
}

/*
 * cuDNN's data gradients on tensor cores, without strides, compute whole tiles
 * of places by channels, whatever their number: 64 channels, with three
 * dimensions 128, which are summed over 32 at a time of each filter tap. Seen
 * in KernelBench's transposed convolutions: with three dimensions A6000 takes
 * as long for 16, 24, 48 and 64 channels, L4, L40S, A100, H100, B200 do within
 * a factor of 2; of two dimensions 32 channels take as long as 64 on six GPUs.
 */
#define GRADIENT_TILE 64.0
#define DEEP_TILE     128.0
#define DEEP_TERMS    32.0

double msim_conv_way_fill(const struct msim_platform *p,
                          const struct msim_work *w, struct msim_conv_shape *s)
{
    double depth = w->u.conv.transposed ? msim_conv_depth(w) : 1;
    double c = s->c, k = s->k;

    if (p->is_host || p->sheet.miopen || !msim_conv_is_bare(w) ||
        msim_conv_is_plain(p, w) || w->dtype != MSIM_DT_F32 ||
        s->pass != MSIM_CONV_BACKWARD_DATA || s->groups > 1 || is_strided(s))
        return 1;
    s->c = up_to(c, w->u.conv.deep ? DEEP_TILE : GRADIENT_TILE);
    if (w->u.conv.deep)
        s->k = up_to(k / depth, DEEP_TERMS) * depth;
    return s->c / c * s->k / k;
}

/*
 * The time of cuDNN's kernels of three dimensions over that of the product.
 * Seen in KernelBench (54_ and 66_conv_standard_3D, and six programs with 3 x 3
 * x 3 filters): plain ones 1.9 to 3.5 for sums of 81 terms where half of the
 * fp32 units compute integers, too, and 3.6 to 6 for sums of 315. On Hopper 0.7
 * to 1.5 to 64 channels, and 2 to 3 to 16, which fill a part of a tile, as they
 * do on B200. Elsewhere 2 to 6 for sums of 81, and 0.8 to 1.3 for sums of 315;
 * to 64 channels 1.7 times that on T4, which has no TF32. Gradients of strides
 * on tensor cores 0.7 to 1.1.
 */
#define DEEP_SHARED  2.5
#define SHARED_POWER 0.25
#define DEEP_PLAIN   1.5
#define PLAIN_TILE   32.0
#define DEEP_SHORT   3.0
#define SHORT_TERMS  81.0
#define SHORT_POWER  0.8
#define FEW_CHANNELS 16.0
#define MORE_POWER   0.38
#define DEEP_STRIDED 0.85

/* Of gradients without strides on H100 SXM with PyTorch 2.9: 2.4, 2.4 and 4.0
 * (KernelBench, to 24, 48 and 64 channels). */
#define LATER_HOPPER 2.9

static double deep_plain(const struct msim_platform *p,
                         const struct msim_conv_shape *s)
{
    double shorter = SHORT_TERMS / (s->c * s->r * s->s), factor;

    if (p->sheet.product_fp32 != 1)
        return DEEP_SHARED * fmax(1, pow(shorter, -SHARED_POWER));
    if (s->pass == MSIM_CONV_BACKWARD_DATA)
        return DEEP_PLAIN;
    if (is_hopper(p))
        return DEEP_PLAIN * fmax(1, PLAIN_TILE / s->k);
    factor = DEEP_SHORT * pow(shorter, SHORT_POWER);
    if (msim_conv_since_hopper(p))
        return fmax(1, factor) * fmax(1, PLAIN_TILE / s->k);
    if (p->sheet.missing[MSIM_RATE_TF32])
        factor *= fmax(1, pow(s->k / FEW_CHANNELS, MORE_POWER));
    return fmax(1, factor);
}

double msim_conv_deep_factor(const struct msim_platform *p,
                             const struct msim_work *w)
{
    struct msim_conv_shape s;

    msim_conv_shape_of(w, &s);
    if (!w->u.conv.deep || p->is_host || p->sheet.miopen ||
        !msim_conv_is_bare(w))
        return 1;
    if (is_hopper(p) && is_later(p) && msim_conv_is_deep_gradient(p, w))
        return LATER_HOPPER;
    if (s.pass == MSIM_CONV_BACKWARD_DATA && is_strided(&s))
        return msim_conv_is_plain(p, w) ? 1 : DEEP_STRIDED;
    return msim_conv_is_plain(p, w) ? deep_plain(p, &s) : 1;
}

/*
 * Convolutions in groups on GPUs without TF32: multiplications a cycle and SM.
 * Seen in KernelBench's 25_ShuffleNetUnit and 26_ShuffleNet on T4, whose sums
 * of 20 to 320 channels in three groups take 40 to 70 times as long as the
 * product.
 */
#define IN_GROUPS 0.8

static double in_groups_us(const struct msim_platform *p,
                           const struct msim_work *w)
{
    if (!is_of(p, "turing") || !msim_conv_is_bare(w) ||
        w->dtype != MSIM_DT_F32 || w->u.conv.groups <= 1 ||
        w->u.conv.transposed || w->u.conv.pass != MSIM_CONV_FORWARD)
        return 0;
    return w->flops / 2 * 1e6 / (IN_GROUPS * p->sheet.sms * p->sheet.clock_hz);
}

/* Threads that an SM holds, of 2,048 (CUDA C++ Programming Guide, table of
 * compute capabilities). */
static double resident(const struct msim_platform *p)
{
    if (is_of(p, "turing"))
        return 0.5;
    return is_of(p, "ampere-graphics") || is_of(p, "ada") ||
                   is_of(p, "blackwell-graphics")
               ? 0.75
               : 1;
}

double msim_conv_depthwise_us(const struct msim_platform *p,
                              const struct msim_work *w)
{
    return p->sheet.miopen
               ? msim_sm_pace_naive_us(&p->sheet, w)
               : msim_sm_pace_depthwise_us(&p->sheet, w, resident(p));
}

double msim_conv_way_us(const struct msim_platform *p,
                        const struct msim_work *w,
                        const struct msim_work *settled)
{
    if (w->family != MSIM_FAMILY_CONV)
        return 0;
    if (adds_up(p, w))
        return msim_scatter_us(&p->sheet, settled, adds_vectors(p, w));
    return in_groups_us(p, settled);
}

/*
 * Versions of cuDNN compute data gradients of three dimensions in two ways: on
 * GA10x tensor cores or additions in memory, on Hopper 2 to 4 times as slow
 * with PyTorch 2.9 as before (KernelBench, H100 SXM). The interval has both.
 */
#define MOST_LATER 4.0

static void widen_versions(const struct msim_platform *p,
                           const struct msim_work *w, double product_us,
                           struct msim_estimate *e)
{
    if (p->sheet.pytorch > 0 || !msim_conv_is_deep_gradient(p, w))
        return;
    if (adds_up(p, w))
        e->low_us = fmin(e->low_us, product_us);
    if (is_hopper(p))
        e->high_us = fmax(e->high_us, e->us * MOST_LATER);
}

void msim_conv_way_join(const struct msim_platform *p,
                        const struct msim_work *w,
                        const struct msim_work *settled,
                        struct msim_estimate *e)
{
    double product_us = e->us;

    msim_pace_join(msim_conv_way_us(p, w, settled), e);
    widen_versions(p, w, product_us, e);
    if (has_columns(p, w))
        msim_pace_add(msim_columns_us(&p->sheet, w), e);
}

void msim_conv_way_explain(const struct msim_platform *p,
                           const struct msim_work *w,
                           const struct msim_work *settled, FILE *out)
{
    double factor = msim_conv_deep_factor(p, settled);

    if (factor != 1)
        fprintf(out, "times: %g, for three spatial dimensions\n", factor);
    if (msim_conv_way_us(p, w, settled) > 0)
        msim_print(out, "%s: %.4g us, %s\n", adds_up(p, w) ? "sums" : "groups",
                   msim_conv_way_us(p, w, settled),
                   adds_up(p, w) ? "added up in memory tap by tap"
                                 : "one multiplication after the other");
    if (has_columns(p, w))
        fprintf(out, "columns: %.4g us, of the image, for each tap\n",
                msim_columns_us(&p->sheet, w));
}
