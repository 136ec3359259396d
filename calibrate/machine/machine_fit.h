/*
 * calibrate/machine/machine_fit.h - a journal's rows as a platform file, by the
 * code that made the shipped ones.
 */
#ifndef MSIM_CALIBRATE_MACHINE_MACHINE_FIT_H
#define MSIM_CALIBRATE_MACHINE_MACHINE_FIT_H
#include "calibrate/measure/journal.h"

struct msim_coll_constants; /* calibrate/collective/coll_constants.h */

/* How a law does on rows that were held back, of one backend. */
struct msim_cal_score {
    char law[24], framework[24];
    uint32_t rows;
    double median, mean, p90; /* |predicted / measured - 1| */
    double coverage;          /* of the 90 % intervals */
    /* Of what was measured: longest over shortest visit of an experiment, in
     * the median; NAN where all were visited once. Where that is wide, errors
     * are the machine's. */
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
    /* File of the rows held back, as msim-fit --rows writes it; NULL: none, and
     * then no scores either. */
    const char *held;
    const char *backend; /* rows of it alone; NULL: of all */
    uint32_t threads;
    /* To fit collectives with; NULL where the journal has none. */
    const struct msim_coll_constants *collectives;
};

/* What the device of the first greeting is called in tables: without what means
 * something in them. */
void msim_cal_device_name(char name[96], const struct msim_cal_journal *j);

/*
 * The data-sheet entry of what was timed: the device of the first greeting and
 * the best rates of the rows. The caller's. ECHECK where there are no rows yet
 * to tell a rate from.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_sheet(cJSON **out, const struct msim_cal_journal *j,
                                const char *name, struct msim_error *err);

/*
 * The platform file's tree; `*out` is the caller's, NULL on failure. ECHECK as
 * above. `scores` may be NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_fit(cJSON **out, const struct msim_cal_journal *j,
                              const struct msim_cal_fit_options *options,
                              struct msim_cal_scores *scores,
                              struct msim_error *err);

#endif
