/*
 * Many values as one figure: what sorting would give, and an interval that
 * holds the mean as often as it says.
 */
#include "core/base/quantile.h"
#include "serving/draw/random.h"
#include "serving/outcome/serving_outcome.h"
#include "tests/check.h"

#include <stdlib.h>

#define N 4000

/* Few different values, many, and all the same; n of each. */
static void test_serving_figure__percentiles(void)
{
    static const double STEPS[] = {0, 7, 1e9};
    double *values = calloc(N, sizeof(*values));
    double *sorted = calloc(N, sizeof(*sorted));

    REQUIRE(values && sorted);
    for (int k = 0; k < 3; k++)
        for (uint32_t n = 1; n < 300; n += n < 20 ? 1 : 37) {
            struct msim_random r = msim_random_of(1, (uint64_t)k, n);
            struct msim_serving_figure f;

            for (uint32_t i = 0; i < n; i++)
                values[i] = sorted[i] = floor(STEPS[k] * msim_random_unit(&r));
            f = msim_serving_figure_of(values, n);
            msim_sort_values(sorted, n);
            CHECK(f.p50 == msim_quantile_between(sorted, n, 0.5));
            CHECK(f.p90 == msim_quantile_between(sorted, n, 0.9));
            CHECK(f.p99 == msim_quantile_between(sorted, n, 0.99));
            CHECK(n < 40 ? isnan(f.low) : f.low <= f.mean);
        }
    free(values);
    free(sorted);
}

/*
 * A mean of 1, of values that hang together (each is 0.9 of the one before and
 * a tenth of something new): of 1,000 such runs a tenth, give or take four
 * times sqrt(0.09 / 1000), have it outside; so long a memory is a fifth of a
 * batch of 200, which costs some of the cover: up to 15 %.
 */
static void test_serving_figure__interval(void)
{
    double *values = calloc(N, sizeof(*values));
    int outside = 0;

    REQUIRE(values);
    for (uint64_t k = 0; k < 1000; k++) {
        struct msim_random r = msim_random_of(2, 0, k);
        struct msim_serving_figure f;
        double x = 1;

        for (uint32_t i = 0; i < N; i++)
            values[i] = x = 0.9 * x + 0.1 * msim_random_exponential(&r);
        f = msim_serving_figure_of(values, N);
        outside += f.low > 1 || f.high < 1;
    }
    CHECK(outside > 62 && outside < 150);
    free(values);
}

static void test_serving_figure__nothing(void)
{
    double none = 0;

    CHECK(isnan(msim_serving_figure_of(&none, 0).mean));
    CHECK(isnan(msim_serving_figure_of(&none, 0).p99));
}

int main(void)
{
    RUN(test_serving_figure__percentiles);
    RUN(test_serving_figure__interval);
    RUN(test_serving_figure__nothing);
    return check_summary();
}
