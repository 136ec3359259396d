/* serving/size/rehearsal.c - plans simulated. */
#include "serving/size/rehearsal.h"

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
/* One seed may be worse than the promise by that: beyond, the plan is at the
 * edge of a queue that grows and shrinks slowly, and a mean means little. */
#define WORST_SEED 1.12
/* Services are known from a few thousand visits: what is planned for leaves
 * some of what the promise allows. */
#define AIM 0.95
/* Services may be longer than they are known to be, by two standard errors of
 * their mean: a plan of which then many more are late is at the edge. */
#define LEAST_PUSH 0.01
#define MOST_PUSH  0.05
#define MATTERS    0.05 /* share of a request's services that makes one count */
#define WORST_PUSH 1.25
#define THREADS    2

/* One seed of a plan. */
struct one {
    struct msim_rehearsal *r;
    const int64_t *replicas;
    struct msim_serving *sim;
    uint64_t seed;
    double push; /* of the rate */
    double *above, *p99_ms, *wait_ms;
    uint64_t *served;
    enum msim_status status;
    struct msim_error err;
};

static size_t n_above(const struct msim_rehearsal *r)
{
    return (size_t)r->load->app->n_promises * r->load->app->n_classes;
}

/* Twice the largest standard error of a mean, over it, of what matters. */
static double unsure_of(const struct msim_stage_demand *load)
{
    double all = 0, most = LEAST_PUSH;

    for (int round = 0; round < 2; round++)
        for (uint32_t s = 0; s < load->app->n_stages; s++) {
            const struct msim_dist *d = &load->app->stages[s].service;
            double ms = load->stages[s].mean * load->stages[s].visits;

            if (!round)
                all += ms;
            else if (ms > MATTERS * all && d->kind == MSIM_DIST_SAMPLES)
                most = fmax(most, 2 * sqrt(msim_dist_cv2(d) / d->n));
        }
    return fmin(MOST_PUSH, most);
}

enum msim_status msim_rehearsal_init(struct msim_rehearsal *r,
                                     const struct msim_stage_demand *load,
                                     uint64_t seed, struct msim_error *err)
{
    const struct msim_app *app = load->app;
    double visits = 0;

    *r = (struct msim_rehearsal){.load = load, .seed = seed, .allowed = AIM};
    for (uint32_t s = 0; s < app->n_stages; s++)
        visits += load->stages[s].visits;
    r->requests = (uint64_t)fmin(MOST, fmax(LEAST, VISITS / visits));
    r->above = calloc(n_above(r), sizeof(double));
    r->p99_ms = calloc(app->n_classes, sizeof(double));
    r->wait_ms = calloc(app->n_stages, sizeof(double));
    r->served = calloc(app->n_classes, sizeof(uint64_t));
    if (!r->above || !r->p99_ms || !r->wait_ms || !r->served)
        return MSIM_ENOMEM;
    r->push = 1 + unsure_of(load);
    for (int i = 0; i < THREADS; i++)
        MSIM_TRY(msim_serving_new(&r->sims[i], app, err));
    return MSIM_OK;
}

void msim_rehearsal_release(struct msim_rehearsal *r)
{
    for (int i = 0; i < THREADS; i++)
        msim_serving_free(r->sims[i]);
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
        .rate = o->r->load->rate * o->push,
        .seed = o->seed,
        .requests = o->r->requests,
        .warmup_s = WARMUP * (double)o->r->requests / o->r->load->rate,
    };
    struct msim_serving_result result;

    o->status = msim_serving_run(o->sim, &how, &result, &o->err);
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

    for (size_t i = 0; i < n_above(r); i++)
        r->above[i] += o->above[i] / runs;
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

    memset(r->above, 0, n_above(r) * sizeof(double));
    memset(r->p99_ms, 0, app->n_classes * sizeof(double));
    memset(r->wait_ms, 0, app->n_stages * sizeof(double));
    memset(r->served, 0, app->n_classes * sizeof(uint64_t));
}

/* Two seeds at once. */
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

/* Means of the runs at the rate; how late the worst one is, and those with more
 * load, on the average. */
static void take_all(struct msim_rehearsal *r, const struct one *o, int runs,
                     int pushed)
{
    double worst = 0, more = 0;

    for (int i = 0; i < runs; i++) {
        add(r, &o[i], runs);
        worst = fmax(worst, late_of(r, o[i].above));
    }
    for (int i = runs; i < runs + pushed; i++)
        more += late_of(r, o[i].above) / pushed;
    r->late = fmax(late_of(r, r->above),
                   fmax(worst / WORST_SEED, more / WORST_PUSH)) /
              r->allowed;
}

enum msim_status msim_rehearsal_run(struct msim_rehearsal *r,
                                    const int64_t *replicas, bool thorough,
                                    struct msim_error *err)
{
    int runs = thorough ? MSIM_REHEARSAL_RUNS : THREADS;
    int pushed = thorough ? THREADS : 0;
    struct one o[MSIM_REHEARSAL_RUNS + THREADS] = {0};
    enum msim_status status = MSIM_OK;

    clear(r);
    for (int i = 0; i < runs + pushed && status == MSIM_OK; i++) {
        o[i].r = r;
        o[i].replicas = replicas;
        o[i].sim = r->sims[i % THREADS];
        o[i].seed = r->seed * MSIM_REHEARSAL_RUNS + (uint64_t)i + 1000;
        o[i].push = i < runs ? 1 : r->push;
        status = lay(&o[i], r);
    }
    for (int i = 0; i < runs + pushed && status == MSIM_OK; i += THREADS)
        run_two(&o[i]);
    for (int i = 0; i < runs + pushed && status == MSIM_OK; i++)
        if (o[i].status != MSIM_OK)
            status = msim_fail(err, o[i].status, NULL, MSIM_OFFSET_NONE, "%s",
                               o[i].err.text);
    if (status == MSIM_OK)
        take_all(r, o, runs, pushed);
    for (int i = 0; i < runs + pushed; i++) {
        free(o[i].above);
        free(o[i].served);
    }
    r->runs++;
    return status;
}
