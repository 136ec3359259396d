/*
 * serving/outcome/outcome_capacity.c - what stages and the whole can bear, and
 * how sure figures are that hang on predicted step times.
 *
 * A stage of workers bears as many visits as they have time for: workers over
 * the time that a visit keeps one, calls with it (they answer as they did in
 * this run). Where visits are served together, more are as more wait; such a
 * stage is run alone, with more than it can serve. An LLM stage is asked: a
 * replica with a backlog that never ends.
 *
 * Where workers wait for calls, the whole bears less than its least stage:
 * callers stand idle while the callee works, and the callee while callers hold
 * few. Such an application is run with more than it bears, too.
 */
#include "serving/outcome/serving_outcome_internal.h"

#include <math.h>

static void set_workers(struct msim_stage_outcome *s)
{
    /* how sure the mean time is */
    double low = s->self.mean / s->self.high, high = s->self.mean / s->self.low;

    s->tokens = (struct msim_serving_figure){NAN, NAN, NAN, NAN, NAN, NAN};
    s->capacity.mean = s->capacity_rps;
    s->capacity.low = s->capacity_rps * low;
    s->capacity.high = s->capacity_rps * high;
}

/* Rounds of full batches that a stage is run for, alone. */
#define ROUNDS      1000
#define ALONE_MOST  200000.0
#define ALONE_LEAST 40000.0

/* More than it can serve: as if a full batch took no longer than this run's. */
static enum msim_status run_alone(struct msim_serving_outcome *o,
                                  const struct msim_serving_wish *w, uint32_t i,
                                  struct msim_serving *sim,
                                  struct msim_error *err)
{
    const struct msim_stage *def = &o->app->stages[i];
    const struct msim_stage_run *r = &o->run.stages[i];
    double batch = (double)def->batching.max_batch;
    double visits = ROUNDS * batch * r->worker_count / r->visits_per_request;
    struct msim_serving_how how = {.seed = w->how.seed,
                                   .replicas = w->how.replicas,
                                   .only_stage_1 = i + 1};
    struct msim_serving_result alone;

    how.rate = 2 * batch * r->worker_count / (r->self_ps / (double)r->visits) *
               1e12 / r->visits_per_request;
    how.requests = (uint64_t)fmin(fmax(visits, ALONE_LEAST), ALONE_MOST);
    MSIM_TRY(msim_serving_run(sim, &how, &alone, err));
    o->stages[i].capacity_rps = alone.stages[i].late_served_per_s;
    return MSIM_OK;
}

static enum msim_status ask_batches(struct msim_serving_outcome *o,
                                    const struct msim_serving_wish *w,
                                    uint32_t i, struct msim_error *err)
{
    struct msim_serving *sim;
    enum msim_status status = msim_outcome_simulator(&sim, w, err);

    if (status == MSIM_OK)
        status = run_alone(o, w, i, sim, err);
    msim_serving_free(sim);
    return status;
}

/* A log has as many requests as it has, which need not be enough. */
static bool is_of_log(const struct msim_serving_wish *w)
{
    return w->how.log || w->app->arrivals.process == MSIM_ARRIVAL_LOG;
}

/* Without calls that a batch would be held for. */
static bool serves_batches(const struct msim_serving_outcome *o, uint32_t i)
{
    const struct msim_stage *s = &o->app->stages[i];
    const struct msim_stage_run *r = &o->run.stages[i];
    uint32_t calls;

    (void)msim_app_edges_of(o->app, i, &calls);
    return s->batching.on && s->batching.max_batch > 1 &&
           s->kind != MSIM_STAGE_LLM &&
           (s->call == MSIM_CALL_QUEUE || calls == 0) && r->visits > 0 &&
           r->self_ps > 0;
}

static struct msim_serving_figure interval(double value, double half)
{
    return (struct msim_serving_figure){.mean = value,
                                        .p50 = NAN,
                                        .p90 = NAN,
                                        .p99 = NAN,
                                        .low = value * exp(-half),
                                        .high = value * exp(half)};
}

static enum msim_status ask_llm(struct msim_serving_outcome *o, uint32_t i,
                                struct msim_error *err)
{
    struct msim_stage_outcome *s = &o->stages[i];
    double visits, tokens;

    MSIM_TRY(msim_serving_llm_capacity(o->sim, i, &visits, &tokens, err));
    s->capacity_rps = visits * s->replicas;
    s->capacity = interval(s->capacity_rps, s->half);
    s->tokens = interval(tokens * s->replicas, s->half);
    return MSIM_OK;
}

/* The stage that is full first when all of the load grows. */
static void find_least(struct msim_serving_outcome *o)
{
    o->capacity = interval(NAN, 0);
    o->capacity_by = MSIM_NONE;
    for (uint32_t i = 0; i < o->app->n_stages; i++) {
        const struct msim_serving_figure *c = &o->stages[i].capacity;
        double visits = o->run.stages[i].visits_per_request;
        double rate = c->mean / visits;

        if (!isfinite(rate) || rate >= o->capacity.mean)
            continue;
        o->capacity.mean = rate;
        o->capacity.low = c->low / visits;
        o->capacity.high = c->high / visits;
        o->capacity_by = i;
    }
}

/* Requests of the run above capacity, and how far above it is. */
#define FLOOD_REQUESTS 20000
#define FLOOD          1.5

static bool calls_hold_workers(const struct msim_serving_outcome *o)
{
    for (uint32_t i = 0; i < o->app->n_edges; i++)
        if (o->app->stages[o->app->edges[i].from].call == MSIM_CALL_RPC)
            return true;
    return false;
}

/* Does what ends in a flood say what could be borne? Not where calls are made
 * again because answers are late, and not where a flood of one class starves
 * another; and engines' steps take long. */
static bool can_flood(const struct msim_serving_outcome *o)
{
    for (uint32_t i = 0; i < o->app->n_edges; i++)
        if (o->app->edges[i].retries > 0)
            return false;
    for (uint32_t i = 1; i < o->app->n_classes; i++)
        if (o->app->classes[i].priority != o->app->classes[0].priority)
            return false;
    for (uint32_t i = 0; i < o->app->n_stages; i++)
        if (o->run.stages[i].llm.is_llm)
            return false;
    return isfinite(o->capacity.mean) && o->capacity.mean > 0;
}

/* Requests that end a second, in the second half of the arrivals. */
static double ended_per_s(const struct msim_serving_result *r)
{
    double begin = r->end_s / 2, n = 0;

    for (uint64_t i = 0; i < r->n_requests; i++) {
        double at = (double)r->requests[i].ended / 1e12;

        n += r->requests[i].ended != MSIM_TIME_NONE && at > begin &&
             at <= r->end_s;
    }
    return n / (r->end_s - begin);
}

/* The one that computes most in the flood. */
static void name_busiest(struct msim_serving_outcome *o,
                         const struct msim_serving_result *flood)
{
    double most = -1;

    for (uint32_t i = 0; i < o->app->n_stages; i++)
        if (flood->stages[i].late_computing > most) {
            most = flood->stages[i].late_computing;
            o->capacity_by = i;
        }
}

static enum msim_status flood(struct msim_serving_outcome *o,
                              const struct msim_serving_wish *w,
                              struct msim_error *err)
{
    struct msim_serving_how how = {.seed = w->how.seed,
                                   .replicas = w->how.replicas,
                                   .free_stage_1 = w->how.free_stage_1,
                                   .rate = FLOOD * o->capacity.mean,
                                   .requests = FLOOD_REQUESTS};
    struct msim_serving_result r;
    struct msim_serving *sim;
    enum msim_status status = msim_outcome_simulator(&sim, w, err);
    double rate;

    if (status == MSIM_OK)
        status = msim_serving_run(sim, &how, &r, err);
    if (status == MSIM_OK) {
        rate = ended_per_s(&r);
        o->capacity.low *= rate / o->capacity.mean;
        o->capacity.high *= rate / o->capacity.mean;
        o->capacity.mean = rate;
        name_busiest(o, &r);
    }
    msim_serving_free(sim);
    return status;
}

/* Wider by a relative half-width that has nothing to do with the run's. */
static void widen(struct msim_serving_figure *f, double half)
{
    double below = f->mean - f->low, above = f->high - f->mean;
    double less = f->mean * (1 - exp(-half)), more = f->mean * (exp(half) - 1);

    if (half <= 0 || isnan(f->mean))
        return;
    f->low = f->mean - sqrt((isnan(below) ? 0 : below * below) + less * less);
    f->high = f->mean + sqrt((isnan(above) ? 0 : above * above) + more * more);
}

/* Of the whole latency, the part that waits for predicted stages is unsure; of
 * tokens all is. */
static void widen_classes(struct msim_serving_outcome *o)
{
    double part = 0, most = 0;

    for (uint32_t i = 0; i < o->app->n_stages; i++) {
        const struct msim_stage_outcome *s = &o->stages[i];

        if (s->half <= 0)
            continue;
        part += s->critical_share * s->half;
        most = fmax(most, s->half);
    }
    for (uint32_t i = 0; i < o->app->n_classes; i++) {
        widen(&o->classes[i].e2e, part);
        widen(&o->classes[i].ttft, most);
        widen(&o->classes[i].tpot, most);
    }
}

/* A run may end before the queue of what it cannot bear is seen to grow: an
 * engine takes in all of some hundred requests. */
static void mark_overload(struct msim_serving_outcome *o)
{
    if (o->capacity_by == MSIM_NONE ||
        !(fmin(o->asked, o->rate) > o->capacity.high) || isnan(o->asked))
        return;
    o->stages[o->capacity_by].saturated = o->saturated = true;
}

enum msim_status msim_outcome_capacity(struct msim_serving_outcome *o,
                                       const struct msim_serving_wish *w,
                                       struct msim_error *err)
{
    for (uint32_t i = 0; i < o->app->n_stages; i++) {
        struct msim_stage_outcome *s = &o->stages[i];

        s->half = w->deploy ? msim_deploy_half(w->deploy, i) : 0;
        if (w->deploy)
            s->recorded = *msim_deploy_recorded(w->deploy, i);
        widen(&s->self, s->half);
        if (w->capacities && o->run.stages[i].llm.is_llm &&
            w->how.free_stage_1 != i + 1)
            MSIM_TRY(ask_llm(o, i, err));
        if (w->capacities && !is_of_log(w) && serves_batches(o, i))
            MSIM_TRY(ask_batches(o, w, i, err));
        if (!o->run.stages[i].llm.is_llm)
            set_workers(s);
        else if (!w->capacities || w->how.free_stage_1 == i + 1)
            s->capacity = s->tokens = interval(s->capacity_rps = NAN, 0);
    }
    find_least(o);
    widen_classes(o);
    if (w->capacities && !is_of_log(w) && calls_hold_workers(o) && can_flood(o))
        MSIM_TRY(flood(o, w, err));
    mark_overload(o);
    return MSIM_OK;
}
