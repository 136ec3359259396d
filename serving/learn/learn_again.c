/*
 * serving/learn/learn_again.c - recorded runs through the simulator.
 */
#include "serving/learn/learn_table.h"

#include "core/base/quantile.h"
#include "core/turns/turns.h"
#include "serving/sim/serving_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Set by hand; no command finds these. */
#define COPIES_MOST 16   /* of one run */
#define LOAD        0.08 /* more or fewer requests of a copy, at most */
#define LONG_S      2e4  /* longer runs are left out */
#define LEAST_RATE  1e-3 /* a second: arrivals end with the run, not before */
/* Of the p99: further off, something else makes requests slow than what is
 * simulated. */
#define OFF_MOST 1.7

/* ---- the application ----------------------------------------------------- */

/* A run again: the application as it was seen, in its own arena. */
struct again {
    const struct msim_observed *o;
    struct msim_app app;
    struct msim_arena arena;
    double shift_s; /* of changes of replicas */
};

/* The one of gamma and lognormal whose skewness is nearer: twice the cv, or
 * three times and its cube. */
static struct msim_dist service_of(const struct msim_observed_stage *s)
{
    double gamma = 2 * s->cv, lognormal = 3 * s->cv + pow(s->cv, 3);

    return fabs(s->skewness - gamma) < fabs(s->skewness - lognormal)
               ? msim_dist_gamma(s->mean_ms, s->cv)
               : msim_dist_lognormal(s->mean_ms, s->cv);
}

/* How much longer than the service a visit of the mean class takes. */
static double mean_factor(const struct msim_app *app, uint32_t s)
{
    double sum = 0;

    for (uint32_t c = 0; c < app->n_classes; c++)
        sum += app->classes[c].share * app->stages[s].class_factor[c];
    return sum;
}

static enum msim_status set_law(struct again *a, struct msim_stage *stage,
                                double slope)
{
    double most = (double)stage->batching.max_batch;
    struct msim_law_point *law;

    if (!stage->batching.on || stage->batching.n_law || most <= 1)
        return MSIM_OK;
    law = msim_arena_alloc(&a->arena, 2 * sizeof(*law));
    if (!law)
        return MSIM_ENOMEM;
    law[0] = (struct msim_law_point){1, 1};
    law[1] = (struct msim_law_point){most, 1 + slope * (most - 1)};
    stage->batching.law = law;
    stage->batching.n_law = 2;
    return MSIM_OK;
}

/* Replicas in window `i` of the run again. */
static int64_t replicas_at(const struct again *a, uint32_t s, double t)
{
    const struct msim_observed *o = a->o;
    double end = o->t[o->n - 1], at = fmod(t + a->shift_s, end);
    uint32_t low = 0, high = o->n - 1;

    while (low < high) { /* the first window that ends behind it */
        uint32_t middle = (low + high) / 2;

        if (o->t[middle] < at + 1e-6)
            low = middle + 1;
        else
            high = middle;
    }
    return (int64_t)o->replicas[(size_t)low * o->n_stages + s];
}

/* Replicas that are not there, from window to window. */
static enum msim_status set_absences(struct again *a, struct msim_stage *stage,
                                     uint32_t s)
{
    const struct msim_observed *o = a->o;
    struct msim_absence *list =
        msim_arena_alloc(&a->arena, o->n * sizeof(*list));
    uint32_t n = 0;

    if (!list)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < o->n; i++) {
        double from = i ? o->t[i - 1] : 0;
        int64_t gone = stage->replicas - replicas_at(a, s, from);

        if (n > 0 && gone == list[n - 1].replicas &&
            list[n - 1].until_s == from)
            list[n - 1].until_s = o->t[i];
        else if (gone > 0)
            list[n++] = (struct msim_absence){from, o->t[i], gone};
    }
    stage->absences = list;
    stage->n_absences = n;
    return MSIM_OK;
}

static enum msim_status set_stage(struct again *a, uint32_t s)
{
    const struct msim_observed_stage *seen = &a->o->stages[s];
    struct msim_stage *stage = &a->app.stages[s];

    stage->replicas = seen->most;
    if (stage->service.kind == MSIM_DIST_NONE) {
        struct msim_dist d = service_of(seen);

        stage->service = msim_dist_scaled(&d, 1 / mean_factor(&a->app, s));
    }
    if (stage->network_ms.kind == MSIM_DIST_NONE && seen->net_ms > 0)
        stage->network_ms = msim_dist_constant(seen->net_ms);
    MSIM_TRY(set_law(a, stage, seen->slope));
    return set_absences(a, stage, s);
}

static enum msim_status set_arrivals(struct again *a, double factor)
{
    const struct msim_observed *o = a->o;
    struct msim_arrivals *arrivals = &a->app.arrivals;
    struct msim_profile_point *points =
        msim_arena_alloc(&a->arena, o->n * sizeof(*points));

    if (!points)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < o->n; i++) {
        double begin = i ? o->t[i - 1] : 0;

        points[i] = (struct msim_profile_point){(begin + o->t[i]) / 2,
                                                fmax(o->rate[i], LEAST_RATE)};
    }
    /* the rate is in the profile, and so are bursts; of gamma and constant
     * arrivals the times between requests stay what they are */
    if (arrivals->process != MSIM_ARRIVAL_GAMMA &&
        arrivals->process != MSIM_ARRIVAL_CONSTANT)
        arrivals->process = MSIM_ARRIVAL_POISSON;
    arrivals->rate = factor;
    arrivals->profile = points;
    arrivals->n_profile = o->n;
    return MSIM_OK;
}

/* Copy 0 is the run as it was. */
static enum msim_status make_app(struct again *a, const struct msim_app *app,
                                 uint32_t copy)
{
    struct msim_random r = msim_random_of(a->o->part, copy, 0);
    double factor = 1 + LOAD * (2 * msim_random_unit(&r) - 1);
    size_t bytes = app->n_stages * sizeof(*app->stages);

    a->app = *app;
    a->app.stages = msim_arena_alloc(&a->arena, bytes);
    if (!a->app.stages)
        return MSIM_ENOMEM;
    memcpy(a->app.stages, app->stages, bytes);
    a->shift_s = copy ? msim_random_unit(&r) * a->o->t[a->o->n - 1] : 0;
    for (uint32_t s = 0; s < app->n_stages; s++)
        MSIM_TRY(set_stage(a, s));
    return set_arrivals(a, copy ? factor : 1);
}

/* ---- windows as rows of a table ------------------------------------------ */

static struct msim_counters_row row_of(const struct msim_window_row *w,
                                       uint32_t stage, double t)
{
    struct msim_counters_row row = {.t = t, .stage = stage};

    for (uint32_t i = 0; i < MSIM_COUNTERS; i++)
        row.v[i] = NAN;
    row.v[MSIM_COUNTER_ARRIVALS] = w->arrivals;
    row.v[MSIM_COUNTER_QUEUE] = w->queue;
    row.v[MSIM_COUNTER_BUSY] = w->busy;
    row.v[MSIM_COUNTER_REPLICAS] =
        w->replicas ? (double)w->replicas : (double)NAN;
    row.v[MSIM_COUNTER_MEAN_MS] = w->mean_ms;
    row.v[MSIM_COUNTER_P99_MS] = w->p99_ms;
    row.v[MSIM_COUNTER_SELF_MS] = w->self_ms;
    row.v[MSIM_COUNTER_WAIT_MS] = w->wait_ms;
    row.v[MSIM_COUNTER_NET_MS] = w->net_ms;
    return row;
}

/* Windows until the run ends; behind it the last requests are served. */
static uint32_t windows_of(const struct msim_observed *o,
                           const struct msim_serving_result *r)
{
    double n = floor(o->t[o->n - 1] / MSIM_WINDOW_S + 1e-6);

    return n < r->n_windows ? (uint32_t)n : r->n_windows;
}

static enum msim_status find_p99(double *p99, const struct msim_observed *o,
                                 const struct msim_serving_result *r)
{
    uint32_t n = windows_of(o, r), e = o->n_stages, known = 0;
    double *values = malloc(((size_t)n + 1) * sizeof(*values));

    if (!values)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        double ms = r->windows[(size_t)i * (e + 1) + e].p99_ms;

        if (ms > 0)
            values[known++] = ms;
    }
    *p99 = known ? msim_median(values, known) : NAN;
    free(values);
    return MSIM_OK;
}

/* ---- one run, as often as there is time ---------------------------------- */

struct repeating {
    const struct msim_app *app;
    const struct msim_watch_model *general;
    const struct msim_observed *observed;
    double horizon_s;
    uint32_t width, copies;
    struct msim_runs_table *tables; /* of each recorded run */
};

static enum msim_status add_windows(struct msim_runs_table *t,
                                    const struct repeating *p,
                                    const struct msim_observed *o,
                                    const struct msim_serving_result *r,
                                    double limit, struct msim_error *err)
{
    struct msim_watch w;
    uint32_t e = o->n_stages, n = windows_of(o, r), first = t->rows.n;
    enum msim_status status =
        msim_watch_init(&w, p->app, p->general, NULL, p->horizon_s, err);

    w.limit_ms *= limit;
    for (uint32_t i = 0; i < n && status == MSIM_OK; i++)
        for (uint32_t s = 0; s <= e && status == MSIM_OK; s++) {
            struct msim_counters_row row =
                row_of(&r->windows[(size_t)i * (e + 1) + s], s,
                       (i + 1) * MSIM_WINDOW_S);

            status = msim_runs_take(t, &w, &row);
        }
    if (status == MSIM_OK)
        msim_runs_look_ahead(t, first, p->horizon_s);
    msim_watch_release(&w);
    t->n_runs++;
    return status;
}

/* `limit`: of the simulated p99, as a factor; copy 0 finds it, 0: the run is
 * not understood. */
static enum msim_status repeat_once(struct msim_runs_table *t,
                                    const struct repeating *p,
                                    const struct msim_observed *o,
                                    uint32_t copy, double *limit,
                                    struct msim_error *err)
{
    struct again a = {.o = o};
    struct msim_serving *sim = NULL;
    struct msim_serving_result r;
    double p99 = NAN;
    enum msim_status status;

    msim_arena_init(&a.arena);
    status = make_app(&a, p->app, copy);
    if (status == MSIM_OK)
        status = msim_serving_new(&sim, &a.app, err);
    if (status == MSIM_OK)
        status = msim_serving_run(
            sim,
            &(struct msim_serving_how){.seconds = o->t[o->n - 1],
                                       .seed = (uint64_t)o->part << 32 | copy,
                                       .keep = MSIM_KEEP_WINDOWS},
            &r, err);
    if (status == MSIM_OK && copy == 0) {
        status = find_p99(&p99, o, &r);
        *limit = p99 / o->p99_ms;
        if (!(*limit<OFF_MOST && * limit> 1 / OFF_MOST))
            *limit = 0;
    }
    if (status == MSIM_OK && *limit > 0)
        status = add_windows(t, p, o, &r, *limit, err);
    msim_serving_free(sim);
    msim_arena_release(&a.arena);
    return status;
}

static enum msim_status repeat_runs(struct msim_turns *turns, void *ctx,
                                    struct msim_error *err)
{
    const struct repeating *p = ctx;
    uint32_t i;

    while (msim_turns_next(turns, &i)) {
        struct msim_runs_table *t = &p->tables[i];
        const struct msim_observed *o = &p->observed[i];
        double limit = 1;

        t->width = p->width;
        t->part = o->part;
        for (uint32_t copy = 0; copy < p->copies && limit > 0; copy++)
            MSIM_TRY(repeat_once(t, p, o, copy, &limit, err));
    }
    return MSIM_OK;
}

/* ---- all of them --------------------------------------------------------- */

static enum msim_status append(struct msim_runs_table *t,
                               const struct msim_runs_table *from)
{
    for (uint32_t i = 0; i < from->rows.n; i++) {
        struct msim_runs_row *row = msim_vec_add(&t->rows, sizeof(*row));

        if (!row)
            return MSIM_ENOMEM;
        *row = *msim_runs_row(from, i);
        row->simulated = true;
        for (uint32_t k = 0; k < t->width; k++) {
            double *x = msim_vec_add(&t->x, sizeof(*x));

            if (!x)
                return MSIM_ENOMEM;
            *x = msim_runs_x(from, i)[k];
        }
    }
    return MSIM_OK;
}

static bool can_repeat(const struct msim_app *app)
{
    for (uint32_t s = 0; s < app->n_stages; s++)
        if (app->stages[s].kind != MSIM_STAGE_MEASURED &&
            app->stages[s].kind != MSIM_STAGE_TOOL)
            return false;
    return true;
}

/* How often each run can be repeated within so many visits. */
static uint32_t copies_of(const struct msim_runs_table *t, double visits)
{
    const struct msim_observed *o = t->observed.data;
    double all = 0;

    for (uint32_t i = 0; i < t->observed.n; i++) {
        if (o[i].t[o[i].n - 1] > LONG_S)
            return 0;
        all += o[i].visits;
    }
    return all > 0 ? (uint32_t)fmin(COPIES_MOST, visits / all) : 0;
}

enum msim_status msim_runs_repeat(struct msim_runs_table *t,
                                  const struct msim_app *app,
                                  const struct msim_watch_model *general,
                                  double horizon_s, double visits,
                                  uint32_t threads, struct msim_error *err)
{
    uint32_t runs = t->observed.n;
    struct repeating p = {.app = app,
                          .general = general,
                          .observed = t->observed.data,
                          .horizon_s = horizon_s,
                          .width = t->width,
                          .copies = copies_of(t, visits),
                          .tables = calloc(runs + 1, sizeof(*p.tables))};
    enum msim_status status = p.tables ? MSIM_OK : MSIM_ENOMEM;

    if (status == MSIM_OK && p.copies > 0 && can_repeat(app))
        status = msim_turns_run(runs, threads, repeat_runs, &p, err);
    for (uint32_t i = 0; i < runs && p.tables; i++) {
        if (status == MSIM_OK)
            status = append(t, &p.tables[i]);
        t->n_simulated += p.tables[i].n_runs;
        msim_runs_table_release(&p.tables[i]);
    }
    free(p.tables);
    return status;
}
