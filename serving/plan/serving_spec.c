/*
 * serving/plan/serving_spec.c - reading the question of a plan of serving.
 *
 * A configuration becomes an APP.json in memory, so that every member means
 * what it means to `serve`, and is refused as it is there. What the reader of
 * applications says of the stage is told by the spec's own path.
 */
#include "serving/plan/serving_choice.h"

#include "core/json/fields.h"
#include "models/platform/platform.h"
#include "plan/describe/describe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STAGE        "replica"
#define USUAL_POINTS 1e4

static const struct dimension {
    const char *member, *object;
} DIMENSIONS[] = {
#define X(name, member, object) {member, object},
    MSIM_SERVING_DIMENSION_MAP(X)
#undef X
};

#define X(name, member, object) member,
static const char *const KEYS[] = {
    "workload",      "model",       "rate",
    "arrivals",      "classes",     "input_tokens",
    "output_tokens", "slo",         "platforms",
    "limits",        "currency",    "requests",
    "seed",          "most_points", MSIM_SERVING_DIMENSION_MAP(X) NULL};
#undef X

const char *msim_serving_dimension_text(enum msim_serving_dimension d)
{
    return DIMENSIONS[d].member;
}

/* ---- points -------------------------------------------------------------- */

uint32_t msim_serving_spec_configs(const struct msim_serving_spec *s)
{
    uint32_t n = s->n_platforms;

    for (int d = 0; d < MSIM_SERVING_DIMENSIONS; d++)
        n *= s->n[d];
    return n;
}

uint32_t msim_serving_spec_platform(const struct msim_serving_spec *s,
                                    uint32_t config)
{
    return config / (msim_serving_spec_configs(s) / s->n_platforms);
}

const cJSON *msim_serving_spec_value(const struct msim_serving_spec *s,
                                     uint32_t config,
                                     enum msim_serving_dimension d)
{
    const cJSON *v = s->values[d];

    for (int k = MSIM_SERVING_DIMENSIONS - 1; k > (int)d; k--)
        config /= s->n[k];
    if (cJSON_IsArray(v))
        v = cJSON_GetArrayItem(v, (int)(config % s->n[d]));
    return cJSON_IsNull(v) ? NULL : v;
}

/* ---- as an application --------------------------------------------------- */

/* A copy of `value` as a member; nothing where it is NULL. False: ENOMEM. */
static bool put(cJSON *object, const char *key, const cJSON *value)
{
    cJSON *copy = value ? cJSON_Duplicate(value, true) : NULL;

    if (!value || cJSON_AddItemToObject(object, key, copy))
        return true;
    cJSON_Delete(copy);
    return false;
}

static bool put_member(cJSON *object, const char *key, const cJSON *json)
{
    return put(object, key, cJSON_GetObjectItemCaseSensitive(json, key));
}

static bool put_number(cJSON *object, const char *key, double v)
{
    return isnan(v) || cJSON_AddNumberToObject(object, key, v);
}

/* The classes of the spec, or one with its lengths. */
static bool put_classes(cJSON *app, const cJSON *json)
{
    cJSON *list, *one;

    if (cJSON_GetObjectItemCaseSensitive(json, "classes"))
        return put_member(app, "classes", json);
    list = cJSON_AddArrayToObject(app, "classes");
    one = cJSON_CreateObject();
    if (!list || !cJSON_AddItemToArray(list, one)) {
        cJSON_Delete(one);
        return false;
    }
    return cJSON_AddStringToObject(one, "name", "all") &&
           cJSON_AddNumberToObject(one, "share", 1) &&
           put_member(one, "input_tokens", json) &&
           put_member(one, "output_tokens", json);
}

static bool put_values(cJSON *stage, const struct msim_serving_spec *s,
                       uint32_t config)
{
    bool fine = true;

    for (int d = 0; d < MSIM_SERVING_DIMENSIONS && fine; d++) {
        const char *name = DIMENSIONS[d].object;
        const cJSON *v =
            msim_serving_spec_value(s, config, (enum msim_serving_dimension)d);
        cJSON *object = stage;

        if (!v)
            continue;
        if (*name)
            object = cJSON_GetObjectItemCaseSensitive(stage, name);
        if (!object)
            object = cJSON_AddObjectToObject(stage, name);
        fine = object && put(object, DIMENSIONS[d].member, v);
    }
    return fine;
}

static bool put_stage(cJSON *app, const struct msim_serving_spec *s,
                      uint32_t config)
{
    const struct msim_serving_platform *p =
        &s->platforms[msim_serving_spec_platform(s, config)];
    cJSON *stages = cJSON_AddObjectToObject(app, "stages");
    cJSON *stage = cJSON_AddObjectToObject(stages, STAGE);

    return stage && cJSON_AddStringToObject(stage, "kind", "llm") &&
           cJSON_AddStringToObject(stage, "call", "queue") &&
           cJSON_AddStringToObject(stage, "model", s->model) &&
           cJSON_AddStringToObject(stage, "platform", p->name) &&
           put_number(stage, "price_per_hour", p->price) &&
           put_number(stage, "power_w", p->power_w) &&
           put_values(stage, s, config);
}

static bool put_app(cJSON *app, const struct msim_serving_spec *s,
                    uint32_t config)
{
    cJSON *arrivals = cJSON_AddObjectToObject(app, "arrivals");

    return arrivals && put_number(arrivals, "rate", s->rate) &&
           cJSON_AddStringToObject(arrivals, "process", "gamma") &&
           put_number(arrivals, "cv", 1) &&
           cJSON_AddStringToObject(app, "schema", "mystique-sim/app/1") &&
           put_member(app, "slo", s->json) && put_classes(app, s->json) &&
           put_stage(app, s, config);
}

/* "stages.replica.parallel.tp is 0, want ..." is about "tp[1]". */
static void tell_by_spec(const struct msim_serving_spec *s, uint32_t config,
                         struct msim_error *err)
{
    static const char BEFORE[] = "stages." STAGE ".";
    size_t n = sizeof(BEFORE) - 1;
    char text[sizeof(err->text)];

    if (strncmp(err->text, BEFORE, n) != 0)
        return;
    snprintf(text, sizeof(text), "%s", err->text + n);
    for (int d = 0; d < MSIM_SERVING_DIMENSIONS; d++) {
        char path[64], *end = strstr(text, " is ");
        int m =
            snprintf(path, sizeof(path), "%s%s%s", DIMENSIONS[d].object,
                     *DIMENSIONS[d].object ? "." : "", DIMENSIONS[d].member);
        uint32_t item = config;

        if (!end || end - text != m || strncmp(text, path, (size_t)m) != 0)
            continue;
        for (int k = MSIM_SERVING_DIMENSIONS - 1; k > d; k--)
            item /= s->n[k];
        snprintf(err->text, sizeof(err->text), "%s", DIMENSIONS[d].member);
        m = (int)strlen(err->text);
        if (cJSON_IsArray(s->values[d]))
            m += snprintf(err->text + m, sizeof(err->text) - (size_t)m, "[%u]",
                          item % s->n[d]);
        snprintf(err->text + m, sizeof(err->text) - (size_t)m, "%.900s", end);
        return;
    }
    snprintf(err->text, sizeof(err->text), "%s", text);
}

enum msim_status msim_serving_spec_app(struct msim_app *app,
                                       const struct msim_serving_spec *s,
                                       uint32_t config, struct msim_error *err)
{
    cJSON *json = cJSON_CreateObject();
    struct msim_error why = {0};
    enum msim_status status = MSIM_ENOMEM;

    if (json && put_app(json, s, config))
        status = msim_app_of_json(app, json, s->file, &why);
    cJSON_Delete(json);
    if (status == MSIM_OK)
        return status;
    tell_by_spec(s, config, &why);
    return msim_fail(err, status, why.file, why.offset, "%s",
                     *why.text ? why.text : msim_status_text(status));
}

/* ---- reading ------------------------------------------------------------- */

/* A name that nothing has is a wrong member of the spec, with its path. */
static enum msim_status about(const char *file, enum msim_status status,
                              const char *member, uint32_t item,
                              const struct msim_error *why,
                              struct msim_error *err)
{
    if (status == MSIM_OK)
        return status;
    if (status != MSIM_EUNKNOWN)
        return msim_fail(err, status, why->file, why->offset, "%s", why->text);
    return item == UINT32_MAX
               ? msim_fail(err, MSIM_EFORMAT, file, MSIM_OFFSET_NONE, "%s: %s",
                           member, why->text)
               : msim_fail(err, MSIM_EFORMAT, file, MSIM_OFFSET_NONE,
                           "%s[%u]: %s", member, item, why->text);
}

static void read_platform(struct msim_serving_spec *s, struct msim_fields *f,
                          const cJSON *item, const char *data_dir)
{
    static const char *const OF[] = {"name", "price_per_gpu_hour", "power_w",
                                     NULL};
    uint32_t i = s->n_platforms++;
    struct msim_serving_platform *p = &s->platforms[i];
    struct msim_platform *there = NULL;
    struct msim_error why = {0};
    struct msim_fields in;

    *p = (struct msim_serving_platform){cJSON_GetStringValue(item), NAN, NAN};
    if (!p->name) {
        in = msim_fields_open_item(f, "platforms", i, item);
        msim_fields_only(&in, OF);
        p->name = msim_field_text(&in, "name");
        p->price = msim_field_real(&in, "price_per_gpu_hour", NAN);
        p->power_w = msim_field_real(&in, "power_w", NAN);
        if (!p->name)
            msim_field_refuse(&in, "name", "a GPU that 'platforms' lists");
        msim_fields_close(f, &in);
    }
    if (f->status != MSIM_OK)
        return;
    f->status =
        about(f->file, msim_platform_load(&there, data_dir, p->name, &why),
              "platforms", i, &why, f->err);
    msim_platform_free(there);
}

static void read_platforms(struct msim_serving_spec *s, struct msim_fields *f,
                           const char *data_dir)
{
    const cJSON *list = msim_field_json(f, "platforms"), *item;

    if (cJSON_IsString(list) || cJSON_IsObject(list)) {
        read_platform(s, f, list, data_dir);
        return;
    }
    if (!cJSON_IsArray(list) || !list->child)
        msim_field_refuse(f, "platforms",
                          "a name, {\"name\": ..., \"price_per_gpu_hour\": "
                          "...}, or an array of them");
    cJSON_ArrayForEach(item, list)
    {
        if (s->n_platforms == MSIM_SERVING_PLATFORMS) {
            msim_field_refuse(f, "platforms", "at most 24 of them");
            return;
        }
        read_platform(s, f, item, data_dir);
    }
}

/* Of a plan the share of one replica of N is simulated: what that share is must
 * follow from the whole. */
static void read_arrivals(struct msim_serving_spec *s, struct msim_fields *f)
{
    static const char *const WORDS[] = {"poisson", "gamma", "constant", NULL};
    static const char *const OF[] = {"process", "rate", "cv", NULL};
    struct msim_fields in = msim_fields_open(f, "arrivals");
    int process = 0;

    s->rate = msim_field_between(f, "rate", 1e-3, 1e7, NAN);
    if (in.object) {
        msim_fields_only(&in, OF);
        process = msim_field_word(&in, "process", WORDS, 0);
        s->rate = msim_field_between(&in, "rate", 1e-3, 1e7, s->rate);
    }
    s->cv = process == 1 ? msim_field_between(&in, "cv", 1e-3, 100, 1)
                         : (process == 0);
    if (process != 1 && in.object &&
        cJSON_GetObjectItemCaseSensitive(in.object, "cv"))
        msim_field_refuse(&in, "cv", "it with \"process\": \"gamma\" alone");
    msim_fields_close(f, &in);
    if (isnan(s->rate))
        msim_field_refuse(f, "rate", "requests a second");
}

static void read_values(struct msim_serving_spec *s, struct msim_fields *f)
{
    static const char USUAL_TP[] = "[1, 2, 4, 8]";
    const char *tp = DIMENSIONS[MSIM_SERVING_TP].member;

    if (f->status == MSIM_OK && !cJSON_HasObjectItem(s->json, tp))
        cJSON_AddItemToObject(s->json, tp, cJSON_Parse(USUAL_TP));
    for (int d = 0; d < MSIM_SERVING_DIMENSIONS; d++) {
        const cJSON *v =
            cJSON_GetObjectItemCaseSensitive(s->json, DIMENSIONS[d].member);
        int n = cJSON_IsArray(v) ? cJSON_GetArraySize(v) : 1;

        if (n < 1 || n > 24)
            msim_field_refuse(f, DIMENSIONS[d].member,
                              "a value, or an array of 1 to 24 of them");
        s->values[d] = v;
        s->n[d] = (uint32_t)n;
    }
}

static void read_limits(struct msim_serving_spec *s, struct msim_fields *f)
{
    static const char *const OF[] = {"gpus", "cost_per_hour", NULL};
    struct msim_fields in = msim_fields_open(f, "limits");

    if (in.object)
        msim_fields_only(&in, OF);
    s->most_gpus = msim_field_real(&in, "gpus", INFINITY);
    s->most_cost = msim_field_real(&in, "cost_per_hour", INFINITY);
    msim_fields_close(f, &in);
}

/* Lengths are those of classes, or of the one class. */
static void check_classes(struct msim_fields *f)
{
    static const char *const LENGTHS[] = {"input_tokens", "output_tokens"};
    bool many = msim_field_json(f, "classes");

    for (int i = 0; i < 2; i++) {
        if (many == (msim_field_json(f, LENGTHS[i]) != NULL))
            msim_field_refuse(f, LENGTHS[i],
                              many ? "none beside \"classes\""
                                   : "a number of tokens, a distribution of "
                                     "it, or \"classes\"");
    }
}

static void check_points(struct msim_serving_spec *s, struct msim_fields *f)
{
    double most = msim_field_between(f, "most_points", 1, 1e6, USUAL_POINTS);
    double points = s->n_platforms;

    for (int d = 0; d < MSIM_SERVING_DIMENSIONS; d++)
        points *= s->n[d];
    if (f->status == MSIM_OK && points > most)
        f->status = msim_fail(f->err, MSIM_ELIMIT, f->file, MSIM_OFFSET_NONE,
                              "the spec has %.6g configurations, and "
                              "\"most_points\" is %.6g: give fewer values, or "
                              "a larger bound",
                              points, most);
}

static void read_spec(struct msim_serving_spec *s, struct msim_fields *f,
                      const char *data_dir)
{
    const char *text;

    msim_fields_only(f, KEYS);
    s->model = msim_field_text(f, "model");
    if (!s->model)
        msim_field_refuse(f, "model",
                          "a name of data/models, or a config.json");
    text = msim_field_text(f, "currency");
    s->currency = text ? text : "USD";
    check_classes(f);
    if (!msim_field_array(f, "slo"))
        msim_field_refuse(f, "slo",
                          "promises: [{\"metric\": \"ttft\", \"percentile\": "
                          "90, \"limit_ms\": 500}]");
    s->requests = (uint64_t)msim_field_between(f, "requests", 100, 1e6, 0);
    s->seed = (uint64_t)msim_field_between(f, "seed", 0, 9007199254740992.0, 0);
    read_arrivals(s, f);
    read_platforms(s, f, data_dir);
    read_values(s, f);
    read_limits(s, f);
    check_points(s, f);
}

/* Every value once, and the model. */
static enum msim_status check_values(const struct msim_serving_spec *s,
                                     const char *data_dir,
                                     struct msim_error *err)
{
    uint32_t step = 1, n = msim_serving_spec_configs(s);
    struct msim_error why = {0};
    struct msim_described model;
    struct msim_app app;
    enum msim_status status;

    MSIM_TRY(msim_serving_spec_app(&app, s, 0, err));
    status = about(
        s->file,
        msim_described_find(&model, app.stages[0].model, data_dir, NULL, &why),
        "model", UINT32_MAX, &why, err);
    if (status == MSIM_OK && app.n_promises > MSIM_SERVING_PROMISES)
        status = msim_fail(err, MSIM_EFORMAT, s->file, MSIM_OFFSET_NONE,
                           "slo has %u promises, want at most %d",
                           app.n_promises, MSIM_SERVING_PROMISES);
    if (status == MSIM_OK && app.n_promises == 0)
        status = msim_fail(err, MSIM_EFORMAT, s->file, MSIM_OFFSET_NONE,
                           "slo is [], want at least one promise");
    msim_app_release(&app);
    for (int d = MSIM_SERVING_DIMENSIONS - 1; d >= 0; d--) {
        for (uint32_t i = 1; i < s->n[d] && status == MSIM_OK; i++) {
            status = msim_serving_spec_app(&app, s, i * step % n, err);
            if (status == MSIM_OK)
                msim_app_release(&app);
        }
        step *= s->n[d];
    }
    return status;
}

enum msim_status msim_serving_spec_of_json(struct msim_serving_spec *s,
                                           cJSON *json, const char *path,
                                           const char *data_dir,
                                           struct msim_error *err)
{
    struct msim_fields f;

    memset(s, 0, sizeof(*s));
    s->file = path;
    s->json = json;
    f = msim_fields_of(cJSON_IsObject(s->json) ? s->json : NULL, path, err);
    if (f.object)
        read_spec(s, &f, data_dir);
    else
        f.status = msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                             "this is not a JSON object, want a plan's spec");
    if (f.status == MSIM_OK)
        f.status = check_values(s, data_dir, err);
    if (f.status != MSIM_OK)
        msim_serving_spec_release(s);
    return f.status;
}

void msim_serving_spec_release(struct msim_serving_spec *s)
{
    cJSON_Delete(s->json);
    memset(s, 0, sizeof(*s));
}

bool msim_serving_spec_is(const cJSON *json)
{
    const char *word =
        cJSON_IsObject(json) ? msim_json_get_text(json, "workload") : NULL;

    return word && strcmp(word, "serving") == 0;
}
