/*
 * serving/learn/learn_observed.c - moments of services, and load without noise.
 */
#include "serving/learn/learn_table.h"

#include "core/base/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Set by hand; no command finds these. Bursts rise over seconds; what differs
 * within two is chance. */
#define SMOOTH_S  2.0
#define BATCHES_S 1.0 /* in which enough batches end */
#define MOST_S    0.4 /* a window: a p99 of longer ones is another figure */
#define FEW       50  /* windows with visits: below, services are not known */

/* A run as columns: values of a stage, window by window. */
struct columns {
    const struct msim_app *app;
    double *v; /* [window][stage, e2e behind them][counter] */
    uint32_t n;
};

static double at(const struct columns *c, uint32_t window, uint32_t stage,
                 enum msim_counter counter)
{
    return c
        ->v[((size_t)window * (c->app->n_stages + 1) + stage) * MSIM_COUNTERS +
            counter];
}

/* A window's rows end with that of e2e. */
static enum msim_status lay(struct columns *c, double *t,
                            const struct msim_counters_row *rows, uint32_t n)
{
    size_t width = (size_t)(c->app->n_stages + 1) * MSIM_COUNTERS, size = 1;

    for (uint32_t i = 0; i < n; i++)
        size += rows[i].stage == c->app->n_stages;
    size *= width;
    c->v = malloc(size * sizeof(*c->v));
    if (!c->v)
        return MSIM_ENOMEM;
    for (size_t k = 0; k < size; k++)
        c->v[k] = NAN;
    for (uint32_t i = 0; i < n; i++) {
        memcpy(c->v + c->n * width + (size_t)rows[i].stage * MSIM_COUNTERS,
               rows[i].v, sizeof(rows[i].v));
        if (rows[i].stage == c->app->n_stages)
            t[c->n++] = rows[i].t;
    }
    return MSIM_OK;
}

/* From the begin of the run on: its first window is as long as its second. */
static void begin_at_zero(double *t, uint32_t n)
{
    double begin = n > 1 ? t[0] - (t[1] - t[0]) : 0;

    for (uint32_t i = 0; i < n; i++)
        t[i] -= begin;
}

/* ---- load ---------------------------------------------------------------- */

static double width_of(const double *t, uint32_t window)
{
    return window ? t[window] - t[window - 1] : t[0];
}

/* Rates, weighted the less the further away they are. False: not known. */
static bool find_rates(struct msim_observed *o, const struct columns *c)
{
    uint32_t first = 0;

    for (uint32_t i = 0; i < o->n; i++) {
        double sum = 0, weights = 0;

        if (isnan(at(c, i, o->n_stages, MSIM_COUNTER_ARRIVALS)) ||
            !(width_of(o->t, i) > 0))
            return false;
        while (o->t[first] <= o->t[i] - SMOOTH_S)
            first++;
        for (uint32_t k = first;
             k < o->n && (k <= i || o->t[k] < o->t[i] + SMOOTH_S); k++) {
            double w = 1 - fabs(o->t[k] - o->t[i]) / SMOOTH_S;

            sum += w * at(c, k, o->n_stages, MSIM_COUNTER_ARRIVALS);
            weights += w * width_of(o->t, k);
        }
        o->rate[i] = sum / weights;
    }
    return true;
}

static bool find_replicas(struct msim_observed *o, const struct columns *c)
{
    for (uint32_t s = 0; s < o->n_stages; s++) {
        double now = (double)c->app->stages[s].replicas;

        for (uint32_t i = 0; i < o->n; i++) {
            double v = at(c, i, s, MSIM_COUNTER_REPLICAS);

            now = isnan(v) ? now : round(v);
            if (!(now >= 1 && now < 1e6))
                return false;
            o->replicas[(size_t)i * o->n_stages + s] = now;
            o->stages[s].most = now > (double)o->stages[s].most
                                    ? (int64_t)now
                                    : o->stages[s].most;
        }
    }
    return true;
}

/* ---- services ------------------------------------------------------------ */

/* What is seen of services, each of n pieces of time with any. */
struct seen {
    double *visits, *self_ms;
    double *held_ms; /* by workers, in all */
    double *load;    /* requests a second and replica, smooth */
    uint32_t n;
};

static enum msim_status seen_init(struct seen *w, uint32_t n)
{
    *w = (struct seen){.visits = calloc(4 * (size_t)n + 1, sizeof(double))};
    w->self_ms = w->visits + n;
    w->held_ms = w->self_ms + n;
    w->load = w->held_ms + n;
    return w->visits ? MSIM_OK : MSIM_ENOMEM;
}

/* Pieces of `least_s` or more, of whole windows. */
static void see(struct seen *w, const struct msim_observed *o,
                const struct columns *c, uint32_t s, double least_s)
{
    double workers = (double)c->app->stages[s].workers;
    double visits = 0, self = 0, held = 0, load = 0, begin = 0;

    w->n = 0;
    for (uint32_t i = 0; i < o->n; i++) {
        double n = at(c, i, s, MSIM_COUNTER_ARRIVALS);
        double ms = at(c, i, s, MSIM_COUNTER_SELF_MS);
        double replicas = o->replicas[(size_t)i * o->n_stages + s];
        double span = width_of(o->t, i);

        if (n > 0 && ms > 0) {
            visits += n;
            self += n * ms;
        }
        held +=
            1e3 * at(c, i, s, MSIM_COUNTER_BUSY) * replicas * workers * span;
        load += o->rate[i] / replicas * span;
        if (o->t[i] - begin < least_s - 1e-6)
            continue;
        if (visits > 0) {
            w->visits[w->n] = visits;
            w->self_ms[w->n] = self / visits;
            w->held_ms[w->n] = held;
            w->load[w->n++] = load / (o->t[i] - begin);
        }
        visits = self = held = load = 0;
        begin = o->t[i];
    }
}

/* Of services of which `per` visits share one. */
static void find_moments(struct msim_observed_stage *s, const struct seen *w,
                         double per)
{
    double m2 = 0, m3 = 0, all = 0;

    s->mean_ms = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        all += w->visits[i];
        s->mean_ms += w->visits[i] * w->self_ms[i];
    }
    s->mean_ms /= all;
    for (uint32_t i = 0; i < w->n; i++) {
        double draws = w->visits[i] / per, d = w->self_ms[i] - s->mean_ms;

        m2 += draws * d * d / w->n;
        m3 += draws * draws * d * d * d / w->n;
    }
    s->cv = sqrt(m2) / s->mean_ms;
    s->skewness = m2 > 0 ? m3 / pow(m2, 1.5) : 0;
}

static double covariance(const double *a, const double *b, uint32_t n)
{
    double ab = 0, sa = 0, sb = 0;

    for (uint32_t i = 0; i < n; i++) {
        sa += a[i] / n;
        sb += b[i] / n;
    }
    for (uint32_t i = 0; i < n; i++)
        ab += (a[i] - sa) * (b[i] - sb) / n;
    return ab;
}

/* The mean size of batches, and how much longer one visit more makes them.
 * `held_ms` becomes sizes. */
static double find_slope(struct msim_observed_stage *s, struct seen *w,
                         double most)
{
    double batch = 0, ms = 0, slope;

    for (uint32_t i = 0; i < w->n; i++) {
        double size = w->self_ms[i] * w->visits[i] / w->held_ms[i];

        w->held_ms[i] = isfinite(size) ? fmin(fmax(size, 1), most) : 1;
        batch += w->held_ms[i] / w->n;
        ms += w->self_ms[i] / w->n;
    }
    slope = covariance(w->self_ms, w->load, w->n) /
            covariance(w->held_ms, w->load, w->n);
    /* a batch takes no less than one visit, and no more than all of them one
     * after another */
    slope = isfinite(slope) ? fmin(fmax(slope, 0), ms / batch) : 0;
    s->slope = slope / (ms - slope * (batch - 1));
    return batch;
}

static void find_service(struct msim_observed *o, const struct columns *c,
                         uint32_t s, struct seen *w)
{
    const struct msim_dyn_batching *b = &c->app->stages[s].batching;
    struct msim_observed_stage *of = &o->stages[s];
    double batch = 1;

    if (b->on && b->max_batch > 1) {
        see(w, o, c, s, BATCHES_S);
        batch = find_slope(of, w, (double)b->max_batch);
    }
    see(w, o, c, s, 0);
    find_moments(of, w, batch);
    of->mean_ms /= 1 + of->slope * (batch - 1);
    if (w->n < FEW || !(of->mean_ms > 0) || !isfinite(of->cv))
        of->mean_ms = NAN;
}

/* What came, and the way there. */
static void find_visits(struct msim_observed *o, const struct columns *c,
                        uint32_t s)
{
    double visits = 0, net = 0;

    for (uint32_t i = 0; i < o->n; i++) {
        double n = at(c, i, s, MSIM_COUNTER_ARRIVALS);
        double ms = at(c, i, s, MSIM_COUNTER_NET_MS);

        visits += n > 0 ? n : 0;
        net += n > 0 && ms > 0 ? n * ms : 0;
    }
    o->visits += visits;
    o->stages[s].net_ms = visits > 0 ? net / visits : 0;
}

/* ---- the whole ----------------------------------------------------------- */

static enum msim_status find_p99(struct msim_observed *o,
                                 const struct columns *c)
{
    double *values = malloc(((size_t)o->n + 1) * sizeof(*values));
    uint32_t n = 0;

    if (!values)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < o->n; i++) {
        double ms = at(c, i, o->n_stages, MSIM_COUNTER_P99_MS);

        if (ms > 0)
            values[n++] = ms;
    }
    o->p99_ms = n ? msim_median(values, n) : NAN;
    free(values);
    return MSIM_OK;
}

static enum msim_status find_all(struct msim_observed *o, bool *whole,
                                 const struct columns *c)
{
    struct seen w;
    enum msim_status status = find_p99(o, c);

    *whole = o->p99_ms > 0 && o->t[o->n - 1] <= MOST_S * o->n &&
             find_rates(o, c) && find_replicas(o, c);
    if (status != MSIM_OK || !*whole)
        return status;
    status = seen_init(&w, o->n);
    for (uint32_t s = 0; s < o->n_stages && status == MSIM_OK; s++) {
        find_visits(o, c, s);
        find_service(o, c, s, &w);
        if (isnan(o->stages[s].mean_ms) &&
            c->app->stages[s].service.kind == MSIM_DIST_NONE)
            *whole = false;
    }
    free(w.visits);
    return status;
}

enum msim_status msim_observed_make(struct msim_observed *o, bool *whole,
                                    const struct msim_app *app,
                                    const struct msim_counters_row *rows,
                                    uint32_t n)
{
    struct columns c = {.app = app};
    enum msim_status status;

    *whole = false;
    *o = (struct msim_observed){.n_stages = app->n_stages};
    o->t = malloc(((size_t)n + 1) * sizeof(*o->t));
    o->stages = calloc(app->n_stages, sizeof(*o->stages));
    status = o->t && o->stages ? lay(&c, o->t, rows, n) : MSIM_ENOMEM;
    if (status == MSIM_OK) {
        o->n = c.n;
        begin_at_zero(o->t, o->n);
        o->rate = malloc(((size_t)o->n + 1) * sizeof(*o->rate));
        o->replicas =
            malloc(((size_t)o->n * app->n_stages + 1) * sizeof(*o->replicas));
        status = o->rate && o->replicas ? find_all(o, whole, &c) : MSIM_ENOMEM;
    }
    free(c.v);
    return status;
}

void msim_observed_release(struct msim_observed *o)
{
    free(o->t);
    free(o->rate);
    free(o->replicas);
    free(o->stages);
    memset(o, 0, sizeof(*o));
}
