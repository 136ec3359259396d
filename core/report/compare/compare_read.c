/*
 * core/report/compare/compare_read.c - a prediction read back from the JSON of
 * core/report/write/report_json.c.
 */
#include "core/base/json.h"
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

static struct msim_figure figure(const cJSON *o)
{
    return (struct msim_figure){number(o, "predicted"), number(o, "low"),
                                number(o, "high"), number(o, "measured")};
}

/* The same in a record, whose keys hold the unit. */
static struct msim_figure figure_us(const cJSON *o)
{
    return (struct msim_figure){number(o, "predicted_us"), number(o, "low_us"),
                                number(o, "high_us"), number(o, "measured_us")};
}

static struct msim_breakdown breakdown(const cJSON *o)
{
    return (struct msim_breakdown){
        number(o, "compute"), number(o, "communication"),
        number(o, "memory_copy"), number(o, "host"), number(o, "idle")};
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

static enum msim_status read_iterations(const struct reading *r,
                                        const cJSON *root)
{
    struct msim_prediction *p = r->p;
    const cJSON *array, *item;

    MSIM_TRY(room(r, root, "iterations", sizeof(*p->iterations), &array,
                  (void **)&p->iterations));
    if (!array)
        return bad(r, "'iterations'", "an array");
    cJSON_ArrayForEach(item, array)
    {
        struct msim_iteration *it = &p->iterations[p->n_iterations];

        MSIM_TRY(text(r, item, "name", &it->name));
        it->us = figure_us(item);
        if (!it->name || isnan(it->us.predicted))
            return bad(r, "'name' or 'predicted_us' in one of 'iterations'",
                       "a text and a number");
        p->n_iterations++;
    }
    return MSIM_OK;
}

static enum msim_status read_ops(const struct reading *r, const cJSON *root)
{
    struct msim_prediction *p = r->p;
    const cJSON *array, *item;

    MSIM_TRY(room(r, root, "ops", sizeof(*p->ops), &array, (void **)&p->ops));
    if (!array)
        return bad(r, "'ops'", "an array");
    cJSON_ArrayForEach(item, array)
    {
        struct msim_op_row *op = &p->ops[p->n_ops];

        MSIM_TRY(text(r, item, "name", &op->name));
        MSIM_TRY(text(r, item, "model", &op->model));
        MSIM_TRY(text(r, item, "source", &op->source));
        op->calls = number(item, "calls");
        op->us = figure_us(item);
        op->communication = cJSON_IsTrue(member(item, "communication"));
        if (!op->name || isnan(op->us.predicted))
            return bad(r, "'name' or 'predicted_us' in one of 'ops'",
                       "a text and a number");
        p->n_ops++;
    }
    return MSIM_OK;
}

static enum msim_status read_host_ops(const struct reading *r,
                                      const cJSON *root)
{
    struct msim_prediction *p = r->p;
    struct msim_host_row *rows;
    const cJSON *array, *item;

    MSIM_TRY(room(r, root, "host_ops", sizeof(*rows), &array, (void **)&rows));
    if (!array) /* of a version without them */
        return MSIM_OK;
    p->host_ops = rows;
    cJSON_ArrayForEach(item, array)
    {
        struct msim_host_row *h = &rows[p->n_host_ops];

        MSIM_TRY(text(r, item, "name", &h->name));
        MSIM_TRY(text(r, item, "kind", &h->kind));
        h->calls = number(item, "calls");
        h->us = figure_us(item);
        if (!h->name || isnan(h->us.predicted))
            return bad(r, "'name' or 'predicted_us' in one of 'host_ops'",
                       "a text and a number");
        p->n_host_ops++;
    }
    return MSIM_OK;
}

static enum msim_status read_owners(const struct reading *r, const cJSON *root)
{
    struct msim_prediction *p = r->p;
    struct msim_owner_row *rows;
    const cJSON *array, *item;

    MSIM_TRY(room(r, root, "critical_owners", sizeof(*rows), &array,
                  (void **)&rows));
    if (!array)
        return MSIM_OK;
    p->owners = rows;
    cJSON_ArrayForEach(item, array)
    {
        struct msim_owner_row *o = &rows[p->n_owners];

        MSIM_TRY(text(r, item, "name", &o->name));
        MSIM_TRY(text(r, item, "kind", &o->kind));
        MSIM_TRY(text(r, item, "op", &o->op));
        o->us = number(item, "us");
        o->share = number(item, "share");
        o->pieces = number(item, "pieces");
        if (!o->name || isnan(o->us))
            return bad(r, "'name' or 'us' in one of 'critical_owners'",
                       "a text and a number");
        p->n_owners++;
    }
    return MSIM_OK;
}

static enum msim_status read_families(const struct reading *r,
                                      const cJSON *root)
{
    struct msim_prediction *p = r->p;
    const cJSON *array, *item;

    MSIM_TRY(room(r, root, "families", sizeof(*p->families), &array,
                  (void **)&p->families));
    cJSON_ArrayForEach(item, array)
    {
        struct msim_family_row *f = &p->families[p->n_families];

        MSIM_TRY(text(r, item, "model", &f->model));
        f->calls = number(item, "calls");
        f->us = figure_us(item);
        if (!f->model || isnan(f->us.predicted))
            return bad(r, "'model' or 'predicted_us' in one of 'families'",
                       "a text and a number");
        p->n_families++;
    }
    return MSIM_OK;
}

static enum msim_status read_ranks(const struct reading *r, const cJSON *root)
{
    struct msim_prediction *p = r->p;
    const cJSON *array, *item;

    MSIM_TRY(room(r, root, "ranks_detail", sizeof(*p->ranks_detail), &array,
                  (void **)&p->ranks_detail));
    cJSON_ArrayForEach(item, array)
    {
        struct msim_rank_row *row = &p->ranks_detail[p->n_ranks_detail];
        double rank = msim_json_get_number(item, "rank", -1);
        const cJSON *comm = member(item, "communication_us");

        row->rank = rank >= 0 && rank < 1e15 ? (int64_t)rank : -1;
        row->iteration_us = figure(member(item, "iteration_us"));
        row->kernel_us = figure(member(item, "kernel_us"));
        row->transfer_us = number(comm, "transfer");
        row->wait_us = number(comm, "wait");
        row->breakdown_us = breakdown(member(item, "breakdown_us"));
        p->n_ranks_detail++;
    }
    return MSIM_OK;
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
    const cJSON *comm = member(root, "communication_us");
    const cJSON *hidden = member(root, "overlapped_us");
    double ranks = msim_json_get_number(root, "ranks", 1);

    p->ranks = ranks >= 1 && ranks < UINT32_MAX ? (uint32_t)ranks : 1;
    p->iteration_us = figure(member(root, "iteration_us"));
    p->period.us = figure(member(root, "period_us"));
    p->kernel_us = figure(member(root, "kernel_us"));
    if (isnan(p->iteration_us.predicted) || isnan(p->kernel_us.predicted))
        return bad(r, "'predicted' in 'iteration_us' or 'kernel_us'",
                   "a number");
    p->transfer_us = number(comm, "transfer");
    p->wait_us = number(comm, "wait");
    p->external_wait_us = number(root, "external_wait_us");
    p->breakdown_us = breakdown(member(root, "breakdown_us"));
    p->overlapped_communication_us = number(hidden, "communication");
    p->overlapped_copy_us = number(hidden, "memory_copy");
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
    MSIM_TRY(read_iterations(r, root));
    MSIM_TRY(read_ops(r, root));
    MSIM_TRY(read_families(r, root));
    MSIM_TRY(read_host_ops(r, root));
    MSIM_TRY(read_owners(r, root));
    MSIM_TRY(read_ranks(r, root));
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
