/*
 * calibrate/fit/fit_write.h - a fit as JSON and as a line of the report.
 */
#ifndef MSIM_CALIBRATE_FIT_FIT_WRITE_H
#define MSIM_CALIBRATE_FIT_FIT_WRITE_H
#include "calibrate/fit/fit_one.h"

#include <stdio.h>

/* Add a number of six significant digits: more than a fit is good for. */
void msim_number_add(cJSON *o, const char *key, double v);

/* Append the fit of row `r`'s GPU, stack and kind to the array `fits`. */
MSIM_MUST_CHECK
enum msim_status msim_fit_write(cJSON *fits, const struct msim_sample *r,
                                const struct msim_fit_result *f);

/* The same with another text for its member "how". */
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
