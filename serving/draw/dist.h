/*
 * serving/draw/dist.h - the distributions of APP.json: times in ms, counts of
 * tokens, sizes.
 *
 * | kind | parameters a, b, c | a draw |
 * | CONSTANT | value | the value |
 * | EXPONENTIAL | mean | |
 * | LOGNORMAL, GAMMA | mean, cv (standard deviation over the mean) | |
 * | BIMODAL | mean, slow, share | `share` of draws are `slow` times the others
 * | | PARETO | mean, alpha, cap | m u^(-1/alpha), at most m cap; m makes the
 * mean | | QUANTILES | points (p, x) | linear between them; beyond, the outer x
 * | | SAMPLES | values | one of them, each as likely |
 *
 * All are non-negative as the constructors are given non-negative numbers. A
 * distribution is made by its constructor, which also keeps what every draw
 * would have to compute again; it owns nothing. One that is all zero is NONE.
 */
#ifndef MSIM_SERVING_DRAW_DIST_H
#define MSIM_SERVING_DRAW_DIST_H
#include "serving/draw/random.h"

enum msim_dist_kind {
    MSIM_DIST_NONE, /* not stated */
    MSIM_DIST_CONSTANT,
    MSIM_DIST_EXPONENTIAL,
    MSIM_DIST_LOGNORMAL,
    MSIM_DIST_GAMMA,
    MSIM_DIST_BIMODAL,
    MSIM_DIST_PARETO,
    MSIM_DIST_QUANTILES,
    MSIM_DIST_SAMPLES
};

struct msim_dist {
    enum msim_dist_kind kind;
    double a, b, c;
    double u, v; /* of the constructor: constants of a draw */
    double mean;
    uint32_t n;      /* of points or samples */
    const double *p; /* QUANTILES: probabilities, ascending */
    const double *x; /* QUANTILES: values, ascending; SAMPLES: values */
};

struct msim_dist msim_dist_constant(double value);
struct msim_dist msim_dist_exponential(double mean);
/* `cv` 0 makes a constant. */
struct msim_dist msim_dist_lognormal(double mean, double cv);
struct msim_dist msim_dist_gamma(double mean, double cv);
struct msim_dist msim_dist_bimodal(double mean, double slow, double share);
/* `cap` is the largest draw over the least, from 1; infinite where alpha is
 * above 1: none. */
struct msim_dist msim_dist_pareto(double mean, double alpha, double cap);
/* The arrays are the caller's and stay where they are; n > 0. */
struct msim_dist msim_dist_quantiles(const double *p, const double *x,
                                     uint32_t n);
struct msim_dist msim_dist_samples(const double *x, uint32_t n);

/* The next value of the stream `r`; 0 of NONE. */
double msim_dist_draw(const struct msim_dist *d, struct msim_random *r);

/* 0 of NONE. */
static inline double msim_dist_mean(const struct msim_dist *d)
{
    return d->mean;
}

/* Variance over the squared mean; 0 of NONE, infinite where it has none. */
double msim_dist_cv2(const struct msim_dist *d);

/* The same shape, all values times `factor`, above 0. SAMPLES and QUANTILES
 * keep their arrays: the factor is applied by the draw. */
struct msim_dist msim_dist_scaled(const struct msim_dist *d, double factor);

#endif
