/*
 * models/estimate/conv_way.c - how cuDNN and MIOpen compute convolutions that
 * are no plain product on tensor cores.
 */
#include "models/estimate/model_internal.h"

#include "core/base/print.h"
#include "core/work/kernel_fact.h"
#include "core/work/work.h"
#include "models/law/law.h"
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

static bool is_strided(const struct msim_conv_shape *s)
{
    return s->stride_h > 1 || s->stride_w > 1;
}

bool msim_conv_is_deep_gradient(const struct msim_platform *p,
                                const struct msim_work *w)
{
    return w->u.conv.deep && !p->is_host && !p->sheet.miopen &&
           msim_conv_is_bare(w) && w->dtype == MSIM_DT_F32 &&
           msim_conv_pass_of(w) == MSIM_CONV_BACKWARD_DATA &&
           w->u.conv.groups <= 1 && w->u.conv.stride_h <= 1 &&
           w->u.conv.stride_w <= 1;
}

/*
 * Whether a data gradient is added up in memory. MIOpen does so for three
 * spatial dimensions and for groups. cuDNN has kernels on tensor cores for
 * strided gradients of enough channels; it adds up those of fewer, those in
 * groups, and those on plain fp32 units; and with some versions on some GPUs
 * those of three dimensions without strides.
 */
static bool adds_up(const struct msim_platform *p, const struct msim_work *w)
{
    const struct msim_data_sheet *sheet = &p->sheet;
    struct msim_conv_shape s;
    double from;

    if (p->is_host || !msim_conv_is_bare(w) || w->dtype != MSIM_DT_F32 ||
        w->u.conv.channels_last ||
        msim_conv_pass_of(w) != MSIM_CONV_BACKWARD_DATA)
        return false;
    msim_conv_shape_of(w, &s);
    if (sheet->miopen)
        return w->u.conv.deep || (is_strided(&s) && s.groups > 1);
    if (msim_conv_is_deep_gradient(p, w)) {
        from = MSIM_FACT(sheet, DEEP_GRADIENT_ADDS_FROM);
        return from > 0 && s.c >= from;
    }
    return is_strided(&s) &&
           (s.groups > 1 || s.c < MSIM_FACT(sheet, STRIDED_GRADIENT_CHANNELS) ||
            msim_conv_is_plain(p, w));
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

/* cuDNN's data gradients on tensor cores, without strides, compute whole tiles
 * of places by channels, whatever their number; with three dimensions larger
 * ones, which are summed over some channels at a time of each filter tap. */
double msim_conv_way_fill(const struct msim_platform *p,
                          const struct msim_work *w, struct msim_conv_shape *s)
{
    double depth = w->u.conv.transposed ? msim_conv_depth(w) : 1;
    double c = s->c, k = s->k;

    if (p->is_host || p->sheet.miopen || !msim_conv_is_bare(w) ||
        msim_conv_is_plain(p, w) || w->dtype != MSIM_DT_F32 ||
        s->pass != MSIM_CONV_BACKWARD_DATA || s->groups > 1 || is_strided(s))
        return 1;
    s->c = up_to(c, w->u.conv.deep ? MSIM_FACT(&p->sheet, DEEP_GRADIENT_TILE)
                                   : MSIM_FACT(&p->sheet, DATA_GRADIENT_TILE));
    if (w->u.conv.deep)
        s->k =
            up_to(k / depth, MSIM_FACT(&p->sheet, DEEP_GRADIENT_TERMS)) * depth;
    return s->c / c * s->k / k;
}

/*
 * The time of cuDNN's kernels of three dimensions over that of the product,
 * without tensor cores. Where half of the fp32 units compute integers, too,
 * long sums take longer; elsewhere short ones do, and some kernels fill a part
 * of a tile where channels are few.
 */
static double deep_plain(const struct msim_data_sheet *sheet,
                         const struct msim_conv_shape *s)
{
    double shorter =
        MSIM_FACT(sheet, DEEP_CONV_SHORT_TERMS) / (s->c * s->r * s->s);
    double factor = MSIM_FACT(sheet, DEEP_CONV_SHORT) *
                    pow(shorter, MSIM_FACT(sheet, DEEP_CONV_SHORT_POWER));

    if (sheet->product_fp32 != 1)
        return MSIM_FACT(sheet, DEEP_CONV_SHARED) *
               fmax(1, pow(shorter, -MSIM_FACT(sheet, DEEP_CONV_SHARED_POWER)));
    if (s->pass == MSIM_CONV_BACKWARD_DATA)
        return MSIM_FACT(sheet, DEEP_CONV_GRADIENT);
    if (sheet->missing[MSIM_RATE_TF32])
        factor *= fmax(1, pow(s->k / MSIM_FACT(sheet, DEEP_CONV_FEW_CHANNELS),
                              MSIM_FACT(sheet, DEEP_CONV_MORE_POWER)));
    return fmax(MSIM_FACT(sheet, DEEP_CONV_LEAST), factor) *
           fmax(1, MSIM_FACT(sheet, DEEP_CONV_TILE) / s->k);
}

double msim_conv_deep_factor(const struct msim_platform *p,
                             const struct msim_work *w)
{
    double gradient;
    struct msim_conv_shape s;

    if (!w->u.conv.deep || p->is_host || p->sheet.miopen ||
        !msim_conv_is_bare(w))
        return 1;
    msim_conv_shape_of(w, &s);
    gradient = MSIM_FACT(&p->sheet, DEEP_GRADIENT_FACTOR);
    if (gradient > 0 && msim_conv_is_deep_gradient(p, w))
        return gradient;
    if (s.pass == MSIM_CONV_BACKWARD_DATA && is_strided(&s))
        return msim_conv_is_plain(p, w)
                   ? 1
                   : MSIM_FACT(&p->sheet, DEEP_CONV_STRIDED);
    return msim_conv_is_plain(p, w) ? deep_plain(&p->sheet, &s) : 1;
}

/* Convolutions in groups, on GPUs without a kernel for them: so many
 * multiplications a cycle and SM. */
static double in_groups_us(const struct msim_platform *p,
                           const struct msim_work *w)
{
    double rate;

    if (!msim_conv_is_bare(w) || w->dtype != MSIM_DT_F32 ||
        w->u.conv.groups <= 1 || w->u.conv.transposed ||
        w->u.conv.pass != MSIM_CONV_FORWARD)
        return 0;
    rate = MSIM_FACT(&p->sheet, CONV_GROUPS_PRODUCTS);
    return rate > 0
               ? w->flops / 2 * 1e6 / (rate * p->sheet.sms * p->sheet.clock_hz)
               : 0;
}

double msim_conv_depthwise_us(const struct msim_platform *p,
                              const struct msim_work *w)
{
    return p->sheet.miopen ? msim_sm_pace_naive_us(&p->sheet, w)
                           : msim_sm_pace_depthwise_us(&p->sheet, w);
}

double msim_conv_way_us(const struct msim_platform *p,
                        const struct msim_work *w,
                        const struct msim_work *settled)
{
    if (w->family != MSIM_FAMILY_CONV)
        return 0;
    if (adds_up(p, w))
        return msim_scatter_us(&p->sheet, settled);
    return in_groups_us(p, settled);
}

/* Versions of cuDNN compute data gradients of three dimensions in other ways.
 * The interval has both. */
static void widen_versions(const struct msim_platform *p,
                           const struct msim_work *w, double product_us,
                           struct msim_estimate *e)
{
    if (p->sheet.pytorch > 0 || !msim_conv_is_deep_gradient(p, w))
        return;
    if (adds_up(p, w))
        e->low_us = fmin(e->low_us, product_us);
    e->high_us =
        fmax(e->high_us, e->us * MSIM_FACT(&p->sheet, DEEP_GRADIENT_MOST));
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
