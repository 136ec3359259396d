/*
 * calibrate/machine/backend_compare.h - what two backends say of the same
 * experiments.
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

/* Of every table and two backends that have rows of the same experiments; the
 * backend that was asked first is `backend`. */
MSIM_MUST_CHECK
enum msim_status msim_cal_compare(struct msim_cal_differences *out,
                                  const struct msim_cal_journal *j);

#endif
