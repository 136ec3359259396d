/*
 * serving/sim/sim_absence.c - replicas that start late, or go.
 *
 * A replica that goes takes nothing new and ends what it has, as one that is
 * drained. The last ones go first; they come back in the other order. Of a
 * queue that all share that is fewer workers; of queues of their own, and of
 * engines, it is where visits are sent to.
 */
#include "serving/sim/serving_run_internal.h"

#include <math.h>

static msim_ps ps_of(double s)
{
    return isfinite(s) ? msim_sim_ps(1e3 * s) : MSIM_TIME_NONE;
}

static void note_change(struct msim_serving *s, struct msim_sim_stage *g,
                        msim_ps at)
{
    if (at != MSIM_TIME_NONE && at > s->now &&
        (g->change == MSIM_TIME_NONE || at < g->change))
        g->change = at;
}

/* How many serve now, and when that changes. */
static void count(struct msim_serving *s, struct msim_sim_stage *g)
{
    int64_t up = (int64_t)g->run.replicas;

    g->change = MSIM_TIME_NONE;
    for (uint32_t i = 0; i < g->def->n_absences; i++) {
        const struct msim_absence *a = &g->def->absences[i];
        msim_ps from = ps_of(a->from_s), until = ps_of(a->until_s);

        note_change(s, g, from);
        note_change(s, g, until);
        if (from <= s->now && (until == MSIM_TIME_NONE || s->now < until))
            up -= a->replicas;
    }
    g->up = up > 0 ? (uint32_t)up : 0;
}

static void set_workers(struct msim_serving *s, struct msim_sim_stage *g)
{
    double workers = (double)g->up * (double)g->def->workers;

    if (g->def->routing == MSIM_ROUTING_SHARED && !g->llm)
        s->queues[g->first_queue].servers =
            workers < UINT32_MAX ? (uint32_t)workers : UINT32_MAX;
    if (g->change == MSIM_TIME_NONE)
        return;
    msim_sim_schedule(s, g->change, MSIM_SIM_CHANGE, (uint32_t)(g - s->stages));
    s->n_changes++;
}

void msim_sim_absence_begin(struct msim_serving *s, struct msim_sim_stage *g)
{
    g->change = MSIM_TIME_NONE;
    g->up = (uint32_t)g->run.replicas;
    /* alone, a stage shows what it can do */
    if (g->def->n_absences == 0 || s->how.only_stage_1)
        return;
    count(s, g);
    set_workers(s, g);
}

void msim_sim_absence_change(struct msim_serving *s, uint32_t stage)
{
    struct msim_sim_stage *g = &s->stages[stage];

    s->n_changes--;
    msim_sim_touch(s, g);
    count(s, g);
    set_workers(s, g);
    if (!g->llm)
        msim_sim_start(s, g->first_queue);
}
