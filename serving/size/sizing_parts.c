/* serving/size/sizing_parts.c - what the methods of sizing share. */
#include "serving/size/size_plan_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PERCENTILE  0.99 /* at which stages are shown */
#define ROUNDS_MOST 60
#define HELPS       0.98  /* of the wait that is left, and replicas help */
#define START_WAIT  0.004 /* of the horizon: what requests wait for a stage */
#define MOST_HELD   0.9   /* of workers, to begin with */
#define BEARABLE    0.995 /* of workers: beyond, queues do not end */

double msim_sizing_price(const struct msim_app *app, uint32_t s)
{
    for (uint32_t i = 0; i < app->n_stages; i++)
        if (!(app->stages[i].price_per_hour > 0))
            return 1;
    return app->stages[s].price_per_hour;
}

double msim_sizing_held(struct msim_latency_sum *l, uint32_t s)
{
    const struct msim_stage_demand *load = l->load;
    const struct msim_app *app = load->app;
    const struct msim_demand_stage *st = &load->stages[s];
    bool rpc = app->stages[s].call == MSIM_CALL_RPC;
    double *of = rpc ? l->stages[s].served : l->stages[s].service, sum = 0;

    if (st->most > 1) /* as many together as may be */
        return msim_demand_offered(load, s);
    for (uint32_t k = 0; k < app->n_classes; k++) {
        double visits =
            load->visits[(size_t)k * app->n_stages + s] * app->classes[k].share;

        for (uint32_t b = 0; visits > 0 && b < load->n_bins; b++)
            sum += visits * load->weight[b] *
                   msim_pmf_mean(&l->grid, msim_latency_at(l, of, k, b));
    }
    return load->rate * sum / 1e3;
}

bool msim_sizing_bears(struct msim_latency_sum *l, uint32_t s, int64_t replicas)
{
    return msim_sizing_held(l, s) <
           BEARABLE * (double)(replicas * l->load->app->stages[s].workers);
}

static int64_t enough(struct msim_latency_sum *l, uint32_t s, double most_held)
{
    double workers = (double)l->load->app->stages[s].workers;

    return (int64_t)fmax(1,
                         ceil(msim_sizing_held(l, s) / (workers * most_held)));
}

static double horizon_of(const struct msim_latency_sum *l)
{
    return l->grid.n * l->grid.step;
}

/* Replicas of `s` until its visits wait little, its calls being as they are. */
static enum msim_status start_stage(struct msim_latency_sum *l, uint32_t s)
{
    double longest = START_WAIT * horizon_of(l), before = INFINITY;

    if (!(l->load->stages[s].visits > 0))
        return MSIM_OK;
    l->replicas[s] =
        (int64_t)fmax((double)l->replicas[s], (double)enough(l, s, MOST_HELD));
    for (int i = 0; i < ROUNDS_MOST; i++) {
        MSIM_TRY(msim_latency_simulate(l, s));
        /* What is waited for a batch to fill is there with any number. */
        if (l->stages[s].wait_ms * l->load->stages[s].visits <= longest ||
            l->stages[s].wait_ms > HELPS * before)
            break;
        before = l->stages[s].wait_ms;
        l->replicas[s] += 1 + l->replicas[s] / 8;
    }
    return msim_latency_compose(l, s);
}

/* Stages that are called before those that call them: a caller's queue that
 * comes of slow calls does not go away with more callers. */
enum msim_status msim_sizing_start(struct msim_latency_sum *l, double most_held)
{
    uint32_t n = l->load->app->n_stages;

    for (uint32_t s = 0; s < n; s++)
        l->replicas[s] =
            enough(l, s, most_held) + (l->load->stages[s].visits > 0);
    for (int i = 0; i < 2; i++) {
        MSIM_TRY(msim_latency_pass(l));
        for (uint32_t k = n; k-- > 0;)
            MSIM_TRY(start_stage(l, l->load->order[k]));
    }
    return MSIM_OK;
}

/* ---- no plan ------------------------------------------------------------- */

uint32_t msim_sizing_slowest(const struct msim_latency_sum *l, uint32_t cls,
                             double *ms)
{
    const struct msim_stage_demand *load = l->load;
    uint32_t best = 0;

    *ms = 0;
    for (uint32_t s = 0; s < load->app->n_stages; s++) {
        double mean = load->stages[s].mean *
                      load->app->stages[s].class_factor[cls] *
                      load->visits[(size_t)cls * load->app->n_stages + s];

        if (mean > *ms) {
            *ms = mean;
            best = s;
        }
    }
    return best;
}

enum msim_status msim_sizing_refuse(struct msim_latency_sum *l,
                                    struct msim_error *err)
{
    const struct msim_app *app = l->load->app;
    double worst = 0, ms;
    uint32_t cls = 0, promise = 0, s;

    for (uint32_t i = 0; i < app->n_promises; i++)
        for (uint32_t k = 0; k < app->n_classes; k++) {
            const struct msim_promise *p = &app->promises[i];
            double late = msim_latency_above(l, k, p->limit_ms) /
                          (1 - p->percentile / 100);

            if ((p->cls != k && p->cls != MSIM_CLASS_ALL) || late <= worst)
                continue;
            worst = late;
            cls = k;
            promise = i;
        }
    s = msim_sizing_slowest(l, cls, &ms);
    return msim_fail(
        err, MSIM_ECHECK, app->path, MSIM_OFFSET_NONE,
        "no number of replicas keeps the promise of class '%s': p%g is %.4g "
        "ms, want %.4g ms; most of its time goes to stage '%s' (%.4g ms of "
        "service a request)",
        app->classes[cls].name, app->promises[promise].percentile,
        msim_latency_quantile(l, cls, app->promises[promise].percentile / 100),
        app->promises[promise].limit_ms, app->stages[s].name, ms);
}

/* ---- a plan's figures ---------------------------------------------------- */

/* A visit's own latency, without its calls, over classes and sizes. */
static void own_latency(struct msim_latency_sum *l, uint32_t s, double *out)
{
    const struct msim_stage_demand *load = l->load;
    const struct msim_app *app = load->app;
    double *one = l->scratch + l->grid.n;

    memset(out, 0, l->grid.n * sizeof(*out));
    for (uint32_t k = 0; k < app->n_classes; k++)
        for (uint32_t b = 0; b < load->n_bins; b++) {
            double share = app->classes[k].share * load->weight[b] *
                           load->visits[(size_t)k * app->n_stages + s] /
                           load->stages[s].visits;

            if (!(share > 0))
                continue;
            msim_pmf_add(&l->grid,
                         msim_latency_at(l, l->stages[s].service, k, b),
                         l->stages[s].wait + (size_t)k * l->grid.n, one);
            for (uint32_t i = 0; i < l->grid.n; i++)
                out[i] += share * one[i];
        }
}

void msim_sizing_fill(struct msim_sizing *out, struct msim_latency_sum *l)
{
    const struct msim_stage_demand *load = l->load;
    const struct msim_app *app = load->app;

    out->total = 0;
    out->cost_per_hour = 0;
    for (uint32_t s = 0; s < app->n_stages; s++) {
        struct msim_sizing_stage *st = &out->stages[s];

        *st = (struct msim_sizing_stage){.replicas = l->replicas[s],
                                         .visits_per_s = load->rate *
                                                         load->stages[s].visits,
                                         .percentile = NAN,
                                         .latency_ms = NAN};
        out->total += st->replicas;
        out->cost_per_hour +=
            (double)st->replicas * app->stages[s].price_per_hour;
        if (!(load->stages[s].visits > 0))
            continue;
        own_latency(l, s, l->scratch);
        st->percentile = 100 * PERCENTILE;
        st->latency_ms = msim_pmf_quantile(&l->grid, l->scratch, PERCENTILE);
    }
}
