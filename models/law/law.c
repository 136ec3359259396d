/*
 * models/law/law.c - the list of laws.
 */
#include "models/law/law.h"

#include "core/work/kernel_fact.h"

#include <math.h>
#include <string.h>

static const struct msim_law *const LAWS[] = {
    &MSIM_LAW_GEMM,       &MSIM_LAW_ATTENTION, &MSIM_LAW_CONV,
    &MSIM_LAW_VECTOR,     &MSIM_LAW_MOE,       &MSIM_LAW_COLLECTIVE,
    &MSIM_LAW_DISPATCH,   &MSIM_LAW_CPU_GEMM,  &MSIM_LAW_CPU_CONV,
    &MSIM_LAW_CPU_VECTOR,
};

const struct msim_law *msim_law_find(const char *name)
{
    for (size_t i = 0; i < sizeof(LAWS) / sizeof(*LAWS); i++)
        if (strcmp(LAWS[i]->name, name) == 0)
            return LAWS[i];
    return NULL;
}

const struct msim_law *msim_law_of(enum msim_family f, bool host)
{
    switch (f) {
    case MSIM_FAMILY_GEMM:
        return host ? &MSIM_LAW_CPU_GEMM : &MSIM_LAW_GEMM;
    case MSIM_FAMILY_ATTENTION:
        return &MSIM_LAW_ATTENTION;
    case MSIM_FAMILY_CONV:
        return host ? &MSIM_LAW_CPU_CONV : &MSIM_LAW_CONV;
    case MSIM_FAMILY_MOE:
        return &MSIM_LAW_MOE;
    case MSIM_FAMILY_DISPATCH:
        return &MSIM_LAW_DISPATCH;
    case MSIM_FAMILY_COLLECTIVE:
        return &MSIM_LAW_COLLECTIVE;
    case MSIM_FAMILY_BOUND:
    case MSIM_FAMILY_COUNT:
        return NULL;
    default:
        return host ? &MSIM_LAW_CPU_VECTOR : &MSIM_LAW_VECTOR;
    }
}

double msim_with_gap(double kernel_us, struct msim_gap gap)
{
    return gap.least_us > 0 ? msim_norm2(kernel_us + gap.added_us, gap.least_us,
                                         MSIM_FACT(NULL, LAUNCHES_NORM))
                            : kernel_us;
}

double msim_gap_share(double kernel_us, struct msim_gap gap)
{
    double call = kernel_us + gap.added_us;

    return gap.least_us > 0 ? kernel_us / call /
                                  (1 + pow(gap.least_us / call,
                                           MSIM_FACT(NULL, LAUNCHES_NORM)))
                            : 1;
}

double msim_norm2(double a, double b, double p)
{
    double most = a > b ? a : b;
    double least = a > b ? b : a;

    if (!(most > 0))
        return 0;
    /* of many works one of both is nothing */
    return least == 0 ? most : most * pow(1 + pow(least / most, p), 1 / p);
}
