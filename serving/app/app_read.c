/*
 * serving/app/app_read.c - APP.json from its top: what is read in which order.
 */
#include "serving/app/app_internal.h"

#include <stdio.h>
#include <string.h>

#define SCHEMA "mystique-sim/app/1"

/* Tokens come out of llm stages alone. */
static void check_metrics(const struct msim_app *app, struct msim_fields *f)
{
    bool tokens = false;

    for (uint32_t i = 0; i < app->n_stages; i++)
        tokens = tokens || app->stages[i].kind == MSIM_STAGE_LLM;
    for (uint32_t i = 0; i < app->n_promises && !tokens; i++) {
        if (app->promises[i].metric == MSIM_PROMISE_E2E || f->status != MSIM_OK)
            continue;
        f->status = msim_fail(
            f->err, MSIM_EFORMAT, f->file, MSIM_OFFSET_NONE,
            "slo[%u].metric is \"%s\", want \"e2e\": no stage is of kind llm",
            i, msim_promise_metric_text(app->promises[i].metric));
    }
}

static void read_app(struct msim_app *app, struct msim_fields *f)
{
    static const char *const KEYS[] = {"schema",  "name", "currency", "slo",
                                       "classes", "size", "arrivals", "stages",
                                       "flow",    NULL};
    const char *schema = msim_field_text(f, "schema");
    const char *text;

    if (!schema || strcmp(schema, SCHEMA) != 0)
        msim_field_refuse(f, "schema", "\"" SCHEMA "\"");
    msim_fields_only(f, KEYS);
    text = msim_field_text(f, "name");
    app->name = msim_app_copy(app, f, text ? text : "");
    text = msim_field_text(f, "currency");
    app->currency = msim_app_copy(app, f, text ? text : "USD");
    msim_app_read_classes(app, f);
    msim_app_read_promises(app, f);
    msim_app_read_arrivals(app, f);
    msim_app_read_stages(app, f);
    msim_app_read_flow(app, f);
    check_metrics(app, f);
}

enum msim_status msim_app_of_json(struct msim_app *app, const cJSON *json,
                                  const char *path, struct msim_error *err)
{
    struct msim_fields f;

    memset(app, 0, sizeof(*app));
    msim_arena_init(&app->arena);
    f = msim_fields_of(cJSON_IsObject(json) ? json : NULL, path, err);
    app->path = msim_app_copy(app, &f, path);
    if (!f.object)
        f.status = msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                             "this is not a JSON object, want an application "
                             "(\"schema\": \"" SCHEMA "\")");
    if (f.status == MSIM_OK)
        read_app(app, &f);
    if (f.status != MSIM_OK)
        msim_app_release(app);
    return f.status;
}

enum msim_status msim_app_read(struct msim_app *app, const char *path,
                               struct msim_error *err)
{
    enum msim_status status;
    cJSON *json;

    memset(app, 0, sizeof(*app));
    MSIM_TRY(msim_json_read(&json, path, err));
    status = msim_app_of_json(app, json, path, err);
    cJSON_Delete(json);
    return status;
}
