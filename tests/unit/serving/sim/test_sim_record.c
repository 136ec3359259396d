/* serving/sim/sim_record.c: windows and spans of a schedule worked by hand. */
#include "tests/unit/serving/sim/made_run.h"

#include <math.h>

/* One worker of 10 ms; 5 ms away two of 20. Two requests wait for the first: 5
 * ms behind that at 100, 9 ms behind that at 195. */
static const char STAGES[] =
    "'front': {'kind': 'measured', 'service': 10, 'call': 'queue'}, 'back': "
    "{'kind': 'measured', 'service': 20, 'call': 'queue', 'workers': 2, "
    "'network_ms': 5}";
static const char FLOW[] =
    "'start': 'front', 'edges': [{'from': 'front', 'to': 'back'}]";
static const char LOG[] = "t_s\n0\n0.1\n0.105\n0.195\n0.196\n0.45\n";

static struct made_run m;

static void begin(void)
{
    made_run(
        &m, "'arrivals': {'process': 'poisson', 'rate': 1}, ", STAGES, FLOW,
        LOG,
        (struct msim_serving_how){.keep = MSIM_KEEP_WINDOWS | MSIM_KEEP_SPANS});
}

/* The same, where neither is known too. */
static bool is_same(double got, double want)
{
    return isnan(want) ? isnan(got) : fabs(got - want) <= 1e-9 * fabs(want);
}

/* Of front, of back and of requests: what came in each 200 ms, what waits (or
 * is there) at their end, and what ended in them. */
static void test_sim_record__windows(void)
{
    static const struct msim_window_row WANT[] = {
        {5, 1, 1, 35 / 200.0, 110 / 3.0, 39.9, 10, 5 / 3.0, NAN},
        {3, 0, 1, 60 / 400.0, 20, 20, 20, 0, 5},
        {5, 2, 0, NAN, 110 / 3.0, 39.9, NAN, NAN, NAN},
        {0, 0, 1, 15 / 200.0, 39.5, 43.91, 10, 4.5, NAN},
        {2, 0, 1, 40 / 400.0, 20, 20, 20, 0, 5},
        {0, 0, 0, NAN, 39.5, 43.91, NAN, NAN, NAN},
        {1, 0, 1, 10 / 200.0, 35, 35, 10, 0, NAN},
        {1, 0, 1, 20 / 400.0, 20, 20, 20, 0, 5},
        {1, 0, 0, NAN, 35, 35, NAN, NAN, NAN}};

    begin();
    REQUIRE(m.r.n_windows == 3);
    for (int i = 0; i < 9; i++) {
        const struct msim_window_row *got = &m.r.windows[i], *want = &WANT[i];

        CHECK_UINT(got->arrivals, want->arrivals);
        CHECK_UINT(got->queue, want->queue);
        CHECK_UINT(got->replicas, want->replicas);
        CHECK(is_same(got->busy, want->busy));
        CHECK(is_same(got->mean_ms, want->mean_ms));
        CHECK(is_same(got->p99_ms, want->p99_ms));
        CHECK(is_same(got->self_ms, want->self_ms));
        CHECK(is_same(got->wait_ms, want->wait_ms));
        CHECK(is_same(got->net_ms, want->net_ms));
    }
    made_run_end(&m);
}

/* Visits by their ends; what takes no time is none. */
static void test_sim_record__spans(void)
{
    static const struct {
        double begin, end;
        uint32_t stage, request;
        enum msim_span_what what;
    } WANT[] = {{15, 35, 1, 0, MSIM_SPAN_SERVICE},
                {0, 10, 0, 0, MSIM_SPAN_SERVICE},
                {10, 35, 0, 0, MSIM_SPAN_CALLS},
                {115, 135, 1, 1, MSIM_SPAN_SERVICE},
                {100, 110, 0, 1, MSIM_SPAN_SERVICE},
                {110, 135, 0, 1, MSIM_SPAN_CALLS},
                {125, 145, 1, 2, MSIM_SPAN_SERVICE},
                {105, 110, 0, 2, MSIM_SPAN_WAIT},
                {110, 120, 0, 2, MSIM_SPAN_SERVICE},
                {120, 145, 0, 2, MSIM_SPAN_CALLS}};

    begin();
    REQUIRE(m.r.n_spans == 20);
    for (int i = 0; i < 10; i++) {
        const struct msim_span_row *got = &m.r.spans[i];

        CHECK(is_same((double)got->begin / 1e9, WANT[i].begin));
        CHECK(is_same((double)got->end / 1e9, WANT[i].end));
        CHECK_UINT(got->stage, WANT[i].stage);
        CHECK_UINT(got->request, WANT[i].request);
        CHECK_INT(got->what, WANT[i].what);
    }
    made_run_end(&m);
}

/* Until the last arrival, at 450 ms, which is not in it; late: from the third,
 * at 105, on. */
static void test_sim_record__shares(void)
{
    const struct msim_stage_run *front, *back;

    begin();
    front = &m.r.stages[0];
    back = &m.r.stages[1];
    CHECK_REL(front->visits_per_s, 5 / 0.45, 1e-9);
    CHECK_REL(front->held, 50 / 450.0, 1e-9);
    CHECK_REL(front->computing, 50 / 450.0, 1e-9);
    CHECK_REL(front->inside, (50 + 5 + 9) / 450.0, 1e-9);
    CHECK_UINT(front->visits, 6);
    CHECK_REL(front->wait_ps, 14e9, 1e-9);
    CHECK_REL(front->self_ps, 60e9, 1e-9);
    CHECK_REL(front->critical_ps, 74e9, 1e-9);
    CHECK_REL(front->hold_ps, 10e9, 1e-9);
    CHECK_REL(front->visits_per_request, 1, 1e-9);
    CHECK_REL(front->late_held, 35 / 345.0, 1e-9);
    CHECK_REL(front->late_computing, 35 / 345.0, 1e-9);
    CHECK_REL(front->late_served_per_s, 4 / 0.345, 1e-9);
    CHECK_REL(back->held, 100 / 450.0 / 2, 1e-9);
    CHECK_REL(back->inside, 100 / 450.0, 1e-9);
    CHECK_REL(back->critical_ps, 6 * 25e9, 1e-9); /* with the way there */
    CHECK_REL(back->late_held, 80 / 345.0 / 2, 1e-9);
    CHECK_REL(back->worker_count, 2, 0);
    made_run_end(&m);
}

/* More visits than a sample holds, 2^17: every second one of them is kept. */
static void test_sim_record__thins(void)
{
    made_run(&m, "'arrivals': {'process': 'constant', 'rate': 100}, ",
             "'s': {'kind': 'measured', 'service': {'exponential': 1}, "
             "'workers': 9}",
             "'start': 's'", NULL,
             (struct msim_serving_how){
                 .requests = 140000, .seed = 1, .keep = MSIM_KEEP_VISITS});
    CHECK_UINT(m.r.stages[0].waits.n, 70000);
    CHECK_UINT(m.r.stages[0].selves.n, 70000);
    CHECK_UINT(m.r.stages[0].selves.every, 2);
    for (uint32_t i = 0; i < 70000; i += 1000) /* nobody waits or calls */
        CHECK(fabs((double)m.r.stages[0].selves.value[i] / 1e9 -
                   made_ms(&m, 2 * i)) < 1e-6);
    made_run_end(&m);
}

int main(void)
{
    static const char *const FILES[] = {"app.json", "log.csv", NULL};

    made_begin();
    RUN(test_sim_record__windows);
    RUN(test_sim_record__spans);
    RUN(test_sim_record__shares);
    RUN(test_sim_record__thins);
    made_end(FILES);
    return check_summary();
}
