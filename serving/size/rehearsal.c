/* serving/size/rehearsal.c - plans simulated. */
#include "serving/size/size_plan_internal.h"

#include "serving/sim/serving_run.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define VISITS                                                                 \
    2e6 /* of one seed, so that large applications take no longer              \
         */
#define LEAST  20000
#define MOST   60000
#define WARMUP 0.05 /* of the time */
/* A plan on a measured cluster counts as kept up to that many times what is
 * allowed: so large is the chance of one run of 60,000 requests. */
#define PATIENCE   1.2
#define THREADS    2
#define OF_SAMPLES 21 /* stream of random numbers */

/* The application with services of a run. */
struct msim_rehearsal_actor {
    struct msim_app app;
    struct msim_stage *stages;
    double *samples;
    struct msim_serving *sim;
};

/* One run of a plan. */
struct one {
    struct msim_rehearsal *r;
    const int64_t *replicas;
    struct msim_rehearsal_actor *actor;
    uint64_t seed;
    double *above, *p99_ms, *wait_ms;
    uint64_t *served;
    enum msim_status status;
    struct msim_error err;
};

static size_t n_above(const struct msim_rehearsal *r)
{
    return (size_t)r->load->app->n_promises * r->load->app->n_classes;
}

/* ---- services of a run --------------------------------------------------- */

static bool is_sampled(const struct msim_stage *st)
{
    return st->service.kind == MSIM_DIST_SAMPLES;
}

static enum msim_status init_actor(struct msim_rehearsal_actor *a,
                                   const struct msim_app *app,
                                   struct msim_error *err)
{
    size_t n = 0;

    for (uint32_t s = 0; s < app->n_stages; s++)
        n += is_sampled(&app->stages[s]) ? app->stages[s].service.n : 0;
    a->app = *app;
    a->stages = malloc(app->n_stages * sizeof(*a->stages));
    a->samples = malloc((n + 1) * sizeof(*a->samples));
    if (!a->stages || !a->samples)
        return MSIM_ENOMEM;
    memcpy(a->stages, app->stages, app->n_stages * sizeof(*a->stages));
    a->app.stages = a->stages;
    return msim_serving_new(&a->sim, &a->app, err);
}

static void release_actor(struct msim_rehearsal_actor *a)
{
    msim_serving_free(a->sim);
    free(a->stages);
    free(a->samples);
}

/* As many samples of each service as there are, each any of them. */
static void draw_services(struct msim_rehearsal_actor *a,
                          const struct msim_app *app, uint64_t seed)
{
    double *to = a->samples;

    for (uint32_t s = 0; s < app->n_stages; s++) {
        const struct msim_dist *d = &app->stages[s].service;
        struct msim_random r = msim_random_of(seed, OF_SAMPLES, s);

        if (!is_sampled(&app->stages[s]))
            continue;
        for (uint32_t i = 0; i < d->n; i++)
            to[i] = msim_dist_draw(d, &r);
        a->stages[s].service = msim_dist_samples(to, d->n);
        to += d->n;
    }
}

enum msim_status msim_rehearsal_init(struct msim_rehearsal *r,
                                     const struct msim_stage_demand *load,
                                     uint64_t seed, struct msim_error *err)
{
    const struct msim_app *app = load->app;
    double visits = 0;

    *r = (struct msim_rehearsal){
        .load = load, .seed = seed, .allowed = 1, .allowed_worst = PATIENCE};
    for (uint32_t s = 0; s < app->n_stages; s++)
        visits += load->stages[s].visits;
    r->requests = (uint64_t)fmin(MOST, fmax(LEAST, VISITS / visits));
    r->above = calloc(3 * n_above(r), sizeof(double));
    r->p99_ms = calloc(app->n_classes, sizeof(double));
    r->wait_ms = calloc(app->n_stages, sizeof(double));
    r->served = calloc(app->n_classes, sizeof(uint64_t));
    r->actors = calloc(THREADS, sizeof(*r->actors));
    if (!r->above || !r->p99_ms || !r->wait_ms || !r->served || !r->actors)
        return MSIM_ENOMEM;
    r->least = r->above + n_above(r);
    r->most = r->least + n_above(r);
    for (int i = 0; i < THREADS; i++)
        MSIM_TRY(init_actor(&r->actors[i], app, err));
    return MSIM_OK;
}

void msim_rehearsal_release(struct msim_rehearsal *r)
{
    for (int i = 0; i < THREADS && r->actors; i++)
        release_actor(&r->actors[i]);
    free(r->actors);
    free(r->above);
    free(r->p99_ms);
    free(r->wait_ms);
    free(r->served);
    *r = (struct msim_rehearsal){0};
}

/* ---- one seed ------------------------------------------------------------ */

static double p99_of(const struct msim_serving_result *result, uint32_t cls,
                     double *values)
{
    uint64_t n = msim_serving_latencies(result, cls, values);

    return n ? values[(uint64_t)(0.99 * (double)(n - 1))] : NAN;
}

static enum msim_status take(struct one *o,
                             const struct msim_serving_result *result)
{
    const struct msim_app *app = o->r->load->app;
    double *values = malloc((result->n_requests + 1) * sizeof(*values));

    if (!values)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < app->n_promises; i++)
        for (uint32_t k = 0; k < app->n_classes; k++) {
            const struct msim_promise *p = &app->promises[i];
            double within = msim_serving_within(result, k, p->limit_ms);

            o->above[i * app->n_classes + k] = isnan(within) ? 0 : 1 - within;
        }
    for (uint32_t k = 0; k < app->n_classes; k++) {
        o->served[k] = msim_serving_latencies(result, k, NULL);
        o->p99_ms[k] = p99_of(result, k, values);
    }
    for (uint32_t s = 0; s < app->n_stages; s++)
        o->wait_ms[s] =
            result->stages[s].wait_ps / 1e9 / (double)(result->n_requests + 1);
    free(values);
    return MSIM_OK;
}

static void *simulate(void *one)
{
    struct one *o = one;
    const struct msim_serving_how how = {
        .replicas = o->replicas,
        .rate = o->r->load->rate,
        .seed = o->seed,
        .requests = o->r->requests,
        .warmup_s = WARMUP * (double)o->r->requests / o->r->load->rate,
    };
    struct msim_serving_result result;

    draw_services(o->actor, o->r->load->app, o->seed);
    o->status = msim_serving_run(o->actor->sim, &how, &result, &o->err);
    if (o->status == MSIM_OK)
        o->status = take(o, &result);
    return NULL;
}

/* ---- all of them --------------------------------------------------------- */

static enum msim_status lay(struct one *o, struct msim_rehearsal *r)
{
    const struct msim_app *app = r->load->app;
    size_t n = n_above(r) + app->n_classes + app->n_stages;

    o->above = calloc(n, sizeof(double));
    o->served = calloc(app->n_classes, sizeof(uint64_t));
    if (!o->above || !o->served)
        return MSIM_ENOMEM;
    o->p99_ms = o->above + n_above(r);
    o->wait_ms = o->p99_ms + app->n_classes;
    return MSIM_OK;
}

static void add(struct msim_rehearsal *r, const struct one *o, int runs)
{
    const struct msim_app *app = r->load->app;

    for (size_t i = 0; i < n_above(r); i++) {
        r->above[i] += o->above[i] / runs;
        r->least[i] = fmin(r->least[i], o->above[i]);
        r->most[i] = fmax(r->most[i], o->above[i]);
    }
    for (uint32_t k = 0; k < app->n_classes; k++) {
        r->p99_ms[k] += o->p99_ms[k] / runs;
        r->served[k] += o->served[k];
    }
    for (uint32_t s = 0; s < app->n_stages; s++)
        r->wait_ms[s] += o->wait_ms[s] / runs;
}

/* The largest share of late requests over what a promise allows. */
static double late_of(const struct msim_rehearsal *r, const double *above)
{
    const struct msim_app *app = r->load->app;
    double late = 0;

    for (uint32_t i = 0; i < app->n_promises; i++)
        for (uint32_t k = 0; k < app->n_classes; k++) {
            const struct msim_promise *p = &app->promises[i];

            if (p->cls == k || p->cls == MSIM_CLASS_ALL)
                late = fmax(late, above[i * app->n_classes + k] /
                                      (1 - p->percentile / 100));
        }
    return late;
}

static void clear(struct msim_rehearsal *r)
{
    const struct msim_app *app = r->load->app;

    for (size_t i = 0; i < n_above(r); i++) {
        r->above[i] = r->most[i] = 0;
        r->least[i] = 1;
    }
    memset(r->p99_ms, 0, app->n_classes * sizeof(double));
    memset(r->wait_ms, 0, app->n_stages * sizeof(double));
    memset(r->served, 0, app->n_classes * sizeof(uint64_t));
}

/* Two runs at once. */
static void run_two(struct one *o)
{
    pthread_t thread;
    bool beside = pthread_create(&thread, NULL, simulate, &o[1]) == 0;

    simulate(&o[0]);
    if (beside)
        pthread_join(thread, NULL);
    else
        simulate(&o[1]);
}

static enum msim_status error_of(const struct one *o, struct msim_error *err)
{
    for (int i = 0; i < THREADS; i++)
        if (o[i].status != MSIM_OK)
            return msim_fail(err, o[i].status, NULL, MSIM_OFFSET_NONE, "%s",
                             o[i].err.text);
    return MSIM_OK;
}

/* Runs until there are enough of them; how many in `*done`. */
static enum msim_status run_until(struct msim_rehearsal *r, struct one *o,
                                  int runs, bool stops, int *done,
                                  struct msim_error *err)
{
    for (*done = 0; *done < runs; *done += THREADS) {
        struct one *two = o + *done;

        for (int i = 0; i < THREADS; i++)
            MSIM_TRY(lay(&two[i], r));
        run_two(two);
        MSIM_TRY(error_of(two, err));
        for (int i = 0; i < THREADS && stops; i++)
            if (late_of(r, two[i].above) > r->allowed_worst)
                runs = 0;
    }
    return MSIM_OK;
}

static void take_all(struct msim_rehearsal *r, const struct one *o, int runs)
{
    double sum = 0, squares = 0, variance;

    clear(r);
    r->late_best = INFINITY;
    r->late_worst = 0;
    for (int i = 0; i < runs; i++) {
        double late = late_of(r, o[i].above);

        add(r, &o[i], runs);
        r->late_worst = fmax(r->late_worst, late);
        r->late_best = fmin(r->late_best, late);
        sum += late;
        squares += late * late;
    }
    variance = fmax(0, squares - sum * sum / runs) / (runs - 1);
    r->late_sure = sqrt(variance / runs);
    r->late_mean = late_of(r, r->above);
    r->late = fmax(r->late_mean / r->allowed, r->late_worst / r->allowed_worst);
}

enum msim_status msim_rehearsal_run(struct msim_rehearsal *r,
                                    const int64_t *replicas,
                                    enum msim_rehearsal_depth depth,
                                    struct msim_error *err)
{
    static const int RUNS[] = {
        [MSIM_REHEARSAL_QUICK] = THREADS,
        [MSIM_REHEARSAL_FEW] = 6,
        [MSIM_REHEARSAL_CHECK] = MSIM_REHEARSAL_RUNS,
        [MSIM_REHEARSAL_ALL] = MSIM_REHEARSAL_RUNS,
    };
    struct one o[MSIM_REHEARSAL_RUNS] = {0};
    enum msim_status status;
    int done;

    for (int i = 0; i < MSIM_REHEARSAL_RUNS; i++) {
        o[i].r = r;
        o[i].replicas = replicas;
        o[i].actor = &r->actors[i % THREADS];
        o[i].seed = r->seed * MSIM_REHEARSAL_RUNS + (uint64_t)i + 1000;
    }
    status =
        run_until(r, o, RUNS[depth], depth == MSIM_REHEARSAL_CHECK, &done, err);
    if (status == MSIM_OK)
        take_all(r, o, done);
    for (int i = 0; i < MSIM_REHEARSAL_RUNS; i++) {
        free(o[i].above);
        free(o[i].served);
    }
    r->runs++;
    return status;
}
