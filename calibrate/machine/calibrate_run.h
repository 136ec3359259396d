/*
 * calibrate/machine/calibrate_run.h - the measuring part of a calibration: ask
 * the backends until the budget is spent.
 */
#ifndef MSIM_CALIBRATE_MACHINE_CALIBRATE_RUN_H
#define MSIM_CALIBRATE_MACHINE_CALIBRATE_RUN_H
#include "calibrate/measure/cal_options.h"
#include "calibrate/measure/journal.h"

/*
 * Ask every backend until its share of the budget is spent. Experiments in the
 * journal are not asked again. An experiment that fails is kept as failed; a
 * backend that crashes or hangs is started again, and given up after 20 crashes
 * in a row, or where it fails all the time (failure_watch.h). `*cut_short`:
 * whether one was given up, or had nothing left to ask before its time, as what
 * fails is not asked. Fails with the last one's failure where no backend is
 * left, and the last gave no row.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_run(struct msim_cal_journal *j,
                              const struct msim_cal_options *options,
                              bool *cut_short, struct msim_error *err);

/*
 * Time nothing: call options->would_ask for every experiment of the design that
 * is expected to fit the budget and is not in the journal.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_dry_run(struct msim_cal_journal *j,
                                  const struct msim_cal_options *options,
                                  struct msim_error *err);

#endif
