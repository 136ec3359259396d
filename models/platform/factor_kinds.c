/*
 * models/platform/factor_kinds.c - kinds of work by a platform's own fits.
 */
#include "models/platform/factor_kinds.h"

#include "models/platform/platform_data.h"

#include <string.h>

static bool is_one_of(const char *key, const char *const *all)
{
    while (*all && strcmp(*all, key) != 0)
        all++;
    return *all != NULL;
}

uint32_t msim_factor_kinds_with_rows(const struct msim_platform *p)
{
    static const char *const VECTOR[] = {"add", "addu", NULL};
    static const char *const NORM[] = {"ln", "input_layernorm", NULL};
    uint32_t kinds = 0;

    for (uint32_t i = 0; i < p->n_fits; i++) {
        const struct msim_fit *f = &p->fits[i];

        if (f->law == &MSIM_LAW_VECTOR && is_one_of(f->key, VECTOR))
            kinds |= 1u << MSIM_FACTOR_VECTOR;
        else if (f->law == &MSIM_LAW_VECTOR && is_one_of(f->key, NORM))
            kinds |= 1u << MSIM_FACTOR_NORM;
        else if (f->law == &MSIM_LAW_GEMM && strcmp(f->key, "half") == 0)
            kinds |= 1u << MSIM_FACTOR_GEMM_HALF;
        else if (f->law == &MSIM_LAW_GEMM && strcmp(f->key, "fp32") == 0)
            kinds |= 1u << MSIM_FACTOR_GEMM_FULL;
        else if (f->law == &MSIM_LAW_ATTENTION)
            kinds |= 1u << MSIM_FACTOR_ATTENTION;
    }
    return kinds;
}
