/*
 * calibrate/collective/coll_write.h - what is said of fitted collectives alone.
 */
#ifndef MSIM_CALIBRATE_COLLECTIVE_COLL_WRITE_H
#define MSIM_CALIBRATE_COLLECTIVE_COLL_WRITE_H
#include "calibrate/collective/coll_fit.h"

#include <stdio.h>

/* Add the logs of cell `c` of `all`, if it has any, to the last of `cells`. */
MSIM_MUST_CHECK
enum msim_status msim_coll_logs_write(cJSON *fits,
                                      const struct msim_coll_fits *all,
                                      const struct msim_coll_fit_result *c);

/* Every row of cell `c` of `all` that was held back, in each of the ways. */
MSIM_MUST_CHECK
enum msim_status msim_coll_rows_write(struct msim_file *out,
                                      const char *platform,
                                      const struct msim_coll_fits *all,
                                      const struct msim_coll_fit_result *c);

/* A line of the report for each way of holding back: the families
 * collective (numbers of ranks), collective_sizes and collective_cluster. */
void msim_coll_report(FILE *out, const char *platform,
                      const struct msim_sample *first,
                      const struct msim_coll_fit_result *c);

#endif
