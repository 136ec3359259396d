/*
 * calibrate/host/host_repeat.h - how far host time is from that of the same
 * program run once more.
 *
 * Two units (steps, or traces without steps) of one program are compared by
 * the operators that both call equally often: the logarithm of one's time over
 * the other's. Where a program was recorded more than once, only units of
 * different recordings are: those of one recording share its process, its
 * place on the machine and its moment, so they lie closer together than what
 * is asked for.
 */
#ifndef MSIM_CALIBRATE_HOST_HOST_REPEAT_H
#define MSIM_CALIBRATE_HOST_HOST_REPEAT_H
#include "calibrate/host/host_samples.h"

struct msim_host_repeats {
    double *logs; /* of the pairs compared, without sign */
    uint32_t n_pairs, n_units, n_recordings;
    double rms;    /* of the logarithms; NAN without pairs */
    double shared; /* mean share of a unit's time that is compared */
};

/* Compare a host's units, capped already. Release with ..._release(). */
MSIM_MUST_CHECK
enum msim_status msim_host_repeats_make(struct msim_host_repeats *r,
                                        const struct msim_host_samples *s,
                                        uint32_t n_keys);
void msim_host_repeats_release(struct msim_host_repeats *r);

/* Whether it was recorded more than once: fit to be fitted on. */
bool msim_host_repeats_rerun(const struct msim_host_repeats *r);

/*
 * The 90 % factor, both ways, from programs [0, n) but `except` (MSIM_NONE:
 * all) that were recorded more than once: the root mean square of their
 * logarithms, each program alike, times Student's t for that many. 0 where
 * there are fewer than two.
 */
double msim_host_repeat_factor(const struct msim_host_repeats *r, uint32_t n,
                               uint32_t except);

/* Pairs that differ by less than `factor`. */
uint32_t msim_host_repeats_inside(const struct msim_host_repeats *r,
                                  double factor);

#endif
