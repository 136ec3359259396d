/*
 * calibrate/fit/fit_write.h - a fitted cell as JSON and as a line of the
 * report.
 */
#ifndef MSIM_CALIBRATE_FIT_FIT_WRITE_H
#define MSIM_CALIBRATE_FIT_FIT_WRITE_H
#include "calibrate/fit/fit_one.h"

#include <stdio.h>

/* Add a number of six significant digits: more than a fit knows. */
void msim_number_add(cJSON *o, const char *key, double v);

/* Append the cell of row `r` to the array `cells`. */
MSIM_MUST_CHECK
enum msim_status msim_fit_write(cJSON *fits, const struct msim_sample *r,
                                const struct msim_fit_result *f);

/* The same, telling in other words how it was made. */
MSIM_MUST_CHECK
enum msim_status msim_fit_write_as(cJSON *fits, const struct msim_sample *r,
                                   const struct msim_fit_result *f,
                                   const char *how);

/* The header of the report, and one line of it. */
extern const char MSIM_FIT_REPORT_HEADER[];
void msim_fit_report(FILE *out, const char *platform, const char *family,
                     const struct msim_sample *r,
                     const struct msim_fit_result *f);

#endif
