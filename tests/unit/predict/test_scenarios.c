/* predict/scenarios.c: waits that no trace explains, on another GPU. */
#include "predict/predict_internal.h"

#include "tests/unit/made_job.h"

static void scale_kernels(struct made_job *j, double factor)
{
    for (uint32_t t = 0; t < j->graph->n_tasks; t++)
        if (j->graph->kind[t] == MSIM_TASK_KERNEL)
            j->costs->mid[t] = (msim_ps)(factor * (double)j->graph->traced[t]);
}

static void check_stretch(struct made_job *j, double kernels, double low,
                          double high)
{
    double is[MSIM_EDGE_KINDS] = {0};

    scale_kernels(j, kernels);
    msim_scenario_stretch(is, j->graph, j->costs, false);
    CHECK_REL(is[MSIM_EDGE_UNEXPLAINED], low, 1e-9);
    CHECK_REL(is[MSIM_EDGE_COLLECTIVE], low, 1e-9);
    CHECK(is[MSIM_EDGE_STREAM] == 0);
    msim_scenario_stretch(is, j->graph, j->costs, true);
    CHECK_REL(is[MSIM_EDGE_UNEXPLAINED], high, 1e-9);
    CHECK_REL(is[MSIM_EDGE_COLLECTIVE], high, 1e-9);
}

/* Kernels of 10 and `second`; `late` microseconds after launch and stream. */
static struct made two_kernels(int late, int second)
{
    struct made m = made_trace(0, 1);

    made_op(&m, 1, "aten::mm", 0, 30);
    made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(&m, 1, "cudaLaunchKernel", 14, 2, 2);
    made_kernel(&m, 7, "k1", 15, 10, 1);
    made_kernel(&m, 7, "k2", 26 + late, second, 2);
    return m;
}

/* 100 of kernels, and a delay of 500 that nothing explains. */
static void test_stretch__goes_with_the_gpu(void)
{
    struct made m = two_kernels(500, 90);
    struct made_job j;

    REQUIRE(made_load(&j, &m, 1));
    made_run(&j, (struct made_what){0});
    CHECK_INT(j.graph->copied[MSIM_COPIED_UNEXPLAINED], 500 * US);
    check_stretch(&j, 1, 1, 1);
    check_stretch(&j, 2, 1, 2);
    check_stretch(&j, 0.5, 0.5, 1.1); /* 50 saved of 500 */
    made_unload(&j);
}

static void test_stretch__nothing_to_stretch(void)
{
    double is[MSIM_EDGE_KINDS] = {0};
    struct made m = two_kernels(0, 90);
    struct made_job j;

    REQUIRE(made_load(&j, &m, 1));
    made_run(&j, (struct made_what){0});
    scale_kernels(&j, 2);
    msim_scenario_stretch(is, j.graph, j.costs, true);
    CHECK(is[MSIM_EDGE_UNEXPLAINED] == 0);
    made_unload(&j);
}

int main(void)
{
    RUN(test_stretch__goes_with_the_gpu);
    RUN(test_stretch__nothing_to_stretch);
    return check_summary();
}
