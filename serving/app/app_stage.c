/*
 * serving/app/app_stage.c - stages: what is common to all kinds, and what
 * those with measured times have.
 */
#include "serving/app/app_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* So many replicas or workers no machine has; sums of them stay exact. */
#define MOST_OF_A_STAGE 1e6
#define MOST_ABSENCES   1000

#define COMMON                                                                 \
    "kind", "replicas", "workers", "call", "routing", "network_ms",            \
        "price_per_hour", "power_w", "absent"

static const char *const MEASURED[] = {COMMON,       "service",  "class_factor",
                                       "size_power", "batching", NULL};
static const char *const MODEL[] = {COMMON,     "model",    "trace",
                                    "platform", "batching", "precision",
                                    "parallel", NULL};
static const char *const LLM[] = {COMMON,           "model",    "trace",
                                  "platform",       "engine",   "precision",
                                  "kv_cache_dtype", "parallel", "batching",
                                  "disaggregated",  NULL};

static bool read_law_point(const cJSON *item, struct msim_law_point *p)
{
    const cJSON *first = cJSON_IsArray(item) ? item->child : NULL;
    const cJSON *second = first ? first->next : NULL;

    if (!cJSON_IsNumber(first) || !cJSON_IsNumber(second) || second->next)
        return false;
    p->batch = first->valuedouble;
    p->factor = second->valuedouble;
    return p->batch >= 1 && p->batch <= MOST_OF_A_STAGE && p->factor > 0 &&
           isfinite(p->factor);
}

static void read_law(struct msim_app *app, struct msim_stage *s,
                     struct msim_fields *f)
{
    const cJSON *list = msim_field_array(f, "law"), *item;
    uint32_t n = (uint32_t)cJSON_GetArraySize(list), i = 0;
    struct msim_law_point *p = n ? msim_app_room(app, f, n, sizeof(*p)) : NULL;

    if (!p)
        return;
    cJSON_ArrayForEach(item, list)
    {
        if (!read_law_point(item, &p[i]) ||
            (i && p[i].batch <= p[i - 1].batch)) {
            msim_field_refuse_item(f, "law", i,
                                   "[requests, service over that of one]: "
                                   "requests from 1 and above the ones before, "
                                   "the factor above 0");
            return;
        }
        i++;
    }
    s->batching.law = p;
    s->batching.n_law = n;
}

static void read_batching(struct msim_app *app, struct msim_stage *s,
                          struct msim_fields *f)
{
    static const char *const POLICIES[] = {"dynamic", NULL};
    static const char *const KEYS[] = {"policy", "max_batch", "max_wait_ms",
                                       "law", NULL};
    static const char *const NO_LAW[] = {"policy", "max_batch", "max_wait_ms",
                                         NULL};
    struct msim_fields in = msim_fields_open(f, "batching");

    if (in.object) {
        msim_fields_only(&in, s->kind == MSIM_STAGE_MODEL ? NO_LAW : KEYS);
        (void)msim_field_word(&in, "policy", POLICIES, 0);
        s->batching.on = true;
        s->batching.max_batch =
            msim_field_int(&in, "max_batch", 1, MSIM_FIELD_WANTED);
        s->batching.max_wait_ms =
            msim_field_between(&in, "max_wait_ms", 0, INFINITY, 0);
        if (s->batching.max_batch > MOST_OF_A_STAGE)
            msim_field_refuse(&in, "max_batch", "at most 1000000");
        read_law(app, s, &in);
    }
    msim_fields_close(f, &in);
}

static void read_class_factor(struct msim_app *app, struct msim_stage *s,
                              struct msim_fields *f)
{
    struct msim_fields in = msim_fields_open(f, "class_factor");
    double *factor = msim_app_room(app, f, app->n_classes, sizeof(*factor));
    const char **names =
        msim_app_room(app, f, app->n_classes + 1, sizeof(*names));

    for (uint32_t c = 0; factor && names && c < app->n_classes; c++) {
        names[c] = app->classes[c].name;
        factor[c] = msim_field_between(&in, names[c], 0, 1e9, 1);
    }
    if (in.object && factor && names)
        msim_fields_only(&in, names);
    s->class_factor = factor;
    msim_fields_close(f, &in);
}

static void read_absence(struct msim_absence *a, struct msim_fields *f,
                         int64_t replicas)
{
    static const char *const KEYS[] = {"from_s", "until_s", "replicas", NULL};
    char most[64];

    msim_fields_only(f, KEYS);
    a->from_s = msim_field_between(f, "from_s", 0, 1e6, 0);
    a->until_s = msim_field_between(f, "until_s", 0, 1e6, INFINITY);
    a->replicas = msim_field_int(f, "replicas", 1, 1);
    if (a->until_s <= a->from_s)
        msim_field_refuse(f, "until_s", "a time behind \"from_s\"");
    (void)snprintf(most, sizeof(most), "at most %lld, which the stage has",
                   (long long)replicas);
    if (a->replicas > replicas)
        msim_field_refuse(f, "replicas", most);
}

static void read_absences(struct msim_app *app, struct msim_stage *s,
                          struct msim_fields *f)
{
    const cJSON *list = msim_field_array(f, "absent"), *item;
    uint32_t n = (uint32_t)cJSON_GetArraySize(list), i = 0;
    struct msim_absence *a;

    if (n > MOST_ABSENCES)
        msim_field_refuse(f, "absent", "at most 1000 of them");
    if (n == 0 || f->status != MSIM_OK)
        return;
    a = msim_app_room(app, f, n, sizeof(*a));
    cJSON_ArrayForEach(item, list)
    {
        struct msim_fields in = msim_fields_open_item(f, "absent", i, item);

        if (a && in.status == MSIM_OK)
            read_absence(&a[i++], &in, s->replicas);
        msim_fields_close(f, &in);
    }
    s->absences = a;
    s->n_absences = a ? n : 0;
}

static int64_t read_count(struct msim_fields *f, const char *key)
{
    int64_t n = msim_field_int(f, key, 1, 1);

    if (n > MOST_OF_A_STAGE)
        msim_field_refuse(f, key, "at most 1000000");
    return n;
}

static void read_common(struct msim_app *app, struct msim_stage *s,
                        struct msim_fields *f)
{
#define X(name, text) text,
    static const char *const CALLS[] = {MSIM_STAGE_CALL_MAP(X) NULL};
    static const char *const ROUTINGS[] = {MSIM_ROUTING_MAP(X) NULL};
#undef X

    s->replicas = read_count(f, "replicas");
    s->workers = read_count(f, "workers");
    s->call =
        (enum msim_stage_call)msim_field_word(f, "call", CALLS, MSIM_CALL_RPC);
    s->routing = (enum msim_routing)msim_field_word(f, "routing", ROUTINGS,
                                                    MSIM_ROUTING_SHARED);
    s->network_ms = msim_app_dist(app, f, "network_ms");
    s->price_per_hour =
        msim_field_between(f, "price_per_hour", 0, INFINITY, NAN);
    s->power_w = msim_field_between(f, "power_w", 0, INFINITY, NAN);
    s->parallel = (struct msim_parallel){1, 1, 1, 1};
}

static void read_stage(struct msim_app *app, struct msim_stage *s,
                       struct msim_fields *f)
{
#define X(name, text) text,
    static const char *const KINDS[] = {MSIM_STAGE_KIND_MAP(X) NULL};
#undef X
    int kind = msim_field_word(f, "kind", KINDS, -1);

    if (kind < 0 && f->status == MSIM_OK)
        msim_field_refuse(f, "kind", "measured, tool, model or llm");
    if (f->status != MSIM_OK)
        return;
    s->kind = (enum msim_stage_kind)kind;
    msim_fields_only(f, s->kind == MSIM_STAGE_LLM     ? LLM
                        : s->kind == MSIM_STAGE_MODEL ? MODEL
                                                      : MEASURED);
    read_common(app, s, f);
    read_class_factor(app, s, f);
    read_absences(app, s, f);
    if (s->kind != MSIM_STAGE_LLM)
        read_batching(app, s, f);
    if (s->kind == MSIM_STAGE_LLM || s->kind == MSIM_STAGE_MODEL) {
        msim_app_read_llm(app, s, f);
        return;
    }
    s->service = msim_app_dist(app, f, "service");
    s->size_power = msim_field_between(f, "size_power", -10, 10, 0);
}

/* Counters have a row of that name for the whole application. */
static bool is_taken(const struct msim_app *app, const char *name)
{
    return !*name || strcmp(name, "e2e") == 0 ||
           msim_app_stage_find(app, name) != MSIM_NONE;
}

static void check_name(const struct msim_app *app, struct msim_fields *all,
                       const char *name)
{
    msim_app_check_name(all, name, name);
    if (is_taken(app, name))
        msim_field_refuse(all, name,
                          "another name: not empty, not \"e2e\", not twice");
}

void msim_app_read_stages(struct msim_app *app, struct msim_fields *f)
{
    struct msim_fields all = msim_fields_open(f, "stages");
    const cJSON *item;
    struct msim_stage *s;
    uint32_t n = (uint32_t)cJSON_GetArraySize(all.object);

    if (all.status == MSIM_OK && (n == 0 || n > MSIM_APP_MOST_STAGES))
        msim_field_refuse(
            f, "stages",
            "an object of 1 to 1000 stages: {\"name\": {...}, ...}");
    if (f->status != MSIM_OK)
        return;
    s = msim_app_room(app, f, n, sizeof(*s));
    app->stages = s;
    cJSON_ArrayForEach(item, all.object)
    {
        struct msim_fields in = msim_fields_open(&all, item->string);

        check_name(app, &all, item->string);
        if (!in.object)
            msim_field_refuse(&all, item->string, "an object");
        msim_fields_close(&in, &all);
        if (in.status == MSIM_OK) {
            s->name = msim_app_copy(app, &in, item->string);
            read_stage(app, s++, &in);
            app->n_stages++;
        }
        msim_fields_close(&all, &in);
        if (all.status != MSIM_OK)
            break;
    }
    msim_fields_close(f, &all);
}
