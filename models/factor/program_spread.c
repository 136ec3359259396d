/*
 * models/factor/program_spread.c - kinds of uncertainty, and their widths.
 */
#include "models/factor/program_factors.h"

#include "core/work/kernel_fact.h"

#include <math.h>
#include <string.h>

/* Beyond that a width is a mistake. */
#define WIDTH_MOST 5

const char *msim_spread_text(enum msim_spread s)
{
    static const char *const TEXT[] = {
#define X(name, text) [MSIM_SPREAD_##name] = text,
        MSIM_SPREAD_MAP(X)
#undef X
    };

    return TEXT[s];
}

static enum msim_spread of_gemm(const struct msim_work *w)
{
    int64_t m = w->u.gemm.m, n = w->u.gemm.n, k = w->u.gemm.k;
    int64_t thin = (int64_t)MSIM_FACT(NULL, SPREAD_THIN);

    if (m < thin || n < thin || k < thin)
        return MSIM_SPREAD_GEMM_THIN;
    return m % 4 || n % 4 || k % 4 ? MSIM_SPREAD_GEMM_ODD
                                   : MSIM_SPREAD_GEMM_FULL;
}

static bool is_odd(const struct msim_work *w)
{
    return w->u.conv.groups > 1 || w->u.conv.r != w->u.conv.s ||
           (double)w->u.conv.r > MSIM_FACT(NULL, SPREAD_WIDE) ||
           w->u.conv.dilation_h > 1 || w->u.conv.dilation_w > 1;
}

static enum msim_spread of_conv(const struct msim_work *w, bool half)
{
    if (is_odd(w))
        return MSIM_SPREAD_CONV_ODD;
    if (half)
        return MSIM_SPREAD_CONV_HALF;
    return (double)w->u.conv.c <= MSIM_FACT(NULL, SPREAD_FEW)
               ? MSIM_SPREAD_CONV_FEW
               : MSIM_SPREAD_CONV_FULL;
}

static enum msim_spread of_transposed(const struct msim_work *w)
{
    if (w->u.conv.deep)
        return MSIM_SPREAD_TRANSPOSED_DEEP;
    return w->u.conv.groups > 1 ? MSIM_SPREAD_TRANSPOSED_GROUPS
                                : MSIM_SPREAD_TRANSPOSED;
}

static enum msim_spread of_vector(const struct msim_work *w)
{
    if (w->u.vector.taps > 0)
        return MSIM_SPREAD_POOL;
    if (w->family == MSIM_FAMILY_SOFTMAX)
        return MSIM_SPREAD_SOFTMAX;
    return w->family == MSIM_FAMILY_REDUCTION ||
                   w->family == MSIM_FAMILY_EMBEDDING
               ? MSIM_SPREAD_REDUCTION
               : MSIM_SPREAD_VECTOR;
}

/* Programs were timed forward; gradients of convolutions and of attention have
 * kernels of their own. */
static bool is_gradient(const struct msim_work *w)
{
    return (w->family == MSIM_FAMILY_CONV &&
            w->u.conv.pass != MSIM_CONV_FORWARD) ||
           (w->family == MSIM_FAMILY_ATTENTION && w->u.attention.backward);
}

enum msim_spread msim_spread_of(const struct msim_work *w)
{
    if (is_gradient(w))
        return MSIM_SPREAD_COUNT;
    switch (msim_factor_of(w)) {
    case MSIM_FACTOR_GEMM_FULL:
        return of_gemm(w);
    case MSIM_FACTOR_GEMM_HALF:
        return MSIM_SPREAD_GEMM_HALF;
    case MSIM_FACTOR_CONV_FULL:
        return of_conv(w, false);
    case MSIM_FACTOR_CONV_HALF:
    case MSIM_FACTOR_CONV_GROUPS:
        return of_conv(w, true);
    case MSIM_FACTOR_CONV_DEPTHWISE:
        return MSIM_SPREAD_DEPTHWISE;
    case MSIM_FACTOR_CONV_DEEP:
        return MSIM_SPREAD_CONV_DEEP;
    case MSIM_FACTOR_CONV_TRANSPOSED:
        return of_transposed(w);
    case MSIM_FACTOR_ATTENTION:
        return MSIM_SPREAD_ATTENTION;
    case MSIM_FACTOR_BATCH_NORM:
        return MSIM_SPREAD_BATCH_NORM;
    case MSIM_FACTOR_NORM:
        return MSIM_SPREAD_NORM;
    case MSIM_FACTOR_RECURRENT:
        return MSIM_SPREAD_RECURRENT;
    case MSIM_FACTOR_VECTOR:
        return of_vector(w);
    case MSIM_FACTOR_COUNT:
        break;
    }
    return MSIM_SPREAD_COUNT;
}

static enum msim_status read_kinds(struct msim_program_spread *s,
                                   const cJSON *kinds, const char *file,
                                   struct msim_error *err)
{
    for (int k = 0; k < MSIM_SPREAD_COUNT; k++) {
        const char *text = msim_spread_text((enum msim_spread)k);
        const cJSON *kind = cJSON_GetObjectItemCaseSensitive(kinds, text);

        if (!msim_json_get_up_to(kind, "slower", WIDTH_MOST,
                                 &s->kind[k].slower) ||
            !msim_json_get_up_to(kind, "faster", WIDTH_MOST,
                                 &s->kind[k].faster))
            return msim_fail(err, MSIM_EFORMAT, file, MSIM_OFFSET_NONE,
                             "'spread.kinds.%s' wants 'slower' and 'faster', "
                             "logarithms from 0 to %d",
                             text, WIDTH_MOST);
    }
    s->known = true;
    return MSIM_OK;
}

/* What makes `all` with `shared`, as independent deviations do. */
static double beside(double all, double shared)
{
    return all > shared ? sqrt(all * all - shared * shared) : 0;
}

enum msim_status msim_program_spread_read(struct msim_program_spread *s,
                                          const cJSON *json, const char *file,
                                          const char *name,
                                          struct msim_error *err)
{
    const cJSON *spread = cJSON_GetObjectItemCaseSensitive(json, "spread");
    const cJSON *platform = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(json, "platforms"), name);

    memset(s, 0, sizeof(*s));
    if (!spread)
        return MSIM_OK;
    if (!msim_json_get_up_to(platform ? platform : spread,
                             platform ? "shared" : "others", WIDTH_MOST,
                             &s->shared))
        return msim_fail(err, MSIM_EFORMAT, file, MSIM_OFFSET_NONE,
                         "'shared' of '%s', or 'spread.others', is missing or "
                         "wrong, want a logarithm from 0 to %d",
                         name, WIDTH_MOST);
    if (platform && !cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(
                        platform, "half_precision")))
        s->half = beside(msim_json_get_number(spread, "others", 0), s->shared);
    return read_kinds(s, cJSON_GetObjectItemCaseSensitive(spread, "kinds"),
                      file, err);
}
