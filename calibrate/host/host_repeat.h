/*
 * calibrate/host/host_repeat.h - repeatability of host time: the same program,
 * run once more.
 *
 * Two units (steps, or traces without steps) of one program are compared by
 * the operators that both call equally often: the logarithm of one's time over
 * the other's. Where a program was recorded more than once, only units of
 * different recordings are compared: units of one recording share its process,
 * its cores and its time of day, and differ less than two runs do.
 */
#ifndef MSIM_CALIBRATE_HOST_HOST_REPEAT_H
#define MSIM_CALIBRATE_HOST_HOST_REPEAT_H
#include "calibrate/host/host_samples.h"

struct msim_host_repeats {
    double *logs; /* of the compared pairs, without sign */
    uint32_t n_pairs, n_units, n_recordings;
    double rms;    /* of the logarithms; NAN without pairs */
    double shared; /* mean share of a unit's time that is compared */
};

/* Compare the units of a host that has been capped. On success release `r`. */
MSIM_MUST_CHECK
enum msim_status msim_host_repeats_make(struct msim_host_repeats *r,
                                        const struct msim_host_samples *s,
                                        uint32_t n_keys);
void msim_host_repeats_release(struct msim_host_repeats *r);

/* Whether the program was recorded more than once, so that it counts for
 * msim_host_repeat_factor(). */
bool msim_host_repeats_rerun(const struct msim_host_repeats *r);

/*
 * The factor of the 90 % interval, both ways, from those of the `n` programs
 * but `except` (MSIM_NONE: of all) that were recorded more than once: the root
 * mean square of their logarithms, each program with the same weight, times
 * Student's t for that many. 0 where there are fewer than two.
 */
double msim_host_repeat_factor(const struct msim_host_repeats *r, uint32_t n,
                               uint32_t except);

/* The number of pairs that differ by at most `factor`. */
uint32_t msim_host_repeats_inside(const struct msim_host_repeats *r,
                                  double factor);

#endif
