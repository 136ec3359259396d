/*
 * plan/memory/steps_read.c - both fits of a steps file.
 */
#include "plan/memory/steps_read.h"

#include "core/base/json.h"

#include <stdio.h>

enum msim_status msim_steps_read(struct msim_step_fit *step,
                                 struct msim_memory_fit *memory,
                                 const char *data_dir, const char *without,
                                 struct msim_error *err)
{
    char path[1200];
    enum msim_status status = MSIM_OK;
    cJSON *json;

    if (step)
        *step = (struct msim_step_fit){0};
    snprintf(path, sizeof(path), "%s/laws/steps.json", data_dir);
    MSIM_TRY(msim_json_read_our(&json, path, "steps", err));
    if (memory)
        status = msim_memory_fit_of(memory, json, path, without, err);
    if (step && status == MSIM_OK)
        status = msim_step_fit_of(step, json, path, without, err);
    cJSON_Delete(json);
    return status;
}
