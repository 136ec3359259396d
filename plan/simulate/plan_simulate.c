/*
 * plan/simulate/plan_simulate.c - simulating the foremost points of a plan.
 */
#include "plan/simulate/plan_simulate.h"

#include "plan/search/recommend.h"
#include "plan/simulate/job_graph.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define GIB 1073741824.0

struct simulating {
    struct msim_plan *plan;
    const struct msim_spec *spec;
    const char *data;
    pthread_mutex_t lock; /* guards what follows */
    uint32_t next;
    enum msim_status status;
    struct msim_error *err; /* of the first that failed */
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
    out->peak_gib = g.peak / GIB;
    out->graphs = g.graphs;
    return MSIM_OK;
}

/* The next that nobody has begun; false: there is none. */
static bool take(struct simulating *k, uint32_t *which)
{
    bool left;

    pthread_mutex_lock(&k->lock);
    left = k->status == MSIM_OK && k->next < k->plan->n_simulated;
    *which = k->next;
    k->next += left;
    pthread_mutex_unlock(&k->lock);
    return left;
}

static void *work(void *arg)
{
    struct simulating *k = arg;
    uint32_t which;

    while (take(k, &which)) {
        struct msim_error err = {0};
        enum msim_status status = simulate(k, &k->plan->simulated[which], &err);

        pthread_mutex_lock(&k->lock);
        if (status != MSIM_OK && k->status == MSIM_OK) {
            k->status = status;
            *k->err = err;
        }
        pthread_mutex_unlock(&k->lock);
    }
    return NULL;
}

enum msim_status msim_plan_simulate(struct msim_plan *plan,
                                    const struct msim_spec *spec,
                                    const char *data_dir, uint32_t threads,
                                    struct msim_error *err)
{
    struct simulating k = {
        .plan = plan, .spec = spec, .data = data_dir, .err = err};
    uint32_t points[MSIM_PLAN_SIMULATED], n = 0;
    pthread_t others[MSIM_PLAN_SIMULATED];

    if (spec->traced)
        return MSIM_OK;
    plan->n_simulated = msim_plan_foremost(plan, points);
    for (uint32_t i = 0; i < plan->n_simulated; i++)
        plan->simulated[i] = (struct msim_plan_simulated){.point = points[i]};
    pthread_mutex_init(&k.lock, NULL);
    while (n + 1 < threads && n + 1 < plan->n_simulated &&
           pthread_create(&others[n], NULL, work, &k) == 0)
        n++;
    (void)work(&k);
    while (n > 0)
        pthread_join(others[--n], NULL);
    pthread_mutex_destroy(&k.lock);
    return k.status;
}
