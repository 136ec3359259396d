/*
 * cli/plan/cli_plan_internal.h - what the files of cli/plan share; no other
 * room includes it.
 */
#ifndef MSIM_CLI_PLAN_CLI_PLAN_INTERNAL_H
#define MSIM_CLI_PLAN_CLI_PLAN_INTERNAL_H
#include "core/base/json.h"
#include "plan/outcome/plan_report.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- plan folder --------------------------------------------------------- */
/* The folder that `plan -o` fills. */

/* EUSAGE where a file would be replaced that is none of a plan's. */
MSIM_MUST_CHECK
enum msim_status msim_plan_folder_look(const char *folder,
                                       struct msim_error *err);

/* What the files of a plan hold, by whoever made it. `charts`: those that
 * `draw` has drawn, for the page alone. */
typedef enum msim_status msim_plan_part(const void *ctx,
                                        const char *const *charts, FILE *out);
struct msim_plan_files {
    const void *ctx;
    msim_plan_part *points, *frontier, *json, *html;
    /* Chart of that place in msim_plan_charts, whose name the file has; `*svg`
     * is the caller's, and stays NULL where there is none. */
    enum msim_status (*draw)(const void *ctx, uint32_t chart, char **svg,
                             struct msim_error *err);
};

/* Write all of them, as msim_plan_folder_write() does. */
MSIM_MUST_CHECK
enum msim_status msim_plan_folder_fill(const struct msim_plan_files *files,
                                       const char *folder,
                                       struct msim_error *err);

/* The data, the page, its charts and, with WeasyPrint, its PDF: all of them, or
 * the folder is left as it was. Without gnuplot or WeasyPrint a message says
 * what is missing. */
MSIM_MUST_CHECK
enum msim_status msim_plan_folder_write(const struct msim_plan *plan,
                                        const struct msim_spec *spec,
                                        const char *folder,
                                        struct msim_error *err);

/* ---- plan serving -------------------------------------------------------- */
/* `plan` of a spec with "workload": "serving". */

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
