/*
 * plan/memory/memory_file.c - reading the constants of the memory formula.
 */
#include "core/base/json.h"
#include "plan/memory/job_memory.h"

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
    for (int c = 0; c < MSIM_MEMORY_CLASSES; c++) {
        const cJSON *of = cJSON_GetObjectItemCaseSensitive(
            interval, msim_memory_class_text((enum msim_memory_class)c));

        fit->interval[c] =
            (struct msim_memory_interval){msim_json_get_number(of, "low", 0),
                                          msim_json_get_number(of, "high", 0)};
        if (!(fit->interval[c].low >= 1 && fit->interval[c].high >= 1))
            return wrong(path, "interval", err);
    }
    return MSIM_OK;
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

enum msim_status msim_memory_fit_of(struct msim_memory_fit *fit,
                                    const cJSON *json, const char *path,
                                    const char *without, struct msim_error *err)
{
    const cJSON *object = find_fit(json, without);

    return object ? read_fit(fit, object, path, err)
                  : wrong(path, "the fit", err);
}
