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

/* The data, the page, its charts and, with WeasyPrint, its PDF: all of them, or
 * the folder is left as it was. Without gnuplot or WeasyPrint a message says
 * what is missing. */
MSIM_MUST_CHECK
enum msim_status msim_plan_folder_write(const struct msim_plan *plan,
                                        const struct msim_spec *spec,
                                        const char *folder,
                                        struct msim_error *err);

#endif
