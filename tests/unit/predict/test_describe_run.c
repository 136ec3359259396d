/*
 * tests/unit/predict/test_describe_run.c - what a prediction says of the host,
 * the clock and the links that it rests on.
 */
#include "predict/pipeline.h"

#include "models/platform/platform_data.h"
#include "tests/check.h"

/* A job of up to two traces of `world` ranks, on a platform and a host. */
struct made {
    struct msim_trace traces[2], *ranks[2];
    struct msim_job job;
    struct msim_inputs in;
    struct msim_target to;
    struct msim_predict_settings s;
    struct msim_prediction out;
    bool planned;
};

static bool begin(struct made *m, const char *platform)
{
    memset(m, 0, sizeof(*m));
    for (int i = 0; i < 2; i++) {
        m->traces[i] = (struct msim_trace){.world_size = 1, .has_times = true};
        m->ranks[i] = &m->traces[i];
    }
    m->job = (struct msim_job){.ranks = m->ranks, .n_ranks = 1};
    m->in.job = &m->job;
    m->to.costs = MSIM_COSTS_MODEL;
    m->to.gpus_a_node = 8;
    m->out.transfer_us = 1;
    return CHECK(msim_host_load(&m->to.host, MSIM_DATA, "generic", NULL) ==
                 MSIM_OK) &&
           (!platform || CHECK(msim_platform_load(&m->to.platform, MSIM_DATA,
                                                  platform, NULL) == MSIM_OK));
}

static void describe(struct made *m)
{
    msim_run_describe(&m->out, &m->s, &m->in, &m->to, m->planned);
}

static void done(struct made *m)
{
    msim_platform_free(m->to.platform);
    msim_host_free(m->to.host);
    msim_arena_release(&m->out.arena);
}

/* ---- links ----------------------------------------------------------------
 */

/* Of these ranks, in the settings, in a trace, traces: which links are named.
 */
static void check_links(uint32_t asked, uint32_t world, uint32_t n,
                        uint32_t gpus, const char *want)
{
    struct made m;
    char got[32];

    REQUIRE(begin(&m, "a100"));
    m.s.ranks = asked;
    m.traces[1].world_size = world;
    m.job.n_ranks = n;
    m.to.gpus_a_node = gpus;
    describe(&m);
    snprintf(got, sizeof(got), "%s%s", m.out.links_inside ? "inside " : "",
             m.out.links_between ? "between" : "");
    CHECK_STR(got, want);
    done(&m);
}

static void test_describe__links(void)
{
    check_links(0, 1, 1, 8, "");
    check_links(2, 1, 1, 8, "inside ");
    check_links(8, 1, 1, 8, "inside ");
    check_links(9, 1, 1, 8, "inside between");
    check_links(0, 9, 2, 8, "inside between");
    check_links(0, 1, 2, 8, "inside ");
    check_links(4, 2, 2, 3, "inside between");
    check_links(2, 1, 1, 2, "inside ");
    check_links(2, 1, 1, 1, "between");
    check_links(1, 1, 1, 1, "");
}

/* As many as the first trace says. */
static void test_describe__links_of_the_first(void)
{
    struct made m;

    REQUIRE(begin(&m, "a100"));
    m.traces[0].world_size = 16;
    describe(&m);
    CHECK(m.out.links_inside && m.out.links_between);
    done(&m);
}

/* Nothing is transferred, or as in the trace, or no platform is known. */
static void test_describe__no_links(void)
{
    struct made m;

    REQUIRE(begin(&m, "a100"));
    m.s.ranks = 16;
    m.out.transfer_us = 0;
    describe(&m);
    CHECK(!m.out.links_inside && !m.out.links_between);
    m.out.transfer_us = 1;
    m.to.costs = MSIM_COSTS_MEASURED;
    describe(&m);
    CHECK(!m.out.links_inside && !m.out.links_between);
    done(&m);
    REQUIRE(begin(&m, NULL));
    m.s.ranks = 16;
    describe(&m);
    CHECK(!m.out.links_inside && !m.out.links_between);
    CHECK(m.out.platform == NULL);
    done(&m);
}

/* In a node by what joins its GPUs, between nodes by the network. */
static void test_describe__texts_of_links(void)
{
    struct made m;

    REQUIRE(begin(&m, "gtx-1080-ti"));
    m.s.ranks = 16;
    m.s.nodes = 2;
    m.s.network = "mine.json";
    snprintf(m.to.network.name, sizeof(m.to.network.name), "mine");
    describe(&m);
    CHECK_STR(m.out.links_inside,
              "assumed: PCIe3, 12 GB/s a GPU, less where more than 2 share it");
    CHECK_STR(m.out.links_between,
              "assumed: 12.5 GB/s a card, 1 cards a GPU, 5 us");
    CHECK_STR(m.out.network, "mine");
    CHECK_UINT(m.out.nodes, 2);
    m.s.network = NULL;
    describe(&m);
    CHECK_STR(m.out.network, NULL);
    done(&m);
}

/* ---- the host -------------------------------------------------------------
 */

static void test_describe__host(void)
{
    double low, high;
    struct made m;

    REQUIRE(begin(&m, "a100"));
    msim_host_repeat(m.to.host, &low, &high);
    describe(&m);
    CHECK_STR(m.out.host, "traced");
    CHECK_REL(m.out.host_low, low, 1e-12);
    CHECK_REL(m.out.host_high, high, 1e-12);
    CHECK(m.out.host_speed == 0);
    CHECK_STR(m.out.platform, "a100");
    CHECK_STR(m.out.source_platform, NULL);
    CHECK_STR(m.out.costs, "model");
    m.to.source = m.to.platform;
    describe(&m);
    CHECK_STR(m.out.source_platform, NULL);
    m.to.costs = MSIM_COSTS_SCALED;
    describe(&m);
    CHECK_STR(m.out.source_platform, "a100");
    CHECK_STR(m.out.costs, "scaled");
    m.to.costs = MSIM_COSTS_MODEL;
    msim_host_spread(m.to.host, &low, &high);
    m.planned = true;
    describe(&m);
    CHECK_STR(m.out.host, "generic");
    CHECK_REL(m.out.host_low, low, 1e-12);
    CHECK_REL(m.out.host_high, high, 1e-12);
    CHECK_REL(m.out.host_speed, msim_host_speed(m.to.host), 1e-12);
    m.planned = false;
    m.traces[0].has_times = false;
    m.out.host = NULL;
    describe(&m);
    CHECK_STR(m.out.host, "generic");
    m.traces[0].has_times = true;
    m.s.host = "generic";
    m.out.host = NULL;
    describe(&m);
    CHECK_STR(m.out.host, "generic");
    m.s.host = NULL;
    m.out.host = NULL;
    m.to.costs = MSIM_COSTS_MEASURED; /* nothing is said of the trace's own */
    describe(&m);
    CHECK_STR(m.out.host, NULL);
    m.s.host = "generic";
    describe(&m);
    CHECK_STR(m.out.host, "generic");
    done(&m);
}

/* ---- the clock ------------------------------------------------------------
 */

static void test_describe__clock(void)
{
    const struct msim_clock_wish half = {.ratio = 0.5};
    struct msim_platform *a100;
    struct made m;

    REQUIRE(begin(&m, "a100"));
    describe(&m);
    CHECK_STR(m.out.clock.text, NULL);
    a100 = m.to.platform;
    REQUIRE(msim_platform_set_clock(a100, &half, NULL) == MSIM_OK);
    describe(&m);
    CHECK_STR(m.out.clock.text, "0.71 GHz (of 1.41)");
    CHECK_REL(m.out.clock.ratio, 0.5, 1e-12);
    CHECK_REL(m.out.clock.hz, m.out.clock.usual_hz / 2, 1e-12);
    CHECK(m.out.clock.usual_hz > 1e9);
    CHECK(isnan(m.out.clock.power_cap_watts));
    CHECK_REL(m.out.clock.interval_factor,
              exp(msim_clock_half_width(msim_platform_clock(a100), 2)), 1e-12);
    CHECK(m.out.clock.interval_factor > 1);
    a100->clock.usual_hz = 0; /* the data sheet does not say */
    describe(&m);
    CHECK_REL(m.out.clock.ratio, 0.5, 1e-12);
    CHECK(isnan(m.out.clock.hz) && isnan(m.out.clock.usual_hz));
    done(&m);
}

static void test_describe__power_cap(void)
{
    const struct msim_clock_wish cap = {.watts = 200};
    struct made m;

    REQUIRE(begin(&m, "a100"));
    REQUIRE(msim_platform_set_clock(m.to.platform, &cap, NULL) == MSIM_OK);
    describe(&m);
    CHECK_REL(m.out.clock.power_cap_watts, 200, 1e-12);
    CHECK(m.out.clock.ratio < 1);
    done(&m);
}

int main(void)
{
    RUN(test_describe__links);
    RUN(test_describe__links_of_the_first);
    RUN(test_describe__no_links);
    RUN(test_describe__texts_of_links);
    RUN(test_describe__host);
    RUN(test_describe__clock);
    RUN(test_describe__power_cap);
    return check_summary();
}
