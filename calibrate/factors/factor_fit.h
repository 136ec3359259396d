/*
 * calibrate/factors/factor_fit.h - the factors that whole programs tell of one
 * GPU, and the errors that remain.
 */
#ifndef MSIM_CALIBRATE_FACTORS_FACTOR_FIT_H
#define MSIM_CALIBRATE_FACTORS_FACTOR_FIT_H
#include "calibrate/factors/program_sums.h"

struct msim_factor_fit {
    double time[MSIM_FACTOR_COUNT];
    /* Found without the programs of a fold. */
    double without[MSIM_PROGRAM_FOLDS][MSIM_FACTOR_COUNT];
    double share[MSIM_FACTOR_COUNT]; /* of the programs' time by the laws; 0:
                                        the programs do not tell the factor */
    uint32_t rows, groups;
    /* Mean |predicted / measured - 1|, a group counting once: by the laws
     * alone, with the factors, and with factors found without the group. */
    double error_laws, error_fitted, error_held_out;
};

/*
 * Fit the factors of platform `platform` of `s`: least sum over groups of a
 * robust loss of the logarithm of predicted over measured, with a pull of each
 * factor to 1; those of `fixed` kinds (bits) stay 1. ENOMEM, or EINTERNAL where
 * the search fails.
 */
MSIM_MUST_CHECK
enum msim_status msim_factor_fit_make(struct msim_factor_fit *out,
                                      const struct msim_program_sums *s,
                                      uint32_t platform, uint32_t fixed);

#endif
