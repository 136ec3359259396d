/*
 * plan/simulate/plan_simulate.c - simulating the foremost points of a plan.
 */
#include "plan/simulate/job_graph.h"

#include "core/base/units.h"
#include "core/turns/turns.h"
#include "plan/search/plan.h"

#include <stdio.h>
#include <string.h>

struct simulating {
    struct msim_plan *plan;
    const struct msim_spec *spec;
    const char *data;
};

static enum msim_status simulate(const struct simulating *k,
                                 struct msim_plan_simulated *out,
                                 struct msim_error *err)
{
    const struct msim_plan_point *p = &k->plan->points[out->point];
    const struct msim_spec_platform *on = &k->spec->platforms[p->platform];
    struct msim_job_graph g;

    MSIM_TRY(msim_job_graph_find(
        &g,
        &(struct msim_job_graph_ask){.model = &k->spec->model,
                                     .strategy = &p->strategy,
                                     .data = k->data,
                                     .platform = on->name,
                                     .network = on->network},
        err));
    out->known = g.known;
    snprintf(out->why, sizeof(out->why), "%s", g.why);
    out->us = g.us;
    out->peak_gib = g.peak / MSIM_GIB;
    out->graphs = g.graphs;
    return MSIM_OK;
}

static enum msim_status work(struct msim_turns *turns, void *ctx,
                             struct msim_error *err)
{
    const struct simulating *k = ctx;
    uint32_t i;

    while (msim_turns_next(turns, &i))
        MSIM_TRY(simulate(k, &k->plan->simulated[i], err));
    return MSIM_OK;
}

enum msim_status msim_plan_simulate(struct msim_plan *plan,
                                    const struct msim_spec *spec,
                                    const char *data_dir, uint32_t threads,
                                    struct msim_error *err)
{
    struct simulating k = {plan, spec, data_dir};
    uint32_t points[MSIM_PLAN_SIMULATED];

    if (spec->traced)
        return MSIM_OK;
    plan->n_simulated = msim_plan_foremost(plan, points);
    for (uint32_t i = 0; i < plan->n_simulated; i++)
        plan->simulated[i] = (struct msim_plan_simulated){.point = points[i]};
    return msim_turns_run(plan->n_simulated, threads, work, &k, err);
}
