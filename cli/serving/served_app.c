/*
 * cli/serving/served_app.c - the application that `serve` is asked about.
 */
#include "cli/serving/cli_serving_internal.h"

#include "cli/cmd.h"
#include "cli/plan/option_values.h"
#include "plan/describe/describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STAGE         "model"
#define INPUT_TOKENS  1024
#define OUTPUT_TOKENS 128

/* ---- a model ------------------------------------------------------------- */

static bool add_class(cJSON *app, const struct msim_served_words *w)
{
    cJSON *classes = cJSON_AddArrayToObject(app, "classes");
    cJSON *all = cJSON_CreateObject();
    double in = w->input_tokens > 0 ? w->input_tokens : INPUT_TOKENS;
    double out = w->output_tokens > 0 ? w->output_tokens : OUTPUT_TOKENS;

    return cJSON_AddItemToArray(classes, all) &&
           cJSON_AddStringToObject(all, "name", "all") &&
           cJSON_AddNumberToObject(all, "share", 1) &&
           cJSON_AddNumberToObject(all, "input_tokens", in) &&
           cJSON_AddNumberToObject(all, "output_tokens", out);
}

static bool add_stage(cJSON *app, const char *model,
                      const struct msim_served_words *w)
{
    cJSON *stages = cJSON_AddObjectToObject(app, "stages");
    cJSON *stage = cJSON_AddObjectToObject(stages, STAGE);

    return cJSON_AddStringToObject(stage, "kind", "llm") &&
           cJSON_AddStringToObject(stage, "model", model) &&
           (!w->platform ||
            cJSON_AddStringToObject(stage, "platform", w->platform));
}

static cJSON *app_of(const char *model, const struct msim_served_words *w)
{
    cJSON *app = cJSON_CreateObject();

    if (cJSON_AddStringToObject(app, "schema", "mystique-sim/app/1") &&
        cJSON_AddStringToObject(app, "name", model) && add_class(app, w) &&
        add_stage(app, model, w))
        return app;
    cJSON_Delete(app);
    return NULL;
}

/* ---- members ------------------------------------------------------------- */

/* Where a member of a model's application stands: the application's own and
 * arguments of engines have their places, all others are the stage's. What is
 * no member is refused as it is written. */
static const char *place_of(char place[64], const char *text)
{
    static const char *const OWN[] = {"name",     "currency", "slo", "classes",
                                      "arrivals", "stages",   "flow"};
    char name[64];
    const char *within;

    snprintf(name, sizeof(name), "%.*s", (int)strcspn(text, ".="), text);
    if (!*name || !strchr(text, '='))
        return "";
    for (size_t i = 0; i < sizeof(OWN) / sizeof(*OWN); i++)
        if (strcmp(OWN[i], name) == 0)
            return "";
    within = msim_app_engine_member(name);
    snprintf(place, 64, "stages." STAGE ".%s%s", within ? within : "",
             within ? "." : "");
    return place;
}

static enum msim_status set_members(cJSON *app, const cJSON *set, bool is_model,
                                    struct msim_error *err)
{
    const cJSON *one;

    cJSON_ArrayForEach(one, set)
    {
        char place[64], *text = NULL;
        enum msim_status status;

        if (asprintf(&text, "%s%s",
                     is_model ? place_of(place, one->valuestring) : "",
                     one->valuestring) < 0)
            return MSIM_ENOMEM;
        status = msim_set_option(app, text, err);
        free(text);
        MSIM_TRY(status);
    }
    return MSIM_OK;
}

/* ---- either -------------------------------------------------------------- */

static enum msim_status refuse(const char *operand, struct msim_error *err)
{
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "%s is an application: want --set stages.STAGE.platform="
                     "NAME, and tokens in its classes, instead of --platform, "
                     "--input-tokens and --output-tokens",
                     operand);
}

static enum msim_status json_of(cJSON **json, bool *is_model,
                                const char *operand,
                                const struct msim_served_words *w,
                                struct msim_error *err)
{
    struct msim_described model;
    char data_dir[1024];

    if (access(operand, F_OK) != 0 && msim_described_may_be_name(operand)) {
        MSIM_TRY(msim_datadir_find(data_dir, sizeof(data_dir), err));
        MSIM_TRY(msim_described_find(&model, operand, data_dir, NULL, err));
        *is_model = true;
    } else {
        MSIM_TRY(msim_json_read(json, operand, err));
        *is_model = msim_described_looks(*json);
    }
    if (*is_model) {
        cJSON_Delete(*json);
        *json = app_of(operand, w);
        return *json ? MSIM_OK : MSIM_ENOMEM;
    }
    return w->platform || w->input_tokens > 0 || w->output_tokens > 0
               ? refuse(operand, err)
               : MSIM_OK;
}

static enum msim_status check_platform(const cJSON *app, struct msim_error *err)
{
    const cJSON *stages = cJSON_GetObjectItemCaseSensitive(app, "stages");
    const cJSON *stage = cJSON_GetObjectItemCaseSensitive(stages, STAGE);

    if (cJSON_HasObjectItem(stage, "platform"))
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "want --platform, the GPU that serves the model: one that "
                     "'mystique-sim platforms' lists, or a file");
}

enum msim_status msim_served_app_read(struct msim_app *app, const char *operand,
                                      const struct msim_served_words *words,
                                      struct msim_error *err)
{
    cJSON *json = NULL;
    bool is_model = false;
    const char *slash = strrchr(operand, '/');
    enum msim_status status = json_of(&json, &is_model, operand, words, err);

    if (status == MSIM_OK)
        status = set_members(json, words->set, is_model, err);
    if (status == MSIM_OK && is_model)
        status = check_platform(json, err);
    /* Without a folder: a model's path begins where the program runs. */
    if (status == MSIM_OK)
        status = msim_app_of_json(app, json,
                                  is_model && slash ? slash + 1 : operand, err);
    cJSON_Delete(json);
    return status;
}
