/*
 * serving/watch/watch_model.c - model files and what they answer.
 */
#include "serving/watch/watch_model.h"

#include "core/base/quantile.h"
#include "core/json/fields.h"

#include <math.h>
#include <string.h>

#define AS_MANY 10 /* seconds that what is said at first counts for */

/* Does the file list the numbers that this program makes, in their order? */
static enum msim_status read_features(const cJSON *json, const char *path,
                                      struct msim_error *err)
{
    const cJSON *names = cJSON_GetObjectItemCaseSensitive(json, "features");

    for (uint32_t i = 0; i < MSIM_FEATURES; i++) {
        const cJSON *name = cJSON_GetArrayItem(names, (int)i);

        if (!cJSON_IsString(name) ||
            strcmp(name->valuestring, msim_feature_text(i)) != 0)
            return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                             "features[%u] is not \"%s\": the model is of "
                             "another version, learn it again",
                             i, msim_feature_text(i));
    }
    if (cJSON_GetArraySize(names) != MSIM_FEATURES)
        return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                         "features has %d names, want %d",
                         cJSON_GetArraySize(names), MSIM_FEATURES);
    return MSIM_OK;
}

/* False where there is no such stage or number. */
static bool find_column(struct msim_watch_column *c, const struct msim_app *app,
                        const char *stage, const char *name)
{
    bool e2e = stage && strcmp(stage, MSIM_WATCH_E2E) == 0;
    uint32_t n = e2e ? MSIM_E2E_FEATURES : MSIM_STAGE_FEATURES;

    c->stage = e2e     ? app->n_stages
               : stage ? msim_app_stage_find(app, stage)
                       : MSIM_NONE;
    c->feature = 0;
    while (
        c->feature < n &&
        (!name || strcmp(name, e2e ? msim_e2e_feature_text(c->feature)
                                   : msim_stage_feature_text(c->feature)) != 0))
        c->feature++;
    return c->stage != MSIM_NONE && c->feature < n;
}

static enum msim_status read_columns(struct msim_watch_model *m,
                                     const cJSON *json, const char *path,
                                     const struct msim_app *app,
                                     struct msim_error *err)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "columns");
    const cJSON *item;

    cJSON_ArrayForEach(item, list)
    {
        struct msim_watch_column *c = &m->columns[m->n_columns];

        if (!app || m->n_columns == MSIM_WATCH_COLUMNS_MAX - MSIM_FEATURES)
            return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                             "columns[%u] is one too many", m->n_columns);
        if (!find_column(c, app, msim_json_get_text(item, "stage"),
                         msim_json_get_text(item, "feature")))
            return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                             "columns[%u].%s: '%s' has no stage and number of "
                             "that name, the model is another application's",
                             m->n_columns,
                             c->stage == MSIM_NONE ? "stage" : "feature",
                             app->name ? app->name : "the application");
        m->n_columns++;
    }
    return MSIM_OK;
}

static enum msim_status read_forest(struct msim_forest *f, const cJSON *json,
                                    const char *key, uint32_t width,
                                    const char *path, struct msim_error *err)
{
    enum msim_status status =
        msim_forest_read(f, cJSON_GetObjectItemCaseSensitive(json, key), width);

    if (status == MSIM_EFORMAT || status == MSIM_ELIMIT)
        return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                         "%s holds no whole trees", key);
    return status;
}

/* A model of one application has none: its trees know it. */
static enum msim_status read_odds(struct msim_watch_odds *o, const cJSON *json,
                                  const char *path, struct msim_error *err)
{
    const cJSON *in = cJSON_GetObjectItemCaseSensitive(json, "odds");

    *o = (struct msim_watch_odds){.said = 1};
    if (!in)
        return MSIM_OK;
    o->said = msim_json_get_number(in, "said", NAN);
    o->usually = msim_json_get_number(in, "usually", NAN);
    o->plus = msim_json_get_number(in, "plus", NAN);
    o->begin = msim_json_get_number(in, "begin", NAN);
    if (!isfinite(o->said + o->usually + o->plus + o->begin))
        return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                         "odds lacks one of the numbers said, usually, plus "
                         "and begin");
    return MSIM_OK;
}

static enum msim_status read_all(struct msim_watch_model *m, const cJSON *json,
                                 const char *path, const struct msim_app *app,
                                 struct msim_error *err)
{
    const char *schema = msim_json_get_text(json, "schema");
    const char *name = msim_json_get_text(json, "app");

    if (!schema || strcmp(schema, MSIM_WATCH_MODEL_SCHEMA) != 0)
        return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                         "schema is %s%s%s, want \"" MSIM_WATCH_MODEL_SCHEMA
                         "\", which learn --runs writes",
                         schema ? "\"" : "", schema ? schema : "absent",
                         schema ? "\"" : "");
    if (app && name && app->name && strcmp(name, app->name) != 0)
        return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                         "app is \"%s\", want a model of \"%s\"", name,
                         app->name);
    m->horizon_s = msim_json_get_number(json, "horizon_s", NAN);
    if (!(m->horizon_s >= 1))
        return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                         "horizon_s is no number from 1");
    MSIM_TRY(read_odds(&m->odds, json, path, err));
    MSIM_TRY(read_features(json, path, err));
    MSIM_TRY(read_columns(m, json, path, app, err));
    MSIM_TRY(read_forest(&m->violation, json, "violation",
                         msim_watch_model_width(m), path, err));
    return read_forest(&m->next, json, "next", msim_watch_model_width(m), path,
                       err);
}

enum msim_status msim_watch_model_parse(struct msim_watch_model *m,
                                        const cJSON *json, const char *path,
                                        const struct msim_app *app,
                                        struct msim_error *err)
{
    enum msim_status status;

    *m = (struct msim_watch_model){.horizon_s = NAN};
    status = read_all(m, json, path, app, err);
    if (status != MSIM_OK)
        msim_watch_model_release(m);
    return status;
}

enum msim_status msim_watch_model_read(struct msim_watch_model *m,
                                       const char *path,
                                       const struct msim_app *app,
                                       struct msim_error *err)
{
    cJSON *json;
    enum msim_status status;

    *m = (struct msim_watch_model){.horizon_s = NAN};
    status = msim_json_read(&json, path, err);
    if (status == MSIM_OK)
        status = msim_watch_model_parse(m, json, path, app, err);
    cJSON_Delete(json);
    return status;
}

void msim_watch_model_release(struct msim_watch_model *m)
{
    msim_forest_release(&m->violation);
    msim_forest_release(&m->next);
    m->n_columns = 0;
}

void msim_watch_model_columns(const struct msim_watch_model *m, double *x,
                              const struct msim_history *h, double limit_ms)
{
    for (uint32_t i = 0; i < m->n_columns; i++) {
        const struct msim_watch_column *c = &m->columns[i];

        x[MSIM_FEATURES + i] =
            c->stage == h->n_stages
                ? msim_e2e_feature_of(h, c->feature, limit_ms)
                : msim_stage_feature_of(h, c->stage, c->feature, limit_ms);
    }
}

/* ---- what trees usually say ---------------------------------------------- */

void msim_watch_said_add(struct msim_watch_said *s, double log_odds, bool late)
{
    const uint32_t most = MSIM_HISTORY_KEPT;

    if (s->n == most) {
        memmove(s->log_odds, s->log_odds + 1,
                (most - 1) * sizeof(*s->log_odds));
        memmove(s->late, s->late + 1, (most - 1) * sizeof(*s->late));
        s->n--;
    }
    s->log_odds[s->n] = log_odds;
    s->late[s->n++] = late;
}

double msim_watch_said_usually(const struct msim_watch_said *s,
                               double horizon_s, double begin)
{
    double quiet[MSIM_HISTORY_KEPT], after = INFINITY;
    uint32_t n = 0;

    for (uint32_t i = s->n; i-- > 0;) {
        after = s->late[i] ? 0 : after + 1;
        if (after > horizon_s && s->n - 1 - i >= horizon_s)
            quiet[n++] = s->log_odds[i];
    }
    if (n == 0)
        return begin;
    msim_sort_values(quiet, n);
    return (n * msim_quantile_between(quiet, n, MSIM_WATCH_USUALLY) +
            AS_MANY * begin) /
           (n + AS_MANY);
}

double msim_watch_model_odds(const struct msim_watch_model *m, double trees,
                             double usually)
{
    return m->odds.said * trees + m->odds.usually * usually + m->odds.plus;
}

double msim_watch_model_chance(const struct msim_watch_model *m,
                               double log_odds, double horizon_s)
{
    return 1 - pow(1 / (1 + exp(log_odds)), horizon_s / m->horizon_s);
}

double msim_watch_model_next(const struct msim_watch_model *m, const double *x,
                             double limit_ms)
{
    double log_last = x[MSIM_FEATURE_P99_LOG_3S];

    if (log_last == 0) /* no request has ended yet */
        return NAN;
    return limit_ms * exp(log_last + msim_forest_eval(&m->next, x));
}
