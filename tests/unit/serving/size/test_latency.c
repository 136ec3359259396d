/* serving/size/latency.c, latency_stage.c, latency_stream.c and sizing_parts.c:
 * latencies of small applications with constant services, added up by hand.
 * Promises reach to 512 ms, so that a cell is a ms; requests come one a second,
 * and wait for nobody but the copies of their own calls. */
#include "serving/size/size_plan_internal.h"
#include "tests/unit/serving/made_app.h"

#include <math.h>

static struct msim_app app;
static struct msim_stage_demand load;
static struct msim_latency_sum l;
static double rate = 1;

#define SLO                                                                    \
    "'slo': [{'class': 'all', 'metric': 'e2e', 'percentile': 50, 'limit_ms': " \
    "512}, {'class': 'read', 'metric': 'e2e', 'percentile': 90, 'limit_ms': "  \
    "45}], "
#define HEAD                                                                   \
    SLO "'classes': [{'name': 'read', 'share': 0.75}, {'name': 'write', "      \
        "'share': "                                                            \
        "0.25}], 'arrivals': {'process': 'constant', 'rate': 1}, "
#define QUEUE "'kind': 'measured', 'call': 'queue', 'service': "

/* a: 10 ms, twice that for 'write', and no way to it counts; b: 20 ms, 3 away,
 * in half of all visits; at once c: 5 ms; then d: 7 ms, and with 1/2 once more,
 * three times at most. */
#define STAGES                                                                 \
    "'a': {" QUEUE                                                             \
    "10, 'class_factor': {'write': 2}, 'network_ms': 99}, 'b': {" QUEUE        \
    "20, 'network_ms': 3}, 'c': {" QUEUE "5}, 'd': {" QUEUE "7}"
#define FLOW                                                                   \
    "'start': 'a', 'edges': [{'from': 'a', 'to': 'b', 'prob': 0.5}, {'from': " \
    "'a', 'to': 'c'}, {'from': 'a', 'to': 'd', 'step': 2, 'loop': {'again': "  \
    "0.5, 'most': 3}}]"

static bool begin(const char *stages, const char *flow)
{
    made_error = (struct msim_error){0};
    if (!CHECK_INT(made_read(&app, HEAD, stages, flow), MSIM_OK) ||
        !CHECK_INT(msim_demand_init(&load, &app, rate, &made_error), MSIM_OK) ||
        !CHECK_INT(msim_latency_init(&l, &load, 2000, 1, &made_error), MSIM_OK))
        return false;
    for (uint32_t s = 0; s < app.n_stages; s++)
        l.replicas[s] = 1;
    return CHECK_INT(msim_latency_pass(&l), MSIM_OK);
}

static void end(void)
{
    msim_latency_release(&l);
    msim_demand_release(&load);
    msim_app_release(&app);
}

/* 10 + (5 or 23) + (7, 14 in a quarter, 21 in a quarter). */
static void test_latency__adds_up(void)
{
    static const struct {
        double ms, above;
    } CASES[] = {{21, 1},    {23, 0.75},  {30, 0.625}, {37, 0.5},
                 {41, 0.25}, {48, 0.125}, {55, 0},     {2000, 0}};

    if (!begin(STAGES, FLOW))
        return;
    CHECK_REL(l.grid.step, 1, 1e-12);
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++)
        for (uint32_t cls = 0; cls < 2; cls++)
            CHECK(fabs(msim_latency_above(&l, cls, CASES[i].ms + 10 * cls) -
                       CASES[i].above) < 1e-9);
    CHECK_REL(msim_latency_late(&l), 0.25 / 0.1, 1e-9);
    CHECK(fabs(msim_latency_quantile(&l, 0, 0.95) - 54) <= 0.5);
    CHECK(fabs(msim_latency_quantile(&l, 0, 0.45) - 36) <= 0.5);
    CHECK(fabs(msim_latency_quantile(&l, 1, 0.95) - 64) <= 0.5);
    end();
}

/* Steps of a, one way of calling b, and how many of its requests take longer
 * than so long; b takes 10 or 20 ms as often, and has workers for all that come
 * at once. */
static void test_latency__calls(void)
{
    static const struct {
        const char *edge;
        double ms, above;
    } CASES[] = {
        {"", 25, 0.5},
        {", 'copies': 2", 25, 0.75},
        {", 'copies': 2", 31, 0},
        /* of 1, 2, ... copies, as often one as more */
        {", 'copies': {'geometric': 2}", 25, 1 - 1.0 / 3},
        {", 'classes': ['write']", 11, 0},
        /* the second that is asked after 15 ms may come after 10 more */
        {", 'retry': {'timeout_ms': 5, 'most': 1}", 22, 0.5},
        {", 'retry': {'timeout_ms': 5, 'most': 1}", 27, 0.25},
        {", 'copies': 2, 'wait': 'any'", 25, 0.25},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        char flow[256];

        snprintf(flow, sizeof(flow),
                 "'start': 'a', 'edges': [{'from': 'a', 'to': 'b'%s}]",
                 CASES[i].edge);
        if (!begin("'a': {" QUEUE "10}, 'b': {'workers': 64, " QUEUE
                   "{'samples': [10, 20]}}",
                   flow))
            return;
        if (!CHECK(fabs(msim_latency_above(&l, 0, CASES[i].ms) -
                        CASES[i].above) < 1e-6))
            fprintf(stderr, "  case %zu: %g\n", i,
                    msim_latency_above(&l, 0, CASES[i].ms));
        end();
    }
}

/* The first of two answers: 5 of c, not 7 of d. Edges of b are no step of a's,
 * and a's second step is no first. */
static void test_latency__first_answer(void)
{
    static const struct {
        const char *edges;
        double ms;
    } CASES[] = {
        {"{'from': 'a', 'to': 'b'}, {'from': 'b', 'to': 'd', 'wait': 'any'}, "
         "{'from': 'b', 'to': 'c', 'wait': 'any'}",
         10 + 20 + 5},
        {"{'from': 'a', 'to': 'b'}, {'from': 'a', 'to': 'd', 'step': 2, "
         "'wait': 'any'}, {'from': 'a', 'to': 'c', 'step': 2, 'wait': 'any'}",
         10 + 20 + 5},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        char flow[512];

        snprintf(flow, sizeof(flow), "'start': 'a', 'edges': [%s]",
                 CASES[i].edges);
        if (!begin("'a': {" QUEUE "10}, 'b': {" QUEUE "20}, 'c': {" QUEUE
                   "5}, 'd': {" QUEUE "7}",
                   flow))
            return;
        CHECK_REL(msim_latency_above(&l, 0, CASES[i].ms - 1), 1, 1e-9);
        CHECK(fabs(msim_latency_above(&l, 0, CASES[i].ms + 1)) < 1e-9);
        end();
    }
}

/* Both copies of a call wait for one worker: 10 + 20 + 20 ms. With one more
 * nobody does; what was tried and not kept is undone. */
static void test_latency__tries(void)
{
    double late;

    if (!begin("'a': {" QUEUE "10}, 'b': {" QUEUE "20}",
               "'start': 'a', 'edges': [{'from': 'a', 'to': 'b', 'copies': "
               "2}]"))
        return;
    CHECK(fabs(msim_latency_above(&l, 0, 49) - 1) < 1e-9);
    CHECK(fabs(msim_latency_above(&l, 0, 51)) < 1e-9);
    CHECK(fabs(msim_latency_above(&l, 1, 49) - 1) < 1e-9);
    CHECK(fabs(msim_latency_above(&l, 1, 51)) < 1e-9);
    CHECK_REL(msim_latency_late(&l), 10, 1e-9);
    CHECK_REL(l.stages[1].wait_ms, 10, 1e-9); /* every second visit waits 20 */
    for (int keep = 0; keep < 2; keep++) {
        REQUIRE(msim_latency_try(&l, 1, 2, keep, &late) == MSIM_OK);
        CHECK(fabs(late) < 1e-9);
        CHECK_INT(l.replicas[1], 1 + keep);
        CHECK(fabs(msim_latency_late(&l) - (keep ? 0 : 10)) < 1e-9);
        CHECK(fabs(l.stages[1].wait_ms - (keep ? 0 : 10)) < 1e-9);
    }
    end();
}

/* Workers that call by rpc are held for both steps: 20 ms of b, then 5 of c;
 * for 'write', which calls nobody in the first, for 5. */
static void test_latency__rests(void)
{
    const struct msim_alone_visit *v;
    uint32_t seen[2] = {0};

    if (!begin("'a': {'kind': 'measured', 'call': 'rpc', 'service': 10}, 'b': "
               "{" QUEUE "20}, 'c': {" QUEUE "5}",
               "'start': 'a', 'edges': [{'from': 'a', 'to': 'b', 'classes': "
               "['read']}, {'from': 'a', 'to': 'c', 'step': 2}]"))
        return;
    v = l.stages[0].visits.data;
    CHECK_INT(l.stages[0].visits.n, 2000);
    for (uint32_t i = 0; i < l.stages[0].visits.n; i++) {
        uint32_t cls = l.requests[v[i].request].cls;

        seen[cls]++;
        if (!CHECK(fabs(v[i].rest_ms - (cls ? 5 : 25)) < 1e-9))
            break;
    }
    CHECK(seen[0] > 1400 && seen[1] > 400);
    CHECK_INT(l.stages[1].visits.n, seen[0]);
    CHECK_INT(l.stages[2].visits.n, 2000);
    end();
}

/* A worker that calls by rpc is held: 10, or 20 for a quarter, and for 14 and
 * 12.25 ms of calls on the average. */
static void test_sizing_parts__held(void)
{
    double ms;

    if (!begin(STAGES, FLOW))
        return;
    CHECK_REL(msim_sizing_held(&l, 0), 12.5e-3, 1e-9);
    CHECK_REL(msim_sizing_held(&l, 1), 10e-3, 1e-9);
    CHECK_REL(msim_sizing_held(&l, 3), 12.25e-3, 1e-9);
    app.stages[0].call = MSIM_CALL_RPC;
    CHECK_REL(msim_sizing_held(&l, 0), 38.75e-3, 1e-9);
    load.rate = 100; /* 3.875 of them */
    CHECK(!msim_sizing_bears(&l, 0, 3));
    CHECK(msim_sizing_bears(&l, 0, 4));
    app.stages[0].workers = 2;
    CHECK(!msim_sizing_bears(&l, 0, 1));
    CHECK(msim_sizing_bears(&l, 0, 2));
    app.stages[0].workers = 1;
    load.rate = 3.98 / 38.75e-3; /* 0.995 of four, and a bit more */
    CHECK(!msim_sizing_bears(&l, 0, 4));
    load.rate = 3.979 / 38.75e-3;
    CHECK(msim_sizing_bears(&l, 0, 4));
    /* Most of the time: 10 of a and of b, 12.25 of d; for 'write' 20 of a. */
    CHECK_INT(msim_sizing_slowest(&l, 0, &ms), 3);
    CHECK_REL(ms, 12.25, 1e-9);
    CHECK_INT(msim_sizing_slowest(&l, 1, &ms), 0);
    CHECK_REL(ms, 20, 1e-9);
    end();
}

/* So many replicas that workers are held for so much, and one more; at least
 * for 0.9. What nobody visits has one. */
static void test_sizing_parts__start(void)
{
    static const struct {
        double rate, held;
        int64_t replicas[5];
    } CASES[] = {
        /* 1.25, 1, 0.5 and 1.225 workers over 0.3 */
        {100, 0.3, {6, 5, 3, 6, 1}},
        /* 3.75, 3, 1.5 and 3.675 over 0.9 */
        {300, 100, {5, 4, 2, 5, 1}},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        rate = CASES[i].rate;
        if (!begin(STAGES ", 'e': {" QUEUE "1}", FLOW))
            return;
        REQUIRE(msim_sizing_start(&l, CASES[i].held) == MSIM_OK);
        for (int s = 0; s < 5; s++)
            CHECK_INT(l.replicas[s], CASES[i].replicas[s]);
        end();
    }
    rate = 1;
}

/* 12.5 % of 'read' lie within half a ms of 54: the tenth is at 53.7. */
static void test_sizing_parts__refuses(void)
{
    struct msim_error err = {0};

    if (!begin(STAGES, FLOW))
        return;
    CHECK_INT(msim_sizing_refuse(&l, &err), MSIM_ECHECK);
    CHECK_STR(err.text,
              "no number of replicas keeps the promise of class 'read': p90 is "
              "53.7 ms, want 45 ms; most of its time goes to stage 'd' (12.25 "
              "ms of service a request)");
    end();
}

/* Prices count where all have one; what no request visits has no latency. */
static void test_sizing_parts__fill(void)
{
    struct msim_sizing_stage stages[5];
    struct msim_sizing z = {.stages = stages};

    if (!begin(STAGES ", 'e': {" QUEUE "1}", FLOW))
        return;
    for (uint32_t s = 0; s < 5; s++) {
        l.replicas[s] = s + 1;
        CHECK_REL(msim_sizing_price(&app, s), 1, 0);
        app.stages[s].price_per_hour = 2 + s;
    }
    CHECK_REL(msim_sizing_price(&app, 0), 2, 0);
    CHECK_REL(msim_sizing_price(&app, 4), 6, 0);
    msim_sizing_fill(&z, &l);
    CHECK_INT(z.total, 15);
    CHECK_REL(z.cost_per_hour, 2 + 2 * 3 + 3 * 4 + 4 * 5 + 5 * 6, 1e-12);
    CHECK_REL(stages[1].visits_per_s, 0.5, 1e-12);
    CHECK_INT(stages[2].replicas, 3);
    CHECK_REL(stages[1].percentile, 99, 1e-12);
    CHECK(fabs(stages[1].latency_ms - 20) <= 0.5); /* its own, without way */
    CHECK(fabs(stages[0].latency_ms - 20) <= 0.5); /* of 'write' */
    CHECK(isnan(stages[4].percentile) && isnan(stages[4].latency_ms));
    CHECK(stages[4].visits_per_s == 0);
    app.stages[2].price_per_hour = 0;
    CHECK_REL(msim_sizing_price(&app, 0), 1, 0);
    end();
}

/* What cannot be sized, by what it says. */
static void test_sizing__checks(void)
{
    static const struct {
        const char *more, *stage, *says;
    } CASES[] = {
        {"'slo': [], 'arrivals': {'rate': 1}, ", "'kind': 'tool'",
         "slo is empty, want a promise to size for"},
        {SLO "'arrivals': {'rate': 1}, 'classes': [{'name': 'read', 'share': "
             "1}], ",
         "'kind': 'llm', 'model': 'm', 'platform': 'h100'",
         "stages.a.kind is 'llm', want 'measured' or 'tool': size takes stages "
         "as queues with workers; for one model ask `plan` with \"workload\": "
         "\"serving\", for a pipeline `serve --plans` or `apps --sweep`"},
        {SLO "'arrivals': {'rate': 1}, 'classes': [{'name': 'read', 'share': "
             "1}], ",
         "'kind': 'model', 'model': 'm', 'platform': 'h100'",
         "stages.a.kind is 'model', want 'measured' or 'tool': size takes "
         "stages as queues with workers; for one model ask `plan` with "
         "\"workload\": \"serving\", for a pipeline `serve --plans` or `apps "
         "--sweep`"},
        {SLO "'arrivals': {'process': 'closed', 'concurrency': 3}, 'classes': "
             "[{'name': 'read', 'share': 1}], ",
         "'kind': 'tool'",
         "arrivals.process is 'closed', want a process with a rate: clients "
         "that wait for answers ask less of slow stages"},
        {"'slo': [{'percentile': 99, 'limit_ms': 5}, {'metric': 'ttft', "
         "'percentile': 99, 'limit_ms': 5}], 'arrivals': {'rate': 1}, ",
         "'kind': 'llm', 'model': 'm', 'platform': 'h100'",
         "slo[1].metric is 'ttft', want 'e2e': size knows how long requests "
         "take as a whole"},
        {HEAD, "'kind': 'tool'", ""},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        struct msim_error err = {0};
        char stages[128];

        snprintf(stages, sizeof(stages), "'a': {%s}", CASES[i].stage);
        if (!CHECK_INT(made_read(&app, CASES[i].more, stages, "'start': 'a'"),
                       MSIM_OK)) {
            fprintf(stderr, "%s\n", made_error.text);
            continue;
        }
        CHECK_INT(msim_sizing_check(&app, &err),
                  *CASES[i].says ? MSIM_EFORMAT : MSIM_OK);
        CHECK_STR(err.text, CASES[i].says);
        msim_app_release(&app);
    }
}

int main(void)
{
    static const char *const FILES[] = {"app.json", NULL};

    made_begin();
    RUN(test_latency__adds_up);
    RUN(test_latency__calls);
    RUN(test_latency__first_answer);
    RUN(test_latency__tries);
    RUN(test_latency__rests);
    RUN(test_sizing_parts__held);
    RUN(test_sizing_parts__start);
    RUN(test_sizing_parts__refuses);
    RUN(test_sizing_parts__fill);
    RUN(test_sizing__checks);
    made_end(FILES);
    return check_summary();
}
