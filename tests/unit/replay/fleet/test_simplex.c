/*
 * tests/unit/replay/fleet/test_simplex.c - the nearest mixture.
 */
#include "replay/fleet/fleet_internal.h"
#include "tests/check.h"

#include <stdlib.h>

#define MOST 6
#define DIMS 5

struct problem {
    double at[MOST][DIMS];
    uint32_t k;
};

static double fit(const struct problem *p, double *weights)
{
    double gram[MOST * MOST], scratch[MOST];

    for (uint32_t i = 0; i < p->k; i++)
        for (uint32_t j = 0; j < p->k; j++) {
            gram[i * p->k + j] = 0;
            for (int d = 0; d < DIMS; d++)
                gram[i * p->k + j] += p->at[i][d] * p->at[j][d];
        }
    return msim_simplex_fit(gram, p->k, weights, scratch);
}

static double length(const struct problem *p, const double *weights)
{
    double sum = 0;

    for (int d = 0; d < DIMS; d++) {
        double x = 0;

        for (uint32_t i = 0; i < p->k; i++)
            x += weights[i] * p->at[i][d];
        sum += x * x;
    }
    return sum;
}

/* A generator with a seed: Knuth's constants. */
static double next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 33) / 2147483648.0 - 0.5;
}

static struct problem made(uint64_t seed, uint32_t k)
{
    struct problem p = {.k = k};

    for (uint32_t i = 0; i < k; i++)
        for (int d = 0; d < DIMS; d++)
            p.at[i][d] = next(&seed) + (d == 0 ? 0.2 : 0);
    return p;
}

static void test_simplex__known(void)
{
    struct problem two = {{{1, 0}, {-3, 0}}, 2};
    struct problem corner = {{{1, 1}, {1, 2}, {4, 1}}, 3};
    struct problem one = {{{0.5, 0.5}}, 1};
    double w[MOST];

    CHECK(fit(&two, w) < 1e-9);
    CHECK_REL(w[0], 0.75, 1e-6);
    CHECK_REL(w[1], 0.25, 1e-6);
    CHECK_REL(fit(&corner, w), 2, 1e-9);
    CHECK_REL(w[0], 1, 1e-12);
    CHECK_REL(fit(&one, w), 0.5, 1e-12);
    CHECK_REL(w[0], 1, 0);
}

/* Weights are on the simplex, and no point of a grid of it is better. */
static void check_grid(const struct problem *p, int steps)
{
    double w[MOST], got = fit(p, w), sum = 0, least = 1e9;

    for (uint32_t i = 0; i < p->k; i++) {
        CHECK(w[i] >= 0);
        sum += w[i];
    }
    CHECK_REL(sum, 1, 1e-12);
    CHECK(fabs(length(p, w) - got) < 1e-12);
    for (int a = 0; a <= steps; a++)
        for (int b = 0; a + b <= steps; b++)
            for (int c = 0; a + b + c <= steps; c++) {
                double at[] = {(double)a / steps, (double)b / steps,
                               (double)c / steps,
                               (double)(steps - a - b - c) / steps};

                least = fmin(least, length(p, at));
            }
    CHECK(got <= least + 1e-9);
    CHECK(got >= least - 2.0 / steps);
}

static void test_simplex__fine_grid(void)
{
    for (uint64_t seed = 1; seed <= 25; seed++) {
        struct problem p = made(seed, 4);

        check_grid(&p, 40);
    }
}

/* Where nothing can be gained, gradients agree wherever there is weight. */
static void test_simplex__optimal(void)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct problem p = made(seed, MOST);
        double w[MOST], got = fit(&p, w);

        for (uint32_t i = 0; i < p.k; i++) {
            double slope = 0;

            for (int d = 0; d < DIMS; d++)
                for (uint32_t j = 0; j < p.k; j++)
                    slope += p.at[i][d] * w[j] * p.at[j][d];
            CHECK(slope >= got - 1e-9);
            if (w[i] > 1e-6)
                CHECK(fabs(slope - got) < 1e-8);
        }
    }
}

static void test_simplex__equal_points(void)
{
    struct problem p = {{{1, 1}, {1, 1}, {-1, -1}, {-1, -1}}, 4};
    double w[MOST];

    CHECK(fit(&p, w) < 1e-9);
    CHECK_REL(w[0] + w[1], 0.5, 1e-6);
    CHECK_REL(w[2], 0.5, 1e-6);
    CHECK_REL(w[3] + 1, 1, 0);
}

int main(void)
{
    RUN(test_simplex__known);
    RUN(test_simplex__fine_grid);
    RUN(test_simplex__optimal);
    RUN(test_simplex__equal_points);
    return check_summary();
}
