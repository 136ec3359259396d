/*
 * cli/plan/plan_serving.h - `plan` of a spec with "workload": "serving".
 */
#ifndef MSIM_CLI_PLAN_PLAN_SERVING_H
#define MSIM_CLI_PLAN_PLAN_SERVING_H
#include "core/base/json.h"

#include <stdbool.h>
#include <stdint.h>

struct msim_plan_serving_how {
    const char *folder; /* for the files; NULL: none are written */
    uint32_t threads;
    bool json; /* printed instead of text */
};

/* Plan what `json`, which is this function's, says; it was read from `path`.
 * Print, write the folder. ECHECK where nothing keeps the promises: the
 * report, which is written all the same, says what comes nearest. */
MSIM_MUST_CHECK
enum msim_status msim_plan_serving(cJSON *json, const char *path,
                                   const char *data_dir,
                                   const struct msim_plan_serving_how *how,
                                   struct msim_error *err);

#endif
