/*
 * calibrate/platform/refit.h - fitting some tables again and keeping the rest.
 *
 * Cells of laws that have no rows among the samples stay in a platform file as
 * they were, and so do their lines of the report.
 */
#ifndef MSIM_CALIBRATE_PLATFORM_REFIT_H
#define MSIM_CALIBRATE_PLATFORM_REFIT_H
#include "calibrate/rows/samples.h"
#include "core/base/json.h"

#include <stdio.h>

/* Move what is kept of `old`, the platform's file as it was, into `json`, the
 * new one, in the order in which cells are written. EFORMAT where a cell's law
 * is none. */
MSIM_MUST_CHECK
enum msim_status msim_refit_rows(cJSON *json, cJSON *old,
                                 const struct msim_samples *s);

/*
 * Write the report: the lines of `fresh` and those kept of the file `path`, if
 * there is one, by platform in the order of `sheets` and by law. The header
 * line is `header`.
 */
MSIM_MUST_CHECK
enum msim_status msim_refit_report(const char *path, const char *header,
                                   const char *fresh, const cJSON *sheets,
                                   const struct msim_samples *s,
                                   struct msim_error *err);

#endif
