/*
 * profilers/cuda/cupti/cupti_metrics.c - which metrics of a chip are counted.
 */
#include "profilers/cuda/cupti/cupti_metrics.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* The handle of the program itself finds in all that it was linked with. */
bool msim_cupti_range_find(struct msim_cupti_range *r, const char **missing)
{
    void *program = dlopen(NULL, RTLD_NOW), *found;

    *missing = NULL;
    /* ISO C has no conversion from an object's pointer to a function's. */
#define X(function, type, last)                                                \
    found = program ? dlsym(program, #function) : NULL;                        \
    memcpy(&r->function, &found, sizeof(found));                               \
    if (!found && !*missing)                                                   \
        *missing = #function;
    MSIM_CUPTI_RANGE_MAP(X)
#undef X
    if (program)
        dlclose(program);
    return !*missing;
}

enum msim_status msim_cupti_check(CUptiResult r, const char *call,
                                  struct msim_error *err)
{
    const char *what = NULL;

    if (r == CUPTI_SUCCESS)
        return MSIM_OK;
    if (cuptiGetResultString(r, &what) != CUPTI_SUCCESS || !what)
        what = "unknown error";
    return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE, "%s: %s", call,
                     what);
}

static enum msim_status open_host(struct msim_cupti_metrics *m,
                                  const char *chip, const uint8_t *available,
                                  struct msim_error *err)
{
    struct cupti_host_open p = {.chip = chip, .available = available};

    MSIM_TRY(MSIM_CUPTI(m->api, cuptiProfilerHostInitialize, &p));
    m->host = p.host;
    return MSIM_OK;
}

static enum msim_status choose(struct msim_cupti_metrics *m,
                               struct msim_error *err)
{
    struct cupti_host_list p = {.host = m->host};

    MSIM_TRY(MSIM_CUPTI(m->api, cuptiProfilerHostGetBaseMetrics, &p));
    for (size_t i = 0; i < p.n; i++)
        msim_metrics_offer(&m->chosen, p.names[i]);
    for (uint32_t i = 0; i < m->chosen.n; i++)
        m->names[i] = m->chosen.list[i].name;
    if (m->chosen.n)
        return MSIM_OK;
    return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                     "the chip has none of the counters that are wanted");
}

static enum msim_status configure(struct msim_cupti_metrics *m,
                                  struct msim_error *err)
{
    struct cupti_host_add add = {
        .host = m->host, .names = m->names, .n = m->chosen.n};
    struct cupti_host_config_size size = {.host = m->host};
    struct cupti_host_config config = {.host = m->host};
    struct cupti_host_passes passes = {0};

    MSIM_TRY(MSIM_CUPTI(m->api, cuptiProfilerHostConfigAddMetrics, &add));
    MSIM_TRY(MSIM_CUPTI(m->api, cuptiProfilerHostGetConfigImageSize, &size));
    m->config_size = size.config_size;
    m->config = calloc(m->config_size ? m->config_size : 1, 1);
    if (!m->config)
        return MSIM_ENOMEM;
    config.config_size = passes.config_size = m->config_size;
    config.config = passes.config = m->config;
    MSIM_TRY(MSIM_CUPTI(m->api, cuptiProfilerHostGetConfigImage, &config));
    MSIM_TRY(MSIM_CUPTI(m->api, cuptiProfilerHostGetNumOfPasses, &passes));
    m->passes = passes.n;
    return MSIM_OK;
}

enum msim_status msim_cupti_metrics_init(struct msim_cupti_metrics *m,
                                         const struct msim_cupti_range *api,
                                         const char *chip,
                                         const uint8_t *available,
                                         struct msim_error *err)
{
    *m = (struct msim_cupti_metrics){.api = api};
    MSIM_TRY(open_host(m, chip, available, err));
    MSIM_TRY(choose(m, err));
    return configure(m, err);
}

void msim_cupti_metrics_release(struct msim_cupti_metrics *m)
{
    struct cupti_host_close p = {
        .size = MSIM_SIZE_cuptiProfilerHostDeinitialize, .host = m->host};

    if (m->host)
        (void)m->api->cuptiProfilerHostDeinitialize(&p);
    free(m->config);
    m->host = NULL;
    m->config = NULL;
}

enum msim_status msim_cupti_metrics_read(const struct msim_cupti_metrics *m,
                                         const uint8_t *data, size_t size,
                                         struct msim_counts *out,
                                         struct msim_error *err)
{
    const char *names[MSIM_METRICS];
    double values[MSIM_METRICS] = {0};
    struct cupti_host_evaluate p = {.host = m->host,
                                    .data = data,
                                    .data_size = size,
                                    .names = names,
                                    .n = m->chosen.n,
                                    .values = values};

    memcpy(names, m->names, sizeof(names));
    MSIM_TRY(MSIM_CUPTI(m->api, cuptiProfilerHostEvaluateToGpuValues, &p));
    msim_metrics_sum(&m->chosen, values, out);
    out->passes = (uint32_t)m->passes;
    return MSIM_OK;
}
