/*
 * tests/unit/core/graph/rules/test_graph_wait.c - when activities were
 * launched, where the recording of the launch is missing.
 */
#include "core/graph/rules/graph_rules.h"

#include "tests/check.h"

/* Two streams: the first begins with an activity whose launch is missing, then
 * one that was launched at 40, then another one that is missing; the second has
 * one activity without a launch. */
static struct msim_call calls[] = {{.start = 40}};
static struct msim_gpu gpu[] = {
    {.start = 10, .stream = 0, .call = MSIM_NONE},
    {.start = 50, .stream = 0, .call = 0},
    {.start = 60, .stream = 0, .call = MSIM_NONE},
    {.start = 70, .stream = 1, .call = MSIM_NONE},
};
static struct msim_stream streams[] = {{.gpu_begin = 0, .gpu_end = 3},
                                       {.gpu_begin = 3, .gpu_end = 4}};

static void find(bool device_times, msim_ps launched[4])
{
    const struct msim_graph_options options = {.device_times = device_times};
    const struct msim_graph_builder b = {.opt = &options};
    const struct msim_trace t = {.calls = calls,
                                 .n_calls = 1,
                                 .gpu = gpu,
                                 .n_gpu = 4,
                                 .streams = streams,
                                 .n_streams = 2};
    struct msim_rank_tasks r = {.trace = &t, .launched = launched};

    msim_graph_find_launches(&b, &r);
}

/* A stream keeps the order of launches: a missing one came with the one before,
 * and before the recording where there is none; not when the activity began,
 * which moves with the GPU's work. */
static void test_find_launches__missing(void)
{
    msim_ps launched[4];

    find(true, launched);
    CHECK_INT(launched[0], INT64_MIN);
    CHECK_INT(launched[1], 40);
    CHECK_INT(launched[2], 40);
    CHECK_INT(launched[3], INT64_MIN);
}

/* Where no GPU time may be read, the activity's start stands for its launch. */
static void test_find_launches__without_gpu_times(void)
{
    msim_ps launched[4];

    find(false, launched);
    CHECK_INT(launched[0], 10);
    CHECK_INT(launched[1], 40);
    CHECK_INT(launched[2], 60);
}

int main(void)
{
    RUN(test_find_launches__missing);
    RUN(test_find_launches__without_gpu_times);
    return check_summary();
}
