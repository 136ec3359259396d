/*
 * calibrate/platform_fit.h - one platform file from a data sheet and tables.
 */
#ifndef MSIM_CALIBRATE_PLATFORM_FIT_H
#define MSIM_CALIBRATE_PLATFORM_FIT_H
#include "calibrate/samples.h"

#include <stdio.h>

/* Figures that belong to every platform. */
struct msim_fit_shared {
    /* Time of a convolution's backward passes over its forward pass: median,
     * 10th and 90th percentile, pairs. */
    struct msim_fit_ratio {
        double median, p10, p90;
        uint32_t pairs;
    } backward_data, backward_weight;
};

void msim_fit_shared_make(struct msim_fit_shared *shared,
                          const struct msim_samples *s);

/*
 * Fit every cell of the GPUs that `sheet` (an entry of the data-sheet file)
 * names, one of the `sheets`, and make the platform file's tree: `*out` is
 * owned by the caller, NULL on failure. One CSV line a cell goes to `report`,
 * progress to `progress` (either may be NULL). `samples` are sorted.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_fit(cJSON **out, const cJSON *sheet,
                                   const cJSON *sheets, const char *sheet_file,
                                   const struct msim_samples *samples,
                                   const struct msim_fit_shared *shared,
                                   FILE *report, FILE *progress,
                                   struct msim_error *err);

/* The header of the report. */
extern const char MSIM_FIT_REPORT_HEADER[];

#endif
