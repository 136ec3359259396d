/*
 * calibrate/stat/kriging_solve.h - regression by a Gaussian process (kriging):
 * what measured points say of others, given how alike any two of them are.
 *
 * With the covariance matrix K of the points (noise included) and values y, a
 * point whose covariances with them are k is expected at k' K^-1 y, with
 * variance k(x, x) - k' K^-1 k (Rasmussen and Williams, Gaussian Processes for
 * Machine Learning, 2006, eq. 2.25 and 2.26). Points I held back are expected
 * at y_I - (K^-1_II)^-1 (K^-1 y)_I, as if the others alone had been given:
 * every way to hold back costs one inversion in all.
 */
#ifndef MSIM_CALIBRATE_STAT_KRIGING_SOLVE_H
#define MSIM_CALIBRATE_STAT_KRIGING_SOLVE_H
#include "core/base/status.h"

#include <stdint.h>

struct msim_kriging_solve {
    uint32_t n;
    double *inverse; /* K^-1, n x n */
    double *weights; /* K^-1 y */
    double *row;     /* for one point at a time */
};

/*
 * Take covariances `k` (n x n, the lower triangle; given away, also on
 * failure) and values `y`. EINTERNAL where `k` is not positive definite.
 */
MSIM_MUST_CHECK
enum msim_status msim_kriging_solve_init(struct msim_kriging_solve *g,
                                         double *k, const double *y,
                                         uint32_t n);
void msim_kriging_solve_release(struct msim_kriging_solve *g);

/* Mean of a point with covariances `k` and prior variance `own`, and its
 * variance where `variance` is not NULL. */
double msim_kriging_solve_at(struct msim_kriging_solve *g, const double *k,
                             double own, double *variance);

/*
 * Hold back the `m` points `held`: `missed[i]` becomes the value of held[i]
 * less what the others say, `variance[i]` its variance, noise included. ENOMEM
 * or EINTERNAL.
 */
MSIM_MUST_CHECK
enum msim_status msim_kriging_solve_without(const struct msim_kriging_solve *g,
                                            const uint32_t *held, uint32_t m,
                                            double *missed, double *variance);

#endif
