/* plan/simulate/job_graph.c and plan_simulate.c: short graphs say what the
 * whole one does; which jobs are shortened; what cannot be simulated. */
#include "plan/simulate/job_graph.h"
#include "tests/unit/made_plan.h"

static struct msim_described model;
static struct msim_strategy strategy;
static struct msim_job_graph_ask ask;

static void begin(int64_t layers, int64_t batches)
{
    model = (struct msim_described){.name = "small",
                                    .layers = layers,
                                    .hidden = 128,
                                    .heads = 2,
                                    .kv_heads = 2,
                                    .head_dim = 64,
                                    .ffn = 256,
                                    .vocab = 512};
    strategy = made_plan_point(1, 1).strategy;
    strategy.sequence = 64;
    strategy.grad_accum = strategy.global_batch = batches;
    strategy.gpus_a_node = 8;
    ask = (struct msim_job_graph_ask){.model = &model,
                                      .strategy = &strategy,
                                      .data = MSIM_DATA,
                                      .platform = "a100"};
}

static void split(int64_t pp, int64_t vp)
{
    strategy.pp = strategy.gpus = pp;
    strategy.vp = vp;
}

static struct msim_job_graph found(void)
{
    struct msim_job_graph g;
    struct msim_error err = {0};

    CHECK_INT(msim_job_graph_find(&g, &ask, &err), MSIM_OK);
    CHECK_STR(err.text, "");
    return g;
}

static void check_graphs(uint32_t graphs)
{
    CHECK_INT(found().graphs, graphs);
}

/* They take and hold what all layers and micro batches do: to a percent, since
 * pipelines fill, and begin, each in their own way. */
static void check_whole(uint32_t graphs)
{
    struct msim_job_graph g = found(), whole;

    ask.whole = true;
    whole = found();
    CHECK(g.known && whole.known);
    CHECK_INT(g.graphs, graphs);
    CHECK_INT(whole.graphs, 1);
    CHECK_REL(g.us, whole.us, 0.01);
    CHECK_REL(g.peak, whole.peak, 0.01);
}

/* Of one stage: 2 and 3 layers, and micro batches, where they are at most half
 * of all: 5 x 5 of 13 x 4, 3 x 5 of 3 x 10. */
static void test_job_graph__is_shortened(void)
{
    begin(13, 4);
    check_whole(4);
    begin(12, 4);
    check_graphs(1);
    begin(10, 3);
    check_whole(2);
    begin(9, 3);
    check_graphs(1);
    begin(3, 10);
    check_whole(2);
    begin(3, 9);
    check_graphs(1);
}

/* Layers that are not alike stay as many: 5 x 4 of 10 x 4. */
static void test_job_graph__keeps_layers(void)
{
    begin(13, 10);
    model.window = 16;
    model.window_every = 2;
    check_graphs(2);
    model.window_every = 1;
    check_graphs(4);
    begin(13, 10);
    model.mtp_layers = 1;
    check_graphs(2);
}

/* Stages and chunks: as many micro batches as stages are under way at least,
 * or go in groups; 2 and 3 layers of each. */
static void test_job_graph__stages(void)
{
    begin(12, 12); /* 5 of micro batches, 4 + 6 layers */
    split(2, 1);
    check_whole(4);
    begin(24, 14); /* 3 + 4, 6 + 9 */
    split(3, 1);
    check_graphs(4);
    begin(13, 14); /* not evenly spread */
    split(2, 1);
    check_graphs(2);
    begin(24, 20); /* 4 + 6, 8 + 12 */
    split(2, 2);
    check_graphs(4);
    begin(12, 20); /* 12 are all that there are */
    split(2, 2);
    check_graphs(2);
    begin(12, 20);
    split(2, 1);
    strategy.technique.schedule = MSIM_SCHEDULE_ZERO_BUBBLE;
    check_graphs(4);
    begin(12, 10); /* 10 x 10 are more than the half */
    split(2, 1);
    strategy.technique.schedule = MSIM_SCHEDULE_ZERO_BUBBLE;
    check_graphs(1);
}

/* Five micro batches in all of layers that stay as many: 8,192 passes. */
static void test_job_graph__is_too_long(void)
{
    struct msim_job_graph g;

    begin(1639, 100); /* x 5: 8,195 */
    model.moe.dense_layers = 1;
    g = found();
    CHECK(!g.known && isnan(g.us) && isnan(g.peak));
    CHECK_INT(g.graphs, 0);
    CHECK_STR(g.why,
              "its graphs have 8195 passes of layers, want at most 8192");
}

static void test_job_graph__asks_the_network(void)
{
    double own;

    begin(1, 1);
    strategy.tp = strategy.gpus = 2;
    strategy.gpus_a_node = 1;
    strategy.sequence = 8192; /* much to exchange */
    model.hidden = 2048;
    own = found().us;
    ask.network = "";
    CHECK_REL(found().us, own, 0);
    ask.network = "ethernet-100";
    CHECK(found().us > 1.8 * own); /* 12.5 GB/s of 25 */
    strategy.gpus_a_node = 2;      /* which is not between nodes */
    CHECK(found().us < own);
}

static void test_job_graph__refuses(void)
{
    struct msim_job_graph g;
    struct msim_error err = {0};

    begin(2, 2);
    strategy.offload = MSIM_OFFLOAD_OPTIMIZER; /* cannot be written */
    g = found();
    CHECK(!g.known && isnan(g.us) && isnan(g.peak));
    CHECK(strncmp(g.why, "offload cannot be written", 25) == 0);
    begin(2, 2);
    ask.platform = "a99";
    CHECK_INT(msim_job_graph_find(&g, &ask, &err), MSIM_EUNKNOWN);
    CHECK(strstr(err.text, "a99") != NULL);
    CHECK(!g.known);
    CHECK_INT(msim_job_graph_find(&g, &ask, NULL), MSIM_EUNKNOWN);
}

/* ---- of a plan ----------------------------------------------------------- */

static void test_plan_simulate__foremost(void)
{
    struct msim_plan *plan = &made_plan.plan;
    struct msim_error err = {0};
    struct msim_job_graph g[2];

    begin(2, 2);
    for (int i = 0; i < 2; i++) {
        ask.platform = i ? "a100" : "h100";
        g[i] = found();
    }
    for (uint32_t threads = 1; threads < 3; threads++) {
        made_plan_begin();
        made_plan.spec.model = model;
        made_plan.points[2] = made_plan_point(1, 5e6); /* last in both */
        plan->n = 3;
        for (int i = 0; i < 3; i++)
            made_plan.points[i].strategy = strategy;
        made_plan.points[2].strategy.offload = MSIM_OFFLOAD_OPTIMIZER;
        CHECK_INT(
            msim_plan_simulate(plan, &made_plan.spec, MSIM_DATA, threads, &err),
            MSIM_OK);
        CHECK_INT(plan->n_simulated, 3);
        for (uint32_t i = 0; i < plan->n_simulated; i++) {
            const struct msim_plan_simulated *s = &plan->simulated[i];

            if (s->point == 2) {
                CHECK(!s->known && isnan(s->us));
                CHECK(strncmp(s->why, "offload cannot", 14) == 0);
                continue;
            }
            CHECK(s->known);
            CHECK_STR(s->why, "");
            CHECK_REL(s->us, g[s->point].us, 0);
            CHECK_REL(s->peak_gib, g[s->point].peak / MSIM_GIB, 1e-12);
            CHECK_INT(s->graphs, 1);
        }
    }
    made_plan_begin();
    made_plan.spec.traced = true; /* its points are simulations */
    CHECK_INT(msim_plan_simulate(plan, &made_plan.spec, MSIM_DATA, 1, &err),
              MSIM_OK);
    CHECK_INT(plan->n_simulated, 0);
}

int main(void)
{
    RUN(test_job_graph__is_shortened);
    RUN(test_job_graph__keeps_layers);
    RUN(test_job_graph__stages);
    RUN(test_job_graph__is_too_long);
    RUN(test_job_graph__asks_the_network);
    RUN(test_job_graph__refuses);
    RUN(test_plan_simulate__foremost);
    return check_summary();
}
