/*
 * plan/search/spec.c - reading the question of a plan.
 */
#include "plan/search/spec.h"

#include "core/json/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define USUAL_MOST 1e6 /* points, where the file says nothing */

static const char *const KEYS[] = {"model",       "sequence",  "global_batch",
                                   "tokens",      "platforms", "limits",
                                   "most_points", "currency"};
#define N_KEYS (sizeof(KEYS) / sizeof(*KEYS))

double msim_spec_points(const struct msim_spec *spec)
{
    double n = spec->n_platforms;

    for (uint32_t d = 0; d < MSIM_SPEC_DIMENSIONS; d++)
        n *= spec->values[d].n;
    return n;
}

bool msim_spec_is_limited(const struct msim_spec *spec)
{
    return isfinite(spec->most_days) || isfinite(spec->most_cost) ||
           isfinite(spec->most_gpus) || spec->least_tokens_per_second > 0;
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

static void read_bound(struct msim_spec *spec, struct msim_fields *f)
{
    char want[128];

    spec->most_points = msim_field_real(f, "most_points", USUAL_MOST);
    snprintf(want, sizeof(want),
             "at most %.0f: every feasible point is kept; give fewer values, "
             "or several specs",
             MSIM_SPEC_MOST_POINTS);
    if (spec->most_points > MSIM_SPEC_MOST_POINTS)
        msim_field_refuse(f, "most_points", want);
}

/* Members of the spec, then those of strategies. */
static void check_keys(struct msim_fields *f)
{
    const char *known[N_KEYS + MSIM_SPEC_DIMENSIONS + 1] = {NULL};

    memcpy(known, KEYS, sizeof(KEYS));
    for (uint32_t d = 0; d < MSIM_SPEC_DIMENSIONS; d++)
        known[N_KEYS + d] = msim_spec_dimension_text(d);
    msim_fields_only(f, known);
}

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
            "values%s",
            points, spec->most_points,
            points > MSIM_SPEC_MOST_POINTS ? "" : ", or a larger bound");
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

    check_keys(f);
    model = msim_field_text(f, "model");
    if (!model)
        msim_field_refuse(f, "model", "a name of data/models, or a file");
    snprintf(spec->model_name, sizeof(spec->model_name), "%s",
             model ? model : "");
    spec->sequence = msim_field_int(f, "sequence", 1, 4096);
    spec->global_batch =
        msim_field_int(f, "global_batch", 1, MSIM_FIELD_WANTED);
    spec->tokens = msim_field_real(f, "tokens", 0);
    read_bound(spec, f);
    read_currency(spec, f);
    read_platforms(spec, f);
    msim_spec_dimensions_read(spec->values, f);
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
