/*
 * core/work/data_sheet.c - which data-sheet rate arithmetic runs at.
 */
#include "core/work/data_sheet.h"

#include "core/base/json.h"
#include "core/base/texts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum msim_rate msim_data_sheet_rate(enum msim_dtype dtype, const char *variant)
{
    if (variant && msim_same_text(variant, "nvfp4"))
        return MSIM_RATE_FP4;
    if (variant && msim_same_text(variant, "sq")) /* W8A8 */
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
        return variant && msim_same_text(variant, "tf32") ? MSIM_RATE_TF32
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

/* The figure `key`; `missing` where the file does not give it. What it gives
 * is a number of its range, or an error. */
static enum msim_status read_figure(double *to, const cJSON *sheet,
                                    const char *key, double missing,
                                    struct range of, const char *file,
                                    struct msim_error *err)
{
    char want[64];

    *to = missing;
    if (!cJSON_HasObjectItem(sheet, key))
        return MSIM_OK;
    *to = msim_json_get_number(sheet, key, NAN);
    if (*to >= of.least && *to <= of.most)
        return MSIM_OK;
    snprintf(want, sizeof(want), "a number from %g to %g", of.least, of.most);
    return wrong(file, key, want, err);
}

/* Likewise, but 0 says that there is none. */
static enum msim_status read_unit(double *to, const cJSON *sheet,
                                  const char *key, double missing,
                                  struct range of, const char *file,
                                  struct msim_error *err)
{
    *to = 0;
    if (msim_json_get_number(sheet, key, NAN) == 0)
        return MSIM_OK;
    return read_figure(to, sheet, key, missing, of, file, err);
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

    double bf16;

    MSIM_TRY(read_figure(&s->rate[MSIM_RATE_FP32], sheet, KEYS[MSIM_RATE_FP32],
                         0, RATES, file, err));
    if (!(s->rate[MSIM_RATE_FP32] > 0))
        return wrong(file, KEYS[MSIM_RATE_FP32], "a rate above 0 FLOP/s", err);
    for (int i = 0; i < MSIM_RATE_COUNT; i++) {
        double v;

        MSIM_TRY(read_unit(&v, sheet, KEYS[i], 0, RATES, file, err));
        s->missing[i] = v == 0;
        s->rate[i] = v > 0 ? v : s->rate[FALLS_TO[i]];
    }
    MSIM_TRY(read_unit(&bf16, sheet, "bf16_flops", 1, RATES, file, err));
    s->no_bf16 = bf16 == 0;
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

    return text && msim_same_text(text, "MIOpen");
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
        double missing;
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
        {"dies", &s->dies, 1, {1, 256}},
        {"shared_cache_bandwidth", &s->shared_cache, 0, {1e8, 1e16}},
        {"attention_floor_us", &s->attention_us, 0, {1e-3, 1e7}},
        {"boost_clock", &s->clock_hz, 0, {1e7, 1e11}},
        {"power_limit", &s->power_watts, 0, {0.1, 1e6}},
        {"compute_capability", &s->capability, 0, {1, 99}},
    };
    static const char *const WANTED[] = {"sms", "memory_bytes", "l2_bytes",
                                         "memory_bandwidth"};
    const cJSON *links = cJSON_GetObjectItemCaseSensitive(sheet, "links");

    MSIM_TRY(read_rates(s, sheet, file, err));
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        MSIM_TRY(read_figure(fields[i].to, sheet, fields[i].key,
                             fields[i].missing, fields[i].range, file, err));
    for (size_t i = 0; i < sizeof(WANTED) / sizeof(*WANTED); i++)
        if (!cJSON_HasObjectItem(sheet, WANTED[i]))
            return wrong(file, WANTED[i], "a number above 0", err);
    read_name(s->interconnect, sizeof(s->interconnect), links, "interconnect",
              l->interconnect);
    read_name(s->internode, sizeof(s->internode), links, "internode",
              l->internode);
    s->no_link = !(msim_json_get_number(sheet, "link_bandwidth", 0) > 0) &&
                 (!like || like->no_link);
    s->index_skew = s->pytorch = 0;
    s->cards_per_gpu = 1;
    s->latency_us = MSIM_NETWORK_LATENCY_US;
    s->in_switch =
        cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(links, "in_switch"));
    s->mesh = fmax(msim_json_get_number(links, "mesh", 0), 0);
    s->miopen = is_miopen(sheet);
    return MSIM_OK;
}
