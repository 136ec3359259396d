/*
 * calibrate/machine/calibrate_run.h - timing what is planned, until the budget
 * is spent.
 */
#ifndef MSIM_CALIBRATE_MACHINE_CALIBRATE_RUN_H
#define MSIM_CALIBRATE_MACHINE_CALIBRATE_RUN_H
#include "calibrate/measure/experiment_space.h"
#include "calibrate/measure/journal.h"

struct msim_coll_constants; /* calibrate/collective/coll_constants.h */

#define MSIM_CAL_BACKENDS 8

/* One process that is asked, and its share of the budget. */
struct msim_cal_backend {
    const char *command; /* of the shell */
    double share;        /* over the sum of all shares */
};

/* What whoever waits may want to know. */
struct msim_cal_progress {
    const char *backend;
    const cJSON *experiment; /* just answered, or about to be asked */
    const char *error;       /* why it failed; NULL: it did not */
    uint32_t rows, failed;
    double seconds, budget; /* spent and to be spent */
};

struct msim_cal_options {
    const struct msim_cal_backend *backends;
    uint32_t n_backends;
    double budget; /* seconds of measuring, over all runs on this journal */
    double target; /* half width of the mean interval, as a share: enough; 0:
                      the budget alone decides */
    uint64_t seed;
    double patience; /* seconds that an experiment may take */
    const char *name;
    uint32_t threads; /* of a fit */
    /* To fit collectives with; NULL where no backend times any. */
    const struct msim_coll_constants *collectives;
    /* Experiments that come first, an array; may be NULL. Those that a backend
     * does not offer are left out. */
    const cJSON *first;
    void (*progress)(void *ctx, const struct msim_cal_progress *p);
    void (*plan)(void *ctx, const char *backend, const cJSON *experiment,
                 double expected_us, double expected_seconds);
    /* A backend that does not start, or is given up; the others go on. */
    void (*lost)(void *ctx, const char *command, const char *why);
    void *ctx;
};

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
 * Do not time, but call options->plan for every experiment of the first set
 * that is expected to fit the budget and is not in the journal.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_dry_run(struct msim_cal_journal *j,
                                  const struct msim_cal_options *options,
                                  struct msim_error *err);

#endif
