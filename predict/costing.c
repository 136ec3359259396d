/*
 * predict/costing.c - from estimates to the durations of tasks.
 */
#include "predict/predict_internal.h"

#include "models/estimate/model.h"
#include "models/platform/platform_data.h"

#include <math.h>

#define PS_PER_US 1e6

/* A time past the longest run (core/run/engine.h) is cut to it. */
static msim_ps rounded(double ps)
{
    return ps < (double)MSIM_RUN_MAX ? (msim_ps)llround(ps) : MSIM_RUN_MAX;
}

msim_ps msim_costing_ps(double us)
{
    return us > 0 ? rounded(us * PS_PER_US) : 0;
}

struct msim_limits msim_limits_share(const struct msim_limits *l, double share)
{
    float s = (float)share;

    return (struct msim_limits){l->tensor * s, l->vector * s, l->memory * s,
                                l->latency * s};
}

/* Arithmetic that has a higher rate than plain fp32 is the tensor cores'. */
void msim_limits_add(struct msim_limits *sum, const struct msim_platform *p,
                     const struct msim_work *w)
{
    const struct msim_data_sheet *s = msim_platform_usual(p);
    const struct msim_work as = msim_emulated_work(msim_emulation_of(p, w), w);
    double peak = msim_data_sheet_peak_per_us(s, &as);
    float us = (float)(w->flops / peak);

    if (peak > s->rate[MSIM_RATE_FP32] * 1e-6)
        sum->tensor += us;
    else
        sum->vector += us;
    sum->memory +=
        (float)((w->bytes_read + w->bytes_written) / s->bandwidth * 1e6);
    sum->latency += (float)s->floor_us;
}

void msim_costing_set(struct msim_costing *k, uint32_t task,
                      const struct msim_demand_estimate *d, double share)
{
    struct msim_costs *c = k->c;
    const struct msim_estimate *e = &d->e;

    c->mid[task] = msim_costing_ps(e->us * share);
    c->low[task] = msim_costing_ps(e->low_us * share);
    c->high[task] = msim_costing_ps(e->high_us * share);
    c->source[task] = (uint8_t)e->source;
    c->made_by[task] = (uint8_t)e->family;
    c->flops[task] = (float)(d->flops * share);
    c->limits[task] = msim_limits_share(&d->limits, share);
}

void msim_costing_add(struct msim_estimate *sum, const struct msim_estimate *e)
{
    if (e->us > sum->us) {
        sum->family = e->family;
        sum->source = e->source;
    }
    sum->us += e->us;
    sum->start_us += e->start_us;
    sum->low_us += e->low_us;
    sum->high_us += e->high_us;
}

msim_ps msim_costing_times(msim_ps ps, double factor)
{
    return rounded((double)ps * factor);
}

/* Whether the GPU that was traced has room for it. */
static bool was_possible(const struct msim_costing *k,
                         const struct msim_work *w)
{
    struct msim_work all;

    if (!(k->opt->recorded_memory > 0))
        return false;
    all = msim_work_counted(w);
    return fmax(all.bytes_read, all.bytes_written) <= k->opt->recorded_memory;
}

struct msim_work msim_costing_work(const struct msim_costing *k,
                                   const struct msim_work *w)
{
    struct msim_work asked = *w;

    asked.asked = k->opt->asked;
    asked.possible = was_possible(k, w);
    return asked;
}
