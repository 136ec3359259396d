/*
 * models/spec.c - which data-sheet rate arithmetic runs at.
 */
#include "models/spec.h"

#include "core/base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum msim_rate msim_spec_rate(enum msim_dtype dtype, const char *variant)
{
    if (variant && strcmp(variant, "nvfp4") == 0)
        return MSIM_RATE_FP4;
    if (variant && strcmp(variant, "sq") == 0) /* W8A8 */
        return MSIM_RATE_INT8;
    switch (dtype) {
    case MSIM_DT_F64:
    case MSIM_DT_C128:
        return MSIM_RATE_FP64;
    case MSIM_DT_F16:
    case MSIM_DT_BF16:
        return MSIM_RATE_FP16;
    case MSIM_DT_F8:
        return MSIM_RATE_FP8;
    case MSIM_DT_I8:
    case MSIM_DT_U8:
        return MSIM_RATE_INT8;
    default:
        return variant && strcmp(variant, "tf32") == 0 ? MSIM_RATE_TF32
                                                       : MSIM_RATE_FP32;
    }
}

double msim_spec_flops_per_us(const struct msim_spec *s,
                              const struct msim_work *w)
{
    return s->rate[msim_spec_rate(w->dtype, w->variant)] * s->sustained * 1e-6;
}

static enum msim_status wrong(const char *file, const char *key,
                              const char *want, struct msim_error *err)
{
    return msim_fail(err, MSIM_EFORMAT, file, MSIM_OFFSET_NONE,
                     "'%s' is missing or wrong, want %s", key, want);
}

static enum msim_status read_rates(struct msim_spec *s, const cJSON *sheet,
                                   const char *file, struct msim_error *err)
{
    static const char *const KEYS[] = {
#define X(name, key) key,
        MSIM_RATE_MAP(X)
#undef X
    };
    /* What runs a type that the GPU has no unit for. */
    static const enum msim_rate FALLS_TO[] = {
        [MSIM_RATE_FP64] = MSIM_RATE_FP32, [MSIM_RATE_FP32] = MSIM_RATE_FP32,
        [MSIM_RATE_TF32] = MSIM_RATE_FP32, [MSIM_RATE_FP16] = MSIM_RATE_FP32,
        [MSIM_RATE_FP8] = MSIM_RATE_FP16,  [MSIM_RATE_INT8] = MSIM_RATE_FP16,
        [MSIM_RATE_FP4] = MSIM_RATE_FP8,
    };

    s->rate[MSIM_RATE_FP32] =
        msim_json_get_number(sheet, KEYS[MSIM_RATE_FP32], 0);
    if (!(s->rate[MSIM_RATE_FP32] > 0))
        return wrong(file, KEYS[MSIM_RATE_FP32], "a rate above 0 FLOP/s", err);
    for (int i = 0; i < MSIM_RATE_COUNT; i++) {
        double v = msim_json_get_number(sheet, KEYS[i], 0);

        s->rate[i] = v > 0 ? v : s->rate[FALLS_TO[i]];
    }
    return MSIM_OK;
}

enum msim_status msim_spec_read(struct msim_spec *s, const cJSON *sheet,
                                const char *file, struct msim_error *err)
{
    const struct {
        const char *key;
        double *to;
    } fields[] = {
        {"sms", &s->sms},
        {"memory_bytes", &s->memory_bytes},
        {"l2_bytes", &s->l2_bytes},
        {"memory_bandwidth", &s->bandwidth},
        {"kernel_floor_us", &s->floor_us},
        {"pcie_bandwidth", &s->pcie},
        {"pageable_bandwidth", &s->pageable},
        {"link_bandwidth", &s->link},
        {"network_bandwidth", &s->network},
        {"trace_factor", &s->trace_factor},
    };
    const cJSON *links = cJSON_GetObjectItemCaseSensitive(sheet, "links");
    const char *inside = msim_json_get_text(links, "interconnect");
    const char *between = msim_json_get_text(links, "internode");

    MSIM_TRY(read_rates(s, sheet, file, err));
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        *fields[i].to = msim_json_get_number(sheet, fields[i].key, 0);
        if (!(*fields[i].to > 0) || !isfinite(*fields[i].to))
            return wrong(file, fields[i].key, "a number above 0", err);
    }
    s->sustained = msim_json_get_number(sheet, "sustained_ratio", 1);
    if (!(s->sustained > 0))
        return wrong(file, "sustained_ratio", "a number above 0", err);
    snprintf(s->interconnect, sizeof(s->interconnect), "%s",
             inside ? inside : "");
    snprintf(s->internode, sizeof(s->internode), "%s", between ? between : "");
    return MSIM_OK;
}
