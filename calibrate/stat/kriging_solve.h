/*
 * calibrate/stat/kriging_solve.h - regression by a Gaussian process (kriging):
 * predictions of a point from measured points and their covariances.
 *
 * With the covariance matrix K of the measured points (noise included) and
 * their values y, a point whose covariances with them are k has the mean
 * k' K^-1 y and the variance k(x, x) - k' K^-1 k (Rasmussen and Williams,
 * Gaussian Processes for Machine Learning, 2006, eq. 2.25 and 2.26). Held-out
 * points I have the mean y_I - (K^-1_II)^-1 (K^-1 y)_I, as if the others alone
 * had been given (ibid., section 5.4.2): one inversion of K serves all ways to
 * hold out.
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

/* Mean of a point with covariances `k` (n of them) and prior variance `own`;
 * its variance goes to `variance`, unless that is NULL. Uses g->row. */
double msim_kriging_solve_at(struct msim_kriging_solve *g, const double *k,
                             double own, double *variance);

/*
 * Hold out the `m` points `held`: `missed[i]` becomes the value of held[i] less
 * its mean by the others, `variance[i]` its variance, noise included. ENOMEM or
 * EINTERNAL.
 */
MSIM_MUST_CHECK
enum msim_status msim_kriging_solve_without(const struct msim_kriging_solve *g,
                                            const uint32_t *held, uint32_t m,
                                            double *missed, double *variance);

/*
 * The logarithm of the likelihood of values `y` under covariances `k` (n x n,
 * noise included, the lower triangle; overwritten):
 *     -1/2 y' K^-1 y - 1/2 log |K| - n/2 log 2 pi
 * (ibid., eq. 2.30). ENOMEM, or EINTERNAL where `k` is not positive definite.
 */
MSIM_MUST_CHECK
enum msim_status msim_kriging_log_likelihood(double *out, double *k,
                                             const double *y, uint32_t n);

#endif
