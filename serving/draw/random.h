/*
 * serving/draw/random.h - random numbers that do not depend on each other.
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
#ifndef MSIM_SERVING_DRAW_RANDOM_H
#define MSIM_SERVING_DRAW_RANDOM_H
#include <stdint.h>

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

#endif
