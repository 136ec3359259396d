/*
 * profilers/cuda/cupti/cupti_counters.c - hardware counters of what is
 * launched.
 *
 * The order of calls is that of the "CUPTI user guide", "CUPTI Range Profiling
 * API": a profiler for the context, an image that takes what is decoded, and
 * from start to stop a pass. What was switched on is switched off whatever
 * happens, so that nothing goes on counting under what is timed next.
 */
#include "profilers/cuda/cupti/cupti_counters.h"

#include "profilers/cuda/cupti/cupti_metrics.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond what the library says that it needs: then it never ends. */
#define PASSES_MORE 4

struct msim_cupti_counters {
    struct msim_cupti_range api;
    CUcontext context;
    uint8_t *available;
    struct msim_cupti_metrics metrics;
};

/* ---- whether they can be read -------------------------------------------- */

/* The first bytes of a file of the kernel's; NULL where there is none. */
static char *first_bytes(const char *path, char *to, size_t size)
{
    FILE *f = fopen(path, "r");
    size_t n;

    if (!f)
        return NULL;
    n = fread(to, 1, size - 1, f);
    to[n] = '\0';
    fclose(f);
    return to;
}

static bool may_read(void)
{
    char params[8192], status[8192];

    return msim_counters_allowed(
        first_bytes("/proc/driver/nvidia/params", params, sizeof(params)),
        first_bytes("/proc/self/status", status, sizeof(status)));
}

static const char *obstacle(const struct cupti_supported *s)
{
    if (s->architecture != CUPTI_CAN)
        return "CUPTI does not count on this architecture";
    if (s->virtual_gpu != CUPTI_CAN)
        return "the virtual GPU does not let counters be read";
    if (s->confidential != CUPTI_CAN)
        return "not under confidential computing";
    if (s->sli != CUPTI_CAN)
        return "not with SLI";
    return "CUPTI does not count on this device";
}

static enum msim_status check_device(const struct msim_cupti_range *api,
                                     struct msim_error *err)
{
    struct cupti_begin begin = {0};
    struct cupti_supported s = {0};

    MSIM_TRY(MSIM_CUPTI(api, cuptiProfilerInitialize, &begin));
    MSIM_TRY(MSIM_CUPTI(api, cuptiProfilerDeviceSupported, &s));
    if (s.supported == CUPTI_CAN)
        return MSIM_OK;
    return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE, "%s",
                     obstacle(&s));
}

static enum msim_status check_library(struct msim_cupti_range *api,
                                      struct msim_error *err)
{
    const char *missing;

    if (!msim_cupti_range_find(api, &missing))
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "this CUPTI has no %s, want that of CUDA 12.6 or "
                         "newer",
                         missing);
    if (may_read())
        return MSIM_OK;
    return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                     "the driver lets administrators alone read counters "
                     "(NVreg_RestrictProfilingToAdminUsers=1, "
                     "ERR_NVGPUCTRPERM)");
}

bool msim_cupti_counters_likely(char *why, size_t size)
{
    struct msim_cupti_range api;
    struct msim_error err = {0};
    bool likely = check_library(&api, &err) == MSIM_OK;

    snprintf(why, size, "%s", err.text);
    return likely;
}

/* ---- beginning and end --------------------------------------------------- */

/* The runtime has no call for it, and the driver's library is not linked. */
static enum msim_status find_context(struct msim_cupti_counters *c,
                                     struct msim_error *err)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *found = driver ? dlsym(driver, "cuCtxGetCurrent") : NULL;
    CUresult (*current)(CUcontext *);

    memcpy(&current, &found, sizeof(found));
    if (found && current(&c->context) != CUDA_SUCCESS)
        c->context = NULL;
    if (driver)
        dlclose(driver);
    if (c->context)
        return MSIM_OK;
    return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                     "no context of the driver's to count in");
}

static enum msim_status find_available(struct msim_cupti_counters *c,
                                       struct msim_error *err)
{
    struct cupti_available p = {.context = c->context};

    MSIM_TRY(MSIM_CUPTI(&c->api, cuptiProfilerGetCounterAvailability, &p));
    c->available = calloc(p.image_size ? p.image_size : 1, 1);
    if (!c->available)
        return MSIM_ENOMEM;
    p.image = c->available;
    return MSIM_CUPTI(&c->api, cuptiProfilerGetCounterAvailability, &p);
}

static enum msim_status open_all(struct msim_cupti_counters *c,
                                 struct msim_error *err)
{
    struct cupti_chip_name chip = {.device = 0};

    MSIM_TRY(check_library(&c->api, err));
    MSIM_TRY(check_device(&c->api, err));
    MSIM_TRY(find_context(c, err));
    MSIM_TRY(MSIM_CUPTI(&c->api, cuptiDeviceGetChipName, &chip));
    MSIM_TRY(find_available(c, err));
    return msim_cupti_metrics_init(&c->metrics, &c->api, chip.name,
                                   c->available, err);
}

enum msim_status msim_cupti_counters_new(struct msim_cupti_counters **out,
                                         struct msim_error *err)
{
    struct msim_cupti_counters *c = calloc(1, sizeof(*c));
    enum msim_status status;

    *out = NULL;
    if (!c)
        return MSIM_ENOMEM;
    status = open_all(c, err);
    if (status == MSIM_OK)
        *out = c;
    else
        msim_cupti_counters_free(c);
    return status;
}

void msim_cupti_counters_free(struct msim_cupti_counters *c)
{
    if (!c)
        return;
    msim_cupti_metrics_release(&c->metrics);
    free(c->available);
    free(c);
}

/* ---- one count ----------------------------------------------------------- */

struct counting {
    const struct msim_cupti_counters *c;
    void *profiler;
    uint8_t *data; /* owned */
    size_t data_size;
};

static enum msim_status make_data(struct counting *k, struct msim_error *err)
{
    const struct msim_cupti_metrics *m = &k->c->metrics;
    const char *names[MSIM_METRICS];
    struct cupti_range_data_size size = {.profiler = k->profiler,
                                         .names = names,
                                         .n = m->chosen.n,
                                         .ranges = 1,
                                         .nodes = 1};
    struct cupti_range_data data = {.profiler = k->profiler};

    memcpy(names, m->names, sizeof(names));
    MSIM_TRY(
        MSIM_CUPTI(&k->c->api, cuptiRangeProfilerGetCounterDataSize, &size));
    k->data_size = size.data_size;
    k->data = calloc(k->data_size ? k->data_size : 1, 1);
    if (!k->data)
        return MSIM_ENOMEM;
    data.data_size = k->data_size;
    data.data = k->data;
    return MSIM_CUPTI(&k->c->api, cuptiRangeProfilerCounterDataImageInitialize,
                      &data);
}

static enum msim_status set_config(struct counting *k, struct msim_error *err)
{
    struct cupti_range_config p = {
        .profiler = k->profiler,
        .config_size = k->c->metrics.config_size,
        .config = k->c->metrics.config,
        .data_size = k->data_size,
        .data = k->data,
        .range = CUPTI_RANGE_BY_USER,
        .replay = CUPTI_REPLAY_BY_USER,
        .ranges = 1,
        .levels = 1,
        .first_level = 1,
        .level = 1,
    };

    return MSIM_CUPTI(&k->c->api, cuptiRangeProfilerSetConfig, &p);
}

/* The range ends whether its run failed or not. */
static enum msim_status run_range(struct counting *k,
                                  const struct msim_counted *what,
                                  struct msim_error *err)
{
    struct cupti_range_push push = {.profiler = k->profiler,
                                    .name = "operation"};
    struct cupti_range_plain pop = {.profiler = k->profiler};
    enum msim_status status, ended;

    MSIM_TRY(what->ready(what->state, err));
    MSIM_TRY(MSIM_CUPTI(&k->c->api, cuptiRangeProfilerPushRange, &push));
    status = what->run(what->state, err);
    ended = MSIM_CUPTI(&k->c->api, cuptiRangeProfilerPopRange, &pop);
    return status == MSIM_OK ? ended : status;
}

static enum msim_status run_pass(struct counting *k,
                                 const struct msim_counted *what, bool *all,
                                 struct msim_error *err)
{
    struct cupti_range_plain start = {.profiler = k->profiler};
    struct cupti_range_stop stop = {.profiler = k->profiler};
    enum msim_status status, ended;

    MSIM_TRY(MSIM_CUPTI(&k->c->api, cuptiRangeProfilerStart, &start));
    status = run_range(k, what, err);
    ended = MSIM_CUPTI(&k->c->api, cuptiRangeProfilerStop, &stop);
    *all = stop.all != 0;
    return status == MSIM_OK ? ended : status;
}

static enum msim_status run_passes(struct counting *k,
                                   const struct msim_counted *what,
                                   struct msim_error *err)
{
    size_t most = k->c->metrics.passes + PASSES_MORE;
    struct cupti_range_decode decode = {.profiler = k->profiler};
    bool all = false;

    for (size_t i = 0; !all; i++) {
        if (i == most)
            return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                             "%zu passes were not enough, want %zu", most,
                             k->c->metrics.passes);
        MSIM_TRY(run_pass(k, what, &all, err));
    }
    MSIM_TRY(MSIM_CUPTI(&k->c->api, cuptiRangeProfilerDecodeData, &decode));
    if (decode.dropped == 0)
        return MSIM_OK;
    return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                     "%zu ranges were dropped", decode.dropped);
}

static enum msim_status count(struct counting *k,
                              const struct msim_counted *what,
                              struct msim_counts *out, struct msim_error *err)
{
    MSIM_TRY(make_data(k, err));
    MSIM_TRY(set_config(k, err));
    MSIM_TRY(run_passes(k, what, err));
    return msim_cupti_metrics_read(&k->c->metrics, k->data, k->data_size, out,
                                   err);
}

enum msim_status msim_cupti_counters_read(struct msim_cupti_counters *c,
                                          const struct msim_counted *what,
                                          struct msim_counts *out,
                                          struct msim_error *err)
{
    struct counting k = {.c = c};
    struct cupti_range_enable enable = {.context = c->context};
    struct cupti_range_plain disable = {0};
    enum msim_status status, ended;

    MSIM_TRY(MSIM_CUPTI(&c->api, cuptiRangeProfilerEnable, &enable));
    k.profiler = disable.profiler = enable.profiler;
    status = count(&k, what, out, err);
    ended = MSIM_CUPTI(&c->api, cuptiRangeProfilerDisable, &disable);
    free(k.data);
    return status == MSIM_OK ? ended : status;
}
