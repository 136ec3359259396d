/* tests/unit/serving/size/test_pmf.c - the algebra of latencies on small cases
 * whose answer is known. Grids have a step of 1 ms unless it is said. */
#include "serving/size/size_plan_internal.h"

#include "tests/check.h"

#include <stdlib.h>

#define N 64

static struct msim_pmf_grid grid;

static void even(double *x, uint32_t from, uint32_t to)
{
    memset(x, 0, N * sizeof(*x));
    for (uint32_t i = from; i <= to; i++)
        x[i] = 1.0 / (to - from + 1);
}

/* Two dice: 7 with 6/36, 2 and 12 with 1/36. */
static void test_pmf__adds_dice(void)
{
    double x[N], sum[N];

    even(x, 1, 6);
    msim_pmf_add(&grid, x, x, sum);
    CHECK_REL(sum[7], 6.0 / 36, 1e-12);
    CHECK_REL(sum[2], 1.0 / 36, 1e-12);
    CHECK_REL(sum[12], 1.0 / 36, 1e-12);
    CHECK(fabs(sum[1]) < 1e-15);
    CHECK(fabs(sum[13]) < 1e-15);
    CHECK_REL(msim_pmf_mean(&grid, sum), 7, 1e-12);
}

/* 40 + 40 is beyond 63: the mass is gone, and nothing wraps around. */
static void test_pmf__loses_what_is_beyond(void)
{
    double x[N], sum[N];

    msim_pmf_constant(&grid, 40, x);
    msim_pmf_add(&grid, x, x, sum);
    for (uint32_t i = 0; i < N; i++)
        CHECK(fabs(sum[i]) < 1e-15);
    CHECK_REL(msim_pmf_above(&grid, sum, 50), 1, 1e-12);
}

/* A sample of 2.25 is 2 with 3/4 and 3 with 1/4: its mean stays. */
static void test_pmf__splits_samples(void)
{
    double x[N] = {0}, ms[] = {4.5};

    msim_pmf_put(&grid, ms, 1, 0.5, 1, x);
    CHECK_REL(x[2], 0.75, 1e-12);
    CHECK_REL(x[3], 0.25, 1e-12);
}

/* The larger of two dice is at most k with (k/6)^2: 6 with 11/36. */
static void test_pmf__joins_all(void)
{
    double x[N], y[N], both[N];
    struct msim_pmf_call two = {.x = x, .prob = 1, .copies = 2};

    even(x, 1, 6);
    msim_pmf_max(&grid, x, x, y);
    CHECK_REL(y[6], 11.0 / 36, 1e-12);
    REQUIRE(msim_pmf_join(&grid, &two, 1, 2, both) == MSIM_OK);
    for (uint32_t i = 0; i < N; i++)
        CHECK(fabs(both[i] - y[i]) < 1e-12);
    msim_pmf_largest(&grid, 2, x);
    for (uint32_t i = 0; i < N; i++)
        CHECK(fabs(x[i] - y[i]) < 1e-12);
}

/* The first of two dice: 1 with 11/36. The second of three is the median: 1
 * with 3 (1/6)^2 (5/6) + (1/6)^3 = 16/216. */
static void test_pmf__joins_any_and_k(void)
{
    double x[N], out[N];
    struct msim_pmf_call calls[2] = {{.x = x, .prob = 1, .copies = 1},
                                     {.x = x, .prob = 1, .copies = 1}};

    even(x, 1, 6);
    REQUIRE(msim_pmf_join(&grid, calls, 2, 1, out) == MSIM_OK);
    CHECK_REL(out[1], 11.0 / 36, 1e-12);
    calls[1].copies = 2;
    REQUIRE(msim_pmf_join(&grid, calls, 2, 2, out) == MSIM_OK);
    CHECK_REL(out[1], 16.0 / 216, 1e-12);
}

/* One call of two is made half the time: where it is alone, one answer is all
 * there is to wait for. 5 ms and 9 ms, both wanted: 5 or 9 with 1/2. */
static void test_pmf__joins_what_is_made(void)
{
    double x[N], y[N], out[N];
    struct msim_pmf_call calls[2] = {{.x = x, .prob = 1, .copies = 1},
                                     {.x = y, .prob = 0.5, .copies = 1}};

    msim_pmf_constant(&grid, 5, x);
    msim_pmf_constant(&grid, 9, y);
    REQUIRE(msim_pmf_join(&grid, calls, 2, 2, out) == MSIM_OK);
    CHECK_REL(out[5], 0.5, 1e-12);
    CHECK_REL(out[9], 0.5, 1e-12);
}

/* 3 ms, again with 1/4, three times at most: 3, 6, 9 ms with 3/4, 3/16, 1/16.
 */
static void test_pmf__loops(void)
{
    double x[N], out[N];

    msim_pmf_constant(&grid, 3, x);
    msim_pmf_loop(&grid, x, 0.25, 3, out);
    CHECK_REL(out[3], 3.0 / 4, 1e-12);
    CHECK_REL(out[6], 3.0 / 16, 1e-12);
    CHECK_REL(out[9], 1.0 / 16, 1e-12);
}

/* 2 or 20 ms, each half the time, asked again after 5: 2 with 1/2, 7 with 1/4
 * (the second answer is quick), 20 with 1/4. */
static void test_pmf__asks_again(void)
{
    double x[N], y[N], out[N];

    msim_pmf_constant(&grid, 2, x);
    msim_pmf_constant(&grid, 20, y);
    for (uint32_t i = 0; i < N; i++)
        x[i] = (x[i] + y[i]) / 2;
    msim_pmf_retry(&grid, x, 5, 1, out);
    CHECK_REL(out[2], 0.5, 1e-12);
    CHECK_REL(out[7], 0.25, 1e-12);
    CHECK_REL(out[20], 0.25, 1e-12);
}

/* Half of the mass of a cell lies on either side of it. */
static void test_pmf__is_asked(void)
{
    double x[N];

    even(x, 1, 4);
    CHECK_REL(msim_pmf_above(&grid, x, 2.5), 0.5, 1e-12);
    CHECK_REL(msim_pmf_above(&grid, x, 4), 0.125, 1e-12);
    CHECK_REL(msim_pmf_quantile(&grid, x, 0.5), 2.5, 1e-12);
    msim_pmf_maybe(&grid, 0.5, x);
    CHECK_REL(x[0], 0.5, 1e-12);
}

int main(void)
{
    if (msim_pmf_grid_init(&grid, N, N) != MSIM_OK)
        return 1;
    RUN(test_pmf__adds_dice);
    RUN(test_pmf__loses_what_is_beyond);
    RUN(test_pmf__splits_samples);
    RUN(test_pmf__joins_all);
    RUN(test_pmf__joins_any_and_k);
    RUN(test_pmf__joins_what_is_made);
    RUN(test_pmf__loops);
    RUN(test_pmf__asks_again);
    RUN(test_pmf__is_asked);
    msim_pmf_grid_release(&grid);
    return check_summary();
}
