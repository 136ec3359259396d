/* serving/outcome/outcome_make.c, outcome_capacity.c and outcome_plans.c: small
 * applications with constant services, simulated, against what they must take
 * and bear. */
#include "serving/outcome/serving_outcome.h"
#include "tests/unit/serving/made_app.h"

#include <math.h>
#include <time.h>

static struct msim_app app;
static struct msim_serving_outcome o;
static struct msim_serving_wish w;

#define SLO "'slo': [{'metric': 'e2e', 'percentile': 99, 'limit_ms': 31}], "

#define TEN       SLO "'arrivals': {'process': 'constant', 'rate': 10}, "
#define FLOW      "'start': 'front', 'edges': [{'from': 'front', 'to': 'back'}]"
#define FRONT(as) "'front': {'kind': 'measured', 'service': 10, " as "}, "
#define BACK(as)  "'back': {'kind': 'measured', 'service': 20, " as "}"
#define QUEUE     "'call': 'queue'"

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool make(const char *more, const char *stages, const char *flow)
{
    made_error = (struct msim_error){0};
    if (!CHECK_INT(made_read(&app, more, stages, flow), MSIM_OK))
        return false;
    w = (struct msim_serving_wish){.app = &app,
                                   .how = {.requests = 400, .seed = 1},
                                   .threads = 2,
                                   .counterfactuals = true,
                                   .capacities = true};
    return CHECK_INT(msim_serving_outcome_make(&o, &w, &made_error), MSIM_OK);
}

static void end(void)
{
    msim_serving_outcome_release(&o);
    msim_app_release(&app);
}

/* It takes some time, and no more than goes by meanwhile. 10 ms and 20 ms, of
 * which nobody waits: without front 20 are left, without
 * back 10. One worker of 10 ms bears 100 a second, three of 20 ms 150. */
static void test_outcome_make__queues(void)
{
    double before = now_s();

    if (!make(TEN, FRONT(QUEUE) BACK(QUEUE ", 'workers': 3"), FLOW))
        return;
    CHECK_INT(o.classes[0].requests, 400);
    CHECK_REL(o.classes[0].e2e.mean, 30, 1e-9);
    CHECK_REL(o.classes[0].e2e.p99, 30, 1e-9);
    CHECK(o.classes[0].violations == 0);
    CHECK_REL(o.stages[0].critical_share, 1.0 / 3, 1e-9);
    CHECK_REL(o.stages[1].critical_share, 2.0 / 3, 1e-9);
    CHECK(o.counterfactuals);
    CHECK_REL(o.stages[0].counterfactual_p99, 20, 1e-9);
    CHECK_REL(o.stages[0].counterfactual_mean, 20, 1e-9);
    CHECK_REL(o.stages[1].counterfactual_p99, 10, 1e-9);
    CHECK_REL(o.stages[0].capacity.mean, 100, 1e-9);
    CHECK_REL(o.stages[0].capacity.low, 100, 1e-9);
    CHECK_REL(o.stages[1].capacity.high, 150, 1e-9);
    CHECK_REL(o.capacity.mean, 100, 1e-9);
    CHECK_INT(o.capacity_by, 0);
    CHECK_REL(o.asked, 10, 0);
    CHECK(!o.saturated && isnan(o.stages[0].tokens.mean));
    CHECK(o.events > 0);
    CHECK(o.seconds > 0 && o.seconds <= now_s() - before);
    end();
}

/* Two visits of back a request: 75 requests a second, which is less. */
static void test_outcome_make__visits(void)
{
    if (!make(TEN, FRONT(QUEUE) BACK(QUEUE ", 'workers': 3"),
              "'start': 'front', 'edges': [{'from': 'front', 'to': 'back', "
              "'copies': 2}]"))
        return;
    CHECK_REL(o.capacity.mean, 75, 1e-9);
    CHECK_INT(o.capacity_by, 1);
    end();
}

/* A worker that waits for 20 ms of calls bears 33.3 a second, and so the whole
 * does, by its front, which computes for a third of that time; back, with three
 * workers, for 0.67 / 3. */
static void test_outcome_make__rpc(void)
{
    if (!make(TEN, FRONT("'call': 'rpc'") BACK(QUEUE ", 'workers': 3"), FLOW))
        return;
    CHECK_REL(o.stages[0].capacity.mean, 1000.0 / 30, 1e-9);
    CHECK_REL(o.capacity.mean, 1000.0 / 30, 0.01);
    CHECK_REL(o.capacity.low, 1000.0 / 30, 0.01);
    CHECK_INT(o.capacity_by, 0);
    end();
    /* Three fronts share one back: 50 a second, which it computes all of. */
    if (!make(TEN, FRONT("'call': 'rpc', 'workers': 3") BACK(QUEUE), FLOW))
        return;
    CHECK_REL(o.capacity.mean, 50, 0.01);
    CHECK_INT(o.capacity_by, 1);
    end();
    /* One front is held for 30 ms, of which its one back computes for 20. */
    if (!make(TEN, FRONT("'call': 'rpc'") BACK(QUEUE), FLOW))
        return;
    CHECK_REL(o.capacity.mean, 1000.0 / 30, 0.01);
    CHECK_INT(o.capacity_by, 1);
    end();
    /* Calls that are made again say nothing in a flood. */
    if (!make(TEN, FRONT("'call': 'rpc', 'workers': 3") BACK(QUEUE),
              "'start': 'front', 'edges': [{'from': 'front', 'to': 'back', "
              "'retry': {'timeout_ms': 500, 'most': 1}}]"))
        return;
    CHECK_REL(o.capacity.mean, 50, 1e-9);
    end();
}

/* Four take twice as long as one: 4 in 40 ms, 100 a second. A run at 10 has
 * none of these. */
static void test_outcome_make__batches(void)
{
    const char *back = "'back': {'kind': 'measured', 'service': 20, 'call': "
                       "'queue', 'batching': {'max_batch': 4, 'max_wait_ms': "
                       "1, 'law': [[1, 1], [4, 2]]}}";

    if (!make(TEN, back, "'start': 'back'"))
        return;
    CHECK_REL(o.classes[0].e2e.mean, 21, 1e-9); /* alone in vain for 1 ms */
    CHECK_REL(o.stages[0].capacity.mean, 100, 0.01);
    CHECK_REL(o.capacity.mean, 100, 0.01);
    end();
}

/* 200 a second are asked of 100; 50 requests are too few to see it grow. */
static void test_outcome_make__overload(void)
{
    made_error = (struct msim_error){0};
    REQUIRE(
        made_read(&app, "'arrivals': {'process': 'constant', 'rate': 200}, ",
                  FRONT(QUEUE) BACK(QUEUE ", 'workers': 3"), FLOW) == MSIM_OK);
    w = (struct msim_serving_wish){
        .app = &app, .how = {.requests = 50, .seed = 1}, .threads = 1};
    REQUIRE(msim_serving_outcome_make(&o, &w, &made_error) == MSIM_OK);
    CHECK(o.saturated && o.stages[0].saturated && !o.stages[1].saturated);
    CHECK(!o.counterfactuals && isnan(o.stages[0].counterfactual_p99));
    msim_serving_outcome_release(&o);
    w.how.rate = 99; /* ... and here it does not */
    REQUIRE(msim_serving_outcome_make(&o, &w, &made_error) == MSIM_OK);
    CHECK(!o.saturated);
    end();
}

/* Plans of a line each, whatever the threads; what has no price adds none. */
static void test_outcome_plans__lines(void)
{
    static int64_t replicas[] = {1, 1, 2, 1, 1, 3};
    static const char *names[] = {"as, it is", "2", "3"};
    const struct msim_serving_plans plans = {
        .n = 3, .n_stages = 2, .replicas = replicas, .names = names};

    REQUIRE(made_read(&app,
                      SLO "'arrivals': {'process': 'constant', 'rate': "
                          "40}, ",
                      FRONT(QUEUE ", 'price_per_hour': 3") BACK(QUEUE),
                      FLOW) == MSIM_OK);
    for (uint32_t threads = 1; threads < 3; threads++) {
        char text[512] = "";
        FILE *out = fmemopen(text, sizeof(text), "w");

        REQUIRE(out != NULL);
        w = (struct msim_serving_wish){.app = &app,
                                       .how = {.requests = 400, .seed = 1},
                                       .threads = threads};
        CHECK_INT(msim_serving_plans_csv(&w, &plans, out, &made_error),
                  MSIM_OK);
        fclose(out);
        CHECK_STR(text,
                  "plan,worst_class,violations,p99_ms,replicas,cost_per_hour\n"
                  "\"as, it is\",all,0,30,2,3\n"
                  "2,all,0,30,3,6\n"
                  "3,all,0,30,4,3\n");
    }
    msim_app_release(&app);
}

int main(void)
{
    static const char *const FILES[] = {"app.json", NULL};

    made_begin();
    RUN(test_outcome_make__queues);
    RUN(test_outcome_make__visits);
    RUN(test_outcome_make__rpc);
    RUN(test_outcome_make__batches);
    RUN(test_outcome_make__overload);
    RUN(test_outcome_plans__lines);
    made_end(FILES);
    return check_summary();
}
