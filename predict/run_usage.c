/*
 * predict/run_usage.c - what every GPU of a run does over time.
 */
#include "predict/predict_internal.h"

#include "core/report/usage/usage.h"
#include "models/platform/platform_data.h"
#include "predict/usage/task_holding.h"

#include <math.h>
#include <stdlib.h>

/* The GPU that it runs on: the one that was traced, or the platform. What one
 * of them does not say, the other does. */
static struct msim_gpu_properties properties(const struct msim_inputs *in,
                                             const struct msim_target *to)
{
    struct msim_gpu_properties gpu = {0};
    double major;

    if (in->job->n_ranks)
        gpu = in->job->ranks[0]->gpu_properties;
    if (!to->platform || (to->costs == MSIM_COSTS_MEASURED && gpu.sms))
        return gpu;
    if (gpu.sms != (uint32_t)to->platform->sheet.sms)
        gpu.cc_major = gpu.cc_minor = 0;
    gpu.sms = (uint32_t)to->platform->sheet.sms;
    if (to->platform->sheet.capability > 0) {
        gpu.cc_minor =
            (uint32_t)lround(10 * modf(to->platform->sheet.capability, &major));
        gpu.cc_major = (uint32_t)major;
    }
    return gpu;
}

static struct msim_usage_device device_of(const struct msim_platform *p)
{
    struct msim_usage_device d = {0};

    if (!p)
        return d;
    d.bandwidth = p->sheet.bandwidth;
    d.idle_watts = msim_clock_watts(&p->clock, p->sheet.power_watts, 0);
    d.limit_watts = msim_clock_watts(&p->clock, p->sheet.power_watts, 1);
    return d;
}

enum msim_status
msim_run_usage(struct msim_prediction *p, const struct msim_outcome *o,
               uint32_t iteration, const struct msim_predict_settings *s,
               const struct msim_inputs *in, const struct msim_target *to,
               struct msim_error *err)
{
    bool times = msim_target_reads_gpu_times(to);
    struct msim_holding_ask ask = {.g = o->graph,
                                   .gpu = properties(in, to),
                                   .limits = o->limits,
                                   .platform = times ? NULL : to->platform,
                                   .dur = o->task_mid};
    struct msim_usage_ask usage = {
        .o = o, .iteration = iteration, .device = device_of(to->platform)};
    struct msim_holding *holding = NULL;
    struct msim_asked asked = {0};
    enum msim_status status;

    ask.bandwidth = usage.device.bandwidth;
    if (msim_target_is_host(to))
        return MSIM_OK;
    status = msim_asked_views(&asked, in, &s->reshape, err);
    if (status == MSIM_OK)
        status = msim_asked_works(&asked, in, false);
    ask.works = asked.works;
    ask.traced = asked.works_traced;
    if (status == MSIM_OK)
        status = msim_task_holding_new(&holding, &ask, err);
    usage.holding = holding;
    if (status == MSIM_OK)
        status = msim_usage_find(&usage, p);
    free(holding);
    msim_asked_release(&asked);
    return status;
}
