/*
 * serving/app/serving_plan.c - plans out of their files.
 */
#include "serving/app/app.h"

#include "core/json/fields.h"
#include "serving/log/request_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA        "mystique-sim/serving-plan/1"
#define MOST_REPLICAS 1000000

static int64_t read_replicas(struct msim_fields *f, const char *key)
{
    int64_t n = msim_field_int(f, key, 1, MSIM_FIELD_WANTED);

    if (n > MOST_REPLICAS)
        msim_field_refuse(f, key, "at most 1000000");
    return n;
}

/* The members of `f` are stages: numbers in short, else objects. */
static void read_stages(int64_t *replicas, const struct msim_app *app,
                        struct msim_fields *f, bool in_short)
{
    static const char *const KEYS[] = {"replicas",         "platform",
                                       "load_per_replica", "percentile",
                                       "latency_ms",       NULL};
    const char **names = calloc(app->n_stages + 1, sizeof(*names));
    const cJSON *item;

    if (!names) {
        f->status = MSIM_ENOMEM;
        return;
    }
    for (uint32_t s = 0; s < app->n_stages; s++)
        names[s] = app->stages[s].name;
    msim_fields_only(f, names);
    free(names);
    cJSON_ArrayForEach(item, f->object)
    {
        uint32_t s = msim_app_stage_find(app, item->string);
        struct msim_fields in;

        if (f->status != MSIM_OK)
            return;
        if (in_short) {
            replicas[s] = read_replicas(f, item->string);
            continue;
        }
        in = msim_fields_open(f, item->string);
        msim_fields_only(&in, KEYS);
        replicas[s] = read_replicas(&in, "replicas");
        msim_fields_close(f, &in);
    }
}

static void read_plan(int64_t *replicas, const struct msim_app *app,
                      struct msim_fields *f)
{
    static const char *const KEYS[] = {
        "schema",   "version",  "name",      "app",           "rate",
        "stages",   "replicas", "predicted", "cost_per_hour", "method",
        "explored", "why",      NULL};
    const char *schema = msim_field_text(f, "schema");
    bool in_short = cJSON_IsObject(msim_field_json(f, "replicas")) &&
                    !msim_field_json(f, "stages");
    struct msim_fields in;

    for (uint32_t s = 0; s < app->n_stages; s++)
        replicas[s] = app->stages[s].replicas;
    if (schema && strcmp(schema, SCHEMA) != 0)
        msim_field_refuse(f, "schema", "\"" SCHEMA "\"");
    msim_fields_only(f, KEYS);
    in = msim_fields_open(f, in_short ? "replicas" : "stages");
    if (!in.object || !in.object->child)
        msim_field_refuse(f, "stages",
                          "the application's: {\"name\": {\"replicas\": n}}");
    in.status = f->status;
    if (in.status == MSIM_OK)
        read_stages(replicas, app, &in, in_short);
    msim_fields_close(f, &in);
}

enum msim_status msim_serving_plan_read(int64_t *replicas,
                                        const struct msim_app *app,
                                        const char *path,
                                        struct msim_error *err)
{
    struct msim_fields f;
    cJSON *json;

    MSIM_TRY(msim_json_read(&json, path, err));
    f = msim_fields_of(cJSON_IsObject(json) ? json : NULL, path, err);
    if (f.object)
        read_plan(replicas, app, &f);
    else
        f.status = msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                             "this is not a JSON object, want a plan "
                             "(\"schema\": \"" SCHEMA "\")");
    cJSON_Delete(json);
    return f.status;
}

/* ---- many ---------------------------------------------------------------- */

struct reading {
    struct msim_serving_plans *plans;
    const struct msim_app *app;
    const char *path;
    uint32_t cap_replicas, cap_names; /* plans that have room */
};

static enum msim_status add_name(struct reading *r, const char *name,
                                 uint64_t line)
{
    struct msim_serving_plans *p = r->plans;
    char number[32];
    size_t bytes;
    char *copy;

    snprintf(number, sizeof(number), "%llu", (unsigned long long)line);
    if (!name)
        name = number;
    bytes = strlen(name) + 1;
    copy = msim_arena_alloc(&p->arena, bytes);
    if (!copy)
        return MSIM_ENOMEM;
    memcpy(copy, name, bytes);
    p->names[p->n] = copy;
    return MSIM_OK;
}

static enum msim_status add_plan(void *ctx, const cJSON *json, uint64_t line,
                                 struct msim_error *err)
{
    struct reading *r = ctx;
    struct msim_serving_plans *p = r->plans;
    struct msim_fields f = msim_fields_of(json, r->path, err);

    snprintf(f.path, sizeof(f.path), "line %llu: ", (unsigned long long)line);
    MSIM_TRY(msim_grow((void **)&p->replicas, &r->cap_replicas, p->n,
                       p->n_stages * sizeof(*p->replicas)));
    MSIM_TRY(
        msim_grow((void **)&p->names, &r->cap_names, p->n, sizeof(*p->names)));
    read_plan(p->replicas + (size_t)p->n * p->n_stages, r->app, &f);
    if (f.status == MSIM_OK)
        f.status = add_name(r, msim_field_text(&f, "name"), line);
    p->n += f.status == MSIM_OK;
    return f.status;
}

enum msim_status msim_serving_plans_read(struct msim_serving_plans *plans,
                                         const struct msim_app *app,
                                         const char *path,
                                         struct msim_error *err)
{
    struct reading r = {.plans = plans, .app = app, .path = path};
    enum msim_status status;

    *plans = (struct msim_serving_plans){.n_stages = app->n_stages};
    msim_arena_init(&plans->arena);
    status = msim_json_lines_read(path, add_plan, &r, err);
    if (status == MSIM_OK && plans->n == 0)
        status = msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                           "no plans in it, want one a line");
    if (status != MSIM_OK)
        msim_serving_plans_release(plans);
    return status;
}

void msim_serving_plans_release(struct msim_serving_plans *plans)
{
    free(plans->replicas);
    free(plans->names);
    msim_arena_release(&plans->arena);
    memset(plans, 0, sizeof(*plans));
}
