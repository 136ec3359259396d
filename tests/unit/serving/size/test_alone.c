/* tests/unit/serving/size/test_alone.c - one stage by itself, against
 * schedules worked by hand and Erlang's formula. */
#include "serving/size/size_plan_internal.h"

#include "tests/check.h"

#include <stdlib.h>

static const double LAW[] = {1, 1.5, 2};

static struct msim_stage made(enum msim_routing routing, int64_t workers)
{
    struct msim_stage st = {0};

    st.workers = workers;
    st.routing = routing;
    st.call = MSIM_CALL_QUEUE;
    return st;
}

/* Visits at 0, 1, 2 ms of 5 ms each; two workers: the third waits for the
 * first, until 5. With one worker they wait 0, 4 and 8 ms. */
static void test_alone__first_come_first_served(void)
{
    struct msim_stage st = made(MSIM_ROUTING_SHARED, 1);
    struct msim_alone_stage alone = {
        .def = &st, .law = LAW, .most = 1, .replicas = 2};
    struct msim_alone_visit v[3] = {{.base_ms = 5, .factor = 1},
                                    {.at_ms = 1, .base_ms = 5, .factor = 1},
                                    {.at_ms = 2, .base_ms = 5, .factor = 1}};

    REQUIRE(msim_alone_run(&alone, v, 3) == MSIM_OK);
    CHECK_REL(v[2].wait_ms, 3, 1e-9);
    alone.replicas = 1;
    REQUIRE(msim_alone_run(&alone, v, 3) == MSIM_OK);
    CHECK_REL(v[1].wait_ms, 4, 1e-9);
    CHECK_REL(v[2].wait_ms, 8, 1e-9);
}

/* The same with 10 ms more in which a worker is held for calls: the second
 * begins at 15, but only where the stage is called by rpc. */
static void test_alone__holds_workers(void)
{
    struct msim_stage st = made(MSIM_ROUTING_SHARED, 1);
    struct msim_alone_stage alone = {
        .def = &st, .law = LAW, .most = 1, .replicas = 1};
    struct msim_alone_visit v[2] = {
        {.base_ms = 5, .rest_ms = 10, .factor = 1},
        {.at_ms = 1, .base_ms = 5, .rest_ms = 10, .factor = 1}};

    REQUIRE(msim_alone_run(&alone, v, 2) == MSIM_OK);
    CHECK_REL(v[1].wait_ms, 4, 1e-9);
    st.call = MSIM_CALL_RPC;
    REQUIRE(msim_alone_run(&alone, v, 2) == MSIM_OK);
    CHECK_REL(v[1].wait_ms, 14, 1e-9);
}

/* Batches of at most 3, 4 ms of patience. Visits at 0 and 1 ms begin at 4; they
 * take the base of the first, 10 ms, times the larger factor, 2, times the law
 * of two, 1.5: 30 ms. Those at 5, 6, 7 ms are a full batch when the worker is
 * free at 34, and the one at 8 comes after them. */
static void test_alone__batches(void)
{
    struct msim_stage st = made(MSIM_ROUTING_SHARED, 1);
    struct msim_alone_stage alone = {
        .def = &st, .law = LAW, .most = 3, .replicas = 1};
    struct msim_alone_visit v[6] = {{.base_ms = 10, .factor = 1},
                                    {.at_ms = 1, .base_ms = 99, .factor = 2},
                                    {.at_ms = 5, .base_ms = 1, .factor = 1},
                                    {.at_ms = 6, .base_ms = 1, .factor = 1},
                                    {.at_ms = 7, .base_ms = 1, .factor = 1},
                                    {.at_ms = 8, .base_ms = 1, .factor = 1}};

    st.batching.max_wait_ms = 4;
    REQUIRE(msim_alone_run(&alone, v, 6) == MSIM_OK);
    CHECK_REL(v[0].wait_ms, 4, 1e-9);
    CHECK_REL(v[1].service_ms, 30, 1e-9);
    CHECK_REL(v[1].batch_factor, 3, 1e-6);
    CHECK_REL(v[4].wait_ms, 34 - 7, 1e-9);
    CHECK_REL(v[5].wait_ms, 36 - 8, 1e-9);
}

/* While one is served, one of level 1 and one of level 0 come: the latter is
 * first, though it came last. */
static void test_alone__serves_by_priority(void)
{
    struct msim_stage st = made(MSIM_ROUTING_SHARED, 1);
    struct msim_alone_stage alone = {
        .def = &st, .law = LAW, .most = 1, .replicas = 1};
    struct msim_alone_visit v[3] = {
        {.base_ms = 10, .factor = 1},
        {.at_ms = 1, .base_ms = 10, .factor = 1, .level = 1},
        {.at_ms = 2, .base_ms = 10, .factor = 1}};

    REQUIRE(msim_alone_run(&alone, v, 3) == MSIM_OK);
    CHECK_REL(v[2].wait_ms, 8, 1e-9);
    CHECK_REL(v[1].wait_ms, 19, 1e-9);
}

/* Two queues. In turn: the third visit waits behind the first, which is long.
 * The shortest: it goes to the second, which is free again. */
static void test_alone__routes(void)
{
    struct msim_stage st = made(MSIM_ROUTING_ROUND, 1);
    struct msim_alone_stage alone = {
        .def = &st, .law = LAW, .most = 1, .replicas = 2};
    struct msim_alone_visit v[3] = {{.base_ms = 20, .factor = 1},
                                    {.at_ms = 1, .base_ms = 1, .factor = 1},
                                    {.at_ms = 3, .base_ms = 1, .factor = 1}};

    REQUIRE(msim_alone_run(&alone, v, 3) == MSIM_OK);
    CHECK_REL(v[2].wait_ms, 17, 1e-9);
    st.routing = MSIM_ROUTING_LEAST;
    REQUIRE(msim_alone_run(&alone, v, 3) == MSIM_OK);
    CHECK(v[2].wait_ms == 0);
}

/* M/M/2 at 80 %: a visit waits with Erlang's C = 0.7111 for 10 / (2 - 1.6) ms
 * on the average: 17.78 ms. 400,000 visits know that to 5 %. */
static void test_alone__is_erlangs(void)
{
    enum { N = 400000 };

    struct msim_stage st = made(MSIM_ROUTING_SHARED, 2);
    struct msim_alone_stage alone = {
        .def = &st, .law = LAW, .most = 1, .replicas = 1};
    struct msim_alone_visit *v = calloc(N, sizeof(*v));
    struct msim_random r = msim_random_of(1, 1, 1);
    double now = 0, sum = 0;

    REQUIRE(v);
    for (int i = 0; i < N; i++) {
        now += 6.25 * msim_random_exponential(&r);
        v[i] = (struct msim_alone_visit){.at_ms = now,
                                         .base_ms =
                                             10 * msim_random_exponential(&r),
                                         .factor = 1};
    }
    REQUIRE(msim_alone_run(&alone, v, N) == MSIM_OK);
    for (int i = 0; i < N; i++)
        sum += v[i].wait_ms;
    CHECK_REL(sum / N, 17.78, 0.05);
    free(v);
}

int main(void)
{
    RUN(test_alone__first_come_first_served);
    RUN(test_alone__holds_workers);
    RUN(test_alone__batches);
    RUN(test_alone__serves_by_priority);
    RUN(test_alone__routes);
    RUN(test_alone__is_erlangs);
    return check_summary();
}
