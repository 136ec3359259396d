/*
 * calibrate/platform/platform_merge.h - keeping the rest of a platform
 * file and a report where only some tables are fitted again.
 *
 * Fits of laws that have no rows among the samples stay in the platform file as
 * they are, and so do their lines of the report.
 */
#ifndef MSIM_CALIBRATE_PLATFORM_PLATFORM_MERGE_H
#define MSIM_CALIBRATE_PLATFORM_PLATFORM_MERGE_H
#include "calibrate/rows/samples.h"
#include "core/base/json.h"

#include <stdio.h>

/* Move what is kept of `old`, the platform file before, into `json`, the new
 * one, in the order of the laws' names. EFORMAT where a fit's law is unknown.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_merge(cJSON *json, cJSON *old,
                                     const struct msim_samples *s);

/*
 * Write the report `path`: the line `header`, then the lines of `fresh` and
 * those kept of the file as it was, if there is one, by platform in the order
 * of `sheets` and by law.
 */
MSIM_MUST_CHECK
enum msim_status msim_report_merge(const char *path, const char *header,
                                   const char *fresh, const cJSON *sheets,
                                   const struct msim_samples *s,
                                   struct msim_error *err);

#endif
