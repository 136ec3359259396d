/*
 * tests/unit/core/graph/rules/test_graph_cause.c - the latency of a trace, and
 * what a kernel that came to a full device waited for.
 *
 * Times are microseconds.
 */
#include "core/graph/rules/graph_rules_internal.h"

#include "tests/unit/made_job.h"

/* The one activity of a name. */
static uint32_t named(const struct msim_trace *t, const char *name)
{
    for (uint32_t i = 0; i < t->n_gpu; i++)
        if (!strcmp(msim_trace_text(t, t->gpu[i].name), name))
            return i;
    CHECK_STR("", name);
    return 0;
}

/* Causes need what was found of their rank before. */
static bool find_causes(struct msim_causes *c, struct msim_rank_tasks *r,
                        const struct msim_trace *t)
{
    *r = (struct msim_rank_tasks){.trace = t};
    return CHECK(msim_graph_sort_ends(r) == MSIM_OK) &&
           CHECK(msim_causes_init(c, r) == MSIM_OK);
}

static void forget(struct msim_causes *c, struct msim_rank_tasks *r)
{
    msim_causes_release(c);
    free(r->by_end);
}

/* Launched at `at` on a stream that is idle; begins `latency` later. */
static void launch(struct made *m, int at, int latency, int correlation)
{
    made_call(m, 1, "cudaLaunchKernel", at, 2, correlation);
    made_kernel(m, 7, "short", at + latency, 10, correlation);
}

/* ---- latencies ---------------------------------------------------------- */

/* Ten launches into an idle stream that take 1 to 10, in no order: nothing
 * delayed the tenth of them, and the usual one is the median. */
static void test_causes__latency_of_launches(void)
{
    static const int TOOK[] = {7, 3, 10, 1, 6, 2, 9, 4, 8, 5};
    struct made m = made_trace(0, 1);
    struct made_job j;
    struct msim_causes c;
    struct msim_rank_tasks r;

    made_op(&m, 1, "loop", 0, 1000);
    for (int i = 0; i < 10; i++)
        launch(&m, 100 * i, TOOK[i], i + 1);
    REQUIRE(made_load(&j, &m, 1));
    REQUIRE(find_causes(&c, &r, j.job->ranks[0]));
    CHECK_INT(c.latency, 2 * US);
    CHECK_INT(c.usual_latency, 6 * US);
    forget(&c, &r);
    made_unload(&j);
}

/* Kernels queued long before, six of them 1 to 5 and once 40 after each other.
 * As many waited for something else before they began. */
static void test_causes__gaps_of_a_stream(void)
{
    static const int GAPS[] = {300, 4, 1, 101, 40, 2, 500, 400, 300, 5, 3, 200};
    struct made m = made_trace(0, 1);
    struct made_job j;
    struct msim_causes c;
    struct msim_rank_tasks r;
    int at = 1005;

    made_op(&m, 1, "loop", 0, 30);
    launch(&m, 0, 5, 1);
    made_call(&m, 1, "cudaLaunchKernel", 2, 2, 2);
    made_kernel(&m, 7, "long", 15, 990, 2);
    for (int i = 0; i < 12; i++) {
        made_call(&m, 1, "cudaLaunchKernel", 4 + 2 * i, 2, 3 + i);
        made_kernel(&m, 7, "queued", at + GAPS[i], 10, 3 + i);
        at += GAPS[i] + 10;
    }
    REQUIRE(made_load(&j, &m, 1));
    REQUIRE(find_causes(&c, &r, j.job->ranks[0]));
    CHECK_INT(c.gap, 1 * US);
    CHECK_INT(c.usual_gap, 4 * US);
    forget(&c, &r);
    made_unload(&j);
}

/* ---- full devices ------------------------------------------------------- */

/*
 * `big` fills 10 SMs four times, from `full` to `full` + 1000, and lets `small`
 * in with its last wave. `small` was launched at 400; usual latencies are 5.
 * `input` ends 5 before `big` begins.
 */
static struct msim_cause second(int full)
{
    struct made m = made_trace(0, 1);
    struct msim_cause k = {0};
    struct msim_causes c;
    struct msim_rank_tasks r;
    struct made_job j;

    m.sms = 10;
    made_op(&m, 1, "loop", 0, 500);
    for (int i = 0; i < 3; i++)
        launch(&m, 100 * i, 5, i + 1);
    made_call(&m, 1, "cudaLaunchKernel", 380, 2, 4);
    made_kernel(&m, 24, "input", 385, full - 390, 4);
    made_call(&m, 1, "cudaLaunchKernel", 400, 2, 5);
    made_call(&m, 1, "cudaLaunchKernel", full - 5, 2, 6);
    made_grid(&m, 7, "big", full, 1000, 6, 80);
    made_grid(&m, 20, "small", full + 750, 100, 5, 1);
    if (!CHECK(made_load(&j, &m, 1)))
        return k;
    if (find_causes(&c, &r, j.job->ranks[0])) {
        k = msim_cause_of(&c, named(c.t, "small"), true, MSIM_TIME_NONE);
        CHECK(k.event == MSIM_NONE || k.event == named(c.t, "input"));
        forget(&c, &r);
    }
    made_unload(&j);
    return k;
}

/* With the usual latency of 5 it would have come before `big`. So its own is
 * what let `big` come first: 40, and a nanosecond. */
static void test_cause__late_for_a_full_device(void)
{
    struct msim_cause k = second(440);

    CHECK_INT(k.kind, MSIM_CAUSE_FULL);
    CHECK_INT(k.launch_lag, 40 * US + 1000);
    CHECK_INT(k.event, MSIM_NONE);
}

/* 300 are no latency: it waited for what ended as the device became full. */
static void test_cause__waited_before_a_full_device(void)
{
    struct msim_cause k = second(700);

    CHECK_INT(k.kind, MSIM_CAUSE_FULL);
    CHECK_INT(k.launch_lag, 5 * US);
    CHECK(k.event != MSIM_NONE);
}

/* `big` was there first: nothing but the full device held it up. */
static void test_cause__came_to_a_full_device(void)
{
    struct msim_cause k = second(404);

    CHECK_INT(k.kind, MSIM_CAUSE_FULL);
    CHECK_INT(k.launch_lag, 5 * US);
    CHECK_INT(k.event, MSIM_NONE);
}

int main(void)
{
    RUN(test_causes__latency_of_launches);
    RUN(test_causes__gaps_of_a_stream);
    RUN(test_cause__late_for_a_full_device);
    RUN(test_cause__waited_before_a_full_device);
    RUN(test_cause__came_to_a_full_device);
    return check_summary();
}
