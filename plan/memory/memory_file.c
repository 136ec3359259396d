/*
 * plan/memory/memory_file.c - reading the constants of the memory formula.
 */
#include "core/base/json.h"
#include "plan/memory/peak_memory.h"

#include <stdio.h>
#include <string.h>

static enum msim_status wrong(const char *path, const char *what,
                              struct msim_error *err)
{
    return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                     "memory: %s is missing or no number above 0; run "
                     "msim-fit-steps",
                     what);
}

static enum msim_status read_fit(struct msim_memory_fit *fit,
                                 const cJSON *object, const char *path,
                                 struct msim_error *err)
{
    const cJSON *constants =
        cJSON_GetObjectItemCaseSensitive(object, "constants");
    const cJSON *interval =
        cJSON_GetObjectItemCaseSensitive(object, "interval");

#define X(name, start, text)                                                   \
    fit->constants.name = msim_json_get_number(constants, #name, -1);          \
    if (!(fit->constants.name >= 0))                                           \
        return wrong(path, #name, err);
    MSIM_MEMORY_CONSTANT_MAP(X)
#undef X
    fit->low = msim_json_get_number(interval, "low", 0);
    fit->high = msim_json_get_number(interval, "high", 0);
    return fit->low >= 1 && fit->high >= 1 ? MSIM_OK
                                           : wrong(path, "interval", err);
}

/* The fit without `without`; the one on all where no fit is. */
static const cJSON *find_fit(const cJSON *json, const char *without)
{
    const cJSON *fit, *all = NULL;

    cJSON_ArrayForEach(fit, cJSON_GetObjectItemCaseSensitive(json, "memory"))
    {
        const char *name = msim_json_get_text(fit, "without");

        if (name && !*name)
            all = fit;
        else if (name && without && strcmp(name, without) == 0)
            return fit;
    }
    return all;
}

enum msim_status msim_memory_fit_read(struct msim_memory_fit *fit,
                                      const char *data_dir, const char *without,
                                      struct msim_error *err)
{
    char path[1200];
    enum msim_status status;
    const cJSON *object;
    cJSON *json;

    snprintf(path, sizeof(path), "%s/laws/steps.json", data_dir);
    MSIM_TRY(msim_json_read(&json, path, err));
    object = find_fit(json, without);
    status =
        object ? read_fit(fit, object, path, err) : wrong(path, "the fit", err);
    cJSON_Delete(json);
    return status;
}
