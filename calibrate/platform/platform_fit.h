/*
 * calibrate/platform/platform_fit.h - one platform file from a data sheet and
 * tables.
 */
#ifndef MSIM_CALIBRATE_PLATFORM_PLATFORM_FIT_H
#define MSIM_CALIBRATE_PLATFORM_PLATFORM_FIT_H
#include "calibrate/collective/coll_fit.h"
#include "calibrate/fit/conv_ratio.h"
#include "core/base/json.h"

#include <stdio.h>

struct msim_fit_options {
    const struct msim_conv_ratios *ratios;
    const struct msim_coll_fits *collectives; /* of the same samples */
    uint32_t threads; /* at least 1; what comes out does not depend on it */
    FILE *report;     /* gets a CSV line for each fit; NULL: none */
    struct msim_file *rows; /* gets a line for each held-out row; NULL: none */
    uint32_t *too_few; /* gets the number of rows that are in no fit, because
                          there are too few of their kind; may be NULL */
};

/*
 * Fit all stacks and kinds of the GPUs that `sheet`, an entry of the data-sheet
 * file, names, and make the platform file's tree: `*out` is owned by the
 * caller, NULL on failure. `samples` are sorted.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_fit(cJSON **out, const cJSON *sheet,
                                   const char *sheet_file,
                                   const struct msim_samples *samples,
                                   const struct msim_fit_options *options,
                                   struct msim_error *err);

#endif
