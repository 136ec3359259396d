/* serving/watch/watch_flow.c: times, visits and weights of a small flow, by
 * hand. */
#include "serving/watch/watch_model.h"
#include "tests/check.h"

#include <math.h>

enum { A, B, C, D, STAGES };

static const uint64_t write_only[] = {1 << 1};
static const struct msim_app_class classes[] = {{.share = 0.75},
                                                {.share = 0.25}};
static struct msim_stage stages[STAGES];
/* a calls b in half of all visits, and at once c, after an answer with 1/2
 * again, three times at most: 1.75. Then it seldom calls c for 'write'. b calls
 * c. Nobody calls d, which would call c. */
static struct msim_flow_edge edges[] = {
    {.from = A, .to = B, .step = 1, .prob = 0.5, .copies = 3},
    {.from = A, .to = C, .step = 1, .prob = 1, .again = 0.5, .most = 3},
    {.from = A, .to = C, .step = 2, .prob = 0.01, .classes = write_only},
    {.from = B, .to = C, .step = 1, .prob = 1},
    {.from = D, .to = C, .step = 1, .prob = 1}};
static const struct msim_app app = {.classes = classes,
                                    .n_classes = 2,
                                    .stages = stages,
                                    .n_stages = STAGES,
                                    .edges = edges,
                                    .n_edges = 5};
static struct msim_watch_flow f;
static const double own[] = {1, 10, 4, 100}, net[] = {9, 2, 1, 7};
static const double none[STAGES];

/* c: 4; b: 10 + (1 + 4); a: 1 + max(0.5 x (2 + 15), 1.75 x (1 + 4)), and for
 * 'write' 0.01 x 5 more. */
static void test_watch_flow__times(void)
{
    double slow[2];

    REQUIRE(msim_watch_flow_init(&f, &app) == MSIM_OK);
    CHECK_INT(f.n, 3);
    CHECK_INT(f.order[0], A);
    CHECK_INT(f.order[1], B);
    CHECK_INT(f.order[2], C);
    CHECK_REL(msim_watch_flow_time(&f, own, net), 9.75 + 0.25 * 0.05, 1e-12);
    /* Of a slow request every call is made, but not one of a hundred. */
    msim_watch_flow_slow(&f, own, net, slow);
    CHECK_REL(slow[0], 1 + 2 + 15, 1e-12);
    CHECK_REL(slow[1], 18 + 0.01 * 5, 1e-12);
    edges[2].prob = 0.02;
    msim_watch_flow_slow(&f, own, net, slow);
    CHECK_REL(slow[1], 18 + 5, 1e-12);
    edges[2].prob = 0.01;
    /* A loop that always goes on is made as often as may be. */
    edges[1].again = 1;
    CHECK_REL(msim_watch_flow_time(&f, own, net), 16 + 0.25 * 0.05, 1e-12);
    edges[1].again = 0.5;
    msim_watch_flow_release(&f);
}

static void test_watch_flow__visits(void)
{
    double visits[STAGES];

    REQUIRE(msim_watch_flow_init(&f, &app) == MSIM_OK);
    for (uint32_t cls = 0; cls < 2; cls++) {
        msim_watch_flow_visits(&f, cls, visits);
        CHECK_REL(visits[A], 1, 0);
        CHECK_REL(visits[B], 0.5, 1e-12); /* copies are one */
        CHECK_REL(visits[C], 2.25 + (cls ? 0.01 : 0), 1e-12);
        CHECK(visits[D] == 0);
    }
    msim_watch_flow_release(&f);
}

/* The call of b takes 8.5 of the 8.75 ms of c. */
static void test_watch_flow__weights(void)
{
    double weight[STAGES], b = 0.5 * pow(8.5 / 8.75, 4);

    REQUIRE(msim_watch_flow_init(&f, &app) == MSIM_OK);
    msim_watch_flow_weigh(&f, own, net, weight);
    CHECK_REL(weight[A], 1, 1e-12);
    CHECK_REL(weight[B], b, 1e-12);
    CHECK_REL(weight[C], 1.75 + b + 0.25 * 0.01, 1e-12);
    CHECK(weight[D] == 0);
    CHECK_REL(f.edge_weight[0], b, 1e-12);
    CHECK_REL(f.edge_weight[1], 1.75, 1e-12);
    CHECK_REL(f.edge_weight[2], 0.25 * 0.01, 1e-12);
    CHECK_REL(f.edge_weight[3], 1, 1e-12); /* of its caller */
    CHECK(f.edge_weight[4] == 0);
    /* Where nothing takes any time, none of it is anyone's. */
    msim_watch_flow_weigh(&f, none, none, weight);
    CHECK_REL(weight[A], 1, 1e-12);
    CHECK(weight[B] == 0 && weight[C] == 0);
    for (int i = 0; i < 5; i++)
        CHECK(f.edge_weight[i] == 0);
    msim_watch_flow_release(&f);
}

/* A chain that is written from its end. */
static void test_watch_flow__orders(void)
{
    enum { LONG = 6 };

    static struct msim_stage chain_stages[LONG];
    struct msim_flow_edge chain[LONG - 1];
    const struct msim_app long_app = {.classes = classes,
                                      .n_classes = 2,
                                      .stages = chain_stages,
                                      .n_stages = LONG,
                                      .edges = chain,
                                      .n_edges = LONG - 1,
                                      .start = LONG - 1};

    for (uint32_t i = 1; i < LONG; i++)
        chain[i - 1] =
            (struct msim_flow_edge){.from = i, .to = i - 1, .prob = 1};
    REQUIRE(msim_watch_flow_init(&f, &long_app) == MSIM_OK);
    for (uint32_t i = 0; i < LONG; i++)
        CHECK_INT(f.order[i], LONG - 1 - i);
    msim_watch_flow_release(&f);
}

int main(void)
{
    RUN(test_watch_flow__times);
    RUN(test_watch_flow__visits);
    RUN(test_watch_flow__weights);
    RUN(test_watch_flow__orders);
    return check_summary();
}
