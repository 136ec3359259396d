/*
 * calibrate/collective/coll_covariance.h - collectives as a Gaussian process:
 * the covariance of two points, the points of one fabric, its likeliest
 * constants, intervals.
 */
#ifndef MSIM_CALIBRATE_COLLECTIVE_COLL_COVARIANCE_H
#define MSIM_CALIBRATE_COLLECTIVE_COLL_COVARIANCE_H
#include "calibrate/collective/coll_fit.h"
#include "calibrate/stat/kriging_solve.h"

/* ---- coll covariance ----------------------------------------------------- */
/*
 * The covariance of two points of collectives.
 *
 * A time is a start plus a transfer, t = s + w. Small changes of either add up
 * as d log t = (s / t) d log s + (w / t) d log w: a start that is known
 * predicts other starts, and no large transfer. The covariance is a sum of
 * components. Each component is a product of
 *
 *   regime   both points' shares in it (enum msim_coll_regime);
 *   size     a function of the octaves between the sizes;
 *   ranks    a function of the octaves between the numbers of ranks and nodes,
 *            or a trend, linear in the octaves of ranks;
 *   factors  one for each attribute in which the points differ: GPU,
 *            generation, source, stack, way of launching, collective.
 *
 * Each component is a valid covariance, and so is their sum. The constants are
 * data (coll_fit.h), a set for each fabric.
 */

enum msim_coll_fabric msim_coll_fabric_of(const struct msim_coll_point *p);

/* Covariance of log(time / typical time) of two points of the fabric that has
 * the constants `process`, without noise. `a` and `b` need not be of `all`, but
 * their GPUs and groups are. */
double msim_coll_covariance(const struct msim_coll_process *process,
                            const struct msim_coll_points *all,
                            const struct msim_coll_point *a,
                            const struct msim_coll_point *b);

/* Variance of a point that no other point explains. */
double msim_coll_noise(const struct msim_coll_process *process);

/* ---- coll block ---------------------------------------------------------- */
/*
 * The points of one fabric, as one Gaussian process.
 *
 * NCCL's collectives and the all-reduces of serving stacks are in one block:
 * for large sizes the stacks use NCCL. A point that is far off what all others
 * predict of it, as a disturbed run is, gets more noise, so that it weighs
 * less, the further it is off.
 *
 * A block has room for one point at a time: it is not for several threads.
 */

/* log(time / typical time) of a point, predicted without the points that are
 * held out with it; the variance is that of a measurement, noise included. */
struct msim_coll_prediction {
    double mean, variance;
};

struct msim_coll_block {
    enum msim_coll_fabric fabric;
    const struct msim_coll_constants *constants;
    const struct msim_coll_points *all;
    uint32_t *members; /* indices of points */
    uint32_t n;        /* of them; may be 0 */
    struct msim_kriging_solve kriging;
    double *noise; /* variance of each member */
    double *k;     /* covariances of one point with the members */
};

/* Whether point `p` is of the block's fabric. */
bool msim_coll_block_owns(const struct msim_coll_block *b,
                          const struct msim_coll_point *p);

/*
 * Gather the points of `all` that are of `fabric` and solve their process. Both
 * `all` and `constants` must outlive the block. Release it in any case.
 * EINTERNAL where the covariances are not positive definite.
 */
MSIM_MUST_CHECK
enum msim_status
msim_coll_block_init(struct msim_coll_block *b, enum msim_coll_fabric fabric,
                     const struct msim_coll_constants *constants,
                     const struct msim_coll_points *all);
void msim_coll_block_release(struct msim_coll_block *b);

/* Predict every member without those that are held out with it. Fills the
 * members' entries of `out`, an array of all points. */
MSIM_MUST_CHECK
enum msim_status msim_coll_block_hold_out(const struct msim_coll_block *b,
                                          enum msim_coll_holdout what,
                                          struct msim_coll_prediction *out);

/* log(time / typical time) of any point of the block's fabric; `variance` gets
 * that of a measurement of it. */
double msim_coll_block_at(struct msim_coll_block *b,
                          const struct msim_coll_point *p, double *variance);

/* ---- coll likelihood ----------------------------------------------------- */
/*
 * The covariance's constants of greatest likelihood.
 *
 * The likelihood of all points of a block under a covariance (Rasmussen and
 * Williams, 2006, section 5.4.1) is maximised one component after the other,
 * each with the noise, by the Nelder-Mead simplex (GSL): a dozen constants at a
 * time are few enough for it, and a matrix of the other components is computed
 * once. Points that are far off keep the extra noise that the block gave them.
 * Errors on held-out rows are not looked at.
 *
 * One evaluation factorises an n x n matrix: seconds for the thousands of
 * points of switched links.
 */

/* The logarithm of the likelihood of block `b` under the covariance `p`. The
 * block has members. */
MSIM_MUST_CHECK
enum msim_status msim_coll_log_likelihood(double *out,
                                          const struct msim_coll_block *b,
                                          const struct msim_coll_process *p);

/*
 * Move the constants of component `component` of `p`, and its noise, to greater
 * likelihood by at most `iterations` steps of the simplex; `out` becomes the
 * log-likelihood, never below that of `p` as it was. A constant that no two
 * points differ in keeps its value.
 */
MSIM_MUST_CHECK
enum msim_status msim_coll_likelihood_climb(double *out,
                                            const struct msim_coll_block *b,
                                            struct msim_coll_process *p,
                                            uint32_t component,
                                            uint32_t iterations);

/* ---- coll interval ------------------------------------------------------- */
/*
 * 90 % intervals of collectives from the misses of held-out rows.
 *
 * The Gaussian process expects a deviation of each prediction. How many such
 * deviations wide an interval must be is seen by held-out rows: their misses
 * over their deviations, weighed by how much they are like the point, have a 90
 * % quantile (weighted split conformal prediction: Tibshirani et al., 2019). A
 * held-out GPU or cluster is one observation, of which there are few; there the
 * interval is that of the process itself.
 */

/* The miss of one held-out row. */
struct msim_coll_miss {
    double size; /* |log(measured / predicted)| over the expected deviation */
    double log_log_sd; /* logarithm of that deviation */
    double weight;     /* the rows of one group together have 1 */
    uint32_t target;
};

/* Those of all rows of a block that are held out in one way, smallest first. */
struct msim_coll_misses {
    enum msim_coll_holdout what;
    struct msim_coll_miss *list;
    double *weights; /* room for those of one point */
    uint32_t n;
};
void msim_coll_misses_release(struct msim_coll_misses *m);
/* Smallest first. */
void msim_coll_misses_sort(struct msim_coll_misses *m);

/*
 * The expected deviation of log(measured / predicted): that of the process,
 * and a part of the change of the curve around the point, from log(us) at the
 * size below to log(us) at the size above. A curve changes fast where one
 * protocol replaces another, and where exactly it does is not known.
 */
double msim_coll_deviation(const struct msim_coll_weights *weights,
                           double variance, double change);

/*
 * Half of the 90 % interval of log(measured / predicted) at point `p`, where
 * the deviation `log_sd` is expected. With `held_out`, the misses of what was
 * held out with `p` do not count. Uses m->weights: not for several threads.
 */
double msim_coll_half_width(const struct msim_coll_block *b,
                            struct msim_coll_misses *m,
                            const struct msim_coll_point *p, double log_sd,
                            bool held_out);

/* ---- coll score ---------------------------------------------------------- */
/* How good predictions and intervals of held-out collectives are. */

/*
 * Score the groups that block `b` owns by `held`, the predictions of all points
 * with `what` held out (msim_coll_block_hold_out()). Fills f->fits[].scores and
 * f->held_out, and `misses`, which the caller releases in any case.
 */
MSIM_MUST_CHECK
enum msim_status msim_coll_evaluate(struct msim_coll_fits *f,
                                    const struct msim_coll_block *b,
                                    enum msim_coll_holdout what,
                                    const struct msim_coll_prediction *held,
                                    struct msim_coll_misses *misses);

/* ---- coll curve ---------------------------------------------------------- */
/* A fit of collectives as curves over sizes. */

/*
 * Fill the fit `f` of group `group`, which block `b` owns and whose scores are
 * there: a curve for each collective and number of ranks that the group has,
 * inferred ones for others, the factors of versions and dtypes, range and
 * errors. `misses` has MSIM_COLL_HOLDOUTS elements; intervals come from them.
 * The curves are f's, also on failure.
 */
MSIM_MUST_CHECK
enum msim_status msim_coll_curves_make(struct msim_coll_fit_result *f,
                                       struct msim_coll_block *b,
                                       struct msim_coll_misses *misses,
                                       uint32_t group);

/* ---- coll variant -------------------------------------------------------- */
/*
 * Factors of library versions and dtypes.
 *
 * A point is a mean over versions and dtypes. Within a group, one version and
 * dtype is faster or slower by about the same factor at sizes of one bin of
 * four octaves (msim_variant_bin()): the mean of its rows' residuals, shrunk a
 * little towards a factor of 1.
 */

/*
 * The logarithm of the factor for `target`, by rows that are not held out
 * together with it; MSIM_COLL_HOLDOUTS holds none out. 0 between nodes, where
 * logs differ by more than their version.
 */
double msim_coll_variant_log(const struct msim_coll_points *p, uint32_t target,
                             enum msim_coll_holdout held_out);

/* Fill the variants of the curves of `group`; they are the curves', also on
 * failure. */
MSIM_MUST_CHECK
enum msim_status msim_coll_variants_make(struct msim_curves *to,
                                         const struct msim_coll_points *p,
                                         uint32_t group);

#endif
