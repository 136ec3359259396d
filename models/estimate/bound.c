/*
 * models/estimate/bound.c - works without a model: the larger of the bytes over
 * the bandwidth and the flops over the rate, with a wide interval.
 *
 * A kernel takes longer than this bound. The estimate is therefore twice the
 * bound, and the interval goes from the bound to four times the estimate, or
 * to twice what a product of its operands takes: it may be one.
 */
#include "models/estimate/model.h"
#include "models/platform/platform_data.h"

#include <math.h>

static bool bound_covers(const struct msim_platform *p,
                         const struct msim_work *w)
{
    (void)p;
    (void)w;
    return true;
}

/* As eight bits of a type that nobody knows: few have a higher rate. */
static double least_us(const struct msim_platform *p, const struct msim_work *w)
{
    struct msim_work as = *w;

    if (w->dtype == MSIM_DT_ODD)
        as.dtype = MSIM_DT_F8;
    return w->flops / msim_data_sheet_flops_per_us(&p->sheet, &as);
}

static double bound_us(const struct msim_platform *p, const struct msim_work *w)
{
    double bytes = w->bytes_read + w->bytes_written;
    double memory = bytes > 0 ? bytes * 1e6 / p->sheet.bandwidth : 0;
    double compute = w->flops > 0 ? least_us(p, w) : 0;
    double kernels = w->kernels > 0 ? w->kernels : 1;

    return p->sheet.floor_us * kernels + (memory > compute ? memory : compute);
}

static double product_us(const struct msim_platform *p,
                         const struct msim_work *w)
{
    return w->family == MSIM_FAMILY_BOUND
               ? w->u.vector.most_flops /
                     msim_data_sheet_flops_per_us(&p->sheet, w)
               : 0;
}

static enum msim_status bound_predict(const struct msim_platform *p,
                                      const struct msim_work *w,
                                      struct msim_estimate *out)
{
    double us = bound_us(p, w);

    out->us = 2 * us;
    out->low_us = us;
    out->high_us = fmax(8 * us, 2 * product_us(p, w));
    out->source = MSIM_SOURCE_BOUND;
    out->family = MSIM_FAMILY_BOUND;
    return MSIM_OK;
}

static void bound_explain(const struct msim_platform *p,
                          const struct msim_work *w, FILE *out)
{
    fprintf(out,
            "law: none; twice the bound of %.4g bytes over %.4g GB/s and "
            "%.4g flops over the rate\n",
            w->bytes_read + w->bytes_written, p->sheet.bandwidth * 1e-9,
            w->flops);
}

const struct msim_model MSIM_MODEL_BOUND = {"bound", bound_covers,
                                            bound_predict, bound_explain};
