/*
 * serving/apps/suite.h - a folder of applications, one APP.json each.
 */
#ifndef MSIM_SERVING_APPS_SUITE_H
#define MSIM_SERVING_APPS_SUITE_H
#include "core/base/json.h"
#include "core/base/units.h"

struct msim_suite_app {
    char *path, *name; /* name: of the file, without its suffix */
    cJSON *json;
};

struct msim_suite {
    struct msim_suite_app *apps; /* by name */
    uint32_t n;
};

/*
 * Every NAME.json of the folder, or the one file that `path` is. All are read
 * as applications once, so that what is wrong is told before anything runs. On
 * success `s` goes to msim_suite_release(); on failure it holds nothing: EIO,
 * EFORMAT where there is no application, and those of msim_app_read().
 */
MSIM_MUST_CHECK
enum msim_status msim_suite_read(struct msim_suite *s, const char *path,
                                 struct msim_error *err);
void msim_suite_release(struct msim_suite *s);

#endif
