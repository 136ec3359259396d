/*
 * serving/apps/app_sweep_run.c - points in threads; which of them nothing
 * beats.
 */
#include "serving/apps/app_sweep.h"

#include "core/turns/turns.h"
#include "serving/outcome/serving_outcome.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH 10000 /* requests behind a p99 */

struct work {
    const struct msim_app_sweep_how *how;
    struct msim_app_sweep_runs *runs;
};

/* ---- one point ----------------------------------------------------------- */

/* The sum of what is known; NAN where nothing is. */
static void add_known(double *sum, double x)
{
    if (!isnan(x))
        *sum = (isnan(*sum) ? 0 : *sum) + x;
}

static void sum_up(struct msim_app_sweep_point *p,
                   const struct msim_serving_outcome *o)
{
    double cost = NAN, energy = NAN, ended = 0, late = 0;

    p->goodput_rps = 0;
    for (uint32_t i = 0; i < o->app->n_classes; i++) {
        p->worst = fmax(p->worst, o->classes[i].worst); /* one is known */
        ended += (double)o->classes[i].requests;
        late += (double)o->classes[i].late;
        p->goodput_rps += o->classes[i].goodput_rps;
    }
    for (uint32_t i = 0; i < o->app->n_stages; i++) {
        add_known(&cost, o->stages[i].cost);
        add_known(&energy, o->stages[i].energy_kwh);
        p->gpus += o->stages[i].replicas * msim_deploy_gpus(o->app, i);
    }
    p->rate = o->rate;
    p->violations = ended > 0 ? late / ended : (double)NAN;
    p->cost_per_1000 = ended > 0 ? 1000 * cost / ended : (double)NAN;
    p->energy_wh_per_1000 = ended > 0 ? 1e6 * energy / ended : (double)NAN;
    p->few = ended < ENOUGH;
}

static enum msim_status put_latencies(struct msim_app_sweep_point *p,
                                      const struct msim_serving_outcome *o)
{
    double *values = malloc((o->run.n_requests + 1) * sizeof(*values));
    struct msim_serving_figure f;
    uint64_t n;

    if (!values)
        return MSIM_ENOMEM;
    n = msim_serving_latencies(&o->run, MSIM_NONE, values);
    f = msim_serving_figure_of(values, n);
    p->p50_ms = f.p50;
    p->p99_ms = f.p99;
    free(values);
    return MSIM_OK;
}

static enum msim_status put_stages(struct msim_app_sweep_point *p,
                                   const struct msim_serving_outcome *o)
{
    p->stages = calloc(o->app->n_stages, sizeof(*p->stages));
    if (!p->stages)
        return MSIM_ENOMEM;
    p->n_stages = o->app->n_stages;
    for (uint32_t i = 0; i < p->n_stages; i++) {
        p->stages[i].name = strdup(o->stages[i].name);
        if (!p->stages[i].name)
            return MSIM_ENOMEM;
        p->stages[i].critical_share = o->stages[i].critical_share;
        p->stages[i].utilisation = o->stages[i].utilisation;
    }
    return MSIM_OK;
}

/* What cannot keep up, as the reason; runs are short, so that a queue may not
 * have grown yet. */
static void put_overload(struct msim_app_sweep_point *p,
                         const struct msim_serving_outcome *o)
{
    uint32_t s = 0;

    p->feasible = !o->saturated && !(o->rate > o->capacity.mean);
    if (p->feasible)
        return;
    if (o->capacity_by != MSIM_NONE && o->rate > o->capacity.mean) {
        snprintf(p->reason, sizeof(p->reason),
                 "overloaded: %.200s bears %.4g requests/s",
                 o->app->stages[o->capacity_by].name, o->capacity.mean);
        return;
    }
    while (s + 1 < o->app->n_stages && !o->stages[s].saturated)
        s++;
    snprintf(p->reason, sizeof(p->reason),
             "overloaded: %.200s has a queue that grows", o->stages[s].name);
}

static enum msim_status simulate(struct msim_app_sweep_point *p,
                                 const struct msim_app *app,
                                 const struct msim_app_sweep_how *how,
                                 struct msim_error *err)
{
    struct msim_deploy *deploy;
    struct msim_serving_wish wish = {
        .app = app,
        .how = {.requests = how->requests, .seed = how->seed},
        .threads = 1};
    struct msim_serving_outcome o;
    enum msim_status status;

    MSIM_TRY(msim_deploy_open(&deploy, app, how->data_dir, NULL, how->recorder,
                              err));
    wish.deploy = deploy;
    status = msim_serving_outcome_make(&o, &wish, err);
    if (status == MSIM_OK) {
        p->ran = true;
        sum_up(p, &o);
        put_overload(p, &o);
        status = put_latencies(p, &o);
        if (status == MSIM_OK)
            status = put_stages(p, &o);
        msim_serving_outcome_release(&o);
    }
    msim_deploy_free(deploy);
    return status;
}

/* What stands in the way of one point is its reason: a model that does not fit
 * its GPUs, or cannot be split or run there. All else is wrong in the sweep. */
static bool is_reason(enum msim_status status)
{
    return status == MSIM_ECHECK || status == MSIM_EUSAGE ||
           status == MSIM_ENOMODEL || status == MSIM_ELIMIT;
}

static enum msim_status answer(struct msim_app_sweep_point *p,
                               const struct work *k, struct msim_error *error)
{
    const struct msim_suite_app *a = &k->runs->suite->apps[p->app];
    cJSON *json =
        msim_app_sweep_apply(k->runs->sweep, p->index, a->json, &p->guessed);
    struct msim_error err = {0};
    struct msim_app app;
    enum msim_status status = MSIM_ENOMEM;

    if (!json)
        return status;
    status = msim_app_of_json(&app, json, a->path, &err);
    if (status == MSIM_OK) {
        status = simulate(p, &app, k->how, &err);
        msim_app_release(&app);
    }
    cJSON_Delete(json);
    if (status == MSIM_OK)
        return status;
    if (!is_reason(status))
        return msim_fail(error, status, NULL, MSIM_OFFSET_NONE,
                         "a point of the sweep makes %s wrong: %s", a->path,
                         *err.text ? err.text : msim_status_text(status));
    p->ran = p->feasible = false;
    snprintf(p->reason, sizeof(p->reason), "%.*s", (int)sizeof(p->reason) - 1,
             *err.text ? err.text : msim_status_text(status));
    return MSIM_OK;
}

/* ---- all points ---------------------------------------------------------- */

static enum msim_status work(struct msim_turns *turns, void *ctx,
                             struct msim_error *err)
{
    const struct work *k = ctx;
    uint32_t i;

    while (msim_turns_next(turns, &i))
        MSIM_TRY(answer(&k->runs->points[i], k, err));
    return MSIM_OK;
}

/* At the same application and rate, is `b` at least as good as `a` in both, and
 * better in one? Of two alike the first one stays. */
static bool beats(const struct msim_app_sweep_point *b,
                  const struct msim_app_sweep_point *a)
{
    if (!b->feasible || b->p99_ms > a->p99_ms ||
        b->cost_per_1000 > a->cost_per_1000)
        return false;
    return b->p99_ms < a->p99_ms || b->cost_per_1000 < a->cost_per_1000 ||
           b < a;
}

static bool same_rate(const struct msim_app_sweep_runs *r,
                      const struct msim_app_sweep_point *a,
                      const struct msim_app_sweep_point *b)
{
    uint32_t x, y;

    (void)msim_app_sweep_item(r->sweep, a->index, MSIM_APP_SWEEP_RATE, &x);
    (void)msim_app_sweep_item(r->sweep, b->index, MSIM_APP_SWEEP_RATE, &y);
    return a->app == b->app && x == y;
}

static bool has_both(const struct msim_app_sweep_point *p)
{
    return p->feasible && !isnan(p->p99_ms) && !isnan(p->cost_per_1000);
}

static void mark_pareto(struct msim_app_sweep_runs *r)
{
    uint64_t each = msim_app_sweep_points(r->sweep);

    for (uint32_t i = 0; i < r->n; i++) {
        struct msim_app_sweep_point *p = &r->points[i];
        uint32_t first = (uint32_t)(p->app * each);

        p->pareto = has_both(p);
        for (uint32_t j = first; p->pareto && j < first + each; j++)
            p->pareto = j == i || !same_rate(r, p, &r->points[j]) ||
                        !has_both(&r->points[j]) || !beats(&r->points[j], p);
    }
}

static bool keeps(const struct msim_app_sweep_point *p)
{
    return p->feasible && p->worst <= 1 && !isnan(p->cost_per_1000);
}

/* The first of those that cost least, at each rate of each application. */
static void mark_cheapest(struct msim_app_sweep_runs *r)
{
    uint64_t each = msim_app_sweep_points(r->sweep);

    for (uint32_t i = 0; i < r->n; i++) {
        struct msim_app_sweep_point *p = &r->points[i];

        p->cheapest = keeps(p);
        for (uint64_t j = p->app * each; p->cheapest && j < (p->app + 1) * each;
             j++) {
            const struct msim_app_sweep_point *q = &r->points[j];

            p->cheapest = !keeps(q) || !same_rate(r, p, q) ||
                          q->cost_per_1000 > p->cost_per_1000 ||
                          (q->cost_per_1000 >= p->cost_per_1000 && j >= i);
        }
    }
}

enum msim_status msim_app_sweep_run(struct msim_app_sweep_runs *r,
                                    const struct msim_suite *suite,
                                    const struct msim_app_sweep *sweep,
                                    const struct msim_app_sweep_how *how,
                                    struct msim_error *err)
{
    uint64_t each = msim_app_sweep_points(sweep);
    enum msim_status status;

    *r = (struct msim_app_sweep_runs){.suite = suite, .sweep = sweep};
    if (each > MSIM_APP_SWEEP_POINTS_MOST / suite->n)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "%u applications at more than %llu points each, want "
                         "at most %d points",
                         suite->n, (unsigned long long)each - 1,
                         MSIM_APP_SWEEP_POINTS_MOST);
    r->points = calloc(suite->n * each, sizeof(*r->points));
    if (!r->points)
        return MSIM_ENOMEM;
    for (r->n = 0; r->n < suite->n * each; r->n++)
        r->points[r->n] =
            (struct msim_app_sweep_point){.app = (uint32_t)(r->n / each),
                                          .index = r->n % each,
                                          .rate = NAN,
                                          .p50_ms = NAN,
                                          .p99_ms = NAN,
                                          .goodput_rps = NAN,
                                          .worst = NAN,
                                          .violations = NAN,
                                          .cost_per_1000 = NAN,
                                          .energy_wh_per_1000 = NAN};
    status =
        msim_turns_run(r->n, how->threads, work, &(struct work){how, r}, err);
    if (status != MSIM_OK)
        msim_app_sweep_runs_release(r);
    if (status == MSIM_OK) {
        mark_pareto(r);
        mark_cheapest(r);
    }
    return status;
}

void msim_app_sweep_runs_release(struct msim_app_sweep_runs *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        for (uint32_t k = 0; k < r->points[i].n_stages; k++)
            free(r->points[i].stages[k].name);
        free(r->points[i].stages);
    }
    free(r->points);
    memset(r, 0, sizeof(*r));
}
