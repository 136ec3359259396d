/*
 * tests/unit/core/graph/rules/test_graph_begin.c - ranks that begin later.
 *
 * Rank 0 is recorded before rank 1 is. Times are microseconds, on one clock.
 */
#include "tests/unit/made_job.h"

static const struct made_comm REDUCE = {.name = "allreduce",
                                        .group = "0",
                                        .ranks = "0, 1",
                                        .size = 2,
                                        .elems = 100,
                                        .sequence = -1,
                                        .src = -1,
                                        .dst = -1};

/* An operator of 20 from `at` on with a kernel of 80 at `at` + 20, for which
 * the host waits until `at` + 100. */
static void work(struct made *m, int at, int correlation)
{
    made_op(m, 1, "aten::mm", at, 20);
    made_call(m, 1, "cudaLaunchKernel", at + 10, 5, correlation);
    made_kernel(m, 7, "gemm", at + 20, 80, correlation);
    made_call(m, 1, "cudaDeviceSynchronize", at + 20, 80, correlation + 1);
}

/* Launched at `at`, from `at` + 5 to `end`. */
static void meet(struct made *m, int at, int end, int correlation)
{
    made_op(m, 1, "reduce", at, 20);
    made_call(m, 1, "cudaLaunchKernel", at, 2, correlation);
    made_nccl(m, 20, REDUCE, at + 5, end - at - 5, correlation);
}

/*
 * Rank 0 works to 1000, ten times; rank 1 begins 40 after that, and both meet
 * at 1045 for 55. With all work a tenth, each of the ten takes 1 to its launch,
 * 10 of latency and 8 of kernel; then come 4, and 5 to the arrival. Without the
 * rule rank 1 comes at 1045.
 */
static void test_begin__follows_the_first(void)
{
    struct made m[2] = {made_trace(0, 2), made_trace(1, 2)};
    struct made_job j;

    for (int i = 0; i < 10; i++)
        work(&m[0], 100 * i, 1 + 2 * i);
    meet(&m[0], 1040, 1100, 30);
    meet(&m[1], 1040, 1100, 1);
    REQUIRE(made_load(&j, m, 2));
    CHECK_INT(made_scaled(&j, NULL), 1100 * US);
    CHECK_INT(j.start[made_transfer(&j, 1, 0)], 1045 * US);
    made_scaled(&j, "host=0 kernels=0");
    CHECK(j.start[made_transfer(&j, 1, 0)] < 20 * US);
    made_scaled(&j, "host=0.1 kernels=0.1");
    CHECK_INT(j.start[made_transfer(&j, 1, 0)], 199 * US);
    made_scaled(&j, "host=2 kernels=2");
    CHECK_INT(j.start[made_transfer(&j, 0, 0)],
              j.start[made_transfer(&j, 1, 0)]);
    made_without(&j, MSIM_EDGE_BEGIN);
    CHECK_INT(j.start[made_transfer(&j, 1, 0)], 1045 * US);
    CHECK_INT(made_edges(&j, MSIM_EDGE_BEGIN, MSIM_EDGE_SOURCES), 0);
    made_unload(&j);
}

/*
 * Rank 1 begins while rank 0 waits for its second kernel: 1000 after the first
 * has ended, which takes 2000.
 */
static void test_begin__in_a_wait(void)
{
    struct made m[2] = {made_trace(0, 2), made_trace(1, 2)};
    struct made_job j;

    made_op(&m[0], 1, "aten::mm", 0, 20);
    made_call(&m[0], 1, "cudaLaunchKernel", 10, 5, 1);
    made_call(&m[0], 1, "cudaLaunchKernel", 15, 5, 2);
    made_kernel(&m[0], 7, "gemm", 20, 2000, 1);
    made_kernel(&m[0], 7, "gemm", 2020, 3000, 2);
    made_call(&m[0], 1, "cudaDeviceSynchronize", 20, 5000, 3);
    meet(&m[0], 5020, 5600, 30);
    made_op(&m[1], 1, "late", 3020, 2500);
    meet(&m[1], 5520, 5600, 1);
    REQUIRE(made_load(&j, m, 2));
    made_scaled(&j, NULL);
    CHECK_INT(j.start[made_transfer(&j, 1, 0)], 5525 * US);
    made_scaled(&j, "kernels=0.5");
    CHECK_INT(j.start[made_transfer(&j, 1, 0)], 4525 * US);
    made_unload(&j);
}

/*
 * By rank 1's clock, which is off by less than what may be, it begins when
 * rank 0 has already waited for it. It cannot follow that: it begins when it
 * was recorded, and no one is told of a circle.
 */
static void test_begin__not_in_a_circle(void)
{
    struct made m[2] = {made_trace(0, 2), made_trace(1, 2)};
    struct made_job j;

    meet(&m[0], 10, 300, 1);
    made_call(&m[0], 1, "cudaDeviceSynchronize", 40, 260, 2);
    made_op(&m[0], 1, "aten::mm", 310, 500);
    meet(&m[1], 500, 700, 1);
    REQUIRE(made_load(&j, m, 2));
    made_scaled(&j, NULL);
    CHECK_INT(j.start[made_transfer(&j, 1, 0)], 495 * US);
    CHECK(!made_warned(&j, "circle") && !made_warned(&j, "contradict"));
    made_unload(&j);
}

int main(void)
{
    RUN(test_begin__follows_the_first);
    RUN(test_begin__in_a_wait);
    RUN(test_begin__not_in_a_circle);
    return check_summary();
}
