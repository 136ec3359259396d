/*
 * serving/size/union.c - a plan by percentiles of queues, whatever queues have
 * in common.
 *
 * Percentiles are added, as in Ursa: of two queues, and of ten, the sum of
 * their 99th percentiles is what a request waits where all are long at once.
 * That they are is the worst they can have in common: of all variables with
 * given distributions the sum is largest in convex order where all stand at the
 * same percentile u (Dhaene et al. 2002, "The concept of comonotonicity in
 * actuarial science and finance: theory", Insurance: Mathematics and Economics
 * 31). So a request that takes S without any queue is late with at most the
 * chance
 *
 *     mean over u of P(S > limit - W(u)),   W(u) = sum of stage percentiles
 *
 * as long as the tail of S is convex there, which it is beyond its mode. W(u)
 * goes along the flow: calls in series add, of calls side by side the longest
 * counts, since max(a + v, b + w) <= max(a, b) + max(v, w); of n copies any may
 * be the late one, so they have the percentile 1 - (1 - u) / n; a loop is run
 * through so often that more are rare.
 *
 * Services are not taken for that bad: they were explored stage by stage, and
 * what they have in common is the size of the request. S is their sum and join
 * as distributions, for each size, as of a request that never waits.
 */
#include "serving/size/size_plan_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS      100 /* of u */
#define LEVEL_RATIO 0.9 /* of 1 - u from one to the next */
#define MOST_HELD   0.3 /* of workers, at first; half as many, while that */
#define LEAST_HELD  0.01
#define HELPS       0.98 /* ... leaves so much fewer late */
#define LOOP_UNIT                                                              \
    0.02 /* share of what the promise leaves that a loop takes                 \
          */

/* The bound of one class. */
struct bound {
    struct msim_latency_sum *l;
    struct msim_latency_sum quiet; /* nobody waits; owned */
    uint32_t cls;
    double allowed; /* chance to be late */
    double *below;  /* [stage][cell]: chance to wait no longer */
    double *copies; /* [stage]: of a visit, at once */
    double *ms;     /* [stage]: its percentile of waits */
    double *path;   /* [stage]: with its calls */
};

struct msim_sizing_union {
    double *numbers; /* owned */
    struct bound bound;
    enum msim_status status; /* of the last measure */
    double worst;            /* over promises: late over allowed */
    uint32_t worst_cls, worst_promise;
};

static double visits_of(const struct bound *b, uint32_t s)
{
    return b->l->load->visits[(size_t)b->cls * b->l->load->app->n_stages + s];
}

/* ---- waits --------------------------------------------------------------- */

static void take_waits(struct bound *b, uint32_t s)
{
    uint32_t n = b->l->grid.n;
    const double *wait = b->l->stages[s].wait + (size_t)b->cls * n;
    double *out = b->below + (size_t)s * n, sum = 0;

    for (uint32_t i = 0; i < n; i++)
        out[i] = sum += wait[i];
}

/* What is waited longer with the chance `tail`. */
static double wait_at(const struct bound *b, uint32_t s, double tail)
{
    const double *below = b->below + (size_t)s * b->l->grid.n;
    uint32_t low = 0, high = b->l->grid.n;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (below[middle] < 1 - tail)
            low = middle + 1;
        else
            high = middle;
    }
    return low * b->l->grid.step;
}

static void count_copies(struct bound *b)
{
    const struct msim_stage_demand *load = b->l->load;
    const struct msim_app *app = load->app;

    memset(b->copies, 0, app->n_stages * sizeof(*b->copies));
    b->copies[app->start] = 1;
    for (uint32_t i = 0; i < app->n_stages; i++) {
        uint32_t n, s = load->order[i];
        const struct msim_flow_edge *e = msim_app_edges_of(app, s, &n);

        for (uint32_t k = 0; k < n; k++)
            if (msim_flow_edge_takes(&e[k], b->cls))
                b->copies[e[k].to] += b->copies[s] * e[k].copies;
    }
}

/* ---- the path ------------------------------------------------------------ */

/* So often is a call made that more are rare. */
static double loops_of(const struct bound *b, const struct msim_flow_edge *e)
{
    double chance = visits_of(b, e->from) * e->prob * e->copies, n = 1;

    while (e->again > 0 && n < (double)e->most &&
           chance * pow(e->again, n) > LOOP_UNIT * b->allowed)
        n++;
    return n;
}

static double path_of(struct bound *b, uint32_t s)
{
    uint32_t n;
    const struct msim_flow_edge *e = msim_app_edges_of(b->l->load->app, s, &n);
    double ms = b->ms[s], step = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (i && e[i].step != e[i - 1].step) {
            ms += step;
            step = 0;
        }
        if (msim_flow_edge_takes(&e[i], b->cls))
            step = fmax(step, loops_of(b, &e[i]) * b->path[e[i].to]);
    }
    return ms + step;
}

/* What a request waits where every queue is at its percentile 1 - `tail`. */
static double path_at(struct bound *b, double tail)
{
    const struct msim_stage_demand *load = b->l->load;

    for (uint32_t i = load->app->n_stages; i-- > 0;) {
        uint32_t s = load->order[i];

        if (!(visits_of(b, s) > 0))
            continue;
        b->ms[s] = wait_at(b, s, tail / fmax(1, b->copies[s]));
        b->path[s] = path_of(b, s);
    }
    return b->path[load->app->start];
}

/* ---- the bound ----------------------------------------------------------- */

/* Batches are as large as the plan lets them be, and their services as long. */
static enum msim_status follow_batches(struct bound *b)
{
    const struct msim_stage_demand *load = b->l->load;
    uint32_t n = load->app->n_stages;
    size_t size = (size_t)load->app->n_classes * load->n_bins * b->l->grid.n *
                  sizeof(double);
    bool changed = false;

    for (uint32_t s = 0; s < n; s++) {
        double *from = b->l->stages[s].service,
               *to = b->quiet.stages[s].service;

        if (load->stages[s].most < 2 || memcmp(from, to, size) == 0)
            continue;
        memcpy(to, from, size);
        changed = true;
    }
    if (!changed)
        return MSIM_OK;
    memcpy(b->quiet.apart, b->l->apart,
           load->app->n_edges * sizeof(*b->l->apart));
    for (uint32_t i = n; i-- > 0;)
        MSIM_TRY(msim_latency_compose(&b->quiet, load->order[i]));
    return MSIM_OK;
}

/* The share of late requests of the class, at most. */
static double late_at_most(struct bound *b, double limit_ms)
{
    double above = 1, late = 0;

    count_copies(b);
    for (uint32_t s = 0; s < b->l->load->app->n_stages; s++)
        if (visits_of(b, s) > 0)
            take_waits(b, s);
    for (int i = 0; i < LEVELS; i++) {
        double tail = above * LEVEL_RATIO;
        double left = limit_ms - path_at(b, tail);

        late += (above - tail) *
                (left > 0 ? msim_latency_above(&b->quiet, b->cls, left) : 1);
        above = tail;
    }
    return late + above;
}

/* The largest share of late requests over what is allowed, of all promises. */
static double measure(const struct msim_latency_sum *l, void *ctx)
{
    struct msim_sizing_union *u = ctx;
    const struct msim_app *app = l->load->app;

    u->worst = 0;
    if (u->status == MSIM_OK)
        u->status = follow_batches(&u->bound);
    for (uint32_t i = 0; i < app->n_promises; i++)
        for (uint32_t k = 0; k < app->n_classes; k++) {
            const struct msim_promise *p = &app->promises[i];
            double ratio;

            if (p->cls != k && p->cls != MSIM_CLASS_ALL)
                continue;
            u->bound.cls = k;
            u->bound.allowed = 1 - p->percentile / 100;
            ratio = late_at_most(&u->bound, p->limit_ms) / u->bound.allowed;
            if (ratio > u->worst) {
                u->worst = ratio;
                u->worst_cls = k;
                u->worst_promise = i;
            }
        }
    return u->worst;
}

/* ---- the plan ------------------------------------------------------------ */

static enum msim_status refuse(struct msim_sizing_union *u,
                               struct msim_error *err)
{
    const struct msim_app *app = u->bound.l->load->app;
    const struct msim_promise *p = &app->promises[u->worst_promise];
    double allowed = 1 - p->percentile / 100, ms;
    uint32_t slow = msim_sizing_slowest(u->bound.l, u->worst_cls, &ms);

    return msim_fail(
        err, MSIM_ECHECK, app->path, MSIM_OFFSET_NONE,
        "the union bound finds no plan: if all queues of class '%s' are long "
        "at once, %.3g %% of its requests are later than %.4g ms, want %.3g "
        "%%, and more replicas gain nothing; %.3g %% are late without any "
        "queue, most of the time in stage '%s' (%.4g ms of service a request); "
        "--method convolution takes queues as independent and may find a plan",
        app->classes[u->worst_cls].name, 100 * u->worst * allowed, p->limit_ms,
        100 * allowed,
        100 * msim_latency_above(&u->bound.quiet, u->worst_cls, p->limit_ms),
        app->stages[slow].name, ms);
}

static enum msim_status init(struct msim_sizing_union *u,
                             struct msim_latency_sum *l, struct msim_error *err)
{
    size_t n = l->load->app->n_stages;

    u->bound = (struct bound){.l = l};
    u->numbers = calloc(n * (l->grid.n + 3), sizeof(double));
    if (!u->numbers)
        return MSIM_ENOMEM;
    u->bound.below = u->numbers;
    u->bound.copies = u->numbers + n * l->grid.n;
    u->bound.ms = u->bound.copies + n;
    u->bound.path = u->bound.ms + n;
    return msim_latency_init(&u->bound.quiet, l->load, 1, 0, err);
}

/* So many replicas that the bound keeps the promises; ECHECK where it does not
 * however many there are. */
static enum msim_status start(struct msim_latency_sum *l,
                              struct msim_sizing_union *u)
{
    double held = MOST_HELD, before = INFINITY;

    for (; held > LEAST_HELD; held /= 2) {
        double ratio;

        MSIM_TRY(msim_sizing_start(l, held));
        MSIM_TRY(msim_latency_pass(l));
        ratio = measure(l, u);
        MSIM_TRY(u->status);
        if (ratio <= 1)
            return MSIM_OK;
        if (ratio > before * HELPS)
            break;
        before = ratio;
    }
    return MSIM_ECHECK;
}

enum msim_status msim_sizing_union_begin(struct msim_sizing_union **out,
                                         struct msim_latency_sum *l,
                                         struct msim_error *err)
{
    struct msim_sizing_union *u = calloc(1, sizeof(*u));
    enum msim_status status;

    *out = u;
    if (!u)
        return MSIM_ENOMEM;
    MSIM_TRY(init(u, l, err));
    l->measure = measure;
    l->ctx = u;
    status = start(l, u);
    return status == MSIM_ECHECK ? refuse(u, err) : status;
}

enum msim_status msim_sizing_union_status(const struct msim_sizing_union *u)
{
    return u->status;
}

void msim_sizing_union_free(struct msim_sizing_union *u)
{
    if (!u)
        return;
    msim_latency_release(&u->bound.quiet);
    free(u->numbers);
    free(u);
}
