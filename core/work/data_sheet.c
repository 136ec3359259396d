/*
 * core/work/data_sheet.c - which data-sheet rate arithmetic runs at.
 */
#include "core/work/data_sheet.h"

#include "core/base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum msim_rate msim_data_sheet_rate(enum msim_dtype dtype, const char *variant)
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

enum msim_rate msim_data_sheet_rate_on(const struct msim_data_sheet *s,
                                       enum msim_dtype dtype,
                                       const char *variant)
{
    enum msim_rate rate = msim_data_sheet_rate(dtype, variant);

    return rate == MSIM_RATE_TF32 && s->missing[MSIM_RATE_TF32] ? MSIM_RATE_FP32
                                                                : rate;
}

double msim_data_sheet_peak_per_us(const struct msim_data_sheet *s,
                                   const struct msim_work *w)
{
    return s->rate[msim_data_sheet_rate(w->dtype, w->variant)] * 1e-6;
}

double msim_data_sheet_flops_per_us(const struct msim_data_sheet *s,
                                    const struct msim_work *w)
{
    return msim_data_sheet_peak_per_us(s, w) * s->sustained;
}

double msim_data_sheet_distance(const struct msim_data_sheet *a,
                                const struct msim_data_sheet *b)
{
    const double ratios[] = {
        a->sms / b->sms,
        a->bandwidth / b->bandwidth,
        a->rate[MSIM_RATE_FP32] * a->sustained /
            (b->rate[MSIM_RATE_FP32] * b->sustained),
        a->rate[MSIM_RATE_FP16] * a->sustained /
            (b->rate[MSIM_RATE_FP16] * b->sustained),
    };
    double most = 0;

    for (size_t i = 0; i < sizeof(ratios) / sizeof(*ratios); i++)
        most = fmax(most, fabs(log(ratios[i])));
    return most;
}

static enum msim_status wrong(const char *file, const char *key,
                              const char *want, struct msim_error *err)
{
    return msim_fail(err, MSIM_EFORMAT, file, MSIM_OFFSET_NONE,
                     "'%s' is missing or wrong, want %s", key, want);
}

/*
 * What figures of GPUs and CPUs can be, wide: from the smallest that runs
 * PyTorch to a hundred times the largest of 2025. A file beyond that has the
 * wrong unit. A calibration takes the shortest kernel that it timed for the
 * floor, which after few experiments is a long one.
 */
struct range {
    double least, most;
};

static const struct range RATES = {1e8, 1e18};

static enum msim_status check_range(double v, struct range of, const char *file,
                                    const char *key, struct msim_error *err)
{
    char want[64];

    if (v >= of.least && v <= of.most)
        return MSIM_OK;
    snprintf(want, sizeof(want), "a number from %g to %g", of.least, of.most);
    return wrong(file, key, want, err);
}

static enum msim_status read_rates(struct msim_data_sheet *s,
                                   const cJSON *sheet, const char *file,
                                   struct msim_error *err)
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

        s->missing[i] = !(v > 0);
        if (!s->missing[i])
            MSIM_TRY(check_range(v, RATES, file, KEYS[i], err));
        s->rate[i] = v > 0 ? v : s->rate[FALLS_TO[i]];
    }
    s->no_bf16 = !(msim_json_get_number(sheet, "bf16_flops", 1) > 0);
    return MSIM_OK;
}

/* Typical of a GPU of these years, where neither its file nor a GPU of its
 * generation gives a figure: PCIe 4.0 x16 less its overhead, one adapter of 200
 * Gbit/s. */
static const struct msim_data_sheet TYPICAL = {
    .floor_us = 2,
    .pcie = 25e9,
    .pageable = 8e9,
    .link = 25e9,
    .network = 25e9,
    .trace_factor = 1.5,
};

static void read_name(char *to, size_t size, const cJSON *links,
                      const char *key, const char *missing)
{
    const char *text = msim_json_get_text(links, key);

    snprintf(to, size, "%s", text ? text : missing);
}

static bool is_miopen(const cJSON *sheet)
{
    const cJSON *l = cJSON_GetObjectItemCaseSensitive(sheet, "libraries");
    const char *text = msim_json_get_text(l, "convolution");

    return text && strcmp(text, "MIOpen") == 0;
}

enum msim_status msim_data_sheet_read(struct msim_data_sheet *s,
                                      const cJSON *sheet,
                                      const struct msim_data_sheet *like,
                                      const char *file, struct msim_error *err)
{
    const struct msim_data_sheet *l = like ? like : &TYPICAL;
    double memory = msim_json_get_number(sheet, "memory_bytes", 0);
    const struct {
        const char *key;
        double *to;
        double missing; /* 0: must be there */
        struct range range;
    } fields[] = {
        {"sms", &s->sms, 0, {1, 1e5}},
        {"memory_bytes", &s->memory_bytes, 0, {1e6, 1e14}},
        {"usable_memory_bytes", &s->usable_bytes, memory, {1e6, 1e14}},
        {"l2_bytes", &s->l2_bytes, 0, {1e3, 1e12}},
        {"memory_bandwidth", &s->bandwidth, 0, {1e8, 1e15}},
        {"kernel_floor_us", &s->floor_us, l->floor_us, {1e-3, 1e7}},
        {"pcie_bandwidth", &s->pcie, l->pcie, {1e7, 1e14}},
        {"pageable_bandwidth", &s->pageable, l->pageable, {1e7, 1e14}},
        {"link_bandwidth", &s->link, l->link, {1e7, 1e15}},
        {"network_bandwidth", &s->network, l->network, {1e6, 1e14}},
        {"trace_factor", &s->trace_factor, l->trace_factor, {1, 100}},
        {"sustained_ratio", &s->sustained, 1, {0.01, 1}},
        {"stream_ratio", &s->stream, 1, {0.1, 1}},
        {"fp32_product_ratio", &s->product_fp32, 1, {0.01, 3}},
    };
    const cJSON *links = cJSON_GetObjectItemCaseSensitive(sheet, "links");

    MSIM_TRY(read_rates(s, sheet, file, err));
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
        *fields[i].to =
            msim_json_get_number(sheet, fields[i].key, fields[i].missing);
        MSIM_TRY(check_range(*fields[i].to, fields[i].range, file,
                             fields[i].key, err));
    }
    read_name(s->interconnect, sizeof(s->interconnect), links, "interconnect",
              l->interconnect);
    read_name(s->internode, sizeof(s->internode), links, "internode",
              l->internode);
    s->no_link = !(msim_json_get_number(sheet, "link_bandwidth", 0) > 0) &&
                 (!like || like->no_link);
    s->dies = msim_json_get_number(sheet, "dies", 1);
    s->shared_cache = msim_json_get_number(sheet, "shared_cache_bandwidth", 0);
    s->index_skew = s->pytorch = 0;
    s->attention_us = msim_json_get_number(sheet, "attention_floor_us", 0);
    s->clock_hz = msim_json_get_number(sheet, "boost_clock", 0);
    s->power_watts = msim_json_get_number(sheet, "power_limit", 0);
    s->cards_per_gpu = 1;
    s->latency_us = MSIM_NETWORK_LATENCY_US;
    s->in_switch =
        cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(links, "in_switch"));
    s->miopen = is_miopen(sheet);
    return MSIM_OK;
}
