/*
 * serving/plan/serving_fleet.c - replicas found by bisection on simulated
 * promises.
 */
#include "serving/plan/serving_choice.h"

#include "core/base/quantile.h"
#include "serving/outcome/serving_outcome.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A lone request: so few a second that they seldom meet. */
#define ALONE_RATE 0.02

/* A run has its warm-up, a fifth, and after it as many requests as the rarest
 * percentile needs (100 behind it), or those of two minutes. */
#define BEHIND      100.0
#define SECONDS     120.0
#define WARM        0.2
#define MOST_RUN    25000.0
#define NEAR_ENOUGH 100 /* bisection ends within one replica in so many */

struct search {
    const struct msim_serving_spec *spec;
    struct msim_served_fleet *fleet;
    struct msim_app app; /* whose arrivals are a replica's */
    struct msim_deploy *deploy;
    struct msim_serving *sim;
    double *values;
    size_t room;
    struct msim_error err;
};

/* What one run says. */
struct trial {
    double promised[MSIM_SERVING_PROMISES], of_limit;
};

/* ---- one run ------------------------------------------------------------- */

static double share_of(const struct msim_app *app, uint32_t cls)
{
    double least = 1;

    if (cls != MSIM_CLASS_ALL)
        return app->classes[cls].share;
    for (uint32_t i = 0; i < app->n_classes; i++)
        least = fmin(least, app->classes[i].share);
    return least;
}

static double requests_of(const struct search *k, double rate)
{
    double n = rate * SECONDS;

    if (k->spec->requests)
        return (double)k->spec->requests;
    for (uint32_t i = 0; i < k->app.n_promises; i++) {
        const struct msim_promise *p = &k->app.promises[i];

        n = fmax(n, BEHIND / (1 - p->percentile / 100) /
                        fmax(share_of(&k->app, p->cls), 1e-3));
    }
    return fmin(ceil(n / (1 - WARM)), MOST_RUN);
}

/* The value at the percentile, of one class; one that never ends is later than
 * any. NAN: there are no such requests. */
static double quantile_of(struct search *k, const struct msim_serving_result *r,
                          const struct msim_promise *p, uint32_t cls)
{
    uint32_t n = 0;

    for (uint64_t i = 0; i < r->n_requests; i++) {
        const struct msim_served *q = &r->requests[i];
        double v = q->ended == MSIM_TIME_NONE
                       ? (double)INFINITY
                       : msim_serving_metric(q, p->metric);

        if (q->measured && q->cls == cls && !isnan(v))
            k->values[n++] = v;
    }
    if (n == 0)
        return NAN;
    msim_sort_values(k->values, n);
    return msim_quantile(k->values, n, p->percentile / 100);
}

/* ... of the class that suffers most, where it is made to all. */
static double promised_of(struct search *k, const struct msim_serving_result *r,
                          const struct msim_promise *p)
{
    double worst = NAN;

    if (p->cls != MSIM_CLASS_ALL)
        return quantile_of(k, r, p, p->cls);
    for (uint32_t c = 0; c < k->app.n_classes; c++)
        worst = fmax(worst, quantile_of(k, r, p, c));
    return worst;
}

static enum msim_status make_room(struct search *k, size_t n)
{
    double *more;

    if (n <= k->room)
        return MSIM_OK;
    more = realloc(k->values, n * sizeof(*more));
    if (!more)
        return MSIM_ENOMEM;
    k->values = more;
    k->room = n;
    return MSIM_OK;
}

/* `replicas` share `rate`; steps take `slow` times what is predicted. */
static enum msim_status try_fleet(struct search *k, double rate,
                                  double replicas, double slow, struct trial *t)
{
    double share = rate * slow / replicas;
    double cv2 = 1 + (k->spec->cv * k->spec->cv - 1) / replicas;
    struct msim_serving_how how = {.rate = share, .seed = k->spec->seed};
    struct msim_serving_result r;

    how.requests = (uint64_t)requests_of(k, share);
    how.warmup_s = WARM * (double)how.requests / share;
    k->app.arrivals.cv = sqrt(cv2);
    k->app.arrivals.process = cv2 == 1  ? MSIM_ARRIVAL_POISSON
                              : cv2 > 0 ? MSIM_ARRIVAL_GAMMA
                                        : MSIM_ARRIVAL_CONSTANT;
    MSIM_TRY(make_room(k, how.requests + 1));
    MSIM_TRY(msim_serving_run(k->sim, &how, &r, &k->err));
    t->of_limit = 0;
    for (uint32_t i = 0; i < k->app.n_promises; i++) {
        t->promised[i] = promised_of(k, &r, &k->app.promises[i]) * slow;
        t->of_limit =
            fmax(t->of_limit, t->promised[i] / k->app.promises[i].limit_ms);
    }
    return MSIM_OK;
}

/* ---- how many ------------------------------------------------------------ */

static enum msim_status keeps(struct search *k, int64_t n, double slow,
                              bool *kept)
{
    struct trial t;

    MSIM_TRY(try_fleet(k, k->spec->rate, (double)n, slow, &t));
    *kept = t.of_limit <= 1;
    return MSIM_OK;
}

/* The fewest from `least` on, which is more than enough to have a steady state;
 * a lone request keeps the promises. */
static enum msim_status fewest(struct search *k, int64_t least, double slow,
                               int64_t *out)
{
    int64_t low = least - 1, high = least, most;
    bool kept;

    most = (int64_t)fmax(ceil(k->spec->rate * slow / ALONE_RATE), 1);
    MSIM_TRY(keeps(k, high, slow, &kept));
    while (!kept && high < most) {
        low = high;
        high += 1 + high / 4;
        MSIM_TRY(keeps(k, high, slow, &kept));
    }
    while (kept && high - low > 1 + high / NEAR_ENOUGH) {
        int64_t middle = low + (high - low) / 2;
        bool there;

        MSIM_TRY(keeps(k, middle, slow, &there));
        if (there)
            high = middle;
        else
            low = middle;
    }
    *out = kept ? high : 0;
    return MSIM_OK;
}

/* As many as bear the load at all. */
static int64_t bearing(const struct search *k, double slow)
{
    double n = ceil(k->spec->rate * slow / k->fleet->capacity.middle);

    return n >= 1 && n < 1e12 ? (int64_t)n : 1;
}

/* ---- figures of so many -------------------------------------------------- */

static void put_money(struct msim_fleet_point *p, const struct search *k)
{
    const struct msim_serving_spec *s = k->spec;
    const struct msim_serving_platform *of =
        &s->platforms[msim_serving_spec_platform(s, p->config)];
    const struct msim_served_fleet *f = k->fleet;
    double per_request = f->tokens.middle / f->capacity.middle;

    p->gpus = (double)p->replicas * f->gpus;
    p->load = s->rate / ((double)p->replicas * f->capacity.middle);
    p->cost_per_hour = p->gpus * of->price;
    p->power_kw = p->gpus * of->power_w / 1000;
    p->cost_per_1000 = p->cost_per_hour / (s->rate * 3.6);
    p->cost_per_million_tokens = p->cost_per_1000 * 1000 / per_request;
    p->within_limits =
        p->gpus <= s->most_gpus &&
        (isinf(s->most_cost) || p->cost_per_hour <= s->most_cost);
}

static enum msim_status fill(struct search *k, enum msim_fleet_kind kind,
                             int64_t replicas)
{
    struct msim_fleet_point *p = &k->fleet->points[kind];
    double n = (double)replicas, rate = k->spec->rate, half = k->fleet->half;
    struct trial middle, low, high;

    p->replicas = replicas;
    if (replicas == 0)
        return MSIM_OK;
    MSIM_TRY(try_fleet(k, rate, n, 1, &middle));
    MSIM_TRY(try_fleet(k, rate, n, exp(-half), &low));
    MSIM_TRY(try_fleet(k, rate, n, exp(half), &high));
    for (uint32_t i = 0; i < k->app.n_promises; i++)
        p->promised[i] = (struct msim_fleet_figure){
            middle.promised[i], low.promised[i], high.promised[i]};
    p->of_limit = (struct msim_fleet_figure){middle.of_limit, low.of_limit,
                                             high.of_limit};
    put_money(p, k);
    return MSIM_OK;
}

static enum msim_status find_fleets(struct search *k)
{
    double slow = exp(k->fleet->half);
    int64_t middle = 0, sure = 0, least;

    MSIM_TRY(fewest(k, bearing(k, 1), 1, &middle));
    if (k->fleet->alone * slow <= 1 && middle > 0) {
        least = bearing(k, slow);
        MSIM_TRY(fewest(k, least > middle ? least : middle, slow, &sure));
    }
    if (middle == 0)
        snprintf(k->fleet->why, sizeof(k->fleet->why),
                 "no number of replicas keeps the promises");
    MSIM_TRY(fill(k, MSIM_FLEET_MIDDLE, middle));
    MSIM_TRY(fill(k, MSIM_FLEET_SURE, sure));
    least = sure ? sure : middle;
    return fill(k, MSIM_FLEET_ROOMY, least ? least + (least + 1) / 2 : 0);
}

/* ---- one configuration --------------------------------------------------- */

static struct msim_fleet_figure around(double v, double half)
{
    return (struct msim_fleet_figure){v, v * exp(-half), v * exp(half)};
}

/* A lone request, and what a replica bears. */
static enum msim_status know_replica(struct search *k)
{
    struct msim_served_fleet *f = k->fleet;
    double visits, tokens;
    struct trial t;

    MSIM_TRY(try_fleet(k, ALONE_RATE, 1, 1, &t));
    memcpy(f->alone_ms, t.promised, sizeof(t.promised));
    f->alone = t.of_limit;
    MSIM_TRY(msim_serving_llm_capacity(k->sim, 0, &visits, &tokens, &k->err));
    f->capacity = around(visits, f->half);
    f->tokens = around(tokens, f->half);
    for (uint32_t i = 0; i < k->app.n_promises && !*f->why; i++) {
        const struct msim_promise *p = &k->app.promises[i];

        if (!(t.promised[i] <= p->limit_ms))
            snprintf(f->why, sizeof(f->why),
                     "%s p%g of a lone request is %.4g ms, promised %.4g ms",
                     msim_promise_metric_text(p->metric), p->percentile,
                     t.promised[i], p->limit_ms);
    }
    if (!(visits > 0) && !*f->why)
        snprintf(f->why, sizeof(f->why),
                 "no request fits into the KV cache of a replica");
    return MSIM_OK;
}

static enum msim_status look(struct search *k, const char *data_dir)
{
    struct msim_served_fleet *f = k->fleet;

    f->gpus = msim_deploy_gpus(&k->app, 0);
    MSIM_TRY(
        msim_deploy_open(&k->deploy, &k->app, data_dir, NULL, NULL, &k->err));
    MSIM_TRY(msim_deploy_simulator(&k->sim, k->deploy, &k->err));
    f->fits = true;
    f->half = msim_deploy_half(k->deploy, 0);
    f->memory = *msim_deploy_memory(k->deploy, 0);
    MSIM_TRY(know_replica(k));
    return *f->why ? MSIM_OK : find_fleets(k);
}

/* "stages.replica: " is the same for all. */
static void put_why(struct msim_served_fleet *f, enum msim_status status,
                    const struct msim_error *err)
{
    const char *text = *err->text ? err->text : msim_status_text(status);
    const char *colon = strncmp(text, "stages.", 7) ? NULL : strstr(text, ": ");

    snprintf(f->why, sizeof(f->why), "%.500s", colon ? colon + 2 : text);
}

enum msim_status msim_served_fleet_find(struct msim_served_fleet *f,
                                        const struct msim_serving_spec *s,
                                        uint32_t config, const char *data_dir)
{
    struct search k = {.spec = s, .fleet = f};
    enum msim_status status;

    *f = (struct msim_served_fleet){.alone = NAN, .half = NAN};
    for (int i = 0; i < MSIM_FLEET_KINDS; i++)
        f->points[i].config = config;
    status = msim_serving_spec_app(&k.app, s, config, &k.err);
    if (status == MSIM_OK) {
        status = look(&k, data_dir);
        msim_serving_free(k.sim);
        msim_deploy_free(k.deploy);
        msim_app_release(&k.app);
    }
    free(k.values);
    if (status == MSIM_OK || status == MSIM_ENOMEM || status == MSIM_EINTERNAL)
        return status;
    put_why(f, status, &k.err);
    return MSIM_OK;
}
