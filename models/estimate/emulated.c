/*
 * models/estimate/emulated.c - which types a GPU lacks, and what that costs.
 */
#include "models/estimate/model.h"

#include "core/work/kernel_fact.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_product(const struct msim_work *w)
{
    return w->family == MSIM_FAMILY_GEMM || w->family == MSIM_FAMILY_CONV ||
           w->family == MSIM_FAMILY_ATTENTION || w->family == MSIM_FAMILY_MOE;
}

/* Of products with narrow weights alone, rows do not say the other type. */
static bool is_weight_only(const struct msim_work *w)
{
    return w->variant &&
           (strstr(w->variant, "_wo") || strstr(w->variant, "w4a16"));
}

/* Does a key of a fit name the type? ("fp8", "fp8_block", "fp8/cutlass") */
static bool has_rows(const struct msim_platform *p, const char *type)
{
    for (uint32_t i = 0; i < p->n_fits; i++)
        if (strncmp(p->fits[i].key, type, strlen(type)) == 0)
            return true;
    return false;
}

enum msim_emulation msim_emulation_of(const struct msim_platform *p,
                                      const struct msim_work *w)
{
    const struct msim_data_sheet *s = &p->sheet;

    if (p->is_host || !is_product(w))
        return MSIM_EMULATED_NO;
    if (w->dtype == MSIM_DT_BF16 && s->no_bf16 && !is_weight_only(w))
        return MSIM_EMULATED_BF16;
    switch (msim_data_sheet_rate(w->dtype, w->variant)) {
    case MSIM_RATE_FP8:
        return s->missing[MSIM_RATE_FP8] && !has_rows(p, "fp8")
                   ? MSIM_EMULATED_FP8
                   : MSIM_EMULATED_NO;
    case MSIM_RATE_FP4:
        return s->missing[MSIM_RATE_FP4] && !has_rows(p, "nvfp4")
                   ? MSIM_EMULATED_FP4
                   : MSIM_EMULATED_NO;
    case MSIM_RATE_INT8:
        return s->missing[MSIM_RATE_INT8] && !has_rows(p, "int8") &&
                       !has_rows(p, "sq")
                   ? MSIM_EMULATED_INT8
                   : MSIM_EMULATED_NO;
    default:
        return MSIM_EMULATED_NO;
    }
}

bool msim_emulation_is_refused(enum msim_emulation e)
{
    return e == MSIM_EMULATED_FP8 || e == MSIM_EMULATED_FP4;
}

void msim_emulation_text(enum msim_emulation e, const struct msim_platform *p,
                         char *text, size_t size)
{
    static const char *const TYPE[] = {"", "bfloat16", "int8", "fp8", "fp4"};

    snprintf(text, size, "%s is not supported on %s%s", TYPE[e], p->name,
             e == MSIM_EMULATED_BF16 ? ": computed in fp32" : "");
}

struct msim_work msim_emulated_work(enum msim_emulation e,
                                    const struct msim_work *w)
{
    struct msim_work as = *w;

    if (e == MSIM_EMULATED_BF16)
        as.dtype = MSIM_DT_F32;
    return as;
}

void msim_emulated_widen(enum msim_emulation e, struct msim_estimate *out)
{
    double factor = e == MSIM_EMULATED_BF16
                        ? MSIM_FACT(NULL, BF16_IN_FP32_FACTOR)
                        : MSIM_FACT(NULL, EMULATED_INTERVAL);
    double down, up;

    if (e == MSIM_EMULATED_NO)
        return;
    down = hypot(log(out->us / out->low_us), log(factor));
    up = hypot(log(out->high_us / out->us), log(factor));
    if (e == MSIM_EMULATED_BF16)
        out->us *= factor;
    out->low_us = out->us * exp(-down);
    out->high_us = out->us * exp(up);
    /* no kernel of the GPU multiplies numbers of four bits */
    if (e == MSIM_EMULATED_FP4)
        out->source = MSIM_SOURCE_BOUND;
}
