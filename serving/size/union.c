/*
 * serving/size/union.c - a plan by percentiles of stages.
 *
 * A visit of stage s takes more than its percentile p(s) with chance 1 - p(s).
 * A request makes v(s) visits, so with chance 1 - sum of v(s) (1 - p(s)) none
 * of them does, whatever they have in common; then it takes no longer than the
 * percentiles in series, and the longest of those side by side. A loop is run
 * through so often that more are rare, too. The sum may be what the promise
 * leaves, 1 - P; which stage gets how much of it is chosen so that the latency
 * is least: unit by unit to the stage that gains most, which is the best for
 * tails that are convex.
 */
#include "serving/size/sizing_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNITS 80   /* the sum is given away in */
#define LEAST 0.05 /* units that every stage has */
#define TIES  0.02 /* weight of stages beside the longest path */
#define LOOP_UNIT                                                              \
    0.02 /* share of what the promise leaves that a loop takes                 \
          */

/* The bound of one class. */
struct bound {
    struct msim_latency_sum *l;
    uint32_t cls;
    double allowed;  /* chance to be late */
    double *own;     /* [stage][cell]: a visit's own latency, summed up */
    double *room;    /* [stage]: chance that any of its visits takes longer */
    double *ms;      /* [stage]: at that chance */
    double *network; /* [stage] */
    double *path;    /* [stage]: with its calls */
};

struct unions {
    double *numbers; /* owned */
    struct bound bound;
    double worst; /* over classes: bound over limit */
    uint32_t worst_cls;
};

static double visits_of(const struct bound *b, uint32_t s)
{
    return b->l->load->visits[(size_t)b->cls * b->l->load->app->n_stages + s];
}

/* ---- percentiles --------------------------------------------------------- */

/* Waiting and service, over sizes. */
static void own_latency(struct bound *b, uint32_t s)
{
    struct msim_latency_sum *l = b->l;
    uint32_t n = l->grid.n;
    double *out = b->own + (size_t)s * n, below = 0;

    memset(out, 0, n * sizeof(*out));
    for (uint32_t k = 0; k < l->load->n_bins; k++)
        for (uint32_t i = 0; i < n; i++)
            out[i] += l->load->weight[k] *
                      msim_latency_at(l, l->stages[s].service, b->cls, k)[i];
    msim_pmf_add(&l->grid, out, l->stages[s].wait + (size_t)b->cls * n, out);
    for (uint32_t i = 0; i < n; i++)
        out[i] = below += out[i];
}

/* The time that visits of `s` exceed with the chance `room`, all of them. */
static double time_at(const struct bound *b, uint32_t s, double room)
{
    const double *own = b->own + (size_t)s * b->l->grid.n;
    double p = 1 - room / visits_of(b, s);
    uint32_t low = 0, high = b->l->grid.n;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (own[middle] < p)
            low = middle + 1;
        else
            high = middle;
    }
    return (low + 0.5) * b->l->grid.step;
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

/* The chance of more. */
static double loop_room(const struct bound *b, const struct msim_flow_edge *e)
{
    double n = loops_of(b, e);

    return e->again > 0 && n < (double)e->most
               ? visits_of(b, e->from) * e->prob * e->copies * pow(e->again, n)
               : 0;
}

static double path_of(struct bound *b, uint32_t s)
{
    uint32_t n;
    const struct msim_flow_edge *e = msim_app_edges_of(b->l->load->app, s, &n);
    double ms = b->ms[s] + b->network[s], step = 0;

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

static double whole_path(struct bound *b)
{
    const struct msim_stage_demand *load = b->l->load;

    for (uint32_t i = load->app->n_stages; i-- > 0;) {
        uint32_t s = load->order[i];

        if (visits_of(b, s) > 0)
            b->path[s] = path_of(b, s);
    }
    return b->path[load->app->start];
}

/* ---- who gets how much --------------------------------------------------- */

/* Where two calls side by side take as long, neither alone gains anything: so
 * all stages count a little. */
static double goal(struct bound *b)
{
    double ms = whole_path(b);

    for (uint32_t s = 0; s < b->l->load->app->n_stages; s++)
        ms += TIES * b->ms[s];
    return ms;
}

static double set_room(struct bound *b, uint32_t s, double room)
{
    b->room[s] = room;
    b->ms[s] = time_at(b, s, room);
    return goal(b);
}

/*
 * Some of the `left` units more to the stage that gains most for each: tails of
 * samples are steps, so one unit may gain nothing where four do. Returns how
 * many; 0: none gains.
 */
static int give_units(struct bound *b, double unit, int left, double *best)
{
    const struct msim_app *app = b->l->load->app;
    uint32_t to = app->start;
    double most = 0;
    int units = 0;

    for (uint32_t s = 0; s < app->n_stages; s++) {
        double room = b->room[s], ms = b->ms[s];

        if (!(visits_of(b, s) > 0))
            continue;
        for (int n = 1; n <= left; n *= 2) {
            double gain = (*best - set_room(b, s, room + n * unit)) / n;

            if (gain > most) {
                most = gain;
                to = s;
                units = n;
            }
        }
        b->room[s] = room;
        b->ms[s] = ms;
    }
    if (units)
        *best = set_room(b, to, b->room[to] + units * unit);
    return units;
}

/* The least bound of the class, ms. */
static double bound_of(struct bound *b)
{
    const struct msim_app *app = b->l->load->app;
    double left = b->allowed, unit, best = 0;
    uint32_t stages = 0;

    memset(b->ms, 0, app->n_stages * sizeof(*b->ms));
    for (uint32_t s = 0; s < app->n_stages; s++)
        if (visits_of(b, s) > 0) {
            own_latency(b, s);
            b->network[s] = s == app->start
                                ? 0
                                : msim_dist_mean(&app->stages[s].network_ms);
            stages++;
        }
    for (uint32_t e = 0; e < app->n_edges; e++)
        if (msim_flow_edge_takes(&app->edges[e], b->cls))
            left -= loop_room(b, &app->edges[e]);
    unit = left / (UNITS + LEAST * stages);
    for (uint32_t s = 0; s < app->n_stages; s++)
        if (visits_of(b, s) > 0)
            best = set_room(b, s, LEAST * unit);
    for (int given = 0, n = 1; n; given += n)
        n = give_units(b, unit, UNITS - given, &best);
    return whole_path(b);
}

/* The largest bound over its limit, of all promises. */
static double measure(const struct msim_latency_sum *l, void *ctx)
{
    struct unions *u = ctx;
    const struct msim_app *app = l->load->app;

    u->worst = 0;
    for (uint32_t i = 0; i < app->n_promises; i++)
        for (uint32_t k = 0; k < app->n_classes; k++) {
            const struct msim_promise *p = &app->promises[i];
            double ratio;

            if (p->cls != k && p->cls != MSIM_CLASS_ALL)
                continue;
            u->bound.cls = k;
            u->bound.allowed = 1 - p->percentile / 100;
            ratio = bound_of(&u->bound) / p->limit_ms;
            if (ratio > u->worst) {
                u->worst = ratio;
                u->worst_cls = k;
            }
        }
    return u->worst;
}

/* ---- the plan ------------------------------------------------------------ */

static enum msim_status refuse(struct unions *u, struct msim_error *err)
{
    const struct msim_app *app = u->bound.l->load->app;
    uint32_t slow = 0, promise = 0;

    for (uint32_t i = 0; i < app->n_promises; i++)
        if (app->promises[i].cls == u->worst_cls)
            promise = i;
    u->bound.cls = u->worst_cls;
    u->bound.allowed = 1 - app->promises[promise].percentile / 100;
    bound_of(&u->bound);
    for (uint32_t s = 0; s < app->n_stages; s++)
        if (visits_of(&u->bound, s) > 0 && (!(visits_of(&u->bound, slow) > 0) ||
                                            u->bound.ms[s] > u->bound.ms[slow]))
            slow = s;
    return msim_fail(
        err, MSIM_ECHECK, app->path, MSIM_OFFSET_NONE,
        "the union bound finds no plan: percentiles of the stages of class "
        "'%s' add up to %.4g ms without any queue, %.3g times the limit; most "
        "of it is stage '%s' (%.4g ms); --method convolution adds "
        "distributions and may find one",
        app->classes[u->worst_cls].name,
        u->worst * app->promises[promise].limit_ms, u->worst,
        app->stages[slow].name, u->bound.ms[slow]);
}

/* Percentiles of the class that the plan is tightest for. */
static void fill_percentiles(struct msim_sizing *out, struct unions *u)
{
    struct bound *b = &u->bound;
    const struct msim_app *app = b->l->load->app;

    for (uint32_t i = 0; i < app->n_promises; i++)
        if (app->promises[i].cls == u->worst_cls ||
            app->promises[i].cls == MSIM_CLASS_ALL)
            b->allowed = 1 - app->promises[i].percentile / 100;
    b->cls = u->worst_cls;
    bound_of(b);
    for (uint32_t s = 0; s < app->n_stages; s++) {
        if (!(visits_of(b, s) > 0))
            continue;
        out->stages[s].percentile = 100 * (1 - b->room[s] / visits_of(b, s));
        out->stages[s].latency_ms = b->ms[s];
    }
}

static enum msim_status init(struct unions *u, struct msim_latency_sum *l)
{
    size_t n = l->load->app->n_stages;

    u->numbers = calloc(n * (l->grid.n + 4), sizeof(double));
    if (!u->numbers)
        return MSIM_ENOMEM;
    u->bound = (struct bound){.l = l, .own = u->numbers};
    u->bound.room = u->numbers + n * l->grid.n;
    u->bound.ms = u->bound.room + n;
    u->bound.network = u->bound.ms + n;
    u->bound.path = u->bound.network + n;
    return MSIM_OK;
}

enum msim_status msim_sizing_union(struct msim_sizing *out,
                                   struct msim_latency_sum *l,
                                   struct msim_error *err)
{
    struct unions u = {0};
    enum msim_status status = init(&u, l);

    l->measure = measure;
    l->ctx = &u;
    if (status == MSIM_OK && measure(l, &u) > 1)
        status = refuse(&u, err);
    if (status == MSIM_OK) {
        status = msim_sizing_convolution(l, 1, NULL);
        if (status == MSIM_ECHECK)
            status = refuse(&u, err);
    }
    if (status == MSIM_OK) {
        msim_sizing_fill(out, l);
        fill_percentiles(out, &u);
    }
    free(u.numbers);
    return status;
}
