/*
 * models/factor/program_factors.c - reading factors from whole programs.
 */
#include "models/factor/program_factors.h"

#include "core/base/json.h"

#include <math.h>
#include <string.h>

/* Beyond these a factor is a mistake. */
#define LEAST 0.1
#define MOST  10

const char *msim_factor_text(enum msim_factor f)
{
    static const char *const TEXT[] = {
#define X(name, text, carries) [MSIM_FACTOR_##name] = text,
        MSIM_FACTOR_MAP(X)
#undef X
    };

    return TEXT[f];
}

static bool carries(enum msim_factor f)
{
    static const bool YES[] = {
#define X(name, text, carries) [MSIM_FACTOR_##name] = carries,
        MSIM_FACTOR_MAP(X)
#undef X
    };

    return YES[f];
}

static enum msim_factor of_conv(const struct msim_work *w, bool full)
{
    if (w->u.conv.transposed)
        return MSIM_FACTOR_CONV_TRANSPOSED;
    if (w->u.conv.groups > 1 && w->u.conv.groups == w->u.conv.c)
        return MSIM_FACTOR_CONV_DEPTHWISE;
    if (w->u.conv.deep)
        return MSIM_FACTOR_CONV_DEEP;
    if (full)
        return MSIM_FACTOR_CONV_FULL;
    return w->u.conv.groups > 1 ? MSIM_FACTOR_CONV_GROUPS
                                : MSIM_FACTOR_CONV_HALF;
}

enum msim_factor msim_factor_of(const struct msim_work *w)
{
    bool full = msim_dtype_bytes(w->dtype) >= 4;

    if (w->repeats > 1)
        return MSIM_FACTOR_RECURRENT;
    switch (w->family) {
    case MSIM_FAMILY_GEMM:
        if (full && (w->dtype != MSIM_DT_F32 ||
                     strcmp(msim_work_variant(w), "tf32") == 0))
            return MSIM_FACTOR_COUNT;
        return full ? MSIM_FACTOR_GEMM_FULL : MSIM_FACTOR_GEMM_HALF;
    case MSIM_FAMILY_CONV:
        return of_conv(w, full);
    case MSIM_FAMILY_ATTENTION:
        return MSIM_FACTOR_ATTENTION;
    case MSIM_FAMILY_NORM:
        return strcmp(msim_work_variant(w), "batch_norm") == 0
                   ? MSIM_FACTOR_BATCH_NORM
                   : MSIM_FACTOR_NORM;
    case MSIM_FAMILY_POINTWISE:
    case MSIM_FAMILY_REDUCTION:
    case MSIM_FAMILY_SOFTMAX:
    case MSIM_FAMILY_EMBEDDING:
    case MSIM_FAMILY_OPTIMIZER:
        return MSIM_FACTOR_VECTOR;
    case MSIM_FAMILY_COPY:
        return w->u.vector.copy == MSIM_COPY_D2D ? MSIM_FACTOR_VECTOR
                                                 : MSIM_FACTOR_COUNT;
    default:
        return MSIM_FACTOR_COUNT;
    }
}

double msim_program_factor(const struct msim_program_factors *f,
                           const struct msim_work *w)
{
    enum msim_factor kind = msim_factor_of(w);

    return kind < MSIM_FACTOR_COUNT ? f->time[kind] : 1;
}

/* Logarithms of factors, added up. */
struct sums {
    double log[MSIM_FACTOR_COUNT];
    uint32_t n[MSIM_FACTOR_COUNT];
};

static enum msim_status add(struct sums *s, const cJSON *platform,
                            const char *file, struct msim_error *err)
{
    const cJSON *times = cJSON_GetObjectItemCaseSensitive(platform, "time");

    for (int k = 0; k < MSIM_FACTOR_COUNT; k++) {
        const char *text = msim_factor_text((enum msim_factor)k);
        double v = msim_json_get_number(times, text, NAN);

        if (isnan(v))
            continue;
        if (!(v >= LEAST && v <= MOST))
            return msim_fail(err, MSIM_EFORMAT, file, MSIM_OFFSET_NONE,
                             "'%s' of '%s' is %g, want a factor from %g to %d",
                             text, platform->string, v, LEAST, MOST);
        s->log[k] += log(v);
        s->n[k]++;
    }
    return MSIM_OK;
}

/* `known` false: all but those of platform `name` count. */
static enum msim_status read_json(struct msim_program_factors *f,
                                  const cJSON *json, const char *file,
                                  const char *name, const char *generation,
                                  bool known, struct msim_error *err)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(json, "platforms"), *p;
    enum { OWN, GENERATION, ALL, N };
    struct sums sums[N] = {0};

    for (int k = 0; k < MSIM_FACTOR_COUNT; k++)
        f->time[k] = 1;
    cJSON_ArrayForEach(p, all)
    {
        const char *g = msim_json_get_text(p, "generation");

        if (!known && strcmp(p->string, name) == 0)
            continue;
        MSIM_TRY(add(&sums[ALL], p, file, err));
        if (g && strcmp(g, generation) == 0)
            MSIM_TRY(add(&sums[GENERATION], p, file, err));
        if (strcmp(p->string, name) == 0)
            MSIM_TRY(add(&sums[OWN], p, file, err));
    }
    for (int k = 0; k < MSIM_FACTOR_COUNT; k++) {
        int last = carries((enum msim_factor)k) ? ALL : GENERATION, of = OWN;

        /* one GPU may be odd for itself */
        while (of < last && sums[of].n[k] < (of == GENERATION ? 2 : 1))
            of++;
        if (sums[of].n[k] >= (of == GENERATION ? 2 : 1))
            f->time[k] = exp(sums[of].log[k] / sums[of].n[k]);
    }
    return MSIM_OK;
}

enum msim_status msim_program_factors_read(struct msim_program_factors *f,
                                           const cJSON *json, const char *file,
                                           const char *name,
                                           const char *generation,
                                           struct msim_error *err)
{
    return read_json(f, json, file, name, generation, true, err);
}

enum msim_status msim_program_factors_of_others(
    struct msim_program_factors *f, const cJSON *json, const char *file,
    const char *name, const char *generation, struct msim_error *err)
{
    return read_json(f, json, file, name, generation, false, err);
}
