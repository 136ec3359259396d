/*
 * cli/plan/plan_folder.h - the folder that `plan -o` fills.
 */
#ifndef MSIM_CLI_PLAN_PLAN_FOLDER_H
#define MSIM_CLI_PLAN_PLAN_FOLDER_H
#include "plan/outcome/plan_report.h"

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

#endif
