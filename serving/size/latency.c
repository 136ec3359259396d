/* serving/size/latency.c - passes over the stages, and trials. */
#include "serving/size/size_plan_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELLS   1024
#define WAITED  2e-4 /* of the horizon */
#define HORIZON 2.0  /* over the longest limit */

/* ---- room ---------------------------------------------------------------- */

static double longest_limit(const struct msim_app *app)
{
    double ms = 0;

    for (uint32_t i = 0; i < app->n_promises; i++)
        ms = fmax(ms, app->promises[i].limit_ms);
    return ms;
}

static uint32_t count_steps(const struct msim_app *app, uint32_t s)
{
    uint32_t n, steps = 0;
    const struct msim_flow_edge *e = msim_app_edges_of(app, s, &n);

    for (uint32_t i = 0; i < n; i++)
        steps += !i || e[i].step != e[i - 1].step;
    return steps;
}

static enum msim_status init_stage(struct msim_latency_sum *l, uint32_t s)
{
    struct msim_latency_stage *st = &l->stages[s];
    size_t classes = l->load->app->n_classes, n = l->grid.n;
    size_t pairs = classes * l->load->n_bins;

    st->n_steps = count_steps(l->load->app, s);
    st->n_numbers = (classes + (3 + st->n_steps) * pairs) * n;
    st->numbers = calloc(st->n_numbers, sizeof(double));
    if (!st->numbers)
        return MSIM_ENOMEM;
    st->wait = st->numbers;
    st->service = st->wait + classes * n;
    st->served = st->service + pairs * n;
    st->visit = st->served + pairs * n;
    st->steps = st->visit + pairs * n;
    for (uint32_t k = 0; k < classes; k++)
        st->wait[k * n] = 1;
    msim_latency_services(l, s);
    return MSIM_OK;
}

/* Groups of copies that were never seen wait for nothing. */
static enum msim_status init_groups(struct msim_latency_sum *l)
{
    size_t n = (size_t)l->load->app->n_edges * l->load->app->n_classes;

    l->group = calloc(n * l->grid.n + 1, sizeof(double));
    l->apart = calloc(l->load->app->n_edges + 1, sizeof(double));
    if (!l->group || !l->apart)
        return MSIM_ENOMEM;
    for (uint32_t e = 0; e < l->load->app->n_edges; e++)
        l->apart[e] = l->load->app->edges[e].copies;
    for (size_t i = 0; i < n; i++)
        l->group[i * l->grid.n] = 1;
    return MSIM_OK;
}

static double late_of(const struct msim_latency_sum *l, void *ctx)
{
    (void)ctx;
    return msim_latency_late(l);
}

enum msim_status msim_latency_init(struct msim_latency_sum *l,
                                   const struct msim_stage_demand *load,
                                   uint32_t n_requests, uint64_t seed,
                                   struct msim_error *err)
{
    uint32_t stages = load->app->n_stages;

    *l = (struct msim_latency_sum){
        .load = load, .n_requests = n_requests, .measure = late_of};
    MSIM_TRY(msim_pmf_grid_init(&l->grid, HORIZON * longest_limit(load->app),
                                CELLS));
    l->replicas = calloc(stages, sizeof(*l->replicas));
    l->stages = calloc(stages, sizeof(*l->stages));
    l->scratch = calloc(4 * (size_t)CELLS, sizeof(double));
    l->requests = calloc(n_requests, sizeof(*l->requests));
    if (!l->replicas || !l->stages || !l->scratch || !l->requests)
        return MSIM_ENOMEM;
    MSIM_TRY(init_groups(l));
    for (uint32_t s = 0; s < stages; s++)
        MSIM_TRY(init_stage(l, s));
    MSIM_TRY(msim_latency_arrivals(l, seed, err));
    for (uint32_t i = stages; i-- > 0;)
        MSIM_TRY(msim_latency_compose(l, load->order[i]));
    return MSIM_OK;
}

void msim_latency_release(struct msim_latency_sum *l)
{
    for (uint32_t s = 0; l->stages && s < l->load->app->n_stages; s++) {
        free(l->stages[s].numbers);
        free(l->stages[s].visits.data);
        free(l->stages[s].edge_of_group.data);
    }
    free(l->replicas);
    free(l->stages);
    free(l->scratch);
    free(l->requests);
    free(l->group);
    free(l->apart);
    free(l->kept);
    msim_pmf_grid_release(&l->grid);
    *l = (struct msim_latency_sum){0};
}

/* ---- passes -------------------------------------------------------------- */

enum msim_status msim_latency_pass(struct msim_latency_sum *l)
{
    uint32_t n = l->load->app->n_stages;
    const uint32_t *order = l->load->order;

    MSIM_TRY(msim_latency_begin(l));
    for (uint32_t i = 0; i < n; i++) {
        MSIM_TRY(msim_latency_sort(l, order[i]));
        MSIM_TRY(msim_latency_simulate(l, order[i]));
        MSIM_TRY(msim_latency_send(l, order[i]));
    }
    for (uint32_t i = n; i-- > 0;) {
        if (l->load->app->stages[order[i]].call == MSIM_CALL_RPC)
            MSIM_TRY(msim_latency_simulate(l, order[i]));
        MSIM_TRY(msim_latency_compose(l, order[i]));
    }
    return MSIM_OK;
}

/* Does a change of `s` reach the callers `above`? Marks them. */
static void mark_callers(const struct msim_stage_demand *load, uint32_t s,
                         bool *mark)
{
    const struct msim_app *app = load->app;

    mark[s] = true;
    for (uint32_t i = app->n_stages; i-- > 0;) {
        uint32_t n, at = load->order[i];
        const struct msim_flow_edge *e = msim_app_edges_of(app, at, &n);

        for (uint32_t k = 0; k < n; k++)
            mark[at] = mark[at] || mark[e[k].to];
    }
}

static double *swap(double *kept, double *now, size_t n, bool back)
{
    memcpy(back ? now : kept, back ? kept : now, n * sizeof(double));
    return kept + n;
}

/* What is marked, into `kept` or (`back`) out of it. */
static enum msim_status keep(struct msim_latency_sum *l, const bool *mark,
                             bool back)
{
    const struct msim_app *app = l->load->app;
    size_t n_group = (size_t)app->n_edges * app->n_classes * l->grid.n;
    size_t need = n_group + app->n_edges + app->n_stages;
    double *at;

    for (uint32_t s = 0; s < app->n_stages; s++)
        need += mark[s] ? l->stages[s].n_numbers : 0;
    if (need > l->n_kept) {
        double *more = realloc(l->kept, need * sizeof(*more));

        if (!more)
            return MSIM_ENOMEM;
        l->kept = more;
        l->n_kept = need;
    }
    at = swap(l->kept, l->group, n_group, back);
    at = swap(at, l->apart, app->n_edges, back);
    for (uint32_t s = 0; s < app->n_stages; s++) {
        at = swap(at, &l->stages[s].wait_ms, 1, back);
        if (mark[s])
            at = swap(at, l->stages[s].numbers, l->stages[s].n_numbers, back);
    }
    return MSIM_OK;
}

/* A queue in which requests spend next to no time is not simulated again for a
 * trial: it will not begin with one replica more or less below it. */
static bool is_waited_for(const struct msim_latency_sum *l, uint32_t s)
{
    return l->stages[s].wait_ms * l->load->stages[s].visits >
           WAITED * l->grid.n * l->grid.step;
}

static enum msim_status redo(struct msim_latency_sum *l, uint32_t s,
                             const bool *mark)
{
    for (uint32_t i = l->load->app->n_stages; i-- > 0;) {
        uint32_t at = l->load->order[i];

        if (!mark[at])
            continue;
        if (at == s || (l->load->app->stages[at].call == MSIM_CALL_RPC &&
                        is_waited_for(l, at)))
            MSIM_TRY(msim_latency_simulate(l, at));
        MSIM_TRY(msim_latency_compose(l, at));
    }
    return MSIM_OK;
}

enum msim_status msim_latency_try(struct msim_latency_sum *l, uint32_t s,
                                  int64_t replicas, bool stays, double *late)
{
    bool *mark = calloc(l->load->app->n_stages, sizeof(*mark));
    int64_t before = l->replicas[s];
    enum msim_status status = MSIM_OK;

    if (!mark)
        return MSIM_ENOMEM;
    mark_callers(l->load, s, mark);
    if (!stays)
        status = keep(l, mark, false);
    l->replicas[s] = replicas;
    if (status == MSIM_OK)
        status = redo(l, s, mark);
    if (status == MSIM_OK)
        *late = l->measure(l, l->ctx);
    if (!stays && status == MSIM_OK) {
        l->replicas[s] = before;
        status = keep(l, mark, true);
    }
    free(mark);
    return status;
}

/* ---- answers ------------------------------------------------------------- */

double msim_latency_above(const struct msim_latency_sum *l, uint32_t cls,
                          double limit_ms)
{
    const struct msim_latency_stage *st = &l->stages[l->load->app->start];
    double late = 0;

    for (uint32_t b = 0; b < l->load->n_bins; b++)
        late += l->load->weight[b] *
                msim_pmf_above(&l->grid, msim_latency_at(l, st->visit, cls, b),
                               limit_ms);
    return late;
}

double msim_latency_late(const struct msim_latency_sum *l)
{
    const struct msim_app *app = l->load->app;
    double worst = 0;

    for (uint32_t i = 0; i < app->n_promises; i++) {
        const struct msim_promise *p = &app->promises[i];

        for (uint32_t k = 0; k < app->n_classes; k++)
            if (p->cls == k || p->cls == MSIM_CLASS_ALL)
                worst = fmax(worst, msim_latency_above(l, k, p->limit_ms) /
                                        (1 - p->percentile / 100));
    }
    return worst;
}

double msim_latency_quantile(struct msim_latency_sum *l, uint32_t cls, double p)
{
    const struct msim_latency_stage *st = &l->stages[l->load->app->start];
    double *x = l->scratch;

    memset(x, 0, l->grid.n * sizeof(*x));
    for (uint32_t b = 0; b < l->load->n_bins; b++)
        for (uint32_t i = 0; i < l->grid.n; i++)
            x[i] +=
                l->load->weight[b] * msim_latency_at(l, st->visit, cls, b)[i];
    return msim_pmf_quantile(&l->grid, x, p);
}
