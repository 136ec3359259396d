/*
 * replay/fleet/fleet_internal.h - what the files of replay/fleet share; no
 * other room includes it.
 */
#ifndef MSIM_REPLAY_FLEET_FLEET_INTERNAL_H
#define MSIM_REPLAY_FLEET_FLEET_INTERNAL_H
#include "core/base/status.h"

#include <stdint.h>

/* ---- simplex ------------------------------------------------------------- */
/*
 * The mixture of a few points that comes nearest to zero: weights that are not
 * negative and sum to 1.
 *
 * Least squares on the simplex. Weight moves from the point whose gradient is
 * largest to the one whose gradient is smallest, as much as serves both, until
 * the two gradients agree: pairwise Frank-Wolfe steps with exact line search,
 * which converge linearly (Lacoste-Julien and Jaggi, 2015, "On the global
 * linear convergence of Frank-Wolfe optimization variants").
 */

/*
 * `gram` has the `k` x `k` scalar products of `k` > 0 points. Fills in
 * `weights`; `gradient` is scratch for `k` numbers. The result is the squared
 * length of the mixture, which is at most 1e-9 above the least one where no
 * point is longer than 2. Of equal points the first ones get the weight.
 */
double msim_simplex_fit(const double *gram, uint32_t k, double *weights,
                        double *gradient);

/* ---- subset -------------------------------------------------------------- */
/*
 * The few of many points that stand for all of them.
 *
 * Points are rows of shares, each with a mass; masses sum to 1. A choice of k
 * points has two faults, both squared lengths, whose sum is made least:
 *
 *   spread   mean over all mass of the distance to the nearest chosen point:
 *            every point is to have one like it (k-medoids: Kaufman and
 *            Rousseeuw, 1990, "Finding groups in data")
 *   error    distance from the mean of all points to the best mixture of the
 *            chosen ones ("simplex")
 *
 * Where there are few choices all are tried. Else one point after the other is
 * added, and then each is exchanged for the best other one in turn, until no
 * exchange helps; the best end of several starts is taken.
 *
 * Example: of ten points near (1, 0) and ten near (0, 1) of equal masses, two
 * chosen ones are one of each, mixed by halves.
 */

struct msim_points {
    const double *at; /* n rows of `dims` numbers */
    const double *mass;
    uint32_t n, dims;
};

struct msim_subset {
    uint32_t k;
    uint32_t *chosen;  /* k points, ascending */
    double *weight;    /* of each in the mixture: they sum to 1 */
    uint32_t *nearest; /* of each point: which of `chosen`, the first of equally
                          near ones; n numbers */
    double spread, error;
};

/* Distances that are measured in half a second. */
#define MSIM_SUBSET_EFFORT 1e8

/*
 * Choose `k` (1 .. n) points. All choices are tried where that measures no more
 * than `effort` distances. The first points win where choices are as good, so
 * that the result depends on the order of points there, and only there; not on
 * how many `threads` try starts. ENOMEM
 * is the only failure; release in any case.
 */
MSIM_MUST_CHECK
enum msim_status msim_subset_choose(struct msim_subset *out,
                                    const struct msim_points *points,
                                    uint32_t k, double effort,
                                    uint32_t threads);
void msim_subset_release(struct msim_subset *s);

#endif
