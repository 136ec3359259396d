/*
 * plan/memory/steps_read.c - both fits of a steps file.
 */
#include "plan/memory/job_memory.h"

#include "core/base/json.h"

#include <stdio.h>
#include <string.h>

/* Of fits that were left, that without `without` alone; all, where it is not
 * among them. */
static enum msim_status keep_fit(struct msim_json_block *b, const char *without)
{
    cJSON *fits = cJSON_GetObjectItemCaseSensitive(b->json, "fits");
    cJSON *fit, *next, *kept = NULL;
    char name[64];

    cJSON_ArrayForEach(fit, fits)
    {
        if (cJSON_IsRaw(fit) &&
            msim_json_left_text(fit, "without", name, sizeof(name)) &&
            strcmp(name, without) == 0)
            kept = fit;
    }
    for (fit = fits ? fits->child : NULL; fit; fit = next) {
        next = fit->next;
        if (kept && fit != kept)
            (void)cJSON_DetachItemViaPointer(fits, fit);
        else if (!msim_json_left_read(fit, &b->nodes))
            return MSIM_ENOMEM;
    }
    return MSIM_OK;
}

/* Nothing can be wrong in fits of a file that is as it was shipped: those that
 * nobody asks for are passed over. */
static enum msim_status read_file(struct msim_json_block *b, const char *path,
                                  const char *data_dir, const char *without,
                                  struct msim_error *err)
{
    bool shipped;

    MSIM_TRY(msim_json_block_open(b, path, err));
    shipped = msim_steps_are_shipped(data_dir, b->hash);
    MSIM_TRY(msim_json_block_parse(b, path, shipped ? "fits" : NULL, err));
    MSIM_TRY(msim_json_check_our(b->json, path, "steps", err));
    return shipped && b->plain ? keep_fit(b, without ? without : "") : MSIM_OK;
}

enum msim_status msim_steps_read(struct msim_step_fit *step,
                                 struct msim_memory_fit *memory,
                                 const char *data_dir, const char *without,
                                 struct msim_error *err)
{
    char path[1200];
    struct msim_json_block b = {0};
    enum msim_status status;

    if (step)
        *step = (struct msim_step_fit){0};
    snprintf(path, sizeof(path), "%s/laws/steps.json", data_dir);
    status = read_file(&b, path, data_dir, without, err);
    if (memory && status == MSIM_OK)
        status = msim_memory_fit_of(memory, b.json, path, without, err);
    if (step && status == MSIM_OK)
        status = msim_step_fit_of(step, b.json, path, without, err);
    msim_json_block_release(&b);
    return status;
}
