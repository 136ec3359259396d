/*
 * serving/outcome/outcome_make.c - the runs behind an outcome, and what
 * becomes of them.
 *
 * The main run keeps its visits; one more for each stage has that stage free of
 * time, on the same random numbers. Threads take runs, not events, so that no
 * figure depends on how many there are.
 */
#include "serving/outcome/outcome_parts.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS_MOST 64

/* Events that runs with a free stage may cost beyond the main run's; a step of
 * an engine counts as many. */
#define EVENTS_MOST 1e8
#define STEP_EVENTS 50

struct work {
    const struct msim_serving_wish *wish;
    struct msim_serving_outcome *o;
    pthread_mutex_t lock;
    uint32_t next;
    enum msim_status status;
    struct msim_error *err;
};

/* ---- one run a stage ----------------------------------------------------- */

static enum msim_status free_stage(struct work *k, struct msim_serving *sim,
                                   uint32_t stage, struct msim_error *err)
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

static uint32_t take(struct work *k)
{
    uint32_t stage;

    pthread_mutex_lock(&k->lock);
    stage = k->status == MSIM_OK ? k->next++ : MSIM_NONE;
    pthread_mutex_unlock(&k->lock);
    return stage;
}

static void *work(void *arg)
{
    struct work *k = arg;
    struct msim_serving *sim = NULL;
    struct msim_error err = {0};
    enum msim_status status = msim_outcome_simulator(&sim, k->wish, &err);
    uint32_t stage;

    while (status == MSIM_OK && (stage = take(k)) < k->wish->app->n_stages)
        status = free_stage(k, sim, stage, &err);
    msim_serving_free(sim);
    pthread_mutex_lock(&k->lock);
    if (status != MSIM_OK && k->status == MSIM_OK) {
        k->status = status;
        if (k->err)
            *k->err = err;
    }
    pthread_mutex_unlock(&k->lock);
    return NULL;
}

static enum msim_status free_stages(struct msim_serving_outcome *o,
                                    const struct msim_serving_wish *w,
                                    struct msim_error *err)
{
    struct work k = {.wish = w, .o = o, .err = err};
    pthread_t others[THREADS_MOST];
    uint32_t n = 0;

    pthread_mutex_init(&k.lock, NULL);
    while (n + 1 < w->threads && n < THREADS_MOST &&
           pthread_create(&others[n], NULL, work, &k) == 0)
        n++;
    (void)work(&k);
    while (n > 0)
        pthread_join(others[--n], NULL);
    pthread_mutex_destroy(&k.lock);
    return k.status;
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
    return o->counterfactuals ? free_stages(o, w, err) : MSIM_OK;
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
