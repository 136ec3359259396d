/*
 * models/platform/platform_nearest.c - the nearest known GPU.
 */
#include "models/platform/platform.h"

#include "core/work/estimate.h"
#include "core/work/kernel_fact.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Compute capabilities, ten times major plus minor (NVIDIA CUDA programming
 * guide, appendix "compute capabilities"; AMD's gfx numbers, as HIP reports
 * them). Of a maker's parts of several capabilities, the first. */
static const struct generation {
    const char *name, *maker;
    uint32_t capability;
} GENERATIONS[] = {
    {"maxwell", "NVIDIA", 52},
    {"pascal", "NVIDIA", 60},
    {"pascal-graphics", "NVIDIA", 61},
    {"volta", "NVIDIA", 70},
    {"turing", "NVIDIA", 75},
    {"ampere", "NVIDIA", 80},
    {"ampere-graphics", "NVIDIA", 86},
    {"ada", "NVIDIA", 89},
    {"hopper", "NVIDIA", 90},
    {"blackwell", "NVIDIA", 100},
    {"blackwell-graphics", "NVIDIA", 120},
    {"vega", "AMD", 90},
    {"cdna", "AMD", 90},
    {"cdna2", "AMD", 90},
    {"cdna3", "AMD", 94},
};

static const struct generation *generation_of(const cJSON *json)
{
    const char *name = msim_json_get_text(json, "generation");

    for (size_t i = 0; name && i < sizeof(GENERATIONS) / sizeof(*GENERATIONS);
         i++)
        if (strcmp(GENERATIONS[i].name, name) == 0)
            return &GENERATIONS[i];
    return NULL;
}

/* Radeon and Instinct are AMD's; PyTorch records no other makers' GPUs. */
static const char *maker_of(const char *gpu)
{
    return strstr(gpu, "AMD") || strstr(gpu, "Radeon") ||
                   strstr(gpu, "Instinct")
               ? "AMD"
               : "NVIDIA";
}

/* Nearer is less: the capability first, then sizes. */
struct distance {
    uint32_t capability;
    double sizes; /* sum of the logarithms of their ratios */
};

static bool is_nearer(const struct distance *a, const struct distance *b)
{
    if (a->capability != b->capability)
        return a->capability < b->capability;
    return a->sizes < b->sizes;
}

static double log_ratio(double a, double b)
{
    return a > 0 && b > 0 ? fabs(log(a / b)) : 0;
}

/* False for a GPU of another maker, or a file that does not say what it is. */
static bool distance_to(const cJSON *json, const char *maker,
                        const struct msim_gpu_properties *g,
                        struct distance *out)
{
    const struct generation *of = generation_of(json);
    const cJSON *sheet = cJSON_GetObjectItemCaseSensitive(json, "data_sheet");
    uint32_t wanted = 10 * g->cc_major + g->cc_minor;

    if (!of || strcmp(of->maker, maker) != 0)
        return false;
    out->capability = wanted > of->capability ? wanted - of->capability
                                              : of->capability - wanted;
    out->sizes = log_ratio(g->sms, msim_json_get_number(sheet, "sms", 0)) +
                 log_ratio((double)g->memory_bytes,
                           msim_json_get_number(sheet, "memory_bytes", 0));
    return true;
}

const char *msim_platform_nearest(struct msim_arena *arena,
                                  const char *data_dir, const char *gpu,
                                  const struct msim_gpu_properties *g)
{
    struct distance least = {UINT32_MAX, INFINITY}, d;
    const char *const *names;
    const char *nearest = NULL;
    uint32_t n;

    if (g->sms == 0 || g->cc_major == 0 ||
        msim_platform_list(arena, data_dir, &names, &n, NULL) != MSIM_OK)
        return NULL;
    for (uint32_t i = 0; i < n; i++) {
        cJSON *json = msim_platform_json(data_dir, names[i]);

        if (json && distance_to(json, maker_of(gpu), g, &d) &&
            is_nearer(&d, &least)) {
            least = d;
            nearest = names[i];
        }
        cJSON_Delete(json);
    }
    return nearest;
}

void msim_platform_liken(struct msim_platform *p,
                         const struct msim_gpu_properties *g)
{
    double unrecorded = MSIM_FACT(NULL, LIKENED_GPU_LOG_SD);
    struct msim_data_sheet *s = &p->sheet;
    char name[sizeof(p->name)];

    for (int i = 0; i < MSIM_RATE_COUNT; i++)
        s->rate[i] *= g->sms / s->sms;
    s->sms = g->sms;
    if (g->memory_bytes)
        s->memory_bytes = s->usable_bytes = (double)g->memory_bytes;
    s->trace_factor = exp(hypot(log(s->trace_factor), MSIM_Z90 * unrecorded));
    p->jobs.slower = hypot(p->jobs.slower, unrecorded);
    p->jobs.faster = hypot(p->jobs.faster, unrecorded);
    snprintf(name, sizeof(name), "near %.42s", p->name);
    memcpy(p->name, name, sizeof(name));
}
