/*
 * core/report/compare/compare_read.c - a prediction read back from the JSON of
 * core/report/write/report_json.c.
 */
#include "core/base/json.h"
#include "core/report/columns/report_columns.h"
#include "core/report/compare/compare.h"

#include <stdlib.h>
#include <string.h>

#define SCHEMA      "mystique-sim/prediction/1"
#define SCHEMA_OURS "mystique-sim/"

struct reading {
    struct msim_prediction *p;
    const char *path;
    struct msim_error *err;
};

static enum msim_status bad(const struct reading *r, const char *what,
                            const char *want)
{
    return msim_fail(r->err, MSIM_EFORMAT, r->path, MSIM_OFFSET_NONE,
                     "a prediction without %s; want %s", what, want);
}

static const cJSON *member(const cJSON *o, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(o, key);
}

static double number(const cJSON *o, const char *key)
{
    return msim_json_get_number(o, key, (double)NAN);
}

/* A copy in the prediction's arena; NULL stays NULL. */
static enum msim_status copy_of(const struct reading *r, const char *s,
                                const char **out)
{
    size_t size = s ? strlen(s) + 1 : 0;
    char *copy = s ? msim_arena_alloc(&r->p->arena, size) : NULL;

    *out = copy ? memcpy(copy, s, size) : NULL;
    return s && !copy ? MSIM_ENOMEM : MSIM_OK;
}

static enum msim_status text(const struct reading *r, const cJSON *o,
                             const char *key, const char **out)
{
    return copy_of(r, msim_json_get_text(o, key), out);
}

/* Zeroed room for the elements of array `key`; `*array` is NULL without it. */
static enum msim_status room(const struct reading *r, const cJSON *root,
                             const char *key, size_t size, const cJSON **array,
                             void **out)
{
    const cJSON *a = member(root, key);
    int n = cJSON_IsArray(a) ? cJSON_GetArraySize(a) : 0;

    *array = cJSON_IsArray(a) ? a : NULL;
    *out = msim_arena_alloc(&r->p->arena, ((size_t)n + 1) * size);
    return *out ? MSIM_OK : MSIM_ENOMEM;
}

/* Of an array that must be there, if `must`. */
static enum msim_status read_part(const struct reading *r, const cJSON *root,
                                  enum msim_report_part part, bool must)
{
    const struct msim_record_list *l = msim_report_columns(part);
    enum msim_status status;
    char what[256];

    if (!l->key)
        return msim_record_read(r->p, l->columns, l->n, root, &r->p->arena);
    if (must && !cJSON_IsArray(member(root, l->key))) {
        snprintf(what, sizeof(what), "'%s'", l->key);
        return bad(r, what, "an array");
    }
    status = msim_record_read_list(r->p, l, root, &r->p->arena);
    if (status != MSIM_EFORMAT)
        return status;
    msim_record_musts(what, l);
    return bad(r, what, "a text and a number");
}

/* {"what was waited for": us, ...}; absent: no rows at all. */
static enum msim_status read_waits(const struct reading *r, const cJSON *o,
                                   struct msim_wait_list *out)
{
    int n = cJSON_IsObject(o) ? cJSON_GetArraySize(o) : 0;
    const cJSON *item;

    if (!cJSON_IsObject(o))
        return MSIM_OK;
    out->rows =
        msim_arena_alloc(&r->p->arena, ((size_t)n + 1) * sizeof(*out->rows));
    if (!out->rows)
        return MSIM_ENOMEM;
    cJSON_ArrayForEach(item, o)
    {
        struct msim_named_us *row = &out->rows[out->n];

        if (!cJSON_IsNumber(item))
            continue;
        MSIM_TRY(copy_of(r, item->string, &row->name));
        row->us = item->valuedouble;
        out->n++;
    }
    return MSIM_OK;
}

static enum msim_status read_warnings(const struct reading *r,
                                      const cJSON *root)
{
    struct msim_prediction *p = r->p;
    const cJSON *array, *item;

    MSIM_TRY(room(r, root, "warnings", sizeof(*p->warnings), &array,
                  (void **)&p->warnings));
    cJSON_ArrayForEach(item, array)
    {
        if (!cJSON_IsString(item))
            continue;
        MSIM_TRY(copy_of(r, cJSON_GetStringValue(item),
                         &p->warnings[p->n_warnings]));
        p->n_warnings++;
    }
    return MSIM_OK;
}

/* Pairs of an option and its value; null or absent: nothing is changed. */
static enum msim_status read_scenario(const struct reading *r,
                                      const cJSON *root)
{
    struct msim_scenario_note *n = &r->p->scenario;
    const cJSON *o = member(root, "scenario"), *array, *item;
    const char **options;

    if (!cJSON_IsObject(o))
        return MSIM_OK;
    MSIM_TRY(
        room(r, o, "options", sizeof(*options), &array, (void **)&options));
    cJSON_ArrayForEach(item, array)
    {
        if (cJSON_IsString(item))
            MSIM_TRY(copy_of(r, item->valuestring, &options[n->n_options++]));
    }
    n->options = options;
    n->baseline_us = number(o, "baseline_us");
    n->ratio = number(o, "ratio");
    n->ratio_low = number(o, "ratio_low");
    n->ratio_high = number(o, "ratio_high");
    return MSIM_OK;
}

static enum msim_status read_figures(const struct reading *r, const cJSON *root)
{
    struct msim_prediction *p = r->p;
    double ranks = msim_json_get_number(root, "ranks", 1);

    p->ranks = ranks >= 1 && ranks < UINT32_MAX ? (uint32_t)ranks : 1;
    MSIM_TRY(read_part(r, root, MSIM_REPORT_TIMES, true));
    MSIM_TRY(read_part(r, root, MSIM_REPORT_WORK, true));
    if (isnan(p->iteration_us.predicted) || isnan(p->kernel_us.predicted))
        return bad(r, "'predicted' in 'iteration_us' or 'kernel_us'",
                   "a number");
    return MSIM_OK;
}

static enum msim_status check_schema(const struct reading *r, const cJSON *root)
{
    const char *schema = msim_json_get_text(root, "schema");

    if (schema && strcmp(schema, SCHEMA) == 0)
        return MSIM_OK;
    return msim_fail(r->err, MSIM_EFORMAT, r->path, MSIM_OFFSET_NONE,
                     "schema is '%s', want '" SCHEMA
                     "' as 'mystique-sim predict --json' writes it",
                     schema ? schema : "");
}

static enum msim_status read_all(const struct reading *r, const cJSON *root)
{
    struct msim_prediction *p = r->p;
    const char **inputs = msim_arena_alloc(&p->arena, sizeof(*inputs));
    const cJSON *waits = member(root, "waits_us");
    const cJSON *step = member(root, "measured_jobs");

    MSIM_TRY(check_schema(r, root));
    if (!inputs)
        return MSIM_ENOMEM;
    MSIM_TRY(copy_of(r, r->path, &inputs[0]));
    p->inputs = inputs;
    p->n_inputs = 1;
    MSIM_TRY(text(r, root, "version", &p->version));
    MSIM_TRY(text(r, root, "platform", &p->platform));
    MSIM_TRY(text(r, root, "costs", &p->costs));
    MSIM_TRY(text(r, root, "host", &p->host));
    if (step)
        p->step = (struct msim_step_note){number(step, "factor"),
                                          number(step, "graph_us"),
                                          number(step, "memory_factor")};
    MSIM_TRY(read_scenario(r, root));
    MSIM_TRY(read_figures(r, root));
    MSIM_TRY(read_part(r, root, MSIM_REPORT_ITERATIONS, true));
    MSIM_TRY(read_part(r, root, MSIM_REPORT_OPS, true));
    MSIM_TRY(read_part(r, root, MSIM_REPORT_FAMILIES, false));
    /* older versions have none of these */
    MSIM_TRY(read_part(r, root, MSIM_REPORT_HOST_OPS, false));
    MSIM_TRY(read_part(r, root, MSIM_REPORT_OWNERS, false));
    MSIM_TRY(read_part(r, root, MSIM_REPORT_RANKS, false));
    MSIM_TRY(
        read_waits(r, member(waits, "main_thread"), &p->waits.main_thread));
    MSIM_TRY(read_waits(r, member(waits, "gpu_idle"), &p->waits.gpu_idle));
    return read_warnings(r, root);
}

enum msim_status msim_prediction_read(struct msim_prediction **out,
                                      const char *path, struct msim_error *err)
{
    struct reading r = {.path = path, .err = err};
    enum msim_status status;
    cJSON *root;

    *out = NULL;
    MSIM_TRY(msim_json_read(&root, path, err));
    r.p = calloc(1, sizeof(*r.p));
    status = r.p ? MSIM_OK : MSIM_ENOMEM;
    if (r.p) {
        msim_arena_init(&r.p->arena);
        status = read_all(&r, root);
    }
    cJSON_Delete(root);
    if (status != MSIM_OK) {
        msim_prediction_free(r.p);
        return msim_fail(err, status, path, MSIM_OFFSET_NONE, "%s",
                         msim_status_text(status));
    }
    *out = r.p;
    return MSIM_OK;
}

bool msim_prediction_is_file(const char *path)
{
    const char *schema;
    bool ours = false;
    cJSON *root;

    if (msim_json_read(&root, path, NULL) != MSIM_OK)
        return false;
    schema = msim_json_get_text(root, "schema");
    ours = schema && strncmp(schema, SCHEMA_OURS, strlen(SCHEMA_OURS)) == 0;
    cJSON_Delete(root);
    return ours;
}
