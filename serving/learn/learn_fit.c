/*
 * serving/learn/learn_fit.c - from a table of seconds to a model and its
 * figures.
 */
#include "serving/learn/learn_table.h"

#include "calibrate/stat/boost.h"
#include "core/base/containers.h"
#include "core/base/quantile.h"
#include "serving/learn/learn_table_internal.h"
#include "serving/watch/watch_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MOST                                                           \
    (MSIM_WATCH_COLUMNS_MAX - MSIM_FEATURES - MSIM_E2E_FEATURES)
#define COLUMNS_FEW                                                            \
    7                /* of recorded runs alone: each more is noise to split    \
                      */
#define FEW_ROWS 200 /* seconds: below, no trees */

/* Small trees and a slow rate: neighbouring seconds are nearly the same, so
 * that there are far fewer independent rows than rows. */
static const struct msim_boost_options VIOLATION = {.trees = 200,
                                                    .leaves = 10,
                                                    .rate = 0.06,
                                                    .penalty = 5,
                                                    .least = 8,
                                                    .clip = 1,
                                                    .logistic = true};
/* One application has fewer, and the prior to begin with. */
static const struct msim_boost_options VIOLATION_OF_ONE = {.trees = 70,
                                                           .leaves = 4,
                                                           .rate = 0.06,
                                                           .penalty = 10,
                                                           .least = 20,
                                                           .clip = 1,
                                                           .logistic = true};
/* Where runs were simulated again, there are as many as it takes. */
static const struct msim_boost_options VIOLATION_OF_MANY = {.trees = 120,
                                                            .leaves = 8,
                                                            .rate = 0.05,
                                                            .penalty = 10,
                                                            .least = 10,
                                                            .clip = 1,
                                                            .logistic = true};
/* A simulated p99 is a little off, and so is what becomes of it: the last trees
 * are of what is left on recorded seconds alone. Violations are too few for
 * that. */
static const struct msim_boost_options NEXT = {.trees = 120,
                                               .leaves = 8,
                                               .rate = 0.08,
                                               .penalty = 5,
                                               .least = 20,
                                               .clip = 0.1,
                                               .weighted = true,
                                               .more = 80};

static bool is_held(const struct msim_runs_row *r, uint32_t held, uint32_t of)
{
    return of > 0 && r->part % of == held;
}

static bool any_simulated(const struct msim_runs_table *t)
{
    return t->rows.n > 0 && msim_runs_row(t, t->rows.n - 1)->simulated;
}

/* A change of replicas is a decision that counters do not foretell. */
static double violation_of(const struct msim_runs_row *r)
{
    return r->steady ? r->violation : NAN;
}

/* The next p99 over the mean of the last three. */
static double next_of(const struct msim_runs_row *r)
{
    return r->next;
}

/* ---- which numbers of stages ------------------------------------- */

struct choice {
    struct msim_watch_column column;
    double score; /* |correlation| with violations */
};

static int best_first(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return x->column.stage != y->column.stage
               ? MSIM_ORDER(x->column.stage, y->column.stage)
               : MSIM_ORDER(x->column.feature, y->column.feature);
}

static double correlation(const struct msim_runs_table *t, uint32_t column,
                          uint32_t held, uint32_t of)
{
    double n = 0, sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0, c;

    for (uint32_t i = 0; i < t->rows.n; i++) {
        const struct msim_runs_row *r = msim_runs_row(t, i);
        double x = msim_runs_x(t, i)[column], y = violation_of(r);

        if (isnan(y) || is_held(r, held, of))
            continue;
        n++;
        sx += x;
        sy += y;
        sxx += x * x;
        syy += y * y;
        sxy += x * y;
    }
    c = (n * sxy - sx * sy) / sqrt((n * sxx - sx * sx) * (n * syy - sy * sy));
    return isfinite(c) ? fabs(c) : 0;
}

static enum msim_status choose(struct msim_watch_model *m,
                               const struct msim_runs_table *t,
                               const struct msim_app *app, uint32_t held,
                               uint32_t of)
{
    uint32_t n = app->n_stages * MSIM_STAGE_FEATURES, most;
    struct choice *all = calloc(n, sizeof(*all));

    if (!all)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        all[i] =
            (struct choice){{i / MSIM_STAGE_FEATURES, i % MSIM_STAGE_FEATURES},
                            correlation(t, MSIM_FEATURES + i, held, of)};
    qsort(all, n, sizeof(*all), best_first);
    most = any_simulated(t) ? COLUMNS_MOST : COLUMNS_FEW;
    m->n_columns = n < most ? n : most;
    for (uint32_t i = 0; i < m->n_columns; i++)
        m->columns[i] = all[i].column;
    for (uint32_t f = 0; f < MSIM_E2E_FEATURES; f++)
        m->columns[m->n_columns++] =
            (struct msim_watch_column){app->n_stages, f};
    free(all);
    return MSIM_OK;
}

/* The numbers of a row in the order of the model. */
static void take(const struct msim_watch_model *m, double *to, const double *x)
{
    memcpy(to, x, MSIM_FEATURES * sizeof(*to));
    for (uint32_t i = 0; i < m->n_columns; i++)
        to[MSIM_FEATURES + i] = x[msim_runs_column(m->columns[i])];
}

/* ---- trees ------------------------------------------------------- */

struct sample {
    double *x, *y;
    uint32_t n, width;
    uint32_t recorded; /* rows, which come first */
};

static enum msim_status
fit_forest(cJSON *model, const char *key, const struct msim_runs_table *t,
           const struct msim_watch_model *m, uint32_t held, uint32_t of,
           double (*answer)(const struct msim_runs_row *),
           const struct msim_boost_options *options)
{
    struct sample s = {.width = msim_watch_model_width(m)};
    struct msim_boost_options o = *options;
    cJSON *forest = NULL;
    enum msim_status status = MSIM_OK;

    s.x = malloc((size_t)t->rows.n * s.width * sizeof(*s.x));
    s.y = malloc((size_t)t->rows.n * sizeof(*s.y));
    if (!s.x || !s.y)
        status = MSIM_ENOMEM;
    for (uint32_t i = 0; status == MSIM_OK && i < t->rows.n; i++) {
        const struct msim_runs_row *r = msim_runs_row(t, i);
        const double *x = msim_runs_x(t, i);
        double y = answer(r);

        if (isnan(y) || is_held(r, held, of))
            continue;
        if (answer == next_of) {
            if (x[MSIM_FEATURE_P99_LOG_3S] == 0)
                continue;
            y -= x[MSIM_FEATURE_P99_LOG_3S];
        }
        take(m, s.x + (size_t)s.n * s.width, x);
        s.y[s.n++] = y;
        s.recorded += !r->simulated;
    }
    o.first = s.recorded < s.n ? s.recorded : 0;
    if (status == MSIM_OK)
        status = msim_boost_fit(&forest, s.x, s.y, s.n, s.width, &o, NULL);
    if (status == MSIM_OK && !cJSON_AddItemToObject(model, key, forest)) {
        cJSON_Delete(forest);
        status = MSIM_ENOMEM;
    }
    free(s.x);
    free(s.y);
    return status;
}

/* ---- the odds of all applications ---------------------------------------- */

#define HALVES 2 /* of the applications */

/* What trees of one half say of the other. */
static enum msim_status say(double *log_odds, const struct msim_runs_table *t,
                            const struct msim_watch_model *m)
{
    enum msim_status status = MSIM_OK;

    for (uint32_t half = 0; half < HALVES && status == MSIM_OK; half++) {
        struct msim_forest trees = {0};
        cJSON *model = cJSON_CreateObject();

        status = model ? fit_forest(model, "trees", t, m, half, HALVES,
                                    violation_of, &VIOLATION)
                       : MSIM_ENOMEM;
        if (status == MSIM_OK)
            status =
                msim_forest_read(&trees, cJSON_GetObjectItem(model, "trees"),
                                 msim_watch_model_width(m));
        for (uint32_t i = 0; status == MSIM_OK && i < t->rows.n; i++)
            if (is_held(msim_runs_row(t, i), half, HALVES))
                log_odds[i] = msim_forest_eval(&trees, msim_runs_x(t, i));
        msim_forest_release(&trees);
        cJSON_Delete(model);
    }
    return status;
}

/* What is usually said, over all of them. */
static double said_at_first(const struct msim_runs_table *t,
                            const double *log_odds, double *sorted)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->rows.n; i++)
        if (msim_runs_row(t, i)->violation == 0)
            sorted[n++] = log_odds[i];
    msim_sort_values(sorted, n);
    return n ? msim_quantile_between(sorted, n, MSIM_WATCH_USUALLY) : 0;
}

/* Rows of what is said, what is usually said, and 1. Of calm seconds: that a
 * violation goes on needs no foresight; and of those of which trees say much:
 * there alarms are, true and false. */
static uint32_t list_said(double *x, bool *truth,
                          const struct msim_runs_table *t,
                          const double *log_odds, double begin,
                          double horizon_s)
{
    struct msim_watch_said said = {0};
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->rows.n; i++) {
        const struct msim_runs_row *r = msim_runs_row(t, i);
        double *row = x + 3 * (size_t)n;

        if (i > 0 && r->run != r[-1].run)
            said.n = 0;
        msim_watch_said_add(&said, log_odds[i], r->log_p99 > 0);
        if (!r->calm || isnan(r->violation) || log_odds[i] < begin)
            continue;
        row[0] = log_odds[i];
        row[1] = msim_watch_said_usually(&said, horizon_s, begin);
        row[2] = 1;
        truth[n++] = r->violation > 0;
    }
    return n;
}

static enum msim_status fit_odds(cJSON *model, const struct msim_runs_table *t,
                                 const struct msim_watch_model *m,
                                 double horizon_s)
{
    size_t rows = t->rows.n;
    double *log_odds = malloc((4 * rows + 1) * sizeof(*log_odds));
    bool *truth = malloc(rows + 1);
    cJSON *odds = cJSON_AddObjectToObject(model, "odds");
    enum msim_status status =
        log_odds && truth && odds ? say(log_odds, t, m) : MSIM_ENOMEM;

    if (status == MSIM_OK) {
        double *x = log_odds + rows, w[3];
        double begin = said_at_first(t, log_odds, x);
        uint32_t n = list_said(x, truth, t, log_odds, begin, horizon_s);

        msim_logistic_fit(w, x, truth, n, 3);
        if (!cJSON_AddNumberToObject(odds, "said", w[0]) ||
            !cJSON_AddNumberToObject(odds, "usually", w[1]) ||
            !cJSON_AddNumberToObject(odds, "plus", w[2]) ||
            !cJSON_AddNumberToObject(odds, "begin", begin))
            status = MSIM_ENOMEM;
    }
    free(log_odds);
    free(truth);
    return status;
}

/* ---- the file ---------------------------------------------------- */

static bool add_names(cJSON *model)
{
    cJSON *names = cJSON_AddArrayToObject(model, "features");

    for (uint32_t i = 0; names && i < MSIM_FEATURES; i++)
        if (!cJSON_AddItemToArray(names,
                                  cJSON_CreateString(msim_feature_text(i))))
            return false;
    return names != NULL;
}

static bool add_columns(cJSON *model, const struct msim_watch_model *m,
                        const struct msim_app *app)
{
    cJSON *list = cJSON_AddArrayToObject(model, "columns");

    for (uint32_t i = 0; list && i < m->n_columns; i++) {
        const struct msim_watch_column *c = &m->columns[i];
        bool e2e = c->stage == app->n_stages;
        cJSON *item = cJSON_CreateObject();

        if (!item || !cJSON_AddItemToArray(list, item) ||
            !cJSON_AddStringToObject(item, "stage",
                                     e2e ? MSIM_WATCH_E2E
                                         : app->stages[c->stage].name) ||
            !cJSON_AddStringToObject(item, "feature",
                                     e2e ? msim_e2e_feature_text(c->feature)
                                         : msim_stage_feature_text(c->feature)))
            return false;
    }
    return list != NULL;
}

static enum msim_status begin_model(cJSON *model,
                                    const struct msim_watch_model *m,
                                    const struct msim_app *app,
                                    double horizon_s)
{
    bool ok = cJSON_AddStringToObject(model, "schema",
                                      MSIM_WATCH_MODEL_SCHEMA) != NULL;

    if (app && app->name)
        ok = ok && cJSON_AddStringToObject(model, "app", app->name);
    ok = ok && cJSON_AddNumberToObject(model, "horizon_s", horizon_s);
    ok = ok && add_names(model) && add_columns(model, m, app);
    return ok ? MSIM_OK : MSIM_ENOMEM;
}

/* Trees want both kinds of seconds. */
static enum msim_status check_rows(const struct msim_runs_table *t,
                                   uint32_t held, uint32_t of,
                                   struct msim_error *err)
{
    uint32_t n = 0, yes = 0;

    for (uint32_t i = 0; i < t->rows.n; i++) {
        const struct msim_runs_row *r = msim_runs_row(t, i);

        if (isnan(violation_of(r)) || is_held(r, held, of) || r->simulated)
            continue;
        n++;
        yes += r->violation > 0;
    }
    if (n < FEW_ROWS || yes == 0 || yes == n)
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "%u seconds to learn from, %u of them before a "
                         "violation: want %d or more, and both kinds",
                         n, yes, FEW_ROWS);
    return MSIM_OK;
}

enum msim_status msim_runs_fit(cJSON **out, const struct msim_runs_table *t,
                               const struct msim_app *app, uint32_t held,
                               uint32_t of, double horizon_s,
                               struct msim_error *err)
{
    struct msim_watch_model m = {0};
    enum msim_status status;

    *out = NULL;
    MSIM_TRY(check_rows(t, held, of, err));
    if (app)
        MSIM_TRY(choose(&m, t, app, held, of));
    *out = cJSON_CreateObject();
    status = *out ? begin_model(*out, &m, app, horizon_s) : MSIM_ENOMEM;
    if (status == MSIM_OK && !app)
        status = fit_odds(*out, t, &m, horizon_s);
    if (status == MSIM_OK)
        status = fit_forest(*out, "violation", t, &m, held, of, violation_of,
                            !app               ? &VIOLATION
                            : any_simulated(t) ? &VIOLATION_OF_MANY
                                               : &VIOLATION_OF_ONE);
    if (status == MSIM_OK)
        status = fit_forest(*out, "next", t, &m, held, of, next_of, &NEXT);
    if (status != MSIM_OK) {
        cJSON_Delete(*out);
        *out = NULL;
    }
    return status;
}

/* ---- figures ----------------------------------------------------- */

struct judged {
    double *p, *last, *share; /* of calm seconds */
    bool *truth;
    double *guess, *last_p99, *major, *next; /* of seconds with a next one */
    uint32_t n, n_next;
};

static void judged_release(struct judged *j)
{
    free(j->p);
    free(j->last);
    free(j->share);
    free(j->truth);
    free(j->guess);
    free(j->last_p99);
    free(j->major);
    free(j->next);
}

static enum msim_status judged_init(struct judged *j, uint32_t n)
{
    size_t bytes = ((size_t)n + 1) * sizeof(double);

    *j = (struct judged){.p = malloc(bytes),
                         .last = malloc(bytes),
                         .share = malloc(bytes),
                         .truth = calloc((size_t)n + 1, sizeof(bool)),
                         .guess = malloc(bytes),
                         .last_p99 = malloc(bytes),
                         .major = malloc(bytes),
                         .next = malloc(bytes)};
    return j->p && j->last && j->share && j->truth && j->guess && j->last_p99 &&
                   j->major && j->next
               ? MSIM_OK
               : MSIM_ENOMEM;
}

/* What a guess without counters is, from the runs learned from: the share of
 * violations, and the median of log p99. */
struct majority {
    double share, log_p99;
};

static enum msim_status find_majority(struct majority *out,
                                      const struct msim_runs_table *t,
                                      uint32_t held, uint32_t of)
{
    double *values = malloc(((size_t)t->rows.n + 1) * sizeof(*values));
    uint32_t n = 0, calm = 0, yes = 0;

    if (!values)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->rows.n; i++) {
        const struct msim_runs_row *r = msim_runs_row(t, i);

        if (is_held(r, held, of) || r->simulated)
            continue;
        if (r->calm && !isnan(r->violation)) {
            calm++;
            yes += r->violation > 0;
        }
        if (!isnan(r->next))
            values[n++] = r->next;
    }
    out->share = calm ? (double)yes / calm : 0;
    out->log_p99 = msim_median(values, n);
    free(values);
    return MSIM_OK;
}

static void ask(struct judged *j, const struct msim_runs_table *t,
                const struct msim_watch_model *m, uint32_t i,
                const struct majority *major)
{
    const struct msim_runs_row *r = msim_runs_row(t, i);
    double x[MSIM_WATCH_COLUMNS_MAX];

    take(m, x, msim_runs_x(t, i));
    if (r->calm && !isnan(r->violation)) {
        j->p[j->n] = msim_watch_model_chance(
            m, msim_forest_eval(&m->violation, x), m->horizon_s);
        j->last[j->n] = isnan(r->log_p99) ? -INFINITY : r->log_p99;
        j->share[j->n] = major->share;
        j->truth[j->n++] = r->violation > 0;
    }
    if (isnan(r->next) || isnan(r->log_p99))
        return;
    j->guess[j->n_next] = log(msim_watch_model_next(m, x, 1));
    j->last_p99[j->n_next] = r->log_p99;
    j->major[j->n_next] = major->log_p99;
    j->next[j->n_next++] = r->next;
}

/* Fit without one part of the runs, and ask for that part. */
static enum msim_status judge_part(struct judged *j,
                                   const struct msim_runs_table *t,
                                   const struct msim_app *app, uint32_t held,
                                   uint32_t of, double horizon_s,
                                   struct msim_error *err)
{
    struct msim_watch_model m = {0};
    struct majority major = {0};
    cJSON *model = NULL;
    enum msim_status status =
        msim_runs_fit(&model, t, app, held, of, horizon_s, err);

    if (status == MSIM_OK)
        status = msim_watch_model_parse(&m, model, NULL, app, err);
    cJSON_Delete(model);
    if (status == MSIM_OK)
        status = find_majority(&major, t, held, of);
    for (uint32_t i = 0; status == MSIM_OK && i < t->rows.n; i++)
        if (is_held(msim_runs_row(t, i), held, of) &&
            !msim_runs_row(t, i)->simulated)
            ask(j, t, &m, i, &major);
    msim_watch_model_release(&m);
    return status;
}

static void sum_up(struct msim_runs_figures *out, const struct judged *j)
{
    for (uint32_t i = 0; i < j->n; i++)
        out->violating += j->truth[i];
    out->seconds = j->n_next;
    out->calm = j->n;
    out->auc = msim_score_auc(j->p, j->truth, j->n);
    out->auc_last = msim_score_auc(j->last, j->truth, j->n);
    out->calibration = msim_score_calibration(j->p, j->truth, j->n);
    out->calibration_majority =
        msim_score_calibration(j->share, j->truth, j->n);
    out->p99 = msim_score_log_error(j->guess, j->next, j->n_next);
    out->p99_last = msim_score_log_error(j->last_p99, j->next, j->n_next);
    out->p99_majority = msim_score_log_error(j->major, j->next, j->n_next);
}

enum msim_status msim_runs_judge(struct msim_runs_figures *out,
                                 const struct msim_runs_table *t,
                                 const struct msim_app *app, uint32_t parts,
                                 double horizon_s, struct msim_error *err)
{
    struct judged j;
    enum msim_status status = judged_init(&j, t->rows.n);

    *out = (struct msim_runs_figures){
        .runs = t->n_runs, .simulated = t->n_simulated, .parts = parts};
    for (uint32_t held = 0; held < parts && status == MSIM_OK; held++)
        status = judge_part(&j, t, app, held, parts, horizon_s, err);
    if (status == MSIM_OK)
        sum_up(out, &j);
    judged_release(&j);
    return status;
}
