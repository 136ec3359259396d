/*
 * calibrate/machine/concurrent.h - compute beside a collective: its time over
 * its time alone.
 */
#ifndef MSIM_CALIBRATE_MACHINE_CONCURRENT_H
#define MSIM_CALIBRATE_MACHINE_CONCURRENT_H
#include "calibrate/machine/ratio_table.h"
#include "calibrate/measure/experiment_design.h"
#include "calibrate/measure/journal.h"

/* ---- which experiments --------------------------------------------------- */

/* Takes kinds of compute in turn, and the collectives in turn. The same
 * greeting and seed give the same experiments. */
struct msim_cal_pairing {
    uint64_t random;
    uint32_t turn;
};

/*
 * The next experiment; false where there were enough, or there is none.
 * `computes` is what msim_cal_space_concurrent() read, `space` and `design`
 * have the collectives; both spaces outlive it. `*p` begins with the seed and
 * turn 0.
 */
bool msim_cal_concurrent_next(struct msim_cal_pairing *p,
                              const struct msim_cal_space *computes,
                              const struct msim_cal_space *space,
                              const struct msim_cal_design *design,
                              struct msim_cal_experiment *out);

/* Seconds of a backend's pairs with collectives of so many ranks. */
double msim_cal_concurrent_seconds(const struct msim_cal_journal *j,
                                   const char *backend, uint32_t ranks);

/* ---- what came out ------------------------------------------------------- */

struct msim_cal_slowed {
    enum msim_table table;
    char collective[24], backend[24];
    struct msim_cal_ratio ratio;
};

#define MSIM_CAL_SLOWED 32

struct msim_cal_concurrents {
    struct msim_cal_slowed list[MSIM_CAL_SLOWED];
    uint32_t n;
    struct msim_cal_ratio all; /* n 0: nothing was timed so */
};

/* One ratio for every table of compute, collective and backend. */
MSIM_MUST_CHECK
enum msim_status msim_cal_concurrent(struct msim_cal_concurrents *out,
                                     const struct msim_cal_journal *j);

/* Write "beside" of a platform file; nothing where no pair was timed. */
void msim_cal_concurrent_write(cJSON *platform,
                               const struct msim_cal_concurrents *b);

#endif
