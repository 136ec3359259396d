/*
 * models/estimate/conv_way.c - how cuDNN and MIOpen compute convolutions that
 * are no plain product on tensor cores.
 */
#include "models/estimate/conv_way.h"

#include "core/work/conv_shape.h"
#include "models/estimate/pace.h"
#include "models/law/scatter_law.h"
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

/*
 * Whether a data gradient is added up in memory. MIOpen does so for three
 * spatial dimensions and for groups. cuDNN's kernels on tensor cores take
 * strided gradients of at least NARROW channels; it adds up those of fewer,
 * those in groups, and those on plain fp32 units. Seen in KernelBench's
 * transposed convolutions, whose time an element is the same for 3, 8 and 32
 * input channels there.
 */
#define NARROW 32

static bool adds_up(const struct msim_platform *p, const struct msim_work *w)
{
    bool strided = w->u.conv.stride_h > 1 || w->u.conv.stride_w > 1;
    struct msim_conv_shape s;

    msim_conv_shape_of(w, &s);
    if (p->is_host || !msim_conv_is_bare(w) || w->dtype != MSIM_DT_F32 ||
        w->u.conv.channels_last || s.pass != MSIM_CONV_BACKWARD_DATA)
        return false;
    if (p->sheet.miopen)
        return w->u.conv.deep || (strided && s.groups > 1);
    return strided &&
           (s.groups > 1 || s.c < NARROW || msim_conv_is_plain(p, w));
}

static bool is_hopper(const struct msim_platform *p)
{
    return strcmp(p->generation, "hopper") == 0;
}

bool msim_conv_since_hopper(const struct msim_platform *p)
{
    return is_hopper(p) || strncmp(p->generation, "blackwell", 9) == 0;
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

/*
 * The time of cuDNN's kernels of three dimensions over that of the product.
 * Seen in KernelBench (54_ and 66_conv_standard_3D, and six programs with 3 x 3
 * x 3 filters): plain ones 1.9 to 3.8 where half of the fp32 units compute
 * integers, too, else 0.6 to 3.2 with 64 channels, and 2 to 6 with 16, which
 * fill a part of a tile; gradients on tensor cores 1.1 to 3.5 without strides,
 * 0.7 to 1.1 with them.
 */
#define DEEP_SHARED   2.5
#define DEEP_PLAIN    1.5
#define DEEP_TILE     32.0
#define DEEP_GRADIENT 1.5

double msim_conv_deep_factor(const struct msim_platform *p,
                             const struct msim_work *w)
{
    struct msim_conv_shape s;
    bool gradient;

    msim_conv_shape_of(w, &s);
    gradient = s.pass == MSIM_CONV_BACKWARD_DATA;
    if (!w->u.conv.deep || p->is_host || p->sheet.miopen ||
        !msim_conv_is_bare(w) ||
        (gradient && (s.stride_h > 1 || s.stride_w > 1)))
        return 1;
    if (!msim_conv_is_plain(p, w))
        return gradient ? DEEP_GRADIENT : 1;
    if (p->sheet.product_fp32 != 1)
        return DEEP_SHARED;
    return DEEP_PLAIN * (gradient ? 1 : fmax(1, DEEP_TILE / s.k));
}

void msim_conv_way_join(const struct msim_platform *p,
                        const struct msim_work *w,
                        const struct msim_work *settled,
                        struct msim_estimate *e)
{
    if (adds_up(p, w))
        msim_pace_join(msim_scatter_us(&p->sheet, settled, adds_vectors(p, w)),
                       e);
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
    if (adds_up(p, w))
        fprintf(out, "sums: %.4g us, added up in memory tap by tap\n",
                msim_scatter_us(&p->sheet, settled, adds_vectors(p, w)));
    if (has_columns(p, w))
        fprintf(out, "columns: %.4g us, of the image, for each tap\n",
                msim_columns_us(&p->sheet, w));
}
