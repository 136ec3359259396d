/*
 * calibrate/machine/ratio_table.h - median and deciles of ratios.
 */
#ifndef MSIM_CALIBRATE_MACHINE_RATIO_TABLE_H
#define MSIM_CALIBRATE_MACHINE_RATIO_TABLE_H
#include "core/base/json.h"
#include "core/base/status.h"

#include <stdint.h>

/* A list of ratios: zeroed at first, released at the end. */
struct msim_cal_ratios {
    double *list; /* owned */
    uint32_t n, capacity;
};

MSIM_MUST_CHECK
enum msim_status msim_cal_ratios_add(struct msim_cal_ratios *r, double ratio);
void msim_cal_ratios_release(struct msim_cal_ratios *r);

/* Median and deciles. */
struct msim_cal_ratio {
    uint32_t n; /* 0: the others mean nothing */
    double median, p10, p90;
};

/* Sorts the list. */
struct msim_cal_ratio msim_cal_ratio_of(const struct msim_cal_ratios *r);

/* As members of `o`. */
void msim_cal_ratio_write(cJSON *o, const struct msim_cal_ratio *r);

#endif
