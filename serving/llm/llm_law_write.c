/*
 * serving/llm/llm_law_write.c - the file of a law.
 */
#include "serving/llm/llm_law.h"

#include "core/base/files.h"
#include "core/base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_number(cJSON *to, const char *key, double v)
{
    char text[32];

    snprintf(text, sizeof(text), "%.4g", v);
    cJSON_AddRawToObject(to, key, text);
}

static void add_engines(cJSON *json, const struct msim_llm_law *law)
{
    cJSON *all = cJSON_AddObjectToObject(json, "engines");

    for (int e = 0; e < MSIM_LLM_ENGINES; e++) {
        cJSON *one;

        if (!law->engines[e])
            continue;
        one = cJSON_AddObjectToObject(
            all, msim_llm_engine_text((enum msim_llm_engine)e));
        add_number(one, "host_us", law->host_us[e]);
        add_number(one, "sequence_us", law->sequence_us[e]);
        add_number(one, "ranks_us", law->ranks_us[e]);
        add_number(one, "first_wave", law->first_wave[e]);
        add_number(one, "arrival_us", law->arrival_us[e]);
        for (int p = 0; p < MSIM_LLM_PIECES; p++)
            add_number(one, msim_llm_piece_text((enum msim_llm_piece)p),
                       law->factor[e][p]);
    }
}

static void add_types(cJSON *json, const char *key, const double *type)
{
    cJSON *all = cJSON_AddObjectToObject(json, key);

    for (int q = MSIM_QUANT_BF16; q < MSIM_QUANTS; q++)
        add_number(all, msim_quant_text((enum msim_quant)q), type[q]);
}

static void add_halves(cJSON *json, const struct msim_llm_law *law)
{
    static const char *const NAMES[] = {"tpot", "ttft"};
    cJSON *all = cJSON_AddObjectToObject(json, "half_intervals");

    for (int f = 0; f < MSIM_LLM_FIGURES; f++) {
        cJSON *one = cJSON_AddObjectToObject(all, NAMES[f]);

        add_number(one, "seen", law->half[f].seen);
        add_number(one, "other_model", law->half[f].other_model);
        add_number(one, "other_gpu", law->half[f].other_gpu);
        add_number(one, "other", law->half[f].other);
    }
}

static void add_names(cJSON *to, const char *key, const char names[][64],
                      uint32_t n)
{
    cJSON *list = cJSON_AddArrayToObject(to, key);

    for (uint32_t i = 0; i < n; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(names[i]));
}

static void add_rows(cJSON *json, const struct msim_llm_law *law,
                     const struct msim_llm_law_source *from)
{
    cJSON *of = cJSON_AddObjectToObject(json, "rows"), *types;

    cJSON_AddStringToObject(of, "file", from->file);
    cJSON_AddNumberToObject(of, "used", from->used);
    cJSON_AddNumberToObject(of, "left_out", from->left_out);
    cJSON_AddNumberToObject(of, "failed", from->failed);
    add_names(of, "models", law->models, law->n_models);
    add_names(of, "gpus", law->gpus, law->n_gpus);
    types = cJSON_AddArrayToObject(of, "types");
    for (int q = MSIM_QUANT_BF16; q < MSIM_QUANTS; q++)
        if (law->types[q])
            cJSON_AddItemToArray(
                types, cJSON_CreateString(msim_quant_text((enum msim_quant)q)));
}

cJSON *msim_llm_law_json(const struct msim_llm_law *law,
                         const struct msim_llm_law_source *from)
{
    cJSON *json = cJSON_CreateObject();

    if (!json)
        return NULL;
    cJSON_AddStringToObject(json, "schema", "mystique-sim/serving-law/1");
    cJSON_AddStringToObject(
        json, "what",
        "constants of the law of served models (serving/llm/llm_law.h): "
        "microseconds of the host, factors of what works take");
    cJSON_AddStringToObject(json, "how", from->how);
    cJSON_AddStringToObject(json, "command", from->command);
    add_rows(json, law, from);
    add_engines(json, law);
    add_types(json, "types", law->type);
    add_types(json, "types_of_many", law->type_many);
    add_halves(json, law);
    return json;
}

enum msim_status msim_llm_law_write(const struct msim_llm_law *law,
                                    const struct msim_llm_law_source *from,
                                    const char *path, struct msim_error *err)
{
    cJSON *json = msim_llm_law_json(law, from);
    char *text = json ? cJSON_Print(json) : NULL;
    struct msim_file *file;
    enum msim_status status;

    cJSON_Delete(json);
    if (!text)
        return MSIM_ENOMEM;
    status = msim_file_open(&file, path, NULL, err);
    if (status == MSIM_OK) {
        status = msim_file_write(file, text, strlen(text));
        status = msim_file_close(file, status, err);
    }
    free(text);
    return status;
}
