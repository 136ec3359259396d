/*
 * calibrate/machine/counter_ratio.h - hardware counters over the bytes and
 * operations that works assume: does the device do what the rooflines say?
 */
#ifndef MSIM_CALIBRATE_MACHINE_COUNTER_RATIO_H
#define MSIM_CALIBRATE_MACHINE_COUNTER_RATIO_H
#include "calibrate/machine/ratio_table.h"
#include "calibrate/measure/experiment_design.h"
#include "calibrate/measure/journal.h"

/* ---- which experiments --------------------------------------------------- */

/* Takes tables in turn, and the kinds of each in turn, at random points. The
 * same greeting and seed give the same experiments. */
struct msim_cal_counting {
    uint64_t random;
    uint32_t turn;
};

/* The next experiment; false where there were enough, or there is none. `*k`
 * begins with the seed and turn 0. */
bool msim_cal_count_next(struct msim_cal_counting *k,
                         const struct msim_cal_space *space,
                         const struct msim_cal_design *design,
                         struct msim_cal_experiment *out);

/* Seconds of a backend's experiments with counters. */
double msim_cal_count_seconds(const struct msim_cal_journal *j,
                              const char *backend);

/* ---- what came out ------------------------------------------------------- */

struct msim_cal_counted {
    enum msim_table table;
    char backend[24];
    uint32_t experiments;
    /* Counted over assumed. */
    struct msim_cal_ratio read, written; /* bytes of memory */
    struct msim_cal_ratio flops;         /* in tensor cores and outside */
};

#define MSIM_CAL_COUNTED 16

struct msim_cal_counts {
    struct msim_cal_counted list[MSIM_CAL_COUNTED];
    uint32_t n;
};

/* One line for every table and backend whose answers have counters. */
MSIM_MUST_CHECK
enum msim_status msim_cal_count(struct msim_cal_counts *out,
                                const struct msim_cal_journal *j);

#endif
