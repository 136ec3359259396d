/* tests/unit/serving/explore/test_service_fit.c - services made by a known law
 * are found again. */
#include "serving/explore/explore_internal.h"

#include "serving/draw/random.h"
#include "tests/check.h"

#include <stdlib.h>

enum { N = 6000 };

/* Service 4 ms (lognormal, cv 0.5) times size^0.8, twice that for class 1; the
 * wait is in the latency. Standard errors: 0.5 / (sqrt(6000) 0.6) = 0.011 of
 * the exponent, 1.3 % of the factor. */
static void test_service_fit__finds_size_and_class(void)
{
    struct msim_visit_row *rows = calloc(N, sizeof(*rows));
    struct msim_dist base = msim_dist_lognormal(4, 0.5);
    struct msim_dist size = msim_dist_lognormal(1, 0.6);
    struct msim_random r = msim_random_of(1, 2, 3);
    struct msim_service_fit fit;

    REQUIRE(rows);
    for (uint32_t i = 0; i < N; i++) {
        struct msim_visit_row *w = &rows[i];

        *w = (struct msim_visit_row){.t_s = i,
                                     .size = msim_dist_draw(&size, &r),
                                     .cls = i % 2,
                                     .batch = 1,
                                     .wait_ms = i % 7};
        w->latency_ms = w->wait_ms + msim_dist_draw(&base, &r) *
                                         pow(w->size, 0.8) * (1 + i % 2);
    }
    REQUIRE(msim_service_fit_make(&fit, rows, N, 2, 1) == MSIM_OK);
    CHECK(fabs(fit.power - 0.8) < 0.04);
    CHECK_REL(fit.factor[1], 2, 0.05);
    CHECK_REL(fit.factor[0], 1, 1e-12);
    CHECK_REL(fit.mean, 4, 0.05);
    CHECK(fit.waits && fit.sizes && fit.batches);
    CHECK_UINT(fit.n_base, N);
    msim_service_fit_release(&fit);
    free(rows);
}

/* What has no effect is none: exactly 0 and 1, not nearly. */
static void test_service_fit__leaves_out_noise(void)
{
    struct msim_visit_row *rows = calloc(N, sizeof(*rows));
    struct msim_dist one = msim_dist_exponential(3);
    struct msim_random r = msim_random_of(4, 5, 6);
    struct msim_service_fit fit;

    REQUIRE(rows);
    for (uint32_t i = 0; i < N; i++)
        rows[i] =
            (struct msim_visit_row){.t_s = i,
                                    .size = msim_dist_draw(&one, &r),
                                    .cls = i % 2,
                                    .latency_ms = msim_dist_draw(&one, &r),
                                    .wait_ms = NAN};
    REQUIRE(msim_service_fit_make(&fit, rows, N, 2, 1) == MSIM_OK);
    CHECK(fit.power == 0);
    CHECK(fit.factor[1] == 1);
    CHECK(!fit.waits && !fit.batches);
    CHECK_REL(fit.mean, 3, 0.05);
    msim_service_fit_release(&fit);
    free(rows);
}

/* Batches of 1 to 4, each 2 ms (cv 0.2) times the root of its largest size
 * times 1 + 0.4 (n - 1). A batch of which a visit is missing does not count. */
static void test_service_fit__finds_a_law_of_batches(void)
{
    struct msim_visit_row *rows = calloc(N, sizeof(*rows));
    struct msim_dist base = msim_dist_lognormal(2, 0.2);
    struct msim_random r = msim_random_of(7, 8, 9);
    struct msim_service_fit fit;
    uint32_t n = 0, batch = 0;

    REQUIRE(rows);
    for (; n + 5 < N || (batch - 1) % 4 == 0; batch++) {
        uint32_t together = 1 + batch % 4;
        double ms, largest = 0;

        for (uint32_t i = 0; i < together; i++) {
            double size = 0.5 + 2 * msim_random_unit(&r);

            largest = fmax(largest, size);
            rows[n + i] = (struct msim_visit_row){
                .t_s = batch, .size = size, .batch = together, .wait_ms = 1};
        }
        ms = msim_dist_draw(&base, &r) * sqrt(largest) *
             (1 + 0.4 * (together - 1));
        for (uint32_t i = 0; i < together; i++)
            rows[n + i].latency_ms = 1 + ms;
        n += together;
    }
    n--; /* the last batch, of more than one, has lost one */
    REQUIRE(msim_service_fit_make(&fit, rows, n, 1, 4) == MSIM_OK);
    CHECK(fabs(fit.power - 0.5) < 0.05);
    CHECK_REL(fit.law[0], 1, 1e-12);
    CHECK_REL(fit.law[1], 1.4, 0.03);
    CHECK_REL(fit.law[3], 2.2, 0.03);
    CHECK_REL(fit.mean, 2, 0.03);
    CHECK_UINT(fit.n_base, batch - 1);
    msim_service_fit_release(&fit);
    free(rows);
}

/* Nothing to learn from is refused; two of one batch are one service. */
static void test_service_fit__counts_batches(void)
{
    struct msim_visit_row rows[2] = {
        {.latency_ms = 3, .wait_ms = 0, .batch = 2, .size = 1},
        {.latency_ms = 3, .wait_ms = 0, .batch = 2, .size = 1}};
    struct msim_service_fit fit;

    CHECK(msim_service_fit_make(&fit, rows, 0, 1, 1) == MSIM_ELIMIT);
    msim_service_fit_release(&fit);
    CHECK(msim_service_fit_make(&fit, rows, 2, 1, 2) == MSIM_OK);
    CHECK_UINT(fit.n_base, 1);
    msim_service_fit_release(&fit);
}

int main(void)
{
    RUN(test_service_fit__finds_size_and_class);
    RUN(test_service_fit__leaves_out_noise);
    RUN(test_service_fit__finds_a_law_of_batches);
    RUN(test_service_fit__counts_batches);
    return check_summary();
}
