/*
 * predict/scenarios.c - the durations of a short and of a long run.
 */
#include "predict/predict_internal.h"

#include "core/report/analyse/outcome.h"

#include <math.h>
#include <stdlib.h>

struct deviations {
    const struct msim_graph *g;
    const struct msim_costs *c;
    const msim_ps *bound; /* of each task */
    double gpu;           /* of a kernel as a share of its time, signed */
};

static double of_family(const struct deviations *d, uint32_t task)
{
    return (double)(d->bound[task] - d->c->mid[task]);
}

static double of_gpu(const struct deviations *d, uint32_t task)
{
    return d->g->kind[task] == MSIM_TASK_KERNEL
               ? d->gpu * (double)d->c->mid[task]
               : 0;
}

static double joint_share(const struct deviations *d)
{
    double by[MSIM_MADE_BY_MAX] = {0}, gpu = 0, squares, sum;

    for (uint32_t t = 0; t < d->g->n_tasks; t++) {
        by[d->c->made_by[t]] += fabs(of_family(d, t));
        gpu += fabs(of_gpu(d, t));
    }
    squares = gpu * gpu;
    sum = gpu;
    for (int f = 0; f < MSIM_MADE_BY_MAX; f++) {
        squares += by[f] * by[f];
        sum += by[f];
    }
    return sum > 0 ? sqrt(squares) / sum : 0;
}

/* Both deviations at once may exceed the duration itself. */
static msim_ps deviate(msim_ps mid, double by)
{
    msim_ps dur = MSIM_RUN_MAX;

    if (by < (double)(MSIM_RUN_MAX - mid))
        dur = mid + (msim_ps)llround(by);
    return dur < 0 ? 0 : dur;
}

enum msim_status msim_scenario_durations(msim_ps **out,
                                         const struct msim_graph *g,
                                         const struct msim_costs *c, bool high)
{
    const struct msim_whole_job_machine *m = &c->machine;
    struct deviations d = {g, c, high ? c->high : c->low,
                           high ? m->slower - 1 : 1 / m->faster - 1};
    double share = joint_share(&d), step = high ? c->step.high : c->step.low;
    msim_ps *dur = malloc(((size_t)g->n_tasks + 1) * sizeof(*dur));

    *out = dur;
    if (!dur)
        return MSIM_ENOMEM;
    for (uint32_t t = 0; t < g->n_tasks; t++)
        dur[t] = deviate(c->mid[t],
                         step > 0 ? (step - 1) * (double)c->mid[t]
                                  : (of_family(&d, t) + of_gpu(&d, t)) * share);
    return MSIM_OK;
}

/* ---- waits that no trace explains ---------------------------------------- */

/* Without transfers: whoever comes late to one was late before it. */
static double gpu_work(const struct msim_graph *g, const msim_ps *dur)
{
    double sum = 0;

    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (g->kind[t] >= MSIM_TASK_KERNEL && g->kind[t] < MSIM_TASK_COMM &&
            dur[t] > 0)
            sum += (double)dur[t] * msim_job_alike(g->job, g->refs[t].rank);
    return sum;
}

void msim_scenario_stretch(double *stretch, const struct msim_graph *g,
                           const struct msim_costs *c, bool high)
{
    double traced = gpu_work(g, g->traced), now = gpu_work(g, c->mid), factor;
    double waits = (double)(g->copied[MSIM_COPIED_PEERS] +
                            g->copied[MSIM_COPIED_UNEXPLAINED]);

    if (!(traced > 0) || !(waits > 0))
        return;
    /* Of an edge, 0 would mean 1. */
    factor = fmax(fmin(1, now / traced), 1e-6);
    if (high)
        factor = fmax(fmax(1, now / traced), 1 + (traced - now) / waits);
    stretch[MSIM_EDGE_UNEXPLAINED] = factor;
    stretch[MSIM_EDGE_COLLECTIVE] = factor; /* others have no lag */
}
