/*
 * serving/outcome/outcome_classes.c - latencies and promises of classes.
 */
#include "serving/outcome/serving_outcome_internal.h"

#include <math.h>
#include <stdlib.h>

#define PS_PER_MS 1e9
#define BEYOND    100 /* requests beyond a percentile that is believed */

double msim_serving_metric(const struct msim_served *q,
                           enum msim_promise_metric m)
{
    if (q->ended == MSIM_TIME_NONE ||
        (m != MSIM_PROMISE_E2E && q->first == MSIM_TIME_NONE))
        return NAN;
    if (m == MSIM_PROMISE_E2E)
        return (double)(q->ended - q->arrived) / PS_PER_MS;
    if (m == MSIM_PROMISE_TTFT)
        return (double)(q->first - q->arrived) / PS_PER_MS;
    return q->output_tokens > 1 ? (double)(q->ended - q->first) / PS_PER_MS /
                                      (q->output_tokens - 1.0)
                                : NAN;
}

/* Values of the measured requests of a class; what is NAN is left out. */
static struct msim_serving_figure figure(const struct msim_serving_result *r,
                                         uint32_t cls,
                                         enum msim_promise_metric m,
                                         double *values)
{
    uint64_t n = 0;

    for (uint64_t i = 0; i < r->n_requests; i++) {
        const struct msim_served *q = &r->requests[i];

        if (!q->measured || q->cls != cls)
            continue;
        values[n] = msim_serving_metric(q, m);
        n += !isnan(values[n]);
    }
    return msim_serving_figure_of(values, n);
}

enum msim_status msim_outcome_e2e(const struct msim_serving_result *r,
                                  uint32_t cls, struct msim_serving_figure *f)
{
    double *values = malloc((r->n_requests + 1) * sizeof(*values));

    if (!values)
        return MSIM_ENOMEM;
    *f = figure(r, cls, MSIM_PROMISE_E2E, values);
    free(values);
    return MSIM_OK;
}

/* The promises that a run is held to: those of --goodput, or the
 * application's. */
static const struct msim_promise *
promises_of(const struct msim_serving_outcome *o,
            const struct msim_serving_wish *w, uint32_t *n)
{
    *n = w->n_goodput ? w->n_goodput : o->app->n_promises;
    return w->n_goodput ? w->goodput : o->app->promises;
}

static bool is_for(const struct msim_promise *p, uint32_t cls)
{
    return p->cls == MSIM_CLASS_ALL || p->cls == cls;
}

/* A request that never ends keeps nothing; one without tokens keeps what is
 * promised of tokens. */
static bool keeps(const struct msim_served *q, const struct msim_promise *p)
{
    return q->ended != MSIM_TIME_NONE &&
           !(msim_serving_metric(q, p->metric) > p->limit_ms);
}

static void count_requests(struct msim_serving_outcome *o,
                           const struct msim_promise *p, uint32_t n)
{
    double span = o->run.end_s - o->run.begin_s;

    for (uint32_t i = 0; i < o->app->n_classes && !(span > 0); i++)
        o->classes[i].throughput_rps = o->classes[i].tokens_per_s =
            o->classes[i].goodput_rps = NAN;
    for (uint64_t i = 0; i < o->run.n_requests; i++) {
        const struct msim_served *q = &o->run.requests[i];
        struct msim_class_outcome *c = &o->classes[q->cls];
        bool ended = q->ended != MSIM_TIME_NONE, kept = true;
        double at = (double)q->ended / 1e12;

        for (uint32_t k = 0; k < n; k++)
            kept &= !is_for(&p[k], q->cls) || keeps(q, &p[k]);
        if (ended && at >= o->run.begin_s && at <= o->run.end_s) {
            c->throughput_rps += 1 / span;
            c->tokens_per_s += q->output_tokens / span;
            c->goodput_rps += kept / span;
        }
        if (!q->measured)
            continue;
        c->requests += ended;
        c->unfinished += !ended;
        c->cut += ended && q->cut;
        c->late += !kept;
    }
}

/* What ends after the last arrival alone was too short a run for a rate; 0
 * would say that nothing is served. */
static void drop_rates(struct msim_class_outcome *c)
{
    if (c->requests && c->throughput_rps <= 0)
        c->throughput_rps = c->tokens_per_s = c->goodput_rps = NAN;
}

/* The share of late requests over what a promise allows, of the promise that is
 * broken most; and whether one has too few. */
static double worst_of(const struct msim_serving_outcome *o, uint32_t cls,
                       const struct msim_promise *p, uint32_t n, bool *few)
{
    double worst = NAN;

    for (uint32_t k = 0; k < n; k++) {
        uint64_t all = 0, late = 0;

        if (!is_for(&p[k], cls))
            continue;
        for (uint64_t i = 0; i < o->run.n_requests; i++) {
            const struct msim_served *q = &o->run.requests[i];

            if (q->measured && q->cls == cls) {
                all++;
                late += !keeps(q, &p[k]);
            }
        }
        if (all)
            worst = fmax(worst, (double)late / (double)all /
                                    (1 - p[k].percentile / 100));
        *few |= late < BEYOND && (double)all * (100 - p[k].percentile) <
                                     100 * (double)BEYOND * (1 - 1e-9);
    }
    return worst;
}

static void judge_class(struct msim_serving_outcome *o, uint32_t i,
                        const struct msim_promise *p, uint32_t n)
{
    struct msim_class_outcome *c = &o->classes[i];
    uint64_t all = c->requests + c->unfinished;
    bool promised = false;

    for (uint32_t k = 0; k < n; k++)
        promised |= is_for(&p[k], i);
    c->violations = promised && all ? (double)c->late / (double)all : NAN;
    c->worst = worst_of(o, i, p, n, &c->few);
    if (!promised) {
        c->goodput_rps = NAN;
        c->late = 0;
    }
}

/* Whose promise is broken most; without promises the slowest. */
static uint32_t worst_class(const struct msim_serving_outcome *o)
{
    uint32_t worst = 0;

    for (uint32_t i = 1; i < o->app->n_classes; i++) {
        const struct msim_class_outcome *a = &o->classes[worst];
        const struct msim_class_outcome *b = &o->classes[i];
        double x = isnan(a->worst) ? -1 : a->worst;
        double y = isnan(b->worst) ? -1 : b->worst;

        if (y > x || (y == x && b->e2e.p99 > a->e2e.p99))
            worst = i;
    }
    return worst;
}

enum msim_status msim_outcome_classes(struct msim_serving_outcome *o,
                                      const struct msim_serving_wish *w)
{
    double *values = malloc((o->run.n_requests + 1) * sizeof(*values));
    const struct msim_promise *p;
    uint32_t n;

    if (!values)
        return MSIM_ENOMEM;
    p = promises_of(o, w, &n);
    o->promised = n > 0;
    count_requests(o, p, n);
    for (uint32_t i = 0; i < o->app->n_classes; i++) {
        struct msim_class_outcome *c = &o->classes[i];

        c->name = o->app->classes[i].name;
        drop_rates(c);
        c->e2e = figure(&o->run, i, MSIM_PROMISE_E2E, values);
        c->ttft = figure(&o->run, i, MSIM_PROMISE_TTFT, values);
        c->tpot = figure(&o->run, i, MSIM_PROMISE_TPOT, values);
        judge_class(o, i, p, n);
    }
    free(values);
    o->worst_class = worst_class(o);
    return MSIM_OK;
}
