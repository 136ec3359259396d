/*
 * plan/search/spec.c - reading the question of a plan.
 */
#include "plan/search/spec.h"

#include "core/json/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define USUAL_MOST 1e6 /* points, where the file says nothing */

static const char *const DIMENSIONS[] = {
#define X(name, ...) #name,
    MSIM_SPEC_DIMENSION_MAP(X)
#undef X
        "recompute",
    "precision", "gpus"};

static const char *const KEYS[] = {
    "model",  "sequence",    "global_batch", "tokens",    "platforms",
    "limits", "tp",          "pp",           "vp",        "cp",
    "ep",     "zero",        "micro_batch",  "recompute", "precision",
    "gpus",   "most_points", "currency",     NULL};

const char *msim_spec_dimension_text(uint32_t d)
{
    return DIMENSIONS[d];
}

double msim_spec_points(const struct msim_spec *spec)
{
    double n = spec->n_platforms;

    for (int d = 0; d < MSIM_SPEC_DIMENSIONS; d++)
        n *= spec->n_values[d];
    return n;
}

bool msim_spec_is_limited(const struct msim_spec *spec)
{
    return isfinite(spec->most_days) || isfinite(spec->most_cost) ||
           isfinite(spec->most_gpus) || spec->least_tokens_per_second > 0;
}

/* ---- dimensions ---------------------------------------------------------- */

static void usual_values(struct msim_spec *spec)
{
#define X(name, ...)                                                           \
    {                                                                          \
        const int64_t usual[] = {__VA_ARGS__};                                 \
                                                                               \
        memcpy(spec->values[MSIM_SPEC_##name], usual, sizeof(usual));          \
        spec->n_values[MSIM_SPEC_##name] = sizeof(usual) / sizeof(usual[0]);   \
    }
    MSIM_SPEC_DIMENSION_MAP(X)
#undef X
    spec->values[MSIM_SPEC_recompute][0] = MSIM_RECOMPUTE_NONE;
    spec->values[MSIM_SPEC_recompute][1] = MSIM_RECOMPUTE_FULL;
    spec->n_values[MSIM_SPEC_recompute] = 2;
    spec->values[MSIM_SPEC_precision][0] = MSIM_PRECISION_BF16;
    spec->n_values[MSIM_SPEC_precision] = 1;
}

/* One value of a dimension; false where it is none. */
static bool read_value(enum msim_spec_dimension d, const cJSON *item,
                       int64_t *out)
{
    struct msim_strategy s = {0};
    uint32_t given = 0;
    char text[32], reason[256];
    enum msim_given g = d == MSIM_SPEC_recompute   ? MSIM_GIVEN_recompute
                        : d == MSIM_SPEC_precision ? MSIM_GIVEN_precision
                        : d == MSIM_SPEC_zero      ? MSIM_GIVEN_zero
                                                   : MSIM_GIVEN_gpus;

    if (cJSON_IsString(item) && d >= MSIM_SPEC_recompute)
        snprintf(text, sizeof(text), "%.20s", item->valuestring);
    else if (cJSON_IsNumber(item))
        snprintf(text, sizeof(text), "%.15g", item->valuedouble);
    else
        return false;
    if (!*text ||
        msim_strategy_set(&s, g, text, &given, reason, sizeof(reason)))
        return false;
    *out = g == MSIM_GIVEN_recompute   ? (int64_t)s.recompute
           : g == MSIM_GIVEN_precision ? (int64_t)s.precision
           : g == MSIM_GIVEN_zero      ? s.zero
                                       : s.gpus;
    return true;
}

static const char *wanted(enum msim_spec_dimension d)
{
    switch (d) {
    case MSIM_SPEC_recompute:
        return "none, full, selective, selective-op, or an array of them";
    case MSIM_SPEC_precision:
        return "fp32, fp16, bf16, amp_bf16, amp_fp8, fp8, mxfp8, nvfp4, or an "
               "array of them";
    case MSIM_SPEC_zero:
        return "0 to 3, or an array of them";
    default:
        return "a whole number from 1, or an array of them";
    }
}

/* A value or an array of values. */
static void read_dimension(struct msim_spec *spec, struct msim_fields *f,
                           enum msim_spec_dimension d)
{
    const char *key = DIMENSIONS[d];
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(f->object, key);
    const cJSON *one = cJSON_IsArray(item) ? item->child : item;

    if (!item) {
        if (d == MSIM_SPEC_gpus)
            msim_field_refuse(f, key, wanted(d));
        return;
    }
    spec->n_values[d] = 0;
    for (; one; one = cJSON_IsArray(item) ? one->next : NULL) {
        if (spec->n_values[d] == MSIM_SPEC_VALUES) {
            msim_field_refuse(f, key, "at most 24 values");
            return;
        }
        if (!read_value(d, one, &spec->values[d][spec->n_values[d]++])) {
            msim_field_refuse(f, key, wanted(d));
            return;
        }
    }
    if (spec->n_values[d] == 0)
        msim_field_refuse(f, key, wanted(d));
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

    if (!cJSON_IsArray(list) || !list->child) {
        msim_field_refuse(f, "platforms",
                          "an array of {\"name\": ..., "
                          "\"price_per_gpu_hour\": ...}");
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

static void read_limits(struct msim_spec *spec, struct msim_fields *f)
{
    static const char *const LIMIT_KEYS[] = {
        "days", "cost", "gpus", "memory_gib", "tokens_per_second", NULL};
    struct msim_fields in = msim_fields_open(f, "limits");

    if (in.object)
        msim_fields_only(&in, LIMIT_KEYS);
    spec->most_days = msim_field_real(&in, "days", INFINITY);
    spec->most_cost = msim_field_real(&in, "cost", INFINITY);
    spec->most_gpus = msim_field_real(&in, "gpus", INFINITY);
    spec->least_tokens_per_second =
        msim_field_real(&in, "tokens_per_second", 0);
    spec->most_memory_gib = msim_field_real(&in, "memory_gib", INFINITY);
    msim_fields_close(f, &in);
}

/* ---- all of it ----------------------------------------------------------- */

static void check(struct msim_spec *spec, struct msim_fields *f)
{
    double points = msim_spec_points(spec);

    if (f->status != MSIM_OK)
        return;
    if (spec->tokens <= 0 &&
        (isfinite(spec->most_days) || isfinite(spec->most_cost)))
        msim_field_refuse(f, "tokens",
                          "a number, since limits.days and limits.cost are of "
                          "the whole training");
    if (points > spec->most_points)
        f->status = msim_fail(
            f->err, MSIM_ELIMIT, f->file, MSIM_OFFSET_NONE,
            "the spec has %.6g points, and \"most_points\" is %.6g: give fewer "
            "values, or a larger bound",
            points, spec->most_points);
}

static void read_currency(struct msim_spec *spec, struct msim_fields *f)
{
    const char *text = msim_field_text(f, "currency");

    if (text && strlen(text) >= sizeof(spec->currency))
        msim_field_refuse(f, "currency", "a short name, such as \"EUR\"");
    else
        snprintf(spec->currency, sizeof(spec->currency), "%s",
                 text ? text : "");
}

/* What can be asked of the model itself. */
static void check_model(struct msim_spec *spec, struct msim_fields *f)
{
    int64_t tokens = msim_described_sequence(&spec->model, spec->sequence);
    char want[96];

    if (spec->model.type == MSIM_MODEL_DLRM)
        msim_field_refuse(f, "model",
                          "a transformer: of a dlrm, synth writes traces, and "
                          "predict takes them");
    (void)snprintf(want, sizeof(want), "what the model takes, %lld, or nothing",
                   (long long)tokens);
    if (tokens != spec->sequence && cJSON_HasObjectItem(f->object, "sequence"))
        msim_field_refuse(f, "sequence", want);
    spec->sequence = tokens;
}

static void read_spec(struct msim_spec *spec, struct msim_fields *f,
                      const char *data_dir)
{
    const char *model;

    msim_fields_only(f, KEYS);
    model = msim_field_text(f, "model");
    if (!model)
        msim_field_refuse(f, "model", "a name of data/models, or a file");
    snprintf(spec->model_name, sizeof(spec->model_name), "%s",
             model ? model : "");
    spec->sequence = msim_field_int(f, "sequence", 1, 4096);
    spec->global_batch =
        msim_field_int(f, "global_batch", 1, MSIM_FIELD_WANTED);
    spec->tokens = msim_field_real(f, "tokens", 0);
    spec->most_points = msim_field_real(f, "most_points", USUAL_MOST);
    read_currency(spec, f);
    usual_values(spec);
    read_platforms(spec, f);
    for (int d = 0; d < MSIM_SPEC_DIMENSIONS; d++)
        read_dimension(spec, f, (enum msim_spec_dimension)d);
    read_limits(spec, f);
    check(spec, f);
    if (f->status == MSIM_OK)
        f->status = msim_described_find(&spec->model, spec->model_name,
                                        data_dir, NULL, f->err);
    if (f->status == MSIM_OK)
        check_model(spec, f);
}

enum msim_status msim_spec_read(struct msim_spec *spec, const char *path,
                                const char *data_dir, struct msim_error *err)
{
    struct msim_fields f;
    cJSON *json;

    memset(spec, 0, sizeof(*spec));
    MSIM_TRY(msim_json_read(&json, path, err));
    f = msim_fields_of(cJSON_IsObject(json) ? json : NULL, path, err);
    if (f.object)
        read_spec(spec, &f, data_dir);
    else
        f.status = msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                             "this is not a JSON object, want a plan's spec");
    cJSON_Delete(json);
    return f.status;
}
