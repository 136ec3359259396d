/*
 * tests/unit/serving/test_dist.c - tests of serving/draw/dist.c: draws against
 * what the formulas say.
 *
 * Of N draws the mean is off by less than 5 standard errors, cv / sqrt(N), and
 * the share of draws up to the quantile p by less than 5 sqrt(p (1 - p) / N):
 * by chance once in 1.7 million. The seed is fixed, so a test that passes does
 * so always.
 */
#include "serving/draw/random.h"

#include "tests/check.h"

#define N 1000000

static double drawn[N];

/* Draw, and compare the mean with what is said of it, and the variance over
 * the squared mean with `cv2`. */
static void draw_all(const struct msim_dist *d, double cv2)
{
    struct msim_random r = msim_random_of(7, 3, 1);
    double sum = 0, squares = 0;

    for (uint32_t i = 0; i < N; i++) {
        drawn[i] = msim_dist_draw(d, &r);
        sum += drawn[i];
    }
    for (uint32_t i = 0; i < N; i++)
        squares += (drawn[i] - sum / N) * (drawn[i] - sum / N);
    CHECK_REL(sum / N, msim_dist_mean(d), 5 * sqrt(cv2 / N) + 1e-12);
    /* The variance of a variance goes with the fourth moment: of the shapes
     * here its kurtosis is below 200, so that 5 sqrt(200 / N) are 7 %. */
    if (cv2 > 0)
        CHECK_REL(squares / N / (sum / N) / (sum / N), cv2, 0.07);
}

/* The share p of the draws is up to x. */
static void check_share(double x, double p)
{
    uint32_t below = 0;

    for (uint32_t i = 0; i < N; i++)
        below += drawn[i] <= x;
    CHECK_REL(below, p * N, 5 * sqrt(p * (1 - p) * N) / (p * N));
}

static void test_dist__exponential(void)
{
    struct msim_dist d = msim_dist_exponential(4);

    draw_all(&d, 1);
    check_share(-4 * log(0.5), 0.5);
    check_share(-4 * log(0.001), 0.999);
}

/* Quantiles of a normal: 0 at 0.5, 2.326348 at 0.99. */
static void test_dist__lognormal(void)
{
    struct msim_dist d = msim_dist_lognormal(10, 0.8);
    double sigma = sqrt(log(1 + 0.8 * 0.8));
    double mu = log(10) - sigma * sigma / 2;

    draw_all(&d, 0.8 * 0.8);
    check_share(exp(mu), 0.5);
    check_share(exp(mu + 2.326348 * sigma), 0.99);
    check_share(exp(mu - 2.326348 * sigma), 0.01);
}

/* Shape 4 is four exponentials in a row: P(X <= x) is 1 - e^-y (1 + y + y^2 / 2
 * + y^3 / 6), y = x / scale. Shape 1 is one. Below 1 it is boosted. */
static void test_dist__gamma(void)
{
    struct msim_dist d = msim_dist_gamma(6, 0.5);
    double y = 5;

    CHECK_REL(d.u, 4, 1e-15);
    draw_all(&d, 0.5 * 0.5);
    check_share(y * d.v, 1 - exp(-y) * (1 + y + y * y / 2 + y * y * y / 6));
    d = msim_dist_gamma(3, 1);
    draw_all(&d, 1);
    check_share(-3 * log(0.5), 0.5);
    /* Shape 1/2 is half a squared normal: P(|Z| <= 1) is 0.6826895. */
    d = msim_dist_gamma(1, sqrt(2));
    draw_all(&d, 2);
    check_share(d.v / 2, 0.6826895);
}

static void test_dist__bimodal(void)
{
    struct msim_dist d = msim_dist_bimodal(10, 5, 0.1);
    double fast = 10 / 1.4;

    draw_all(&d, (0.9 + 0.1 * 25) / (1.4 * 1.4) - 1);
    check_share(fast * 1.0001, 0.9);
    check_share(fast * 4.9999, 0.9);
    for (uint32_t i = 0; i < 1000; i++)
        CHECK(fabs(drawn[i] - fast) < 1e-9 || fabs(drawn[i] - 5 * fast) < 1e-9);
}

/* P(X > x) is (x / m)^-alpha up to the cap. By hand for alpha 2 and cap 10: the
 * mean is m (1 + (10^-1 - 1) / -1) = 1.9 m, that of the square
 * m^2 (1 + 2 ln 10). */
static void test_dist__pareto(void)
{
    struct msim_dist d = msim_dist_pareto(19, 2, 10);

    CHECK_REL(d.u, 10, 1e-12);
    draw_all(&d, (1 + 2 * log(10)) / (1.9 * 1.9) - 1);
    check_share(20, 0.75);
    check_share(99.999, 0.99);
    d = msim_dist_pareto(3, 3, INFINITY);
    CHECK_REL(d.u, 2, 1e-12);
    d = msim_dist_pareto(1, 1, 100); /* the mean is m (1 + ln 100) */
    CHECK_REL(1 / d.u, 1 + log(100), 1e-12);
}

/* Linear between points, and the outer values beyond. */
static void test_dist__quantiles(void)
{
    static const double p[] = {0.1, 0.5, 0.9}, x[] = {10, 20, 100};
    double squares = 0.1 * 100 + 0.4 * (100 + 200 + 400) / 3 +
                     0.4 * (400 + 2000 + 10000) / 3 + 0.1 * 10000;
    struct msim_dist d = msim_dist_quantiles(p, x, 3);

    CHECK_REL(msim_dist_mean(&d), 41, 1e-12);
    draw_all(&d, squares / (41.0 * 41) - 1);
    check_share(10, 0.1);
    check_share(15, 0.3);
    check_share(60, 0.7);
    check_share(100, 1);
    d = msim_dist_quantiles(p, x, 1);
    draw_all(&d, 0);
    CHECK_REL(drawn[0], 10, 0);
}

static void test_dist__samples(void)
{
    static const double x[] = {1, 2, 2, 7};
    struct msim_dist d = msim_dist_samples(x, 4);

    draw_all(&d, 14.5 / 9 - 1);
    check_share(1, 0.25);
    check_share(2, 0.75);
    check_share(7, 1);
}

/* Twice the size, twice every draw of the same stream. */
static void test_dist__scales(void)
{
    static const double p[] = {0, 1}, x[] = {1, 3};
    const struct msim_dist all[] = {
        msim_dist_constant(3),        msim_dist_exponential(3),
        msim_dist_lognormal(3, 0.5),  msim_dist_gamma(3, 0.5),
        msim_dist_bimodal(3, 4, 0.1), msim_dist_pareto(3, 2, 9),
        msim_dist_quantiles(p, x, 2), msim_dist_samples(x, 2)};

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        struct msim_dist twice = msim_dist_scaled(&all[i], 2);
        struct msim_random a = msim_random_of(1, 2, 3), b = a;

        CHECK_REL(msim_dist_mean(&twice), 2 * msim_dist_mean(&all[i]), 1e-12);
        CHECK_REL(msim_dist_draw(&twice, &a), 2 * msim_dist_draw(&all[i], &b),
                  1e-12);
    }
}

/* Streams that differ in one of their numbers are not alike: the correlation of
 * 10^5 pairs is within 5 / sqrt(10^5). */
static void test_dist__streams_are_apart(void)
{
    double sum[3] = {0};

    for (uint64_t i = 0; i < 100000; i++) {
        struct msim_random base = msim_random_of(1, 2, i);
        struct msim_random other[3] = {msim_random_of(2, 2, i),
                                       msim_random_of(1, 3, i),
                                       msim_random_of(1, 2, i + 1)};
        double u = msim_random_unit(&base) - 0.5;

        for (int k = 0; k < 3; k++)
            sum[k] += 12 * u * (msim_random_unit(&other[k]) - 0.5) / 100000;
    }
    for (int k = 0; k < 3; k++)
        CHECK(fabs(sum[k]) < 5 / sqrt(100000));
}

int main(void)
{
    RUN(test_dist__exponential);
    RUN(test_dist__lognormal);
    RUN(test_dist__gamma);
    RUN(test_dist__bimodal);
    RUN(test_dist__pareto);
    RUN(test_dist__quantiles);
    RUN(test_dist__samples);
    RUN(test_dist__scales);
    RUN(test_dist__streams_are_apart);
    return check_summary();
}
