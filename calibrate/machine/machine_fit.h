/*
 * calibrate/machine/machine_fit.h - fit a platform file to a journal, with the
 * code that fitted the shipped platforms.
 */
#ifndef MSIM_CALIBRATE_MACHINE_MACHINE_FIT_H
#define MSIM_CALIBRATE_MACHINE_MACHINE_FIT_H
#include "calibrate/measure/journal.h"

struct msim_coll_constants; /* calibrate/collective/coll_constants.h */

/* The score of a law and a backend on held-out rows. */
struct msim_cal_score {
    char law[24], framework[24];
    uint32_t rows;
    double median, mean, p90; /* |predicted / measured - 1| */
    double coverage;          /* of the 90 % intervals */
    /* Repeatability of the measurements: longest over shortest visit of an
     * experiment, median; NAN where all were visited once. Where this is large,
     * so are the errors, whatever the law. */
    double repeats;
};

#define MSIM_CAL_SCORES 32
#define MSIM_CAL_ALL    "all" /* a law: all but collectives, together */

struct msim_cal_scores {
    struct msim_cal_score list[MSIM_CAL_SCORES];
    uint32_t n;
    uint32_t too_few; /* experiments that are in no fit: too few of a kind */
};

struct msim_cal_fit_options {
    const char *name; /* of the platform */
    const char *data; /* folder of platforms/, as in known_device.h */
    /* File to write held-out rows to, as msim-fit --rows does; NULL: none, and
     * no scores. */
    const char *held;
    const char *backend; /* whose rows are fitted; NULL: all rows */
    uint32_t threads;
    /* To fit collectives with; NULL where the journal has none. */
    const struct msim_coll_constants *collectives;
};

/* The name of the first greeting's device as tables have it: commas, quotes and
 * control characters become spaces. */
void msim_cal_device_name(char name[96], const struct msim_cal_journal *j);

/*
 * The data sheet of the machine: the device of the first greeting, the best
 * rates of the rows, and what else the shipped platform of that device has
 * (known_device.h, also for `data`). `*out` is the caller's. ECHECK where
 * neither tells a rate that is needed.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_sheet(cJSON **out, const struct msim_cal_journal *j,
                                const char *name, const char *data,
                                struct msim_error *err);

/*
 * Fit the platform file's tree; `*out` is the caller's, NULL on failure. ECHECK
 * as above. `scores` may be NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_fit(cJSON **out, const struct msim_cal_journal *j,
                              const struct msim_cal_fit_options *options,
                              struct msim_cal_scores *scores,
                              struct msim_error *err);

#endif
