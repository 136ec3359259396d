/* serving/size/sizing_make.c - which method, and what becomes of it. */
#include "serving/size/size_plan_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REQUESTS      20000  /* through each stage */
#define MOST_REPLICAS 100000 /* of a stage, even if none ever waits */
#define REHEARSALS    7
#define NEAR          0.9  /* so late without any queue, it is looked at */
#define PLENTY        0.3  /* of workers held: more replicas than are needed */
#define CLOSE         0.96 /* rooms that are not told apart */

const char *msim_sizing_method_text(enum msim_sizing_method m)
{
    static const char *const TEXT[] = {
#define X(name, text) text,
        MSIM_SIZING_METHOD_MAP(X)
#undef X
    };

    return TEXT[m];
}

/* ---- which one ----------------------------------------------------------- */

enum msim_status msim_sizing_check(const struct msim_app *app,
                                   struct msim_error *err)
{
    if (!app->n_promises)
        return msim_fail(err, MSIM_EFORMAT, app->path, MSIM_OFFSET_NONE,
                         "slo is empty, want a promise to size for");
    for (uint32_t i = 0; i < app->n_promises; i++)
        if (app->promises[i].metric != MSIM_PROMISE_E2E)
            return msim_fail(err, MSIM_EFORMAT, app->path, MSIM_OFFSET_NONE,
                             "slo[%" PRIu32 "].metric is '%s', want 'e2e': "
                             "size knows how long requests take as a whole",
                             i,
                             msim_promise_metric_text(app->promises[i].metric));
    for (uint32_t s = 0; s < app->n_stages; s++)
        if (app->stages[s].kind == MSIM_STAGE_LLM ||
            app->stages[s].kind == MSIM_STAGE_MODEL)
            return msim_fail(err, MSIM_EFORMAT, app->path, MSIM_OFFSET_NONE,
                             "stages.%s.kind is '%s', want 'measured' or "
                             "'tool': size takes stages as queues with "
                             "workers; for one model ask `plan` with "
                             "\"workload\": \"serving\", for a pipeline "
                             "`serve --plans` or `apps --sweep`",
                             app->stages[s].name,
                             msim_stage_kind_text(app->stages[s].kind));
    if (app->arrivals.process == MSIM_ARRIVAL_CLOSED)
        return msim_fail(err, MSIM_EFORMAT, app->path, MSIM_OFFSET_NONE,
                         "arrivals.process is 'closed', want a process with a "
                         "rate: clients that wait for answers ask less of "
                         "slow stages");
    return MSIM_OK;
}

/* Can the rate be borne at all? No plan with more replicas is of use, and each
 * of them would be simulated. */
static enum msim_status check_rate(struct msim_latency_sum *l,
                                   struct msim_error *err)
{
    const struct msim_app *app = l->load->app;

    for (uint32_t s = 0; s < app->n_stages; s++) {
        double least = msim_sizing_held(l, s) / (double)app->stages[s].workers;

        if (least > MOST_REPLICAS)
            return msim_fail(err, MSIM_ECHECK, app->path, MSIM_OFFSET_NONE,
                             "stage '%s' wants %.3g replicas at least, for "
                             "%.4g requests/s: want at most %d; ask for a "
                             "lower --rate, or a share of it",
                             app->stages[s].name, ceil(least), l->load->rate,
                             MOST_REPLICAS);
    }
    return MSIM_OK;
}

/* What simulated requests say of the classes. */
static void fill_classes(struct msim_sizing *out,
                         const struct msim_rehearsal *r)
{
    const struct msim_app *app = r->load->app;

    for (uint32_t k = 0; k < app->n_classes; k++)
        out->classes[k] = (struct msim_sizing_class){
            .within = NAN, .low = NAN, .high = NAN, .p99_ms = r->p99_ms[k]};
    for (uint32_t i = 0; i < app->n_promises; i++)
        for (uint32_t k = 0; k < app->n_classes; k++) {
            struct msim_sizing_class *c = &out->classes[k];
            size_t at = (size_t)i * app->n_classes + k;

            if (app->promises[i].cls != k &&
                app->promises[i].cls != MSIM_CLASS_ALL)
                continue;
            c->within = 1 - r->above[at];
            c->low = 1 - r->most[at];
            c->high = 1 - r->least[at];
        }
}

static double cost_of(const struct msim_latency_sum *l, const int64_t *replicas)
{
    double cost = 0;

    for (uint32_t s = 0; s < l->load->app->n_stages; s++)
        cost += (double)replicas[s] * msim_sizing_price(l->load->app, s);
    return cost;
}

/* The plan of `room`, rehearsed; into `best` where it keeps the promises and
 * costs less than that. */
static enum msim_status rehearse(struct msim_latency_sum *l,
                                 struct msim_rehearsal *r, double room,
                                 int64_t *best, struct msim_error *err)
{
    size_t bytes = l->load->app->n_stages * sizeof(*best);

    enum msim_status status = msim_sizing_convolution(l, room, NULL);

    /* Where few replicas are missed one alone may gain nothing: from plenty
     * they are taken away instead. */
    if (status == MSIM_ECHECK) {
        memset(l->replicas, 0, bytes);
        status = msim_sizing_convolution(l, room, NULL);
    }
    MSIM_TRY(status);
    MSIM_TRY(msim_rehearsal_run(r, l->replicas, MSIM_REHEARSAL_CHECK, err));
    if (r->late <= 1 &&
        (!best[0] || cost_of(l, l->replicas) < cost_of(l, best)))
        memcpy(best, l->replicas, bytes);
    return MSIM_OK;
}

/*
 * A plan by distributions, rehearsed: waits that rise together, or workers that
 * are held by many slow calls at once, make more requests late than the sum of
 * independent parts says. Then the plan is made again with less room; and with
 * something between, where that was too little.
 */
static enum msim_status converge(struct msim_latency_sum *l,
                                 struct msim_rehearsal *r, double room,
                                 int64_t *best, struct msim_error *err)
{
    const double first = room;
    double fails = 0, keeps = 0;

    for (int i = 0; i < REHEARSALS; i++) {
        enum msim_status status = rehearse(l, r, room, best, err);

        if (status != MSIM_OK && status != MSIM_ECHECK)
            return status;
        if (status == MSIM_OK && r->late <= 1) {
            keeps = room;
            if (room >= first || room / fails > CLOSE)
                break;
        } else {
            fails = room;
        }
        if (status == MSIM_ECHECK && !(keeps > 0))
            break; /* distributions find none: it is left to simulation */
        room = keeps > 0 ? (keeps + fails) / 2
                         : room * fmax(0.7, fmin(0.96, 1 / r->late));
    }
    if (!best[0])
        return MSIM_ECHECK;
    memcpy(l->replicas, best, l->load->app->n_stages * sizeof(*best));
    MSIM_TRY(msim_latency_pass(l));
    return msim_rehearsal_run(r, l->replicas, MSIM_REHEARSAL_ALL, err);
}

/*
 * With far more replicas than are needed, can the promises be kept? `*room` is
 * how late distributions may say that requests are where simulated ones are
 * not: they take copies that are served together for independent.
 *
 * A promise that is broken in every run then is refused. One that is broken in
 * some, since services are known too little, is kept as well as it can be: as
 * with far more replicas, within what their mean is known by.
 */
static enum msim_status look_far(struct msim_latency_sum *l,
                                 struct msim_rehearsal *r, double *room,
                                 struct msim_error *err)
{
    double late = msim_latency_late(l);

    *room = 1;
    if (late < NEAR)
        return MSIM_OK;
    MSIM_TRY(msim_sizing_start(l, PLENTY));
    MSIM_TRY(msim_rehearsal_run(r, l->replicas, MSIM_REHEARSAL_ALL, err));
    if (r->late_best > 1)
        return msim_sizing_refuse(l, err);
    late = msim_latency_late(l);
    *room = fmax(1, late / r->late);
    r->allowed = fmax(r->allowed, r->late_mean + r->late_sure);
    r->allowed_worst = fmax(r->allowed_worst, r->late_worst + r->late_sure);
    memset(l->replicas, 0, l->load->app->n_stages * sizeof(*l->replicas));
    return MSIM_OK;
}

/* ECHECK, and no word of it: no plan by the measure of `l` is kept in
 * simulation. */
static enum msim_status plan_by_sums(struct msim_latency_sum *l,
                                     struct msim_rehearsal *r, double room,
                                     struct msim_error *err)
{
    int64_t *best = calloc(l->load->app->n_stages, sizeof(*best));
    enum msim_status status =
        best ? converge(l, r, room, best, err) : MSIM_ENOMEM;

    free(best);
    return status;
}

static enum msim_status by_union(struct msim_latency_sum *l,
                                 struct msim_rehearsal *r,
                                 struct msim_error *err)
{
    struct msim_sizing_union *u;
    enum msim_status status = msim_sizing_union_begin(&u, l, err);

    if (status == MSIM_OK) {
        status = plan_by_sums(l, r, 1, err);
        if (status == MSIM_ECHECK)
            msim_fail(err, status, l->load->app->path, MSIM_OFFSET_NONE,
                      "the union bound finds no plan: in simulation %.3g times "
                      "as many requests are late as the promise allows, under "
                      "the plan with the most replicas that it asks for; "
                      "--method search may find one",
                      r->late);
    }
    if (status == MSIM_OK)
        status = msim_sizing_union_status(u);
    msim_sizing_union_free(u);
    return status;
}

static enum msim_status by_convolution(struct msim_latency_sum *l,
                                       struct msim_rehearsal *r,
                                       struct msim_error *err)
{
    enum msim_status status;
    double room;

    MSIM_TRY(look_far(l, r, &room, err));
    status = plan_by_sums(l, r, room, err);
    r->searched = status == MSIM_ECHECK;
    return r->searched ? msim_sizing_search(l, r, err) : status;
}

static enum msim_status by_search(struct msim_latency_sum *l,
                                  struct msim_rehearsal *r,
                                  struct msim_error *err)
{
    enum msim_status status;
    double room;

    MSIM_TRY(look_far(l, r, &room, err));
    status = msim_sizing_convolution(l, room, NULL);
    return status == MSIM_OK || status == MSIM_ECHECK
               ? msim_sizing_search(l, r, err)
               : status;
}

static enum msim_status make(struct msim_sizing *out,
                             struct msim_latency_sum *l, uint64_t seed,
                             struct msim_error *err)
{
    static enum msim_status (*const BY[])(struct msim_latency_sum * l,
                                          struct msim_rehearsal * r,
                                          struct msim_error * err) = {
        [MSIM_SIZING_UNION] = by_union,
        [MSIM_SIZING_CONVOLUTION] = by_convolution,
        [MSIM_SIZING_SEARCH] = by_search,
    };
    struct msim_rehearsal r;
    enum msim_status status = msim_rehearsal_init(&r, l->load, seed, err);

    if (status == MSIM_OK)
        status = BY[out->method](l, &r, err);
    if (status == MSIM_OK) {
        msim_sizing_fill(out, l);
        fill_classes(out, &r);
        out->searched = r.searched;
    }
    msim_rehearsal_release(&r);
    return status;
}

enum msim_status msim_sizing_make(struct msim_sizing *out,
                                  const struct msim_stage_demand *load,
                                  enum msim_sizing_method method, uint64_t seed,
                                  struct msim_error *err)
{
    struct msim_latency_sum l;
    enum msim_status status;

    *out = (struct msim_sizing){.method = method};
    MSIM_TRY(msim_sizing_check(load->app, err));
    out->stages = calloc(load->app->n_stages, sizeof(*out->stages));
    out->classes = calloc(load->app->n_classes, sizeof(*out->classes));
    if (!out->stages || !out->classes)
        return MSIM_ENOMEM;
    status = msim_latency_init(&l, load, REQUESTS, seed, err);
    if (status == MSIM_OK)
        status = check_rate(&l, err);
    if (status == MSIM_OK)
        status = make(out, &l, seed, err);
    msim_latency_release(&l);
    return status;
}

void msim_sizing_release(struct msim_sizing *z)
{
    free(z->stages);
    free(z->classes);
    *z = (struct msim_sizing){0};
}
