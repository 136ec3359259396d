/*
 * serving/size/latency_stream.c - visits down the flow, stage by stage.
 *
 * What a visit draws hangs on its request and on the calls that led to it, so
 * that plans see the same requests.
 */
#include "serving/size/size_plan_internal.h"

#include "core/base/containers.h"
#include "serving/app/arrivals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WARMUP      0.05 /* share of the requests that fill the queues */
#define COPIES_MOST 64
#define BATCH_KINDS 48 /* factors of a batch that are told apart */

enum { OF_REST = 11, OF_FLOW, OF_SERVICE };

static struct msim_random stream_of(uint64_t key, uint64_t what)
{
    return msim_random_of(key, what, 0);
}

static struct msim_alone_visit *visits_of(const struct msim_latency_sum *l,
                                          uint32_t s)
{
    return l->stages[s].visits.data;
}

/* ---- requests ------------------------------------------------------------ */

enum msim_status msim_latency_arrivals(struct msim_latency_sum *l,
                                       uint64_t seed, struct msim_error *err)
{
    const struct msim_arrival_how how = {.seed = seed, .rate = l->load->rate};
    struct msim_arrival_source *source;
    struct msim_arrival a = {0};
    uint32_t n = 0;

    MSIM_TRY(msim_arrival_source_new(&source, l->load->app, &how, err));
    for (; n < l->n_requests && msim_arrival_source_next(source, &a); n++)
        l->requests[n] = (struct msim_latency_request){
            .at_ms = 1e3 * a.t_s,
            .size = (float)a.size,
            .cls = (uint16_t)a.cls,
            .bin = (uint16_t)msim_demand_bin(l->load, a.size)};
    msim_arrival_source_free(source);
    l->n_requests = n;
    l->span_s = a.t_s;
    return MSIM_OK;
}

/* ---- visits -------------------------------------------------------------- */

/* One visit of `s`; `group` is MSIM_NONE or the number of its copies. */
static enum msim_status add_visit(struct msim_latency_sum *l, uint32_t s,
                                  double at_ms, uint32_t request,
                                  uint32_t group, uint64_t key)
{
    const struct msim_demand_stage *st = &l->load->stages[s];
    const struct msim_stage *def = &l->load->app->stages[s];
    const struct msim_latency_request *q = &l->requests[request];
    struct msim_alone_visit *v = msim_vec_add(&l->stages[s].visits, sizeof(*v));
    struct msim_random r = stream_of(key, OF_SERVICE);
    int32_t level = l->load->app->classes[q->cls].priority;

    if (!v)
        return MSIM_ENOMEM;
    *v = (struct msim_alone_visit){.at_ms = at_ms,
                                   .factor = (float)def->class_factor[q->cls],
                                   .request = request,
                                   .group = group,
                                   .key = key};
    if (l->load->n_bins > 1 && def->size_power != 0)
        v->factor *= (float)pow(q->size, def->size_power);
    if (st->n_base)
        v->base_ms = st->base[(uint32_t)(msim_random_unit(&r) * st->n_base)];
    v->level = level < 0                    ? 0
               : level >= MSIM_ALONE_LEVELS ? MSIM_ALONE_LEVELS - 1
                                            : (uint32_t)level;
    return MSIM_OK;
}

enum msim_status msim_latency_begin(struct msim_latency_sum *l)
{
    for (uint32_t s = 0; s < l->load->app->n_stages; s++)
        l->stages[s].visits.n = l->stages[s].edge_of_group.n = 0;
    for (uint32_t i = 0; i < l->n_requests; i++)
        MSIM_TRY(add_visit(l, l->load->app->start, l->requests[i].at_ms, i,
                           MSIM_NONE, msim_random_scramble(i + 1)));
    return MSIM_OK;
}

/* A time from masses that are summed up already. */
static double draw_time(const struct msim_latency_sum *l, const double *below,
                        double u)
{
    uint32_t low = 0, high = l->grid.n;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (below[middle] < u)
            low = middle + 1;
        else
            high = middle;
    }
    return low * l->grid.step;
}

static double draw_visit(const struct msim_latency_sum *l, uint32_t s,
                         uint32_t cls, uint32_t bin, double u)
{
    const double *x = msim_latency_at(l, l->stages[s].visit, cls, bin);

    for (uint32_t i = 0; i < l->grid.n; i++) {
        u -= x[i];
        if (u <= 0)
            return i * l->grid.step;
    }
    return l->grid.n * l->grid.step;
}

/* The time of step `step` of visits of `s`. */
static double draw_step(const struct msim_latency_sum *l, uint32_t s,
                        uint32_t step, const struct msim_latency_request *q,
                        struct msim_random *r)
{
    size_t pairs = (size_t)l->load->app->n_classes * l->load->n_bins;
    double *steps = l->stages[s].steps + step * pairs * l->grid.n;

    return draw_time(l, msim_latency_at(l, steps, q->cls, q->bin),
                     msim_random_unit(r));
}

/* ---- what a visit calls for ---------------------------------------------- */

struct caller {
    struct msim_latency_sum *l;
    const struct msim_alone_visit *visit;
    const struct msim_latency_request *request;
    struct msim_random r;
    uint64_t calls; /* so far */
};

static enum msim_status send_one(struct caller *c,
                                 const struct msim_flow_edge *e, double at_ms,
                                 uint32_t group)
{
    uint64_t key = msim_random_scramble(
        c->visit->key + ++c->calls * UINT64_C(0x9e3779b97f4a7c15));

    MSIM_TRY(add_visit(c->l, e->to, at_ms, c->visit->request, group, key));
    for (int64_t i = 0; e->timeout_ms > 0 && i < e->retries; i++) {
        double ms = draw_visit(c->l, e->to, c->request->cls, c->request->bin,
                               msim_random_unit(&c->r));

        if (ms <= e->timeout_ms)
            break;
        at_ms += e->timeout_ms;
        MSIM_TRY(add_visit(c->l, e->to, at_ms, c->visit->request, MSIM_NONE,
                           msim_random_scramble(key + (uint64_t)i + 1)));
    }
    return MSIM_OK;
}

static enum msim_status send_loop(struct caller *c,
                                  const struct msim_flow_edge *e, double at_ms,
                                  uint32_t group)
{
    MSIM_TRY(send_one(c, e, at_ms, group));
    for (int64_t i = 1; e->again > 0 && i < e->most; i++) {
        if (msim_random_unit(&c->r) >= e->again)
            break;
        at_ms += draw_visit(c->l, e->to, c->request->cls, c->request->bin,
                            msim_random_unit(&c->r));
        MSIM_TRY(send_one(c, e, at_ms, MSIM_NONE));
    }
    return MSIM_OK;
}

static uint32_t draw_copies(const struct msim_flow_edge *e,
                            struct msim_random *r)
{
    uint32_t n = 1;

    if (!e->copies_geometric)
        return (uint32_t)e->copies;
    while (n < COPIES_MOST && msim_random_unit(r) > 1 / e->copies)
        n++;
    return n;
}

static enum msim_status send_edge(struct caller *c,
                                  const struct msim_flow_edge *e, double at_ms)
{
    const struct msim_app *app = c->l->load->app;
    struct msim_vec *groups = &c->l->stages[e->to].edge_of_group;
    uint32_t group = MSIM_NONE, copies;

    if (!msim_flow_edge_takes(e, c->request->cls) ||
        (e->prob < 1 && msim_random_unit(&c->r) >= e->prob))
        return MSIM_OK;
    at_ms += msim_dist_draw(&app->stages[e->to].network_ms, &c->r);
    copies = draw_copies(e, &c->r);
    if (copies > 1 && !e->copies_geometric) {
        uint32_t *edge = msim_vec_add(groups, sizeof(*edge));

        if (!edge)
            return MSIM_ENOMEM;
        *edge = (uint32_t)(e - app->edges);
        group = groups->n - 1;
    }
    for (uint32_t i = 0; i < copies; i++)
        MSIM_TRY(send_loop(c, e, at_ms, group));
    return MSIM_OK;
}

static enum msim_status send_visit(struct msim_latency_sum *l, uint32_t s,
                                   const struct msim_alone_visit *v)
{
    struct caller c = {.l = l,
                       .visit = v,
                       .request = &l->requests[v->request],
                       .r = stream_of(v->key, OF_FLOW)};
    struct msim_random steps = stream_of(v->key, OF_REST);
    double at_ms = v->at_ms + v->wait_ms + v->service_ms;
    uint32_t n, number = 0;
    const struct msim_flow_edge *e = msim_app_edges_of(l->load->app, s, &n);

    for (uint32_t i = 0; i < n; i++) {
        if (i && e[i].step != e[i - 1].step)
            at_ms += draw_step(l, s, number++, c.request, &steps);
        MSIM_TRY(send_edge(&c, &e[i], at_ms));
    }
    return MSIM_OK;
}

enum msim_status msim_latency_send(struct msim_latency_sum *l, uint32_t s)
{
    for (uint32_t i = 0; i < l->stages[s].visits.n; i++)
        MSIM_TRY(send_visit(l, s, &visits_of(l, s)[i]));
    return MSIM_OK;
}

/* ---- the stage alone ----------------------------------------------------- */

static bool is_earlier(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_alone_visit *v = ctx;

    return v[a].at_ms < v[b].at_ms;
}

enum msim_status msim_latency_sort(struct msim_latency_sum *l, uint32_t s)
{
    return msim_sort_rows(l->stages[s].visits.data, l->stages[s].visits.n,
                          sizeof(struct msim_alone_visit), is_earlier,
                          l->stages[s].visits.data);
}

/* What workers are held on top of the service. */
static void draw_rests(struct msim_latency_sum *l, uint32_t s)
{
    struct msim_latency_stage *st = &l->stages[s];

    if (l->load->app->stages[s].call != MSIM_CALL_RPC || !st->n_steps)
        return;
    for (uint32_t i = 0; i < st->visits.n; i++) {
        struct msim_alone_visit *v = &visits_of(l, s)[i];
        struct msim_random r = stream_of(v->key, OF_REST);

        v->rest_ms = 0;
        for (uint32_t step = 0; step < st->n_steps; step++)
            v->rest_ms += draw_step(l, s, step, &l->requests[v->request], &r);
    }
}

static bool is_measured(const struct msim_latency_sum *l,
                        const struct msim_alone_visit *v)
{
    return v->request >= WARMUP * l->n_requests;
}

/* Are all classes of one priority? Then they wait alike. */
static bool is_level(const struct msim_app *app)
{
    for (uint32_t k = 1; k < app->n_classes; k++)
        if (app->classes[k].priority != app->classes[0].priority)
            return false;
    return true;
}

static void scale(double *x, uint32_t n)
{
    double sum = x[n]; /* what is beyond */

    for (uint32_t i = 0; i < n; i++)
        sum += x[i];
    if (sum > 0)
        for (uint32_t i = 0; i < n; i++)
            x[i] /= sum;
    else
        x[0] = 1;
}

/* Distributions of waits, by class, through `x` of n + 1. */
static void take_waits(struct msim_latency_sum *l, uint32_t s, double *x)
{
    const struct msim_app *app = l->load->app;
    bool level = is_level(app);
    uint32_t n = l->grid.n, measured = 0;
    double horizon = n * l->grid.step, sum = 0;

    for (uint32_t k = 0; k < app->n_classes; k++) {
        memset(x, 0, (n + 1) * sizeof(*x));
        for (uint32_t i = 0; i < l->stages[s].visits.n; i++) {
            struct msim_alone_visit *v = &visits_of(l, s)[i];

            if (!is_measured(l, v) ||
                (!level && l->requests[v->request].cls != k))
                continue;
            sum += v->wait_ms;
            measured++;
            if (v->wait_ms < horizon)
                msim_pmf_put(&l->grid, &v->wait_ms, 1, 1, 1, x);
            else
                x[n]++;
        }
        scale(x, n);
        memcpy(l->stages[s].wait + (size_t)k * n, x, n * sizeof(*x));
    }
    l->stages[s].wait_ms = measured ? sum / measured : 0;
}

/* Copies of one call. */
struct copies {
    double longest;    /* wait */
    double last_start; /* of a service */
    uint32_t apart;    /* services that they are in */
};

static void note_copies(struct msim_latency_sum *l, uint32_t s,
                        struct copies *c)
{
    for (uint32_t i = 0; i < l->stages[s].visits.n; i++) {
        struct msim_alone_visit *v = &visits_of(l, s)[i];
        double start = v->at_ms + v->wait_ms;
        struct copies *g;

        if (v->group == MSIM_NONE)
            continue;
        g = &c[v->group];
        g->longest = fmax(g->longest, v->wait_ms);
        g->apart +=
            !g->apart || start != g->last_start || l->load->stages[s].most < 2;
        g->last_start = start;
    }
}

/* The groups of edge `e` among `n`, into its distribution, through `x`. */
static void take_edge(struct msim_latency_sum *l, uint32_t e,
                      const uint32_t *edge, const struct copies *c, uint32_t n,
                      double *x)
{
    uint32_t cells = l->grid.n, seen = 0, apart = 0;

    memset(x, 0, (cells + 1) * sizeof(*x));
    for (uint32_t g = n / 20; g < n; g++) {
        if (edge[g] != e)
            continue;
        seen++;
        apart += c[g].apart;
        if (c[g].longest < cells * l->grid.step)
            msim_pmf_put(&l->grid, &c[g].longest, 1, 1, 1, x);
        else
            x[cells]++;
    }
    scale(x, cells);
    if (seen)
        l->apart[e] = (double)apart / seen;
    for (uint32_t k = 0; k < l->load->app->n_classes; k++)
        memcpy(l->group + ((size_t)e * l->load->app->n_classes + k) * cells, x,
               cells * sizeof(*x));
}

/* The longest wait of each group of copies. */
static enum msim_status take_groups(struct msim_latency_sum *l, uint32_t s,
                                    double *x)
{
    const struct msim_app *app = l->load->app;
    const struct msim_vec *groups = &l->stages[s].edge_of_group;
    struct copies *c = calloc(groups->n + 1, sizeof(*c));

    if (!c)
        return MSIM_ENOMEM;
    note_copies(l, s, c);
    for (uint32_t e = 0; e < app->n_edges; e++)
        if (app->edges[e].to == s && app->edges[e].copies > 1 &&
            !app->edges[e].copies_geometric)
            take_edge(l, e, groups->data, c, groups->n, x);
    free(c);
    return MSIM_OK;
}

/*
 * Services of a stage with batches: a visit takes its batch's law and its
 * largest size; those factors come from the simulation, for each bin.
 */
static void take_batches(struct msim_latency_sum *l, uint32_t s, uint32_t cls,
                         uint32_t bin)
{
    const struct msim_demand_stage *st = &l->load->stages[s];
    double factors[BATCH_KINDS], *out;
    uint32_t seen = 0, n = 0;
    struct msim_random r = msim_random_of(1, 4, s);

    /* A sample of the factors (reservoir; Vitter 1985, algorithm R). The base
     * is that of one visit of the batch, so the ratio has it out. */
    for (uint32_t i = 0; i < l->stages[s].visits.n; i++) {
        struct msim_alone_visit *v = &visits_of(l, s)[i];
        const struct msim_latency_request *q = &l->requests[v->request];
        uint32_t at;

        if (q->cls != cls || q->bin != bin || !is_measured(l, v))
            continue;
        at = seen < BATCH_KINDS ? seen
                                : (uint32_t)(msim_random_unit(&r) * (seen + 1));
        seen++;
        if (at < BATCH_KINDS)
            factors[at] = v->batch_factor;
    }
    n = seen < BATCH_KINDS ? seen : BATCH_KINDS;
    if (!n)
        return;
    out = msim_latency_at(l, l->stages[s].service, cls, bin);
    memset(out, 0, l->grid.n * sizeof(*out));
    for (uint32_t i = 0; i < n; i++)
        msim_pmf_put(&l->grid, st->base, st->n_base, factors[i],
                     1.0 / n / st->n_base, out);
}

enum msim_status msim_latency_simulate(struct msim_latency_sum *l, uint32_t s)
{
    struct msim_latency_stage *st = &l->stages[s];
    struct msim_alone_stage alone = {.def = &l->load->app->stages[s],
                                     .law = l->load->stages[s].law,
                                     .most = l->load->stages[s].most,
                                     .replicas = l->replicas[s]};
    double *x = l->grid.work; /* no sum is made meanwhile */

    if (!st->visits.n)
        return MSIM_OK;
    draw_rests(l, s);
    MSIM_TRY(msim_alone_run(&alone, st->visits.data, st->visits.n));
    take_waits(l, s, x);
    if (st->edge_of_group.n)
        MSIM_TRY(take_groups(l, s, x));
    for (uint32_t k = 0; alone.most > 1 && k < l->load->app->n_classes; k++)
        for (uint32_t b = 0; b < l->load->n_bins; b++)
            take_batches(l, s, k, b);
    return MSIM_OK;
}
