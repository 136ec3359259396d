/*
 * serving/draw/random.h - random numbers by name, and the distributions of
 * applications.
 */
#ifndef MSIM_SERVING_DRAW_RANDOM_H
#define MSIM_SERVING_DRAW_RANDOM_H
#include <stdint.h>

/* ---- random -------------------------------------------------------------- */
/*
 * Random numbers that do not depend on each other.
 *
 * A stream is named by numbers: the seed, what draws (a stage, the arrivals),
 * and for whom (a request). Two streams have nothing in common, so what one
 * stage draws does not move with what another does, and plans are compared on
 * common random numbers: the request keeps its luck whatever serves it.
 *
 * The i-th number of a stream is a mixing function of its key and i (Salmon et
 * al., 2011, "Parallel random numbers: as easy as 1, 2, 3"; the mixer is that
 * of splitmix64, Steele et al., 2014), so there is no state but a counter.
 */

struct msim_random {
    uint64_t key, counter;
};

static inline uint64_t msim_random_scramble(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The stream of that name, from its beginning. */
static inline struct msim_random msim_random_of(uint64_t seed, uint64_t stream,
                                                uint64_t substream)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t key = msim_random_scramble(seed + odd);

    key = msim_random_scramble(key ^ (stream + odd));
    key = msim_random_scramble(key + (substream + 1) * odd);
    return (struct msim_random){.key = key};
}

static inline uint64_t msim_random_bits(struct msim_random *r)
{
    return msim_random_scramble(r->key +
                                ++r->counter * UINT64_C(0x9e3779b97f4a7c15));
}

/* Uniform in (0, 1), never one of the ends. */
static inline double msim_random_unit(struct msim_random *r)
{
    return ((double)(msim_random_bits(r) >> 11) + 0.5) * 0x1p-53;
}

/* Mean 1. */
double msim_random_exponential(struct msim_random *r);

/* Mean 0, standard deviation 1. */
double msim_random_normal(struct msim_random *r);

/* Of this shape, above 0, and scale 1: its mean is the shape. */
double msim_random_gamma(struct msim_random *r, double shape);

/* ---- dist ---------------------------------------------------------------- */
/*
 * The distributions of APP.json: times in ms, counts of tokens, sizes.
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

/* The same shape, all values times `factor`, above 0. SAMPLES and QUANTILES
 * keep their arrays: the factor is applied by the draw. */
struct msim_dist msim_dist_scaled(const struct msim_dist *d, double factor);

#endif
