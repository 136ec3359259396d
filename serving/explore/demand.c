/* serving/explore/demand.c - flows and services as numbers. */
#include "serving/explore/explore.h"

#include "core/base/quantile.h"
#include "serving/app/arrivals.h"

#include <string.h>

#define SAMPLES    2000 /* of a service, at its quantiles */
#define DRAWS      40000
#define SIZE_DRAWS 40000

/* Where bins of sizes end: the late requests are among the largest. */
static const double BIN_END[MSIM_SIZE_BINS] = {0.25, 0.5,  0.7,   0.82,  0.9,
                                               0.95, 0.98, 0.992, 0.997, 1};

/* ---- visits -------------------------------------------------------------- */

/* Callers first; the flow has no circles. */
static enum msim_status sort_stages(struct msim_stage_demand *l)
{
    const struct msim_app *app = l->app;
    uint32_t *callers =
        msim_arena_alloc(&l->arena, app->n_stages * sizeof(uint32_t));
    uint32_t n = 0;

    l->order = msim_arena_alloc(&l->arena, app->n_stages * sizeof(uint32_t));
    if (!callers || !l->order)
        return MSIM_ENOMEM;
    for (uint32_t e = 0; e < app->n_edges; e++)
        callers[app->edges[e].to]++;
    for (uint32_t s = 0; s < app->n_stages; s++)
        if (!callers[s])
            l->order[n++] = s;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t m;
        const struct msim_flow_edge *e =
            msim_app_edges_of(app, l->order[i], &m);

        for (uint32_t k = 0; k < m; k++)
            if (!--callers[e[k].to])
                l->order[n++] = e[k].to;
    }
    return n == app->n_stages ? MSIM_OK : MSIM_ECYCLE;
}

/* Calls that one visit makes that way. */
static double calls_of(const struct msim_flow_edge *e)
{
    double loops = 1, chance = 1;

    for (int64_t i = 1; e->again > 0 && i < e->most; i++) {
        chance *= e->again;
        loops += chance;
    }
    return e->prob * e->copies * loops;
}

static void count_visits(struct msim_stage_demand *l, uint32_t cls)
{
    const struct msim_app *app = l->app;
    double *visits = l->visits + (size_t)cls * app->n_stages;

    visits[app->start] = 1;
    for (uint32_t i = 0; i < app->n_stages; i++) {
        uint32_t n;
        const struct msim_flow_edge *e =
            msim_app_edges_of(app, l->order[i], &n);

        for (uint32_t k = 0; k < n; k++)
            if (msim_flow_edge_takes(&e[k], cls))
                visits[e[k].to] += visits[l->order[i]] * calls_of(&e[k]);
    }
    for (uint32_t s = 0; s < app->n_stages; s++)
        l->stages[s].visits += app->classes[cls].share * visits[s];
}

enum msim_status msim_demand_visits(struct msim_stage_demand *l,
                                    const struct msim_app *app, double rate)
{
    size_t n = (size_t)app->n_classes * app->n_stages;

    *l = (struct msim_stage_demand){.app = app, .rate = rate, .n_bins = 1};
    msim_arena_init(&l->arena);
    l->weight[0] = 1;
    l->upper[0] = INFINITY;
    l->visits = msim_arena_alloc(&l->arena, n * sizeof(double));
    l->stages = msim_arena_alloc(&l->arena, app->n_stages * sizeof(*l->stages));
    if (!l->visits || !l->stages)
        return MSIM_ENOMEM;
    MSIM_TRY(sort_stages(l));
    for (uint32_t k = 0; k < app->n_classes; k++)
        count_visits(l, k);
    return MSIM_OK;
}

void msim_demand_release(struct msim_stage_demand *l)
{
    msim_arena_release(&l->arena);
}

/* ---- sizes --------------------------------------------------------------- */

static bool sizes_matter(const struct msim_app *app)
{
    for (uint32_t s = 0; s < app->n_stages; s++)
        if (app->stages[s].size_power != 0)
            return true;
    return false;
}

/* Mean of size^power within each bin, of `n` sorted sizes. */
static void size_factors(const struct msim_stage_demand *l, double *factor,
                         const double *sizes, uint32_t n, double power)
{
    for (uint32_t b = 0, i = 0; b < l->n_bins; b++) {
        uint32_t end = (uint32_t)(BIN_END[b] * n + 0.5), from = i;
        double sum = 0;

        for (; i < end; i++)
            sum += pow(sizes[i], power);
        factor[b] = end > from ? sum / (end - from) : 1;
    }
}

/* Sizes of the first requests that arrive, ascending; `*n` of them. */
static enum msim_status draw_sizes(const struct msim_stage_demand *l,
                                   double *sizes, uint32_t *n,
                                   struct msim_error *err)
{
    const struct msim_arrival_how how = {.seed = 1, .rate = l->rate};
    struct msim_arrival_source *source;
    struct msim_arrival a;

    MSIM_TRY(msim_arrival_source_new(&source, l->app, &how, err));
    for (*n = 0; *n < SIZE_DRAWS && msim_arrival_source_next(source, &a); ++*n)
        sizes[*n] = a.size;
    msim_arrival_source_free(source);
    msim_sort_values(sizes, *n);
    return MSIM_OK;
}

static void cut(struct msim_stage_demand *l, const double *sizes, uint32_t n)
{
    l->n_bins = MSIM_SIZE_BINS;
    for (uint32_t b = 0; b < l->n_bins; b++) {
        l->weight[b] = BIN_END[b] - (b ? BIN_END[b - 1] : 0);
        l->upper[b] =
            b + 1 < l->n_bins ? sizes[(uint32_t)(BIN_END[b] * n)] : INFINITY;
    }
    for (uint32_t s = 0; s < l->app->n_stages; s++)
        size_factors(l, l->stages[s].size, sizes, n,
                     l->app->stages[s].size_power);
}

static enum msim_status cut_sizes(struct msim_stage_demand *l,
                                  struct msim_error *err)
{
    enum msim_status status;
    double *sizes;
    uint32_t n;

    for (uint32_t s = 0; s < l->app->n_stages; s++)
        l->stages[s].size[0] = 1;
    if (!sizes_matter(l->app))
        return MSIM_OK;
    sizes = malloc(SIZE_DRAWS * sizeof(*sizes));
    if (!sizes)
        return MSIM_ENOMEM;
    status = draw_sizes(l, sizes, &n, err);
    if (status == MSIM_OK && n > 1 && sizes[0] < sizes[n - 1])
        cut(l, sizes, n);
    free(sizes);
    return status;
}

/* ---- services ------------------------------------------------------------ */

double msim_demand_law(const struct msim_dyn_batching *b, double n)
{
    uint32_t i = 0;
    double x0, x1, share;

    if (!b->n_law)
        return 1;
    if (b->n_law == 1)
        return b->law[0].factor;
    while (i + 2 < b->n_law && b->law[i + 1].batch < n)
        i++;
    x0 = b->law[i].batch;
    x1 = b->law[i + 1].batch;
    share = (n - x0) / (x1 - x0);
    return b->law[i].factor + share * (b->law[i + 1].factor - b->law[i].factor);
}

/* Many draws, and of these what stands at even quantiles. */
static enum msim_status draw_base(struct msim_stage_demand *l, uint32_t s)
{
    const struct msim_dist *d = &l->app->stages[s].service;
    struct msim_demand_stage *out = &l->stages[s];
    struct msim_random r = msim_random_of(1, 2, s);
    bool all = d->kind == MSIM_DIST_SAMPLES && d->n <= DRAWS;
    uint32_t n = all ? d->n : DRAWS;
    double *draws = malloc(n * sizeof(*draws));

    out->n_base = n < SAMPLES ? n : SAMPLES;
    out->base = msim_arena_alloc(&l->arena, out->n_base * sizeof(*out->base));
    if (!draws || !out->base) {
        free(draws);
        return MSIM_ENOMEM;
    }
    for (uint32_t i = 0; i < n; i++)
        draws[i] = all ? d->x[i] : msim_dist_draw(d, &r);
    msim_sort_values(draws, n);
    for (uint32_t i = 0; i < out->n_base; i++)
        out->base[i] = draws[(uint32_t)((i + 0.5) * n / out->n_base)];
    for (uint32_t i = 0; i < n; i++)
        out->mean += draws[i] / n;
    free(draws);
    return MSIM_OK;
}

static enum msim_status take_stage(struct msim_stage_demand *l, uint32_t s,
                                   struct msim_error *err)
{
    const struct msim_stage *st = &l->app->stages[s];
    struct msim_demand_stage *out = &l->stages[s];

    out->most = st->batching.on ? (uint32_t)st->batching.max_batch : 1;
    out->law = msim_arena_alloc(&l->arena, out->most * sizeof(double));
    if (!out->law)
        return MSIM_ENOMEM;
    for (uint32_t n = 0; n < out->most; n++)
        out->law[n] = msim_demand_law(&st->batching, n + 1);
    if (!(out->visits > 0))
        return MSIM_OK;
    if (st->service.kind == MSIM_DIST_NONE)
        return msim_fail(err, MSIM_EFORMAT, l->app->path, MSIM_OFFSET_NONE,
                         "stages.%s has no service, want one, or --explore or "
                         "--tables to learn it from",
                         st->name);
    return draw_base(l, s);
}

enum msim_status msim_demand_init(struct msim_stage_demand *l,
                                  const struct msim_app *app, double rate,
                                  struct msim_error *err)
{
    MSIM_TRY(msim_demand_visits(l, app, rate));
    for (uint32_t s = 0; s < app->n_stages; s++)
        MSIM_TRY(take_stage(l, s, err));
    return cut_sizes(l, err);
}

double msim_demand_offered(const struct msim_stage_demand *l, uint32_t s)
{
    const struct msim_app *app = l->app;
    const struct msim_demand_stage *st = &l->stages[s];
    double visits = 0, size = 0;

    for (uint32_t k = 0; k < app->n_classes; k++)
        visits += app->classes[k].share * app->stages[s].class_factor[k] *
                  l->visits[(size_t)k * app->n_stages + s];
    for (uint32_t b = 0; b < l->n_bins; b++)
        size += l->weight[b] * st->size[b];
    return l->rate * visits * st->mean * size / 1e3 * st->law[st->most - 1] /
           st->most;
}
