/*
 * serving/outcome/outcome_make.c - the runs behind an outcome, and what
 * becomes of them.
 *
 * The main run keeps its visits; one more for each stage has that stage free of
 * time, on the same random numbers. Threads take runs, not events, so that no
 * figure depends on how many there are.
 */
#include "core/turns/turns.h"
#include "serving/outcome/serving_outcome_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Events that runs with a free stage may cost beyond the main run's; a step of
 * an engine counts as many. */
#define EVENTS_MOST 1e8
#define STEP_EVENTS 50

struct work {
    const struct msim_serving_wish *wish;
    struct msim_serving_outcome *o;
};

/* ---- one run a stage ----------------------------------------------------- */

static enum msim_status free_stage(const struct work *k,
                                   struct msim_serving *sim, uint32_t stage,
                                   struct msim_error *err)
{
    struct msim_serving_how how = k->wish->how;
    struct msim_serving_result r;
    struct msim_serving_figure f;

    how.free_stage_1 = stage + 1;
    how.keep = 0;
    MSIM_TRY(msim_serving_run(sim, &how, &r, err));
    MSIM_TRY(msim_outcome_e2e(&r, k->o->worst_class, &f));
    k->o->stages[stage].counterfactual_p99 = f.p99;
    k->o->stages[stage].counterfactual_mean = f.mean;
    return MSIM_OK;
}

static enum msim_status work(struct msim_turns *turns, void *ctx,
                             struct msim_error *err)
{
    const struct work *k = ctx;
    struct msim_serving *sim = NULL;
    enum msim_status status = msim_outcome_simulator(&sim, k->wish, err);
    uint32_t stage;

    while (status == MSIM_OK && msim_turns_next(turns, &stage))
        status = free_stage(k, sim, stage, err);
    msim_serving_free(sim);
    return status;
}

/* ---- all of it ----------------------------------------------------------- */

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One run a stage is not always worth it: a million requests are asked for
 * percentiles. */
static bool is_affordable(const struct msim_serving_outcome *o)
{
    double events = (double)o->run.events;

    for (uint32_t i = 0; i < o->app->n_stages; i++)
        if (o->run.stages[i].llm.is_llm)
            events += STEP_EVENTS * o->run.stages[i].llm.steps;
    return events * o->app->n_stages <= EVENTS_MOST;
}

static enum msim_status make(struct msim_serving_outcome *o,
                             const struct msim_serving_wish *w,
                             struct msim_error *err)
{
    struct msim_serving_how how = w->how;

    o->app = w->app;
    o->classes = calloc(w->app->n_classes, sizeof(*o->classes));
    o->stages = calloc(w->app->n_stages, sizeof(*o->stages));
    if (!o->classes || !o->stages)
        return MSIM_ENOMEM;
    how.keep |= MSIM_KEEP_VISITS;
    MSIM_TRY(msim_outcome_simulator(&o->sim, w, err));
    MSIM_TRY(msim_serving_run(o->sim, &how, &o->run, err));
    MSIM_TRY(msim_outcome_classes(o, w));
    MSIM_TRY(msim_outcome_stages(o, w));
    MSIM_TRY(msim_outcome_capacity(o, w, err));
    o->counterfactuals = w->counterfactuals && is_affordable(o);
    MSIM_TRY(msim_outcome_warnings(o, w));
    o->events = o->run.events;
    return o->counterfactuals ? msim_turns_run(w->app->n_stages, w->threads,
                                               work, &(struct work){w, o}, err)
                              : MSIM_OK;
}

enum msim_status msim_serving_outcome_make(struct msim_serving_outcome *o,
                                           const struct msim_serving_wish *w,
                                           struct msim_error *err)
{
    double begin = now_s();
    enum msim_status status;

    memset(o, 0, sizeof(*o));
    status = make(o, w, err);
    o->seconds = now_s() - begin;
    if (status != MSIM_OK)
        msim_serving_outcome_release(o);
    return status;
}

void msim_serving_outcome_release(struct msim_serving_outcome *o)
{
    for (uint32_t i = 0; i < o->n_warnings; i++)
        free(o->warnings[i]);
    free(o->warnings);
    free(o->classes);
    free(o->stages);
    msim_serving_free(o->sim);
    memset(o, 0, sizeof(*o));
}
