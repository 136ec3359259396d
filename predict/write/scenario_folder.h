/*
 * predict/write/scenario_folder.h - a folder for each scenario of a file,
 * called as it is.
 *
 *     "batch 64, 2x"  ->  DIR/batch-64--2x
 *
 * What no file system and no shell minds stays: letters, digits, "_", "-" and
 * "."; all else is "-", and so is a "." in front.
 */
#ifndef MSIM_PREDICT_WRITE_SCENARIO_FOLDER_H
#define MSIM_PREDICT_WRITE_SCENARIO_FOLDER_H
#include "core/base/files.h"

/* The folder of the scenario `name`; owned by the caller, NULL: no memory. */
char *msim_scenario_folder(const char *dir, const char *name);

/*
 * Look into all of them before anything is predicted. EUSAGE where two names
 * come to one folder, or a folder holds what msim_folder_look() refuses;
 * ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status
msim_scenario_folders_look(const char *dir, const char *const *names,
                           uint32_t n, const struct msim_folder_kinds *kinds,
                           struct msim_error *err);

#endif
