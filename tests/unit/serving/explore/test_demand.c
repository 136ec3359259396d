/* serving/explore/demand.c: visits, services and sizes of small applications,
 * counted by hand. */
#include "serving/explore/explore.h"
#include "tests/unit/serving/made_app.h"

#include <math.h>

static struct msim_app app;
static struct msim_stage_demand d;
static struct msim_error err;

#define HEAD                                                                   \
    "'classes': [{'name': 'read', 'share': 0.75}, {'name': 'write', 'share': " \
    "0.25}], 'arrivals': {'process': 'poisson', 'rate': 10}, "

/* 'c' is written first and called last. */
#define STAGES                                                                 \
    "'c': {'kind': 'tool'}, 'a': {'kind': 'tool'}, 'b': {'kind': 'tool'}, "    \
    "'d': {'kind': 'tool'}"

/* a calls b three times at once, in half of all visits; of 'write' alone d.
 * b calls c, and after an answer with 1/4 again, three times at most: 1 + 1/4 +
 * 1/16. So does a, once. */
#define FLOW                                                                   \
    "'start': 'a', 'edges': [{'from': 'a', 'to': 'b', 'prob': 0.5, 'copies': " \
    "3}, {'from': 'a', 'to': 'c'}, {'from': 'a', 'to': 'd', 'classes': "       \
    "['write']}, {'from': 'b', 'to': 'c', 'loop': {'again': 0.25, 'most': "    \
    "3}}]"

static void test_demand__visits(void)
{
    static const double WANT[] = {1 + 1.5 * 1.3125, 1, 1.5, 0.25};

    REQUIRE(made_read(&app, HEAD, STAGES, FLOW) == MSIM_OK);
    REQUIRE(msim_demand_visits(&d, &app, 10) == MSIM_OK);
    CHECK(d.app == &app);
    CHECK_REL(d.rate, 10, 0);
    for (int i = 0; i < 4; i++) {
        CHECK_REL(d.stages[i].visits, WANT[i], 1e-12);
        CHECK_REL(d.visits[i], i < 3 ? WANT[i] : 0, 1e-12);
        CHECK_REL(d.visits[4 + i], i < 3 ? WANT[i] : 1, 1e-12);
    }
    CHECK_INT(d.order[0], 1); /* callers first */
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++)
            CHECK(!(d.order[k] == 0 && d.order[i] == 2)); /* c before b */
    CHECK_INT(d.n_bins, 1);
    CHECK_REL(d.weight[0], 1, 0);
    CHECK_INT(msim_demand_bin(&d, 1e9), 0);
    msim_demand_release(&d);
    msim_app_release(&app);
}

/* A law of two points is a line, also beyond them; of one it is level. */
static void test_demand__law(void)
{
    static const struct msim_law_point POINTS[] = {{1, 1}, {4, 2.5}, {8, 3.5}};
    struct msim_dyn_batching b = {.on = true, .law = POINTS, .n_law = 3};

    CHECK_REL(msim_demand_law(&b, 1), 1, 1e-12);
    CHECK_REL(msim_demand_law(&b, 3), 2, 1e-12);
    CHECK_REL(msim_demand_law(&b, 4), 2.5, 1e-12);
    CHECK_REL(msim_demand_law(&b, 6), 3, 1e-12);
    CHECK_REL(msim_demand_law(&b, 12), 4.5, 1e-12);
    b.law = POINTS + 1;
    b.n_law = 1;
    CHECK_REL(msim_demand_law(&b, 2), 2.5, 1e-12);
    b.n_law = 0;
    CHECK_REL(msim_demand_law(&b, 2), 1, 1e-12);
}

/* Services of 2 ms, 1.5 times of that for 'write'; batches of 4 take 2.5 times
 * as long. 10 requests a second: 0.75 + 0.25 x 1.5 = 1.125 visits of 2 ms, of
 * which four take 2.5 times one. */
static void test_demand__offered(void)
{
    REQUIRE(made_read(&app, HEAD,
                      "'a': {'kind': 'tool', 'service': 2, 'class_factor': "
                      "{'write': 1.5}}, 'b': {'kind': 'tool', 'service': 2, "
                      "'batching': {'policy': 'dynamic', 'max_batch': 4, "
                      "'max_wait_ms': 1, 'law': [[1, 1], [4, 2.5]]}}",
                      "'start': 'a', 'edges': [{'from': 'a', 'to': 'b'}]") ==
            MSIM_OK);
    REQUIRE(msim_demand_init(&d, &app, 10, &err) == MSIM_OK);
    CHECK_INT(d.stages[0].most, 1);
    CHECK_INT(d.stages[1].most, 4);
    CHECK_REL(d.stages[1].law[0], 1, 1e-12);
    CHECK_REL(d.stages[1].law[2], 2, 1e-12);
    CHECK_REL(d.stages[0].mean, 2, 1e-9);
    CHECK_REL(d.stages[0].size[0], 1, 0);
    CHECK_REL(msim_demand_offered(&d, 0), 10 * 1.125 * 2e-3, 1e-9);
    CHECK_REL(msim_demand_offered(&d, 1), 10 * 2e-3 * 2.5 / 4, 1e-9);
    msim_demand_release(&d);
    msim_app_release(&app);
}

/* Samples are taken as they are, ascending. Others are drawn, and kept at even
 * quantiles: 2,000 of an exponential one. */
static void test_demand__services(void)
{
    REQUIRE(made_read(&app, HEAD,
                      "'a': {'kind': 'tool', 'service': {'samples': [3, 1, "
                      "8]}}, 'b': {'kind': 'tool', 'service': {'exponential': "
                      "5}}",
                      "'start': 'a', 'edges': [{'from': 'a', 'to': 'b'}]") ==
            MSIM_OK);
    REQUIRE(msim_demand_init(&d, &app, 10, &err) == MSIM_OK);
    REQUIRE(d.stages[0].n_base == 3);
    CHECK_REL(d.stages[0].base[0], 1, 0);
    CHECK_REL(d.stages[0].base[1], 3, 0);
    CHECK_REL(d.stages[0].base[2], 8, 0);
    CHECK_REL(d.stages[0].mean, 4, 1e-12);
    REQUIRE(d.stages[1].n_base == 2000);
    /* of 40,000 draws: quantiles to three standard errors of 1 / 200 */
    CHECK_REL(d.stages[1].mean, 5, 0.015);
    CHECK_REL(d.stages[1].base[999], 5 * log(2), 0.025);
    CHECK_REL(d.stages[1].base[1799], 5 * log(10), 0.025);
    for (int i = 1; i < 2000; i++)
        CHECK(d.stages[1].base[i - 1] <= d.stages[1].base[i]);
    msim_demand_release(&d);
    msim_app_release(&app);
}

/* The sum of squares of what is beyond `x`, exponential of mean 1. */
static double squares_beyond(double x)
{
    return isinf(x) ? 0 : (x * x + 2 * x + 2) * exp(-x);
}

/* Bins end where a quarter, half, ... of exponential sizes are below; a service
 * that goes with the square has the mean square of its bin. Of 40,000 draws 120
 * are in the last one. */
static void test_demand__sizes(void)
{
    static const double ENDS[] = {0,    0.25, 0.5,   0.7,   0.82, 0.9,
                                  0.95, 0.98, 0.992, 0.997, 1};

    REQUIRE(made_read(&app,
                      "'size': {'exponential': 1}, "
                      "'arrivals': {'process': 'poisson', 'rate': 10}, ",
                      "'a': {'kind': 'tool', 'service': 2, 'size_power': 2}, "
                      "'b': {'kind': 'tool', 'service': 2}",
                      "'start': 'a', 'edges': [{'from': 'a', 'to': 'b'}]") ==
            MSIM_OK);
    REQUIRE(msim_demand_init(&d, &app, 10, &err) == MSIM_OK);
    REQUIRE(d.n_bins == 10);
    for (uint32_t b = 0; b < 10; b++) {
        double low = -log(1 - ENDS[b]), high = -log(1 - ENDS[b + 1]);
        double share = ENDS[b + 1] - ENDS[b];

        CHECK_REL(d.weight[b], share, 1e-12);
        if (b < 9) {
            CHECK_REL(d.upper[b], high, 0.04);
            CHECK_INT(msim_demand_bin(&d, d.upper[b]), b);
            CHECK_INT(msim_demand_bin(&d, d.upper[b] * 1.0001), b + 1);
        }
        CHECK_REL(d.stages[0].size[b],
                  (squares_beyond(low) - squares_beyond(high)) / share,
                  b < 7 ? 0.04 : 0.1);
        CHECK_REL(d.stages[1].size[b], 1, 1e-12);
    }
    CHECK(isinf(d.upper[9]));
    /* the mean square is 2 */
    CHECK_REL(msim_demand_offered(&d, 0), 10 * 2e-3 * 2, 0.04);
    msim_demand_release(&d);
    msim_app_release(&app);
}

/* Sizes are cut where a service goes with them, and only there. */
static void test_demand__sizes_that_matter(void)
{
    for (int i = 0; i < 2; i++) {
        REQUIRE(made_read(&app,
                          "'size': {'exponential': 1}, 'arrivals': {'rate': "
                          "10}, ",
                          i ? "'a': {'kind': 'tool', 'service': 2, "
                              "'size_power': -1}"
                            : "'a': {'kind': 'tool', 'service': 2}",
                          "'start': 'a'") == MSIM_OK);
        REQUIRE(msim_demand_init(&d, &app, 10, &err) == MSIM_OK);
        CHECK_INT(d.n_bins, i ? 10 : 1);
        msim_demand_release(&d);
        msim_app_release(&app);
    }
}

/* A stage that nobody visits needs no service. */
static void test_demand__wants_services(void)
{
    REQUIRE(made_read(&app, HEAD,
                      "'a': {'kind': 'tool', 'service': 1}, 'b': {'kind': "
                      "'tool'}",
                      "'start': 'a'") == MSIM_OK);
    CHECK_INT(msim_demand_init(&d, &app, 10, &err), MSIM_OK);
    CHECK_REL(d.stages[1].visits, 0, 0);
    msim_demand_release(&d);
    msim_app_release(&app);
    REQUIRE(made_read(&app, HEAD,
                      "'a': {'kind': 'tool', 'service': 1}, 'b': {'kind': "
                      "'tool'}",
                      "'start': 'a', 'edges': [{'from': 'a', 'to': 'b'}]") ==
            MSIM_OK);
    err = (struct msim_error){0};
    CHECK_INT(msim_demand_init(&d, &app, 10, &err), MSIM_EFORMAT);
    CHECK_STR(err.text, "stages.b has no service, want one, or --explore or "
                        "--tables to learn it from");
    CHECK_STR(err.file, made_path("app.json"));
    msim_demand_release(&d);
    msim_app_release(&app);
}

int main(void)
{
    made_begin();
    RUN(test_demand__visits);
    RUN(test_demand__law);
    RUN(test_demand__offered);
    RUN(test_demand__services);
    RUN(test_demand__sizes);
    RUN(test_demand__sizes_that_matter);
    RUN(test_demand__wants_services);
    made_end((const char *const[]){"app.json", NULL});
    return check_summary();
}
