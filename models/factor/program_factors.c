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

double msim_factor_tensor(const struct msim_data_sheet *s)
{
    return s->clock_hz > 0
               ? round(s->rate[MSIM_RATE_FP16] / (s->sms * s->clock_hz))
               : 0;
}

/* Logarithms of factors, added up. */
struct sums {
    double log[MSIM_FACTOR_COUNT];
    uint32_t n[MSIM_FACTOR_COUNT];
    bool by_rows[MSIM_FACTOR_COUNT]; /* of some GPU */
};

/* Kernels of this kind run on tensor cores in half precision. */
static bool is_on_tensor_cores(enum msim_factor f)
{
    return f == MSIM_FACTOR_GEMM_HALF || f == MSIM_FACTOR_CONV_HALF ||
           f == MSIM_FACTOR_CONV_GROUPS;
}

/* Whether tensor cores are as wide, data sheets' rounding aside, or may be. */
static bool as_wide(double a, double b)
{
    return !(a > 0 && b > 0) || fabs(log(a / b)) < log(2) / 2;
}

/* Add a factor of kind `k` that `platform` has; none: nothing. */
static enum msim_status add(struct sums *s, const cJSON *platform, int k,
                            const char *file, struct msim_error *err)
{
    const cJSON *times = cJSON_GetObjectItemCaseSensitive(platform, "time");
    const char *text = msim_factor_text((enum msim_factor)k);
    double v = msim_json_get_number(times, text, NAN);

    if (isnan(v))
        return MSIM_OK;
    if (!(v >= LEAST && v <= MOST))
        return msim_fail(err, MSIM_EFORMAT, file, MSIM_OFFSET_NONE,
                         "'%s' of '%s' is %g, want a factor from %g to %d",
                         text, platform->string, v, LEAST, MOST);
    s->log[k] += log(v);
    s->n[k]++;
    return MSIM_OK;
}

enum { OWN, GENERATION, ALIKE, ALL, N };

/* Whether rows of its own tell a kind of `platform`: others of its generation
 * have its law then. */
static bool has_rows(const cJSON *platform, const char *kind)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(platform, "by_rows"),
                *one;

    cJSON_ArrayForEach(one, all)
    {
        if (cJSON_IsString(one) && strcmp(one->valuestring, kind) == 0)
            return true;
    }
    return false;
}

/* Whether what `platform` says of kind `k` may be said of others: attention in
 * full precision is another kernel than in half. */
static bool is_for_others(const cJSON *platform, int k)
{
    return k != MSIM_FACTOR_ATTENTION ||
           cJSON_IsTrue(
               cJSON_GetObjectItemCaseSensitive(platform, "half_precision"));
}

/* Add those of one platform to the sums that they belong to. */
static enum msim_status add_platform(struct sums *sums, const cJSON *platform,
                                     const struct msim_factor_gpu *gpu,
                                     const char *file, struct msim_error *err)
{
    const char *generation = msim_json_get_text(platform, "generation");
    bool own = strcmp(platform->string, gpu->name) == 0;
    bool kin = generation && strcmp(generation, gpu->generation) == 0;
    bool alike = kin && as_wide(gpu->tensor,
                                msim_json_get_number(platform, "tensor", 0));

    for (int k = 0; k < MSIM_FACTOR_COUNT; k++) {
        bool on_tensor_cores = is_on_tensor_cores((enum msim_factor)k);

        if (own)
            MSIM_TRY(add(&sums[OWN], platform, k, file, err));
        if (!own && !is_for_others(platform, k))
            continue;
        MSIM_TRY(add(&sums[ALL], platform, k, file, err));
        if (!(on_tensor_cores ? alike : kin))
            continue;
        MSIM_TRY(add(&sums[GENERATION], platform, k, file, err));
        if (alike)
            MSIM_TRY(add(&sums[ALIKE], platform, k, file, err));
        if (has_rows(platform, msim_factor_text((enum msim_factor)k)))
            sums[ALIKE].by_rows[k] = true;
    }
    return MSIM_OK;
}

/* The logarithm of factor `k`. */
static double factor_log(const struct sums *sums,
                         const struct msim_factor_gpu *gpu, int k)
{
    double expected = 0;

    if (sums[OWN].n[k] > 0 || gpu->with_rows >> k & 1)
        return sums[OWN].log[k];
    if (carries((enum msim_factor)k) && sums[ALL].n[k] > 0)
        expected = sums[ALL].log[k] / sums[ALL].n[k];
    if (sums[GENERATION].n[k] > 1)
        return sums[GENERATION].log[k] / sums[GENERATION].n[k];
    /* one GPU may be odd for itself */
    return sums[ALIKE].n[k] > 0 && !sums[ALIKE].by_rows[k]
               ? (sums[ALIKE].log[k] + expected) / 2
               : expected;
}

/* `known` false: all but those of the GPU itself count. */
static enum msim_status read_json(struct msim_program_factors *f,
                                  const cJSON *json, const char *file,
                                  const struct msim_factor_gpu *gpu, bool known,
                                  struct msim_error *err)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(json, "platforms"), *p;
    struct sums sums[N] = {0};

    cJSON_ArrayForEach(p, all)
    {
        if (known || strcmp(p->string, gpu->name) != 0)
            MSIM_TRY(add_platform(sums, p, gpu, file, err));
    }
    for (int k = 0; k < MSIM_FACTOR_COUNT; k++)
        f->time[k] = exp(factor_log(sums, gpu, k));
    return MSIM_OK;
}

enum msim_status msim_program_factors_read(struct msim_program_factors *f,
                                           const cJSON *json, const char *file,
                                           const struct msim_factor_gpu *gpu,
                                           struct msim_error *err)
{
    return read_json(f, json, file, gpu, true, err);
}

enum msim_status msim_program_factors_of_others(struct msim_program_factors *f,
                                                const cJSON *json,
                                                const char *file,
                                                const char *name,
                                                struct msim_error *err)
{
    const cJSON *all = cJSON_GetObjectItemCaseSensitive(json, "platforms");
    const cJSON *p = cJSON_GetObjectItemCaseSensitive(all, name);
    const char *generation = msim_json_get_text(p, "generation");
    const cJSON *time = cJSON_GetObjectItemCaseSensitive(p, "time");
    struct msim_factor_gpu gpu = {name, generation ? generation : "",
                                  msim_json_get_number(p, "tensor", 0), 0};

    /* its programs tell the others, as far as they have any of them */
    for (int k = 0; k < MSIM_FACTOR_COUNT; k++)
        if (!cJSON_GetObjectItemCaseSensitive(
                time, msim_factor_text((enum msim_factor)k)))
            gpu.with_rows |= 1u << k;
    return read_json(f, json, file, &gpu, false, err);
}
