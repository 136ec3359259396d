/*
 * calibrate/collective/coll_write.h - what files and reports hold of fitted
 * collectives beside their fits.
 */
#ifndef MSIM_CALIBRATE_COLLECTIVE_COLL_WRITE_H
#define MSIM_CALIBRATE_COLLECTIVE_COLL_WRITE_H
#include "calibrate/collective/coll_fit.h"

#include <stdio.h>

/* Add the logs of fit `c` of `all`, if it has any, to the last of the array
 * `fits` of a platform file. */
MSIM_MUST_CHECK
enum msim_status msim_coll_logs_write(cJSON *fits,
                                      const struct msim_coll_fits *all,
                                      const struct msim_coll_fit_result *c);

/* Write the held-out rows of fit `c` of `all`, once for each way to hold out
 * (held_out_rows.h). */
MSIM_MUST_CHECK
enum msim_status msim_coll_rows_write(struct msim_file *out,
                                      const char *platform,
                                      const struct msim_coll_fits *all,
                                      const struct msim_coll_fit_result *c);

/* Write a line of the report for each way to hold out: the families collective
 * (numbers of ranks), collective_sizes, collective_cluster and collective_gpu.
 */
void msim_coll_report(FILE *out, const char *platform,
                      const struct msim_sample *first,
                      const struct msim_coll_fit_result *c);

#endif
