/*
 * replay/fleet/simplex.h - the mixture of a few points that comes nearest to
 * zero: weights that are not negative and sum to 1.
 *
 * Least squares on the simplex. Weight moves from the point whose gradient is
 * largest to the one whose gradient is smallest, as much as serves both, until
 * the two gradients agree: pairwise Frank-Wolfe steps with exact line search,
 * which converge linearly (Lacoste-Julien and Jaggi, 2015, "On the global
 * linear convergence of Frank-Wolfe optimization variants").
 */
#ifndef MSIM_REPLAY_FLEET_SIMPLEX_H
#define MSIM_REPLAY_FLEET_SIMPLEX_H
#include <stdint.h>

/*
 * `gram` has the `k` x `k` scalar products of `k` > 0 points. Fills in
 * `weights`; `gradient` is scratch for `k` numbers. The result is the squared
 * length of the mixture, which is at most 1e-9 above the least one where no
 * point is longer than 2. Of equal points the first ones get the weight.
 */
double msim_simplex_fit(const double *gram, uint32_t k, double *weights,
                        double *gradient);

#endif
