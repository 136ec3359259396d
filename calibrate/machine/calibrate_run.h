/*
 * calibrate/machine/calibrate_run.h - timing what is planned, until the budget
 * is spent.
 */
#ifndef MSIM_CALIBRATE_MACHINE_CALIBRATE_RUN_H
#define MSIM_CALIBRATE_MACHINE_CALIBRATE_RUN_H
#include "calibrate/measure/cal_options.h"
#include "calibrate/measure/journal.h"

/*
 * Ask every backend until its share of the budget is spent. What the journal
 * has is not asked again. An experiment that fails, or whose backend dies or
 * hangs, is kept as failed, and the backend started again; one that dies time
 * after time is given up. Where no backend is left, what the last one failed
 * with.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_run(struct msim_cal_journal *j,
                              const struct msim_cal_options *options,
                              struct msim_error *err);

/*
 * Do not time, but call options->would_ask for every experiment of the first
 * set that is expected to fit the budget and is not in the journal.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_dry_run(struct msim_cal_journal *j,
                                  const struct msim_cal_options *options,
                                  struct msim_error *err);

#endif
