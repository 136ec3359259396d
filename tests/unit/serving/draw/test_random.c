/*
 * serving/draw/random.c: numbers are distributed as they say, by the largest
 * distance between how many of them are below a value and how many should be.
 * Of 200,000 it is below 0.0044 in 999 of 1,000 streams (Kolmogorov); streams
 * here are always the same.
 */
#include "serving/draw/random.h"
#include "tests/check.h"

#include <stdlib.h>

#define DRAWS 200000
#define FAR   0.0044

static double values[DRAWS];

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The distance of the values from a distribution function. */
static double distance(double (*below)(double x))
{
    double most = 0;

    qsort(values, DRAWS, sizeof(*values), by_value);
    for (int i = 0; i < DRAWS; i++) {
        double want = below(values[i]);

        most = fmax(most, fabs(want - (double)i / DRAWS));
        most = fmax(most, fabs(want - (i + 1.0) / DRAWS));
    }
    return most;
}

static double exponential(double x)
{
    return 1 - exp(-x);
}

static double normal(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

/* Gamma of shape 1/2 is half of a squared normal number; of whole shapes it is
 * a sum of exponential ones, above x while fewer than those came. */
static double gamma_half(double x)
{
    return erf(sqrt(x));
}

static double gamma_2(double x)
{
    return 1 - exp(-x) * (1 + x);
}

static double gamma_5(double x)
{
    return 1 - exp(-x) * (1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4))));
}

static void test_random__exponential(void)
{
    struct msim_random r = msim_random_of(1, 2, 3);

    for (int i = 0; i < DRAWS; i++)
        values[i] = msim_random_exponential(&r);
    CHECK(distance(exponential) < FAR);
    CHECK(values[0] > 0);
}

static void test_random__normal(void)
{
    struct msim_random r = msim_random_of(4, 5, 6);

    for (int i = 0; i < DRAWS; i++)
        values[i] = msim_random_normal(&r);
    CHECK(distance(normal) < FAR);
}

static void test_random__gamma(void)
{
    static const struct {
        double shape;
        double (*below)(double x);
    } SHAPES[] = {
        {0.5, gamma_half}, {1, exponential}, {2, gamma_2}, {5, gamma_5}};

    for (size_t k = 0; k < sizeof(SHAPES) / sizeof(*SHAPES); k++) {
        struct msim_random r = msim_random_of(7, 8, k);

        for (int i = 0; i < DRAWS; i++)
            values[i] = msim_random_gamma(&r, SHAPES[k].shape);
        CHECK(distance(SHAPES[k].below) < FAR);
        CHECK(values[0] > 0);
    }
}

/* Just above 1 and far below: means are the shape, variances too, to five
 * standard errors. */
static void test_random__gamma_of_any_shape(void)
{
    static const double SHAPES[] = {0.05, 0.999, 1.001, 40};

    for (size_t k = 0; k < 4; k++) {
        struct msim_random r = msim_random_of(9, 10, k);
        double shape = SHAPES[k], sum = 0, squares = 0;

        for (int i = 0; i < DRAWS; i++) {
            double v = msim_random_gamma(&r, shape) - shape;

            sum += v;
            squares += v * v;
        }
        CHECK(fabs(sum / DRAWS) < 5 * sqrt(shape / DRAWS));
        /* the fourth moment is 3 shape^2 + 6 shape */
        CHECK(fabs(squares / DRAWS - shape) <
              5 * sqrt((2 * shape * shape + 6 * shape) / DRAWS));
    }
}

/* Of 100 tries 95 are taken at shape 1, and more above it (Marsaglia and Tsang,
 * 2000); each try takes three numbers of the stream. */
static void test_random__gamma_seldom_tries_again(void)
{
    static const double SHAPES[] = {1, 2, 40};

    for (size_t k = 0; k < 3; k++) {
        struct msim_random r = msim_random_of(11, 12, k);

        for (int i = 0; i < DRAWS; i++)
            (void)msim_random_gamma(&r, SHAPES[k]);
        CHECK((double)r.counter < 3.0 * DRAWS / 0.95);
    }
}

/* A stream begins anew by its name, and another name is another stream. */
static void test_random__streams(void)
{
    struct msim_random a = msim_random_of(1, 2, 3), b = a;
    struct msim_random others[] = {msim_random_of(2, 2, 3),
                                   msim_random_of(1, 3, 3),
                                   msim_random_of(1, 2, 4)};
    double first = msim_random_gamma(&a, 2);

    CHECK_REL(msim_random_gamma(&b, 2), first, 0);
    CHECK(msim_random_gamma(&a, 2) != first);
    for (int i = 0; i < 3; i++)
        CHECK(msim_random_gamma(&others[i], 2) != first);
}

int main(void)
{
    RUN(test_random__exponential);
    RUN(test_random__normal);
    RUN(test_random__gamma);
    RUN(test_random__gamma_of_any_shape);
    RUN(test_random__gamma_seldom_tries_again);
    RUN(test_random__streams);
    return check_summary();
}
