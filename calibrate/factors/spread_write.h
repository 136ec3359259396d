/*
 * calibrate/factors/spread_write.h - spreads of whole programs as JSON, and how
 * good they are as a table.
 */
#ifndef MSIM_CALIBRATE_FACTORS_SPREAD_WRITE_H
#define MSIM_CALIBRATE_FACTORS_SPREAD_WRITE_H
#include "calibrate/factors/spread_fit.h"
#include "core/base/json.h"

#include <stdio.h>

/* Add the member "spread" to `json`, and what is shared to each of its
 * platforms, which are those of `s`, with the figures of the report. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_spread_write(cJSON *json,
                                   const struct msim_program_sums *s,
                                   const struct msim_spread_fit *f);

/* A line of Markdown for each source and GPU: how many are inside, the median
 * of high / low, the mean score, all held out. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_spread_report(FILE *out,
                                    const struct msim_program_sums *s,
                                    const struct msim_spread_fit *f);

#endif
