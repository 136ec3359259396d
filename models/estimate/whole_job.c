/*
 * models/estimate/whole_job.c - what the kernels of one job share, as
 * intervals.
 */
#include "models/estimate/whole_job.h"

#include "models/platform/platform.h"
#include "models/platform/platform_data.h"

#include <math.h>

struct msim_whole_job_machine
msim_whole_job_machine_of(const struct msim_platform *p)
{
    const struct msim_job_spread *s = &p->jobs;
    double either = msim_platform_trace_factor(p);

    if (!s->known || p->is_host)
        return (struct msim_whole_job_machine){either, either};
    return (struct msim_whole_job_machine){exp(MSIM_Z90 * s->slower),
                                           exp(MSIM_Z90 * s->faster)};
}

void msim_whole_job_widen(const struct msim_platform *p,
                          struct msim_estimate *e)
{
    double shared = MSIM_Z90 * p->jobs.family[e->family];

    if (!(shared > 0) || p->is_host || e->source == MSIM_SOURCE_TABLE)
        return;
    e->low_us = e->us * exp(-hypot(log(e->us / e->low_us), shared));
    e->high_us = e->us * exp(hypot(log(e->high_us / e->us), shared));
}
