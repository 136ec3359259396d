/*
 * serving/watch/watch.c - rows in, verdicts out.
 */
#include "serving/watch/watch.h"

#include <math.h>
#include <string.h>

enum msim_promise_metric msim_watch_metric(const struct msim_app *app)
{
    enum msim_promise_metric best = MSIM_PROMISE_TPOT;

    for (uint32_t i = 0; i < app->n_promises; i++)
        if (app->promises[i].metric < best)
            best = app->promises[i].metric;
    return best;
}

double msim_watch_limit(const struct msim_app *app)
{
    enum msim_promise_metric metric = msim_watch_metric(app);
    double most = NAN;

    for (uint32_t i = 0; i < app->n_promises; i++)
        if (app->promises[i].metric == metric)
            most = fmax(most, app->promises[i].limit_ms);
    return most;
}

enum msim_status msim_watch_check_e2e(const struct msim_app *app,
                                      struct msim_error *err)
{
    if (!app->n_promises || msim_watch_metric(app) == MSIM_PROMISE_E2E)
        return MSIM_OK;
    return msim_fail(err, MSIM_EFORMAT, app->path, MSIM_OFFSET_NONE,
                     "slo has no promise with metric e2e, and counters in csv "
                     "tell of no other latency; scrapes of an engine's metrics "
                     "do");
}

enum msim_status msim_watch_init(struct msim_watch *w,
                                 const struct msim_app *app,
                                 const struct msim_watch_model *general,
                                 const struct msim_watch_model *model,
                                 double horizon_s, struct msim_error *err)
{
    *w = (struct msim_watch){.app = app,
                             .general = general,
                             .model = model,
                             .limit_ms = msim_watch_limit(app),
                             .horizon_s = horizon_s};
    if (isnan(w->limit_ms))
        return msim_fail(err, MSIM_EFORMAT, app->path, MSIM_OFFSET_NONE,
                         "slo is empty, and without a limit nothing violates "
                         "it");
    MSIM_TRY(msim_seconds_init(&w->seconds, app->n_stages));
    MSIM_TRY(msim_history_init(&w->history, app->n_stages));
    MSIM_TRY(msim_watch_flow_init(&w->flow, app));
    return msim_blame_init(&w->blame, app->n_stages, app->n_classes);
}

void msim_watch_release(struct msim_watch *w)
{
    msim_seconds_release(&w->seconds);
    msim_history_release(&w->history);
    msim_watch_flow_release(&w->flow);
    msim_blame_release(&w->blame);
}

/* When the p99 passes the limit: now, or where its line does, between now and
 * the p99 that is expected at the horizon. */
static double lead_of(const struct msim_watch *w)
{
    double now = w->x[MSIM_FEATURE_P99_LOG];
    double line = fmax(
        w->x[MSIM_FEATURE_P99_SLOPE_5S],
        (w->x[MSIM_FEATURE_P99_AHEAD_TWICE] - w->x[MSIM_FEATURE_P99_LOG_3S]) /
            w->horizon_s);

    if (now > 0)
        return 0;
    if (!(line > 0) || -now / line > 4 * w->horizon_s)
        return NAN;
    return -now / line;
}

/*
 * What was said a horizon ago came true, or it did not: the log odds follow, by
 * a step of stochastic descent on the logistic loss. An application that goes
 * near its limit all the time and never past it is no longer taken for one that
 * is about to.
 */
static void learn_from(struct msim_watch *w)
{
    const double STEP = 0.05, MOST = 2;
    uint32_t ago = (uint32_t)w->horizon_s;
    double said, came = 0;

    if (w->n_chances < ago || ago > MSIM_WATCH_HORIZON_MOST)
        return;
    said = w->chances[(w->n_chances - ago) % (MSIM_WATCH_HORIZON_MOST + 1)];
    for (uint32_t i = 0; i < ago; i++)
        if (msim_history_at(&w->history, w->app->n_stages, MSIM_TRACK_P99, i) >
            log(w->limit_ms))
            came = 1;
    w->shift = fmin(MOST, fmax(-MOST, w->shift + STEP * (came - said)));
}

static void ask_general(struct msim_watch *w)
{
    const struct msim_watch_model *m = w->general;
    double said = msim_forest_eval(&m->violation, w->x);

    msim_watch_said_add(&w->said, said, w->x[MSIM_FEATURE_P99_LOG] > 0);
    w->x[MSIM_FEATURE_PRIOR_NEXT] = msim_forest_eval(&m->next, w->x);
    w->x[MSIM_FEATURE_PRIOR] = msim_watch_model_odds(
        m, said,
        msim_watch_said_usually(&w->said, m->horizon_s, m->odds.begin));
}

/* The trees of this application know what those of all of them say. */
static void ask_models(struct msim_watch *w, struct msim_verdict *v)
{
    const struct msim_watch_model *m = w->model ? w->model : w->general;
    double log_odds;

    if (w->general)
        ask_general(w);
    if (!m)
        return;
    msim_watch_model_columns(m, w->x, &w->history, w->limit_ms);
    log_odds = w->x[MSIM_FEATURE_PRIOR];
    if (w->model) {
        log_odds = msim_forest_eval(&m->violation, w->x);
    } else {
        learn_from(w);
        log_odds += w->shift;
    }
    v->p_violation = msim_watch_model_chance(m, log_odds, w->horizon_s);
    v->p99_next_ms = msim_watch_model_next(m, w->x, w->limit_ms);
    w->chances[w->n_chances++ % (MSIM_WATCH_HORIZON_MOST + 1)] = v->p_violation;
}

/* Counters that lack them are of the replicas that the application has. */
static void fill_replicas(struct msim_watch *w)
{
    for (uint32_t s = 0; s < w->app->n_stages; s++) {
        double *n = &w->seconds.stages[s].v[MSIM_COUNTER_REPLICAS];

        if (isnan(*n))
            *n = (double)w->app->stages[s].replicas;
    }
}

bool msim_watch_add(struct msim_watch *w, const struct msim_counters_row *row,
                    struct msim_verdict *v)
{
    if (!msim_seconds_add(&w->seconds, row))
        return false;
    fill_replicas(w);
    msim_history_add(&w->history, w->seconds.stages);
    msim_blame_find(&w->blame, &w->flow, &w->history, w->horizon_s);
    msim_features_of(w->x, w->app, &w->history, &w->blame, w->limit_ms,
                     w->horizon_s);
    *v = (struct msim_verdict){.t = w->seconds.t,
                               .stage = w->blame.stage,
                               .resource = w->blame.resource,
                               .lead_s = lead_of(w),
                               .p_violation = NAN,
                               .p99_next_ms = NAN};
    ask_models(w, v);
    return true;
}
