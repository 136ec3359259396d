/*
 * models/estimate/whole_job.c - what the kernels of one job share, as
 * intervals.
 */
#include "models/estimate/model.h"

#include "models/platform/platform.h"
#include "models/platform/platform_data.h"

#include <math.h>

struct msim_whole_job_machine
msim_whole_job_machine_of(const struct msim_platform *p, bool alone)
{
    const struct msim_job_spread *s = &p->jobs;
    double either = msim_platform_trace_factor(p);

    if (alone && p->spread.known && !p->is_host)
        return (struct msim_whole_job_machine){exp(p->spread.shared),
                                               exp(p->spread.shared)};
    if (!s->known || p->is_host)
        return (struct msim_whole_job_machine){either, either};
    return (struct msim_whole_job_machine){exp(MSIM_Z90 * s->slower),
                                           exp(MSIM_Z90 * s->faster)};
}

static void set_interval(struct msim_estimate *e, double faster, double slower)
{
    e->low_us = e->us * exp(-faster);
    e->high_us = e->us * exp(slower);
}

/* What is uncertain beside a kind's width: the work itself, and kernels in a
 * precision that no program of this GPU had. */
static double uncertain_beside(const struct msim_platform *p,
                               const struct msim_work *w)
{
    double work =
        w->user.interval_factor > 1 ? log(w->user.interval_factor) : 0;

    return hypot(work, msim_dtype_bytes(w->dtype) < 4 ? p->spread.half : 0);
}

/* The width that programs showed, in place of the law's own. */
static bool by_programs(const struct msim_platform *p,
                        const struct msim_work *w, struct msim_estimate *e)
{
    enum msim_spread kind = msim_spread_of(w);
    double more = uncertain_beside(p, w);
    const struct msim_spread_width *width;

    if (!p->spread.known || kind == MSIM_SPREAD_COUNT || e->bounded ||
        e->source != MSIM_SOURCE_LAW ||
        msim_emulation_of(p, w) != MSIM_EMULATED_NO)
        return false;
    width = &p->spread.kind[kind];
    set_interval(e, hypot(width->faster, more), hypot(width->slower, more));
    return true;
}

void msim_whole_job_widen(const struct msim_platform *p,
                          const struct msim_work *w, bool alone,
                          struct msim_estimate *e)
{
    double shared = MSIM_Z90 * p->jobs.family[e->family];

    if (p->is_host || e->source == MSIM_SOURCE_TABLE)
        return;
    if (alone && by_programs(p, w, e))
        return;
    if (shared > 0)
        set_interval(e, hypot(log(e->us / e->low_us), shared),
                     hypot(log(e->high_us / e->us), shared));
}
