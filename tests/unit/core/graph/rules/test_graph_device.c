/*
 * tests/unit/core/graph/rules/test_graph_device.c - tasks of activities: their
 * kinds, the step that each is of, and those without a launch.
 *
 * Times are microseconds.
 */
#include "tests/unit/made_job.h"

static void launch(struct made *m, const char *name, int at, int start,
                   int correlation)
{
    made_call(m, 1, "cudaLaunchKernel", at, 1, correlation);
    made_kernel(m, 7, name, start, 5, correlation);
}

/* An activity is of the step in which it was launched, whenever it runs; what
 * has no launch, of that in which it begins. */
static void test_graph_device__windows(void)
{
    static const struct {
        const char *name;
        uint32_t window;
    } cases[] = {
        {"before", MSIM_NONE}, {"first", 0}, {"last", 0},
        {"second", 1},         {"end", 1},   {"between", MSIM_NONE},
        {"behind", MSIM_NONE}, {"alone", 1}, {"later", MSIM_NONE},
    };
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_step(&m, 1, 4, 100, 100);
    made_step(&m, 1, 5, 200, 100);
    made_op(&m, 1, "aten::mm", 0, 400);
    launch(&m, "before", 99, 110, 1);
    launch(&m, "first", 100, 120, 2);
    launch(&m, "last", 199, 220, 3);
    launch(&m, "second", 201, 230, 4);
    launch(&m, "end", 299, 350, 5);
    launch(&m, "between", 301, 360, 6);
    launch(&m, "behind", 350, 370, 7);
    made_kernel(&m, 9, "alone", 250, 5, 90);
    made_kernel(&m, 9, "later", 300, 5, 91);
    REQUIRE(made_load(&j, &m, 1));
    made_scaled(&j, NULL);
    CHECK_UINT(j.graph->n_windows, 2);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (!CHECK_UINT(j.graph->window[made_task(&j, cases[i].name)],
                        cases[i].window))
            fprintf(stderr, "'%s'\n", cases[i].name);
    made_unload(&j);
}

/* Without marks all is of the one window that there is. */
static void test_graph_device__one_window(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "aten::mm", 0, 100);
    launch(&m, "k", 5, 20, 1);
    REQUIRE(made_load(&j, &m, 1));
    made_scaled(&j, NULL);
    CHECK_UINT(j.graph->window[made_task(&j, "k")], 0);
    CHECK(msim_window_is_whole(&j.graph->windows[0]));
    made_unload(&j);
}

/* Of a stream without launches the first comes when it was recorded, another as
 * long behind the one before: up to 100 it was queued, else it is not known
 * why. */
static void test_graph_device__without_launches(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "aten::mm", 0, 20);
    made_kernel(&m, 7, "a", 30, 10, 90);
    made_kernel(&m, 7, "b", 140, 10, 91);
    made_kernel(&m, 7, "c", 251, 10, 92);
    REQUIRE(made_load(&j, &m, 1));
    made_scaled(&j, NULL);
    CHECK_INT(j.graph->copied[MSIM_COPIED_BEFORE], 100 * US);
    CHECK_INT(j.graph->copied[MSIM_COPIED_UNEXPLAINED], 101 * US);
    CHECK_UINT(j.graph->n_unexplained, 1);
    CHECK_UINT(made_edges(&j, MSIM_EDGE_STREAM, MSIM_FROM_ORDER), 1);
    CHECK_UINT(made_edges(&j, MSIM_EDGE_UNEXPLAINED, MSIM_FROM_TIMES), 1);
    CHECK_INT(made_start(&j, "a"), 30 * US);
    CHECK_INT(made_scaled(&j, "kernels=2"), (261 + 3 * 10) * US);
    CHECK_INT(made_start(&j, "c"), (251 + 2 * 10) * US);
    /* no gap is read where no time may be */
    made_run(&j, (struct made_what){.blind = true});
    CHECK_INT(j.graph->copied[MSIM_COPIED_BEFORE], 0);
    made_unload(&j);
}

/* A collective is where it arrives, and its transfer. */
static void test_graph_device__kinds(void)
{
    static const struct made_comm sum = {"allreduce", "0", "0", 1,
                                         4,           0,   -1,  -1};
    struct made m = made_trace(0, 1);
    struct made_job j;
    uint32_t n[MSIM_TASK_JOIN + 1] = {0};

    made_op(&m, 1, "aten::mm", 0, 50);
    launch(&m, "k", 5, 20, 1);
    made_call(&m, 1, "cudaMemcpyAsync", 8, 1, 2);
    made_copy(&m, 7, "HtoD (Pinned -> Device)", 30, 5, 2, 64);
    made_call(&m, 1, "cudaLaunchKernel", 12, 1, 3);
    made_nccl(&m, 8, sum, 40, 10, 3);
    REQUIRE(made_load(&j, &m, 1));
    made_scaled(&j, NULL);
    for (uint32_t t = 0; t < j.graph->n_tasks; t++)
        n[j.graph->kind[t]]++;
    CHECK_UINT(n[MSIM_TASK_KERNEL], 1);
    CHECK_UINT(n[MSIM_TASK_COPY], 1);
    CHECK_UINT(n[MSIM_TASK_COMM], 1);
    CHECK(n[MSIM_TASK_JOIN] >= 1);
    made_unload(&j);
}

int main(void)
{
    RUN(test_graph_device__windows);
    RUN(test_graph_device__one_window);
    RUN(test_graph_device__without_launches);
    RUN(test_graph_device__kinds);
    return check_summary();
}
