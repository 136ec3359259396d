/*
 * calibrate/machine/backend_compare.h - two backends on the same experiments:
 * the ratios of their times.
 */
#ifndef MSIM_CALIBRATE_MACHINE_BACKEND_COMPARE_H
#define MSIM_CALIBRATE_MACHINE_BACKEND_COMPARE_H
#include "calibrate/measure/journal.h"

#define MSIM_CAL_DIFFERENCES 32

/* Times of `backend` over those of `other` in one table. */
struct msim_cal_difference {
    enum msim_table table;
    char backend[24], other[24];
    uint32_t pairs;
    double median, p10, p90;
};

struct msim_cal_differences {
    struct msim_cal_difference list[MSIM_CAL_DIFFERENCES];
    uint32_t n;
};

/* One difference for every table and pair of backends that timed the same
 * experiments; `backend` is the one that was asked first. */
MSIM_MUST_CHECK
enum msim_status msim_cal_compare(struct msim_cal_differences *out,
                                  const struct msim_cal_journal *j);

#endif
