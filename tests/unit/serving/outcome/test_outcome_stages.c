/* serving/outcome/outcome_stages.c: figures of stages of a run that is made up,
 * where the border of what is saturated is, and every warning. */
#include "serving/outcome/serving_outcome_internal.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

#define MS INT64_C(1000000000)

static struct msim_stage stages[] = {
    {.name = "web",
     .kind = MSIM_STAGE_MEASURED,
     .price_per_hour = 3,
     .power_w = 500},
    {.name = "llm",
     .kind = MSIM_STAGE_LLM,
     .parallel = {2, 2, 1, 1},
     .price_per_hour = 3,
     .power_w = 500},
};
static struct msim_app_class names[] = {{.name = "read"}, {.name = "write"}};
static struct msim_app app = {
    .stages = stages, .n_stages = 2, .classes = names, .n_classes = 2};
static msim_ps waits[] = {1 * MS, 2 * MS, 6 * MS}, selves[] = {8 * MS};
static struct msim_stage_run r[2];
static struct msim_stage_outcome s[2];
static struct msim_class_outcome c[2];
static struct msim_serving_outcome o;
static struct msim_serving_wish w;

static void begin(void)
{
    memset(s, 0, sizeof(s));
    memset(c, 0, sizeof(c));
    r[0] = (struct msim_stage_run){.visits_per_s = 5,
                                   .held = 0.5,
                                   .computing = 0.25,
                                   .inside = 7,
                                   .visits = 30,
                                   .wait_ps = 120e9,
                                   .self_ps = 240e9,
                                   .waits = {waits, 3, 10},
                                   .selves = {selves, 1, 1},
                                   .critical_ps = 3e12,
                                   .hold_ps = 2e12,
                                   .replicas = 2,
                                   .worker_count = 8};
    r[1] = (struct msim_stage_run){.visits = 1,
                                   .critical_ps = 1e12,
                                   .hold_ps = 1,
                                   .replicas = 3,
                                   .worker_count = 1};
    r[1].llm.is_llm = true;
    o = (struct msim_serving_outcome){
        .app = &app,
        .classes = c,
        .stages = s,
        .run = {
            .stages = r, .n_requests = 14400, .begin_s = 3600, .end_s = 7200}};
    w = (struct msim_serving_wish){.app = &app};
}

/* One hour of two replicas; of three, of four GPUs each. A sample of every
 * tenth visit has a mean of 3 ms, all of them one of 4: a ms is added. */
static void test_outcome_stages__by_hand(void)
{
    begin();
    app.arrivals.rate = 9;
    REQUIRE(msim_outcome_stages(&o, &w) == MSIM_OK);
    CHECK_STR(s[0].name, "web");
    CHECK_REL(s[0].replicas, 2, 0);
    CHECK_REL(s[0].visits_per_s, 5, 0);
    CHECK_REL(s[0].utilisation, 0.5, 0);
    CHECK_REL(s[0].computing, 0.25, 0);
    CHECK_REL(s[0].in_stage, 7, 0);
    CHECK_REL(s[0].critical_share, 0.75, 1e-12);
    CHECK_REL(s[1].critical_share, 0.25, 1e-12);
    CHECK_REL(s[0].capacity_rps, 4, 1e-12);
    CHECK(isnan(s[0].gpu_hours));
    CHECK_REL(s[0].cost, 6, 1e-12);
    CHECK_REL(s[0].energy_kwh, 1, 1e-12);
    CHECK_REL(s[1].gpu_hours, 12, 1e-12);
    CHECK_REL(s[1].cost, 36, 1e-12);
    CHECK_REL(s[1].energy_kwh, 6, 1e-12);
    CHECK(isnan(s[0].counterfactual_p99) && isnan(s[1].counterfactual_mean));
    CHECK_REL(s[0].queue.mean, 4, 1e-12);
    CHECK_REL(s[0].queue.p50, 2, 1e-12);
    CHECK_REL(s[0].self.mean, 8, 1e-12);
    CHECK(isnan(s[1].self.mean));
    CHECK_REL(o.rate, 2, 1e-12);
    CHECK_REL(o.asked, 9, 0);
    CHECK(!o.saturated);
    /* Nobody waits for anything: there are no shares. One ps is shared. */
    r[0].critical_ps = r[1].critical_ps = 0;
    REQUIRE(msim_outcome_stages(&o, &w) == MSIM_OK);
    CHECK(isnan(s[0].critical_share));
    r[1].critical_ps = 1;
    REQUIRE(msim_outcome_stages(&o, &w) == MSIM_OK);
    CHECK_REL(s[1].critical_share, 1, 0);
}

/* The interval moves with the mean. Batches of two of forty waits are 0 and 2
 * ms in turn: sqrt(20 / 19 / 20) 1.7291 about the mean of 1. */
static void test_outcome_stages__interval(void)
{
    msim_ps value[40];
    double half = 1.7291 / sqrt(19);

    for (int i = 0; i < 40; i++)
        value[i] = i / 2 % 2 ? 2 * MS : 0;
    for (int every = 1; every < 3; every++) {
        double mean = every > 1 ? 4 : 1;

        begin();
        r[0].waits = (struct msim_visit_sample){value, 40, (uint64_t)every};
        REQUIRE(msim_outcome_stages(&o, &w) == MSIM_OK);
        CHECK_REL(s[0].queue.mean, mean, 1e-9);
        CHECK_REL(s[0].queue.low, mean - half, 1e-9);
        CHECK_REL(s[0].queue.high, mean + half, 1e-9);
    }
}

/* With 8 workers, from 100 that wait half-way: 100 + 3 x 10 + 2.4 + 10 is the
 * most that does not count as growth, where workers are never free. */
static void test_outcome_stages__saturated(void)
{
    static const struct {
        double held;
        uint64_t before, after;
        bool grows;
    } CASES[] = {{1, 100, 142, false},    {1, 100, 143, true},
                 {0.99, 100, 143, false}, {0.991, 100, 143, true},
                 {1, 0, 12, false},       {1, 0, 13, true}};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        begin();
        r[0].late_held = CASES[i].held;
        r[0].backlog[0] = CASES[i].before;
        r[0].backlog[1] = CASES[i].after;
        REQUIRE(msim_outcome_stages(&o, &w) == MSIM_OK);
        CHECK_INT(s[0].saturated, CASES[i].grows);
        CHECK_INT(o.saturated, CASES[i].grows);
    }
}

/* Who is called is named where a caller's queue grows and no time is left; an
 * engine says by itself. */
static void test_outcome_stages__callee(void)
{
    for (int i = 0; i < 8; i++) {
        bool grows = i & 1, llm = i & 2, full = i & 4;

        begin();
        r[0].late_held = 1;
        r[0].backlog[1] = grows ? 1000 : 0;
        r[1].late_computing = full ? 0.991 : 0.99;
        r[1].llm.is_llm = llm;
        REQUIRE(msim_outcome_stages(&o, &w) == MSIM_OK);
        CHECK_INT(s[1].saturated, grows && full && !llm);
        CHECK_INT(o.saturated, grows);
    }
}

/* A rate that was typed, else the application's, where it has one. */
static void test_outcome_stages__asked(void)
{
    static const struct {
        enum msim_arrival_process by;
        double rate, want;
        const char *log;
        int64_t clients;
    } CASES[] = {
        {MSIM_ARRIVAL_POISSON, 0, 9, NULL, 0},
        {MSIM_ARRIVAL_POISSON, 0.5, 0.5, NULL, 0},
        {MSIM_ARRIVAL_LOG, 3, 3, "x.csv", 1},
        {MSIM_ARRIVAL_POISSON, 0, NAN, "x.csv", 0},
        {MSIM_ARRIVAL_POISSON, 0, NAN, NULL, 1},
        {MSIM_ARRIVAL_LOG, 0, NAN, NULL, 0},
        {MSIM_ARRIVAL_CLOSED, 0, NAN, NULL, 0},
        {MSIM_ARRIVAL_MMPP, 0, 9, NULL, 0},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        begin();
        app.arrivals.rate = 9;
        app.arrivals.process = CASES[i].by;
        w.how.rate = CASES[i].rate;
        w.how.log = CASES[i].log;
        w.how.concurrency = CASES[i].clients;
        REQUIRE(msim_outcome_stages(&o, &w) == MSIM_OK);
        CHECK(isnan(CASES[i].want) ? isnan(o.asked) : o.asked == CASES[i].want);
    }
}

/* All warnings of the outcome that stands, a line each. */
static const char *warned(void)
{
    static char text[2048];
    size_t used = 0;

    text[0] = '\0';
    CHECK_INT(msim_outcome_warnings(&o, &w), MSIM_OK);
    for (uint32_t i = 0; i < o.n_warnings; i++) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s\n",
                                 o.warnings[i]);
        free(o.warnings[i]);
    }
    free(o.warnings);
    o.warnings = NULL;
    o.n_warnings = 0;
    return text;
}

static void fill(uint64_t first, uint64_t second)
{
    begin();
    c[0] = (struct msim_class_outcome){.name = "read", .requests = first};
    c[1] = (struct msim_class_outcome){.name = "write", .requests = second};
    s[0].name = "web";
    s[1].name = "llm";
}

static void test_outcome_stages__warns(void)
{
    fill(10000, 10000);
    w.counterfactuals = o.counterfactuals = true;
    CHECK_STR(warned(), "");
    fill(10000, 999);
    CHECK_STR(warned(), "p90 of write is rough: of 999 requests, want 1000\n"
                        "p99 of write is rough: of 999 requests, want 10000\n");
    fill(200, 9999);
    CHECK_STR(warned(), "p90 of read is rough: of 200 requests, want 1000\n"
                        "p99 of read is rough: of 200 requests, want 10000\n"
                        "p99 of write is rough: of 9999 requests, want 10000"
                        "\n");
    fill(10000, 199);
    c[0].unfinished = 1;
    c[1].cut = 2;
    c[1].throughput_rps = NAN;
    w.counterfactuals = true;
    s[1].saturated = true;
    CHECK_STR(warned(),
              "counterfactual: left out of a run that long, ask for a stage "
              "with --free\n"
              "1 requests of read never end: they have more tokens than an LLM "
              "takes (max_model_len, or its KV cache)\n"
              "2 answers of write are cut: with their prompts they have more "
              "tokens than an LLM takes (max_model_len, or its KV cache)\n"
              "no request of write ends between the warm-up and the last "
              "arrival, so it has no rate: want more requests\n"
              "p50 of write is rough: of 199 requests, want 200\n"
              "p90 of write is rough: of 199 requests, want 1000\n"
              "p99 of write is rough: of 199 requests, want 10000\n"
              "llm is saturated: more comes than it can serve, so latencies "
              "grow with the length of the run\n");
    fill(10000, 10000);
    c[0].throughput_rps = NAN;
    o.run.end_s = o.run.begin_s;
    CHECK_STR(warned(), "no time passes between the warm-up and the last "
                        "arrival, so there are no rates\n");
}

int main(void)
{
    RUN(test_outcome_stages__by_hand);
    RUN(test_outcome_stages__interval);
    RUN(test_outcome_stages__saturated);
    RUN(test_outcome_stages__callee);
    RUN(test_outcome_stages__asked);
    RUN(test_outcome_stages__warns);
    return check_summary();
}
