/*
 * plan/search/spec.c - reading the question of a plan.
 */
#include "plan/search/spec.h"

#include "core/json/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Points where the file says nothing. */
#define USUAL_MOST   1e6
#define USUAL_TRACED 1e4

static const char *const UNITS[] = {
#define X(name, text) text,
    MSIM_SPEC_UNIT_MAP(X)
#undef X
};
#define N_UNITS (sizeof(UNITS) / sizeof(*UNITS))

static const char *const KEYS[] = {"global_batch", "platforms", "limits",
                                   "most_points", "currency"};
#define N_KEYS (sizeof(KEYS) / sizeof(*KEYS))
static const char *const OF_MODEL[] = {"model", "sequence", "tokens", NULL};
static const char *const OF_TRACE[] = {"trace",   "traced_batch", "host",
                                       "samples", "requests",     NULL};

const char *msim_spec_unit_text(enum msim_spec_unit u)
{
    return UNITS[u];
}

double msim_spec_points(const struct msim_spec *spec)
{
    double n = spec->n_platforms;

    for (uint32_t d = 0; d < msim_spec_dimension_count(spec->traced); d++)
        n *= spec->values[d].n;
    return n;
}

const struct msim_spec_values *msim_spec_gpus(const struct msim_spec *spec)
{
    return &spec->values[msim_spec_dimension_count(spec->traced) - 1];
}

bool msim_spec_is_limited(const struct msim_spec *spec)
{
    return isfinite(spec->most_days) || isfinite(spec->most_cost) ||
           isfinite(spec->most_gpus) || isfinite(spec->most_latency_us) ||
           spec->least_rate > 0;
}

bool msim_spec_batch_varies(const struct msim_spec *spec)
{
    return spec->traced && spec->global_batch == 0;
}

void msim_spec_serve(struct msim_spec *spec)
{
    spec->unit = MSIM_SPEC_UNIT_REQUESTS;
    if (spec->total <= 0 && spec->least_rate <= 0)
        spec->total = MSIM_SPEC_REQUESTS;
}

bool msim_spec_is_hourly(const struct msim_spec *spec)
{
    return spec->unit == MSIM_SPEC_UNIT_REQUESTS && spec->total <= 0;
}

/* ---- platforms, limits --------------------------------------------------- */

static void read_platform(struct msim_spec *spec, struct msim_fields *f,
                          const cJSON *item, uint32_t index)
{
    static const char *const PLATFORM_KEYS[] = {
        "name", "network", "price_per_gpu_hour", "power_w", NULL};
    struct msim_spec_platform *p = &spec->platforms[index];
    struct msim_fields in =
        msim_fields_of(cJSON_IsObject(item) ? item : NULL, f->file, f->err);
    const char *text;

    snprintf(in.path, sizeof(in.path), "platforms[%u].", index);
    in.status = f->status;
    if (cJSON_IsString(item)) {
        snprintf(p->name, sizeof(p->name), "%s", item->valuestring);
        return;
    }
    msim_fields_only(&in, PLATFORM_KEYS);
    text = msim_field_text(&in, "name");
    if (!text)
        msim_field_refuse(&in, "name", "a GPU that 'platforms' lists");
    snprintf(p->name, sizeof(p->name), "%s", text ? text : "");
    text = msim_field_text(&in, "network");
    snprintf(p->network, sizeof(p->network), "%s", text ? text : "");
    p->price = msim_field_real(&in, "price_per_gpu_hour", 0);
    p->power_w = msim_field_real(&in, "power_w", 0);
    msim_fields_close(f, &in);
}

static void read_platforms(struct msim_spec *spec, struct msim_fields *f)
{
    const cJSON *list =
        cJSON_GetObjectItemCaseSensitive(f->object, "platforms");
    const cJSON *item;

    if (cJSON_IsString(list) || cJSON_IsObject(list)) {
        read_platform(spec, f, list, spec->n_platforms++);
        return;
    }
    if (!cJSON_IsArray(list) || !list->child) {
        msim_field_refuse(f, "platforms",
                          "a name, {\"name\": ..., \"price_per_gpu_hour\": "
                          "...}, or an array of them");
        return;
    }
    cJSON_ArrayForEach(item, list)
    {
        if (spec->n_platforms == MSIM_SPEC_PLATFORMS) {
            msim_field_refuse(f, "platforms", "at most 24 of them");
            return;
        }
        read_platform(spec, f, item, spec->n_platforms++);
    }
}

/* The unit of one of the members that name it; two of them must agree. */
static void read_unit(struct msim_spec *spec, struct msim_fields *f,
                      const char *key, enum msim_spec_unit unit)
{
    char want[96];

    if (!f->object || !cJSON_HasObjectItem(f->object, key))
        return;
    snprintf(want, sizeof(want), "none, since another member counts in %s",
             UNITS[spec->unit]);
    if (spec->unit_given && spec->unit != unit)
        msim_field_refuse(f, key, want);
    spec->unit = unit;
    spec->unit_given = true;
    snprintf(spec->unit_member, sizeof(spec->unit_member), "%.20s%.40s",
             f->path, key);
}

static void read_rate(struct msim_spec *spec, struct msim_fields *in)
{
    for (enum msim_spec_unit u = spec->traced; u < (spec->traced ? N_UNITS : 1);
         u++) {
        char key[48];

        snprintf(key, sizeof(key), "%s_per_second", UNITS[u]);
        read_unit(spec, in, key, u);
        spec->least_rate = msim_field_real(in, key, spec->least_rate);
    }
    spec->most_latency_us = msim_field_real(in, "latency_ms", INFINITY) * 1e3;
    if (spec->traced)
        read_unit(spec, in, "latency_ms", MSIM_SPEC_UNIT_REQUESTS);
}

static void read_limits(struct msim_spec *spec, struct msim_fields *f)
{
    static const char *const DESCRIBED[] = {
        "days", "cost", "gpus", "memory_gib", "tokens_per_second", NULL};
    static const char *const TRACED[] = {"days",
                                         "cost",
                                         "gpus",
                                         "memory_gib",
                                         "samples_per_second",
                                         "requests_per_second",
                                         "latency_ms",
                                         NULL};
    struct msim_fields in = msim_fields_open(f, "limits");

    if (in.object)
        msim_fields_only(&in, spec->traced ? TRACED : DESCRIBED);
    read_rate(spec, &in);
    spec->most_days = msim_field_real(&in, "days", INFINITY);
    spec->most_cost = msim_field_real(&in, "cost", INFINITY);
    spec->most_gpus = msim_field_real(&in, "gpus", INFINITY);
    spec->most_memory_gib = msim_field_real(&in, "memory_gib", INFINITY);
    msim_fields_close(f, &in);
}

/* ---- all of it ----------------------------------------------------------- */

static double most_of(const struct msim_spec *spec)
{
    return spec->traced ? MSIM_SPEC_MOST_TRACED : MSIM_SPEC_MOST_POINTS;
}

static void read_bound(struct msim_spec *spec, struct msim_fields *f)
{
    char want[128];

    spec->most_points = msim_field_real(
        f, "most_points", spec->traced ? USUAL_TRACED : USUAL_MOST);
    snprintf(want, sizeof(want),
             "at most %.0f: every %s; give fewer values, or several specs",
             most_of(spec),
             spec->traced ? "point is a simulation" : "feasible point is kept");
    if (spec->most_points > most_of(spec))
        msim_field_refuse(f, "most_points", want);
}

/* What only the other kind of workload has is refused by name. */
static void check_kind(const struct msim_spec *spec, struct msim_fields *f)
{
    const char *const *more = spec->traced ? OF_MODEL : OF_TRACE;
    char want[96];

    snprintf(want, sizeof(want), "nothing: it is a member of %s",
             spec->traced ? "described models, and this is a traced step"
                          : "traced steps, and this is a described model");
    for (uint32_t i = 0; more[i]; i++)
        if (cJSON_HasObjectItem(f->object, more[i]))
            msim_field_refuse(f, more[i], want);
    for (uint32_t d = 0; d < msim_spec_dimension_count(!spec->traced); d++) {
        const char *name = msim_spec_dimension_at(!spec->traced, d)->name;
        uint32_t own = 0, n = msim_spec_dimension_count(spec->traced);

        while (own < n &&
               strcmp(msim_spec_dimension_at(spec->traced, own)->name, name))
            own++;
        if (own == n && cJSON_HasObjectItem(f->object, name))
            msim_field_refuse(f, name, want);
    }
}

/* Members of the spec, then those of strategies. */
static void check_keys(const struct msim_spec *spec, struct msim_fields *f)
{
    const char *known[N_KEYS + 8 + MSIM_SPEC_DIMENSIONS + 1] = {NULL};
    const char *const *more = spec->traced ? OF_TRACE : OF_MODEL;
    size_t n = N_KEYS;

    check_kind(spec, f);
    memcpy(known, KEYS, sizeof(KEYS));
    while (*more)
        known[n++] = *more++;
    for (uint32_t d = 0; d < msim_spec_dimension_count(spec->traced); d++)
        known[n++] = msim_spec_dimension_at(spec->traced, d)->name;
    msim_fields_only(f, known);
}

static bool has_price(const struct msim_spec *spec)
{
    for (uint32_t i = 0; i < spec->n_platforms; i++)
        if (spec->platforms[i].price > 0)
            return true;
    return false;
}

static void check(struct msim_spec *spec, struct msim_fields *f)
{
    double points = msim_spec_points(spec);
    const char *unit = UNITS[spec->unit];

    if (f->status != MSIM_OK)
        return;
    if (spec->total <= 0 && isfinite(spec->most_days))
        msim_field_refuse(f, unit,
                          "a number, since limits.days is of all the work");
    if (spec->total <= 0 && isfinite(spec->most_cost) &&
        !msim_spec_is_hourly(spec))
        msim_field_refuse(f, unit,
                          "a number, since limits.cost is of all the work");
    if (isfinite(spec->most_cost) && !has_price(spec))
        msim_field_refuse(f, "platforms",
                          "one with \"price_per_gpu_hour\", since limits.cost "
                          "is of money");
    if (f->status == MSIM_OK && points > spec->most_points)
        f->status = msim_fail(
            f->err, MSIM_ELIMIT, f->file, MSIM_OFFSET_NONE,
            "the spec has %.6g points, and \"most_points\" is %.6g: give fewer "
            "values%s",
            points, spec->most_points,
            points > most_of(spec) ? "" : ", or a larger bound");
}

static void read_currency(struct msim_spec *spec, struct msim_fields *f)
{
    const char *text = msim_field_text(f, "currency");

    if (text && strlen(text) >= sizeof(spec->currency))
        msim_field_refuse(f, "currency", "a short name, such as \"EUR\"");
    else
        snprintf(spec->currency, sizeof(spec->currency), "%s",
                 text ? text : "USD");
}

#define EP_MOST 64 /* that is tried where the file does not say */

/* Experts are spread over as many ranks as divide them, by powers of two. */
static void usual_experts(struct msim_spec *spec, struct msim_fields *f)
{
    int64_t experts = spec->model.moe.experts;

    if (experts == 0 || cJSON_HasObjectItem(f->object, "ep"))
        return;
    for (uint32_t d = 0; d < msim_spec_dimension_count(false); d++) {
        struct msim_spec_values *values = &spec->values[d];

        if (msim_spec_dimension_at(false, d)->place != MSIM_GIVEN_ep)
            continue;
        values->n = 0;
        for (int64_t ep = 1; ep <= EP_MOST && experts % ep == 0; ep *= 2)
            values->v[values->n++] = ep;
    }
}

/* What can be asked of the model itself. */
static void check_model(struct msim_spec *spec, struct msim_fields *f)
{
    bool said = cJSON_HasObjectItem(f->object, "sequence");
    int64_t tokens = msim_described_sequence(
        &spec->model,
        said ? spec->sequence
             : msim_described_usual_sequence(&spec->model, spec->sequence));
    char want[96];

    if (spec->model.type == MSIM_MODEL_DLRM)
        msim_field_refuse(f, "model",
                          "a transformer: of a dlrm, synth writes traces, and "
                          "predict takes them");
    (void)snprintf(want, sizeof(want), "what the model takes, %lld, or nothing",
                   (long long)tokens);
    if (tokens != spec->sequence && said)
        msim_field_refuse(f, "sequence", want);
    spec->sequence = tokens;
    usual_experts(spec, f);
}

/* ---- the workload -------------------------------------------------------- */

/* Bytes of a file's folder, as a relative path in it wants them before it; 0
 * for others. */
static int folder_before(const struct msim_fields *f, const char *path)
{
    const char *slash = f->file ? strrchr(f->file, '/') : NULL;

    return slash && path && *path != '/' ? (int)(slash - f->file) + 1 : 0;
}

/* A file beside the spec is meant before one where the program runs. */
static void read_model(struct msim_spec *spec, struct msim_fields *f)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(f->object, "model");
    const char *model = cJSON_GetStringValue(item);

    if (!model && !cJSON_IsObject(item))
        msim_field_refuse(f, "model",
                          "a name of data/models, a file, or an object with "
                          "the model's numbers; or want \"trace\"");
    snprintf(spec->name, sizeof(spec->name), "%.*s%s", folder_before(f, model),
             f->file ? f->file : "", model ? model : "");
    if (!model || !msim_described_is_path(model) ||
        access(spec->name, R_OK) != 0)
        snprintf(spec->name, sizeof(spec->name), "%s", model ? model : "");
    spec->sequence = msim_field_int(f, "sequence", 1, 4096);
    spec->global_batch =
        msim_field_int(f, "global_batch", 1, MSIM_FIELD_WANTED);
    spec->total = msim_field_real(f, "tokens", 0);
}

/* A path of the file: a relative one begins in the spec's folder. */
static void add_trace(struct msim_spec *spec, struct msim_fields *f,
                      const cJSON *item)
{
    const char *text = cJSON_GetStringValue(item);
    int folder = folder_before(f, text);
    char *path = spec->trace[spec->n_traces];
    int n;

    if (!text || !*text || spec->n_traces == MSIM_SPEC_TRACES) {
        msim_field_refuse(f, "trace",
                          "a path, or an array of 16 paths at most");
        return;
    }
    n = snprintf(path, sizeof(spec->trace[0]), "%.*s%s", folder, f->file, text);
    if (n >= (int)sizeof(spec->trace[0]))
        msim_field_refuse(f, "trace", "a path of at most 500 bytes");
    spec->n_traces++;
}

static void read_trace(struct msim_spec *spec, struct msim_fields *f)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(f->object, "trace");
    const cJSON *list = cJSON_IsArray(item) ? item : NULL, *one;
    const char *host = msim_field_text(f, "host"), *end;

    if (!list || !list->child)
        add_trace(spec, f, item);
    cJSON_ArrayForEach(one, list) add_trace(spec, f, one);
    end = strrchr(spec->trace[0], '/');
    snprintf(spec->name, sizeof(spec->name), "%.255s",
             end && end[1] ? end + 1 : spec->trace[0]);
    snprintf(spec->host, sizeof(spec->host), "%s", host ? host : "");
    spec->sequence = 1;
    spec->global_batch = msim_field_int(f, "global_batch", 1, 0);
    spec->traced_batch = msim_field_int(f, "traced_batch", 1, 0);
    spec->unit = MSIM_SPEC_UNIT_SAMPLES;
    for (enum msim_spec_unit u = MSIM_SPEC_UNIT_SAMPLES; u < N_UNITS; u++) {
        read_unit(spec, f, UNITS[u], u);
        spec->total = msim_field_real(f, UNITS[u], spec->total);
    }
}

/* The numbers of the model: those of the spec itself, or of a file. */
static void find_model(struct msim_spec *spec, struct msim_fields *f,
                       const char *data_dir)
{
    if (cJSON_IsObject(msim_field_json(f, "model"))) {
        struct msim_fields own = msim_fields_open(f, "model");

        msim_described_take(&spec->model, &own);
        msim_fields_close(f, &own);
    } else {
        f->status = msim_described_find(&spec->model, spec->name, data_dir,
                                        NULL, f->err);
    }
    if (f->status == MSIM_OK)
        check_model(spec, f);
    snprintf(spec->name, sizeof(spec->name), "%s", spec->model.name);
}

static void read_spec(struct msim_spec *spec, struct msim_fields *f,
                      const char *data_dir)
{
    spec->traced = cJSON_HasObjectItem(f->object, "trace");
    check_keys(spec, f);
    if (spec->traced)
        read_trace(spec, f);
    else
        read_model(spec, f);
    read_bound(spec, f);
    read_currency(spec, f);
    read_platforms(spec, f);
    msim_spec_dimensions_read(spec->values, spec->traced, f);
    read_limits(spec, f);
    if (f->status == MSIM_OK && !spec->traced)
        find_model(spec, f, data_dir);
    check(spec, f);
}

enum msim_status msim_spec_of_json(struct msim_spec *spec, const cJSON *json,
                                   const char *path, const char *data_dir,
                                   struct msim_error *err)
{
    struct msim_fields f =
        msim_fields_of(cJSON_IsObject(json) ? json : NULL, path, err);

    memset(spec, 0, sizeof(*spec));
    spec->file = path;
    if (f.object)
        read_spec(spec, &f, data_dir);
    else
        f.status = msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                             "this is not a JSON object, want a plan's spec");
    return f.status;
}
