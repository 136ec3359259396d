/*
 * tests/unit/core/graph/rules/test_graph_steps.c - where steps begin and end.
 *
 * Where steps begin and end, however their marks lie; and inferences that
 * contradict each other. Times are microseconds.
 */
#include "core/report/analyse/outcome.h"
#include "tests/unit/made_job.h"

/* ---- steps -------------------------------------------------------------- */

/* Simulated length of a rank's nth step. */
static msim_ps step(const struct made_job *j, uint32_t n)
{
    const struct msim_run run = {
        .start = j->start, .dur = j->took, .lag = j->costs->lag};
    struct msim_window_times w[8];

    if (!CHECK(n < j->graph->n_windows && j->graph->n_windows <= 8))
        return -1;
    msim_window_bounds(j->graph, &run, w);
    return w[n].end - w[n].begin;
}

/*
 * Step 0 launches a kernel of 500, step 1 does nothing but wait for it: from
 * 20 to 520. Both begin and end where calls do, so the first task of step 1
 * waits; that wait is its time. The kernel twice as long: 500 more.
 */
static void test_step__begins_with_a_wait(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "ProfilerStep#0", 0, 20);
    made_op(&m, 1, "aten::mm", 0, 18);
    made_call(&m, 1, "cudaLaunchKernel", 10, 8, 1);
    made_kernel(&m, 7, "gemm", 18, 500, 1);
    made_op(&m, 1, "ProfilerStep#1", 20, 500);
    made_call(&m, 1, "cudaDeviceSynchronize", 20, 500, 2);
    REQUIRE(made_load(&j, &m, 1));
    made_scaled(&j, NULL);
    CHECK_INT(step(&j, 0), 20 * US);
    CHECK_INT(step(&j, 1), 500 * US);
    made_scaled(&j, "kernels=2");
    CHECK_INT(step(&j, 1), 1000 * US);
    made_unload(&j);
}

/* The same in one step; the wait sticks out by the microsecond that truncating
 * times takes: it is the step's all the same. */
static void test_step__ends_with_a_wait(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "ProfilerStep#0", 0, 519);
    made_op(&m, 1, "aten::mm", 0, 18);
    made_call(&m, 1, "cudaLaunchKernel", 10, 8, 1);
    made_kernel(&m, 7, "gemm", 18, 500, 1);
    made_call(&m, 1, "cudaDeviceSynchronize", 20, 500, 2);
    made_op(&m, 1, "after", 530, 10);
    REQUIRE(made_load(&j, &m, 1));
    made_scaled(&j, NULL);
    CHECK_INT(step(&j, 0), 520 * US);
    made_unload(&j);
}

/* A mark of no length takes no time; not all of the trace's. Another rank did
 * something in that step, so that it counts. */
static void test_step__with_nothing_inside(void)
{
    struct made m[] = {made_trace(0, 2), made_trace(1, 2)};
    struct made_job j;

    for (int r = 0; r < 2; r++) {
        made_op(&m[r], 1, "ProfilerStep#0", 50, 5 * r);
        made_op(&m[r], 1, "aten::mm", 50 * r, 40 / (1 + 9 * r));
        made_op(&m[r], 1, "ProfilerStep#1", 60, 40);
        made_op(&m[r], 1, "aten::mm", 60, 40);
    }
    REQUIRE(made_load(&j, m, 2));
    made_scaled(&j, NULL);
    CHECK(j.graph->windows[0].empty && !j.graph->windows[1].empty);
    CHECK_INT(step(&j, 0), 0);
    CHECK_INT(step(&j, 2), 40 * US);
    made_unload(&j);
}

/* ---- contradictions ----------------------------------------------------- */

/*
 * The clocks of CPU and GPU differ by a microsecond: `late` seems to end
 * within what a call that hides a wait may have waited for, though `next`,
 * which was launched after that call, seems to have come before it. Only one
 * of the two can be; what goes back in time is left out.
 */
static void test_graph__leaves_out_what_goes_back(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "aten::mm", 0, 110);
    made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(&m, 1, "cudaStreamWaitEvent", 14, 1, 2);
    made_call(&m, 1, "cudaLaunchKernel", 16, 2, 3);
    made_call(&m, 1, "cudaEventElapsedTime", 20, 80, 4);
    made_call(&m, 1, "cudaLaunchKernel", 100, 1, 5);
    made_kernel(&m, 7, "first", 15, 84, 1);
    made_kernel(&m, 7, "next", 100, 1, 5);
    made_kernel(&m, 20, "late", 101, 1, 3);
    REQUIRE(made_load(&j, &m, 1));
    CHECK(made_scaled(&j, NULL) > 0);
    REQUIRE(j.job->n_warnings == 1);
    CHECK(strstr(j.job->warnings[0], "'late'") != NULL);
    made_unload(&j);
}

/*
 * Two ranks, no metadata: collectives are counted from the first step on. On
 * rank 1 a send had been launched before its step began, so counting matches
 * the send of rank 0 with the second of rank 1, which comes after a reduction
 * that rank 0 comes to later: a circle. Then they do not wait for each other.
 */
static void add_collective(struct made *m, int number, const char *name, int ts)
{
    made_call(m, 1, "cudaLaunchKernel", ts, 2, number);
    made_kernel(m, 7, name, ts + 10, 30, number);
}

static void test_graph__counts_wrong(void)
{
    static const char reduce[] = "ncclKernel_AllReduce_Sum";
    static const char send[] = "ncclKernel_SendRecv";
    struct made ranks[] = {made_trace(0, 2), made_trace(1, 2)};
    struct made_job j;

    made_op(&ranks[0], 1, "ProfilerStep#0", 0, 400);
    add_collective(&ranks[0], 1, send, 20);
    add_collective(&ranks[0], 2, reduce, 120);
    add_collective(&ranks[0], 3, send, 220);
    made_op(&ranks[1], 1, "ProfilerStep#0", 60, 340);
    add_collective(&ranks[1], 1, send, 20);
    add_collective(&ranks[1], 2, reduce, 120);
    add_collective(&ranks[1], 3, send, 220);
    REQUIRE(made_load(&j, ranks, 2));
    CHECK_INT(made_run(&j, (struct made_what){.blind = true}) > 0, 1);
    CHECK_INT(j.job->n_warnings, 1);
    CHECK(strstr(j.job->warnings[0], "in a circle") != NULL);
    CHECK_INT(made_edges(&j, MSIM_EDGE_COLLECTIVE, MSIM_EDGE_SOURCES), 0);
    made_unload(&j);
}

int main(void)
{
    RUN(test_step__begins_with_a_wait);
    RUN(test_step__ends_with_a_wait);
    RUN(test_step__with_nothing_inside);
    RUN(test_graph__leaves_out_what_goes_back);
    RUN(test_graph__counts_wrong);
    return check_summary();
}
