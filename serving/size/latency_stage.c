/* serving/size/latency_stage.c - the latency of a visit from its parts. */
#include "serving/size/size_plan_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Calls of one step with answers to choose from, at most. */
#define CALLS_MOST 32

void msim_latency_services(struct msim_latency_sum *l, uint32_t s)
{
    const struct msim_demand_stage *st = &l->load->stages[s];
    const struct msim_app *app = l->load->app;

    for (uint32_t k = 0; k < app->n_classes && st->n_base; k++)
        for (uint32_t b = 0; b < l->load->n_bins; b++) {
            double *out = msim_latency_at(l, l->stages[s].service, k, b);

            memset(out, 0, l->grid.n * sizeof(*out));
            msim_pmf_put(&l->grid, st->base, st->n_base,
                         st->size[b] * app->stages[s].class_factor[k],
                         1.0 / st->n_base, out);
        }
}

/* The latency of one call that way, with its loop. */
static void call_once(struct msim_latency_sum *l,
                      const struct msim_flow_edge *e, uint32_t cls,
                      uint32_t bin, double *out)
{
    const double *visit = msim_latency_at(l, l->stages[e->to].visit, cls, bin);
    double *retried = l->scratch + 3 * (size_t)l->grid.n;

    if (e->timeout_ms > 0 && e->retries > 0) {
        msim_pmf_retry(&l->grid, visit, e->timeout_ms, e->retries, retried);
        visit = retried;
    }
    if (e->again > 0)
        msim_pmf_loop(&l->grid, visit, e->again, e->most, out);
    else
        memcpy(out, visit, l->grid.n * sizeof(*out));
}

/* Do copies of a call wait in one queue, or about as long in each? */
static bool waits_together(const struct msim_latency_sum *l,
                           const struct msim_flow_edge *e)
{
    enum msim_routing r = l->load->app->stages[e->to].routing;

    return !e->copies_geometric && e->again <= 0 && e->timeout_ms <= 0 &&
           (r == MSIM_ROUTING_SHARED || r == MSIM_ROUTING_LEAST);
}

/* All copies of a call: its longest. */
static void call_all(struct msim_latency_sum *l, const struct msim_flow_edge *e,
                     uint32_t cls, uint32_t bin, double *out)
{
    const struct msim_app *app = l->load->app;
    size_t n = l->grid.n;

    if (e->copies > 1 && waits_together(l, e)) {
        size_t edge = (size_t)(e - app->edges);

        memcpy(out, msim_latency_at(l, l->stages[e->to].served, cls, bin),
               n * sizeof(*out));
        msim_pmf_largest(&l->grid, l->apart[edge], out);
        msim_pmf_add(&l->grid, out,
                     l->group + (edge * app->n_classes + cls) * n, out);
        return;
    }
    call_once(l, e, cls, bin, out);
    if (e->copies_geometric)
        msim_pmf_largest_geometric(&l->grid, e->copies, out);
    else if (e->copies > 1)
        msim_pmf_largest(&l->grid, e->copies, out);
}

/* Every answer of the step `e[0..n)` is waited for. */
static void join_all(struct msim_latency_sum *l, const struct msim_flow_edge *e,
                     uint32_t n, uint32_t cls, uint32_t bin, double *out)
{
    double *call = l->scratch + 2 * (size_t)l->grid.n;

    msim_pmf_constant(&l->grid, 0, out);
    for (uint32_t i = 0; i < n; i++) {
        if (!msim_flow_edge_takes(&e[i], cls))
            continue;
        call_all(l, &e[i], cls, bin, call);
        msim_pmf_maybe(&l->grid, e[i].prob, call);
        msim_pmf_max(&l->grid, out, call, out);
    }
}

static enum msim_status join_some(struct msim_latency_sum *l,
                                  const struct msim_flow_edge *e, uint32_t n,
                                  uint32_t cls, uint32_t bin, int64_t wait,
                                  double *out)
{
    struct msim_pmf_call calls[CALLS_MOST];
    double *x = malloc(CALLS_MOST * (size_t)l->grid.n * sizeof(*x));
    enum msim_status status;
    uint32_t m = 0;

    if (!x)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n && m < CALLS_MOST; i++) {
        if (!msim_flow_edge_takes(&e[i], cls))
            continue;
        call_once(l, &e[i], cls, bin, x + (size_t)m * l->grid.n);
        calls[m] = (struct msim_pmf_call){
            .x = x + (size_t)m * l->grid.n,
            .prob = e[i].prob,
            .copies = (uint32_t)fmin(16, fmax(1, round(e[i].copies)))};
        m++;
    }
    status = msim_pmf_join(&l->grid, calls, m, (uint32_t)wait, out);
    free(x);
    return status;
}

/* Edges of one step from `e` on, of `n` that are left. */
static uint32_t step_length(const struct msim_flow_edge *e, uint32_t n,
                            int64_t *wait)
{
    uint32_t i = 0;

    for (*wait = 0; i < n && e[i].step == e[0].step; i++)
        if (e[i].wait > 0)
            *wait = e[i].wait;
    return i;
}

/* Cumulative, into the array that is drawn from. */
static void keep_step(struct msim_latency_sum *l, struct msim_latency_stage *st,
                      uint32_t step, uint32_t cls, uint32_t bin,
                      const double *x)
{
    const struct msim_stage_demand *load = l->load;
    size_t pairs = (size_t)load->app->n_classes * load->n_bins;
    double *out =
        msim_latency_at(l, st->steps + step * pairs * l->grid.n, cls, bin);
    double below = 0;

    for (uint32_t i = 0; i < l->grid.n; i++)
        out[i] = below += x[i];
}

/* All calls of a visit of `s`, into `rest`; false in `*any` where it makes
 * none. */
static enum msim_status compose_calls(struct msim_latency_sum *l, uint32_t s,
                                      uint32_t cls, uint32_t bin, double *rest,
                                      bool *any)
{
    double *step = l->scratch + l->grid.n;
    uint32_t n, number = 0;
    const struct msim_flow_edge *e = msim_app_edges_of(l->load->app, s, &n);

    *any = n > 0;
    for (uint32_t i = 0, m; i < n; i += m, number++) {
        int64_t wait;

        m = step_length(e + i, n - i, &wait);
        if (wait)
            MSIM_TRY(join_some(l, e + i, m, cls, bin, wait, step));
        else
            join_all(l, e + i, m, cls, bin, step);
        keep_step(l, &l->stages[s], number, cls, bin, step);
        if (number)
            msim_pmf_add(&l->grid, rest, step, rest);
        else
            memcpy(rest, step, l->grid.n * sizeof(*rest));
    }
    return MSIM_OK;
}

static enum msim_status compose_visit(struct msim_latency_sum *l, uint32_t s,
                                      uint32_t cls, uint32_t bin)
{
    const struct msim_dist *net = &l->load->app->stages[s].network_ms;
    struct msim_latency_stage *st = &l->stages[s];
    double *served = msim_latency_at(l, st->served, cls, bin);
    double *rest = l->scratch;
    bool any;

    MSIM_TRY(compose_calls(l, s, cls, bin, rest, &any));
    memcpy(served, msim_latency_at(l, st->service, cls, bin),
           l->grid.n * sizeof(*served));
    if (any)
        msim_pmf_add(&l->grid, served, rest, served);
    if (net->kind != MSIM_DIST_NONE && s != l->load->app->start) {
        struct msim_random r = msim_random_of(1, 3, s);

        memset(rest, 0, l->grid.n * sizeof(*rest));
        for (int i = 0; i < 1000; i++) {
            double ms = msim_dist_draw(net, &r);

            msim_pmf_put(&l->grid, &ms, 1, 1, 1e-3, rest);
        }
        msim_pmf_add(&l->grid, served, rest, served);
    }
    msim_pmf_add(&l->grid, served, st->wait + (size_t)cls * l->grid.n,
                 msim_latency_at(l, st->visit, cls, bin));
    return MSIM_OK;
}

enum msim_status msim_latency_compose(struct msim_latency_sum *l, uint32_t s)
{
    const struct msim_app *app = l->load->app;

    for (uint32_t k = 0; k < app->n_classes; k++) {
        if (!(l->load->visits[(size_t)k * app->n_stages + s] > 0))
            continue;
        for (uint32_t b = 0; b < l->load->n_bins; b++)
            MSIM_TRY(compose_visit(l, s, k, b));
    }
    return MSIM_OK;
}
