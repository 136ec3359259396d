/*
 * tests/unit/core/graph/rules/test_graph_launch.c - from a launch to its
 * kernel.
 *
 * From a launch to its kernel: whatever the call is called, with a queue that
 * is full or not, for a graph of kernels, onto a device that is full.
 */
#include "tests/unit/made_job.h"

/*
 * A call at 20 starts something at 25 that takes 50. Its name does not matter:
 * the correlation links the two. On a host half as fast it starts at 45.
 */
static void check_launch(const char *name, bool memset)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "aten::mm", 0, 30);
    made_call(&m, 1, name, 20, 2, 1);
    if (memset) {
        made_gpu(&m, "gpu_memset", "Memset (Device)", 7, 25, 50, 1);
        made_add(&m, ",\"bytes\":4096}},");
    } else {
        made_kernel(&m, 7, "k", 25, 50, 1);
    }
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, NULL), 75 * US);
    CHECK_INT(made_edges(&j, MSIM_EDGE_LAUNCH, MSIM_FROM_IDS), 1);
    CHECK_INT(made_scaled(&j, "host=2"), 95 * US);
    CHECK_INT(made_scaled(&j, memset ? "copies=2" : "kernels=2"), 125 * US);
    CHECK_INT(made_scaled(&j, memset ? "copies=0" : "kernels=0"), 30 * US);
    CHECK_INT(made_without(&j, MSIM_EDGE_LAUNCH), 50 * US);
    made_unload(&j);
}

static void test_launch__whatever_the_call_is_called(void)
{
    static const char *const names[] = {
        "cudaLaunchKernel",
        "cudaLaunchKernelExC",
        "cuLaunchKernel",
        "cuLaunchKernelEx",
        "cudaLaunchCooperativeKernel",
        "cudaGraphLaunch",
        "hipLaunchKernel",
        "hipExtModuleLaunchKernel",
        "hipGraphLaunch",
        "someLibraryCallThatNobodyKnows",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        check_launch(names[i], false);
    check_launch("cudaMemsetAsync", true);
}

/* ---- launch queue ------------------------------------------------------- */

/*
 * `n` launches, one every 2; the first kernel runs from 5 to 3005, the others
 * take 1 each. The last call has a name of its own: of 1,025 it is the one that
 * does not fit beside 1,024 others, so it began at 2048 and ended at 3007.
 */
static struct made many_launches(int n)
{
    struct made m = made_trace(0, 1);
    int last = 2 * (n - 1), blocked = n == 1025;

    made_op(&m, 1, "loop", 0, blocked ? 3107 : last + 102);
    for (int i = 0; i < n - 1; i++)
        made_call(&m, 1, "cudaLaunchKernel", 2 * i, 2, i + 1);
    made_call(&m, 1, "cudaLaunchKernelExC", last, blocked ? 959 : 2, n);
    made_kernel(&m, 7, "long", 5, 3000, 1);
    for (int i = 1; i < n; i++)
        made_kernel(&m, 7, "short", 3004 + i, 1, i + 1);
    return m;
}

static msim_ps last_launch_ends(struct made_job *j, const char *scale)
{
    made_scaled(j, scale);
    return made_end(j, "cudaLaunchKernelExC");
}

/* Of the call, 2 are work, after the first kernel: 5 + 3000 x factor. */
static void test_queue__blocks_when_full(void)
{
    struct made m = many_launches(1025);
    struct made_job j;

    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(last_launch_ends(&j, NULL), 3007 * US);
    CHECK_INT(made_edges(&j, MSIM_EDGE_QUEUE, MSIM_EDGE_SOURCES), 1);
    CHECK_INT(last_launch_ends(&j, "kernels=3"), 9007 * US);
    CHECK_INT(last_launch_ends(&j, "kernels=0.5"), 2050 * US);
    CHECK_INT(last_launch_ends(&j, "kernels=0"), 2050 * US);
    CHECK_INT(last_launch_ends(&j, "host=2"), 4100 * US);
    made_without(&j, MSIM_EDGE_QUEUE);
    CHECK_INT(made_end(&j, "cudaLaunchKernelExC"), 2050 * US);
    made_unload(&j);
}

static void test_queue__does_not_block_before(void)
{
    struct made m = many_launches(1000);
    struct made_job j;

    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(last_launch_ends(&j, NULL), 2000 * US);
    CHECK_INT(made_edges(&j, MSIM_EDGE_QUEUE, MSIM_EDGE_SOURCES), 0);
    CHECK_INT(last_launch_ends(&j, "kernels=3"), 2000 * US);
    CHECK_INT(last_launch_ends(&j, "host=2"), 4000 * US);
    made_unload(&j);
}

/* 600 graphs of two kernels are 600 launches, not 1,200. */
static void test_queue__a_graph_is_one_launch(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "loop", 0, 1200);
    for (int i = 0; i < 600; i++) {
        made_call(&m, 1, "cudaGraphLaunch", 2 * i, 2, i + 1);
        made_kernel(&m, 7, "k1", 5 + 20 * i, 10, i + 1);
        made_kernel(&m, 7, "k2", 15 + 20 * i, 10, i + 1);
    }
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, "kernels=2"), (5 + 600 * 40) * US);
    CHECK_INT(made_edges(&j, MSIM_EDGE_QUEUE, MSIM_EDGE_SOURCES), 0);
    made_unload(&j);
}

#define KERNELS 1400
#define KERNEL  50

/*
 * Launches of 5, one a microsecond after the other, of kernels of 50: a stream
 * that holds `depth` launches fills, and the others return 6 after there is
 * room. Every third finds the room for one less, as if there were an entry that
 * the trace does not show. `pause`: before each 50th. `gpu`: end of the last
 * kernel.
 */
static struct made full_queue(int depth, int pause, int *gpu)
{
    static int end[KERNELS];
    struct made m = made_trace(0, 1);
    int now = 0;

    for (int i = 0; i < KERNELS; i++) {
        int room = i - depth + (i % 3 == 2), start, before = 0;

        now += i % 50 == 49 ? pause : 0;
        start = now;
        now += 5;
        if (room >= 0 && end[room] + 6 > now)
            now = end[room] + 6;
        before = i && end[i - 1] + 1 > start + 8 ? end[i - 1] + 1 : start + 8;
        end[i] = before + KERNEL;
        made_call(&m, 1, "cudaLaunchKernel", start, now - start, i + 1);
        made_kernel(&m, 7, "k", before, KERNEL, i + 1);
        now++;
    }
    *gpu = end[KERNELS - 1];
    return m;
}

/* However deep: halved kernels take half as long and do without the waits of
 * launches, of which 5 to 6 are work. */
static void check_full_queue(int depth)
{
    int gpu, half = 8 + KERNELS * (KERNEL / 2 + 1);
    struct made m = full_queue(depth, 0, &gpu);
    struct made_job j;
    msim_ps none;

    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, NULL), gpu * US);
    CHECK(llabs(made_scaled(&j, "kernels=0.5") - half * US) < 5 * US);
    none = made_scaled(&j, "kernels=0");
    CHECK(none >= 6 * KERNELS * US && none < 7 * KERNELS * US);
    CHECK(!made_warned(&j, "launch queue"));
    made_unload(&j);
}

static void test_queue__finds_its_depth(void)
{
    for (int depth = 1018; depth <= 1026; depth++)
        check_full_queue(depth);
    check_full_queue(256);
}

/* After a pause of 20 kernels the next 20 launches find room; they would wait
 * like the others, were they sooner. */
static void test_queue__that_is_full_at_times(void)
{
    int gpu;
    struct made m = full_queue(300, 20 * KERNEL, &gpu);
    struct made_job j;
    uint32_t edges;

    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, NULL), gpu * US);
    edges = made_edges(&j, MSIM_EDGE_QUEUE, MSIM_EDGE_SOURCES);
    CHECK(edges > KERNELS - 305 && edges < KERNELS - 295);
    CHECK(made_edges(&j, MSIM_EDGE_QUEUE, MSIM_FROM_ORDER) > edges / 2);
    made_unload(&j);
}

/* Without GPU times the queue has its usual depth: launch 1,024 waits for 0. */
static void test_queue__depth_without_times(void)
{
    int gpu;
    struct made m = full_queue(300, 0, &gpu);
    struct made_job j;

    REQUIRE(made_load(&j, &m, 1));
    made_run(&j, (struct made_what){.blind = true});
    CHECK_INT(made_edges(&j, MSIM_EDGE_QUEUE, MSIM_EDGE_SOURCES),
              KERNELS - 1024);
    made_unload(&j);
}

/*
 * A queue of 500 before a kernel of 60 ms, and launches of 100 that end with
 * nothing: they are work, and said, where they are many.
 */
static void check_slow_launches(int n, bool warned)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    for (int i = 0; i < 500 + n; i++) {
        int slow = i < 500 ? 0 : i - 500;

        made_call(&m, 1, "cudaLaunchKernel",
                  i < 500 ? 6 * i : 3000 + 101 * slow, i < 500 ? 5 : 100,
                  i + 1);
        made_kernel(&m, 7, "k", i ? 60000 + 60 * i : 8, i ? 50 : 60000, i + 1);
    }
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, "kernels=0"), (3000 + 101 * n - 1) * US);
    CHECK(made_warned(&j, "in all with the launch queue at 473 or more") ==
          warned);
    made_unload(&j);
}

static void test_queue__says_what_it_cannot_explain(void)
{
    check_slow_launches(40, true);
    check_slow_launches(5, false);
}

/* ---- launches that are not recorded -------------------------------------- */

/*
 * Launched before the recording: k1 from 20 to 120 comes when it did; k2, 480
 * after k1 for no reason that is known, keeps its distance; k3 follows k2.
 */
static void test_unlaunched__keeps_its_distance(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "loop", 0, 10);
    made_kernel(&m, 7, "k1", 20, 100, 1);
    made_kernel(&m, 7, "k2", 600, 100, 2);
    made_kernel(&m, 7, "k3", 703, 100, 3);
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, NULL), 803 * US);
    CHECK_INT(j.graph->copied[MSIM_COPIED_UNEXPLAINED], 480 * US);
    CHECK_INT(j.graph->copied[MSIM_COPIED_BEFORE], 3 * US);
    CHECK_INT(made_scaled(&j, "kernels=2"), 1103 * US);
    CHECK_INT(made_scaled(&j, "kernels=0.5"), 653 * US);
    CHECK_INT(made_scaled(&j, "kernels=0"), 10 * US);
    made_unload(&j);
}

/* ---- graphs ------------------------------------------------------------- */

/*
 * A graph of three kernels, launched at 20: 25..35, 38..48, 50..60. The gaps
 * of 3 and 2 are the graph's own and stay whatever the kernels take.
 */
static void test_launch__gaps_inside_a_graph(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "replay", 0, 30);
    made_call(&m, 1, "cudaGraphLaunch", 20, 5, 1);
    made_kernel(&m, 7, "g1", 25, 10, 1);
    made_kernel(&m, 7, "g2", 38, 10, 1);
    made_kernel(&m, 7, "g3", 50, 10, 1);
    REQUIRE(made_load(&j, &m, 1));
    CHECK(j.job->ranks[0]->gpu[0].in_graph);
    CHECK_INT(made_scaled(&j, NULL), 60 * US);
    CHECK_INT(made_scaled(&j, "kernels=2"), (25 + 20 + 3 + 20 + 2 + 20) * US);
    CHECK_INT(made_scaled(&j, "host=2"), 80 * US);
    CHECK_INT(made_scaled(&j, "kernels=0"), 30 * US);
    made_unload(&j);
}

/* ---- a full device ------------------------------------------------------ */

/*
 * 10 SMs hold 20 blocks of 1,024 threads, so `grid` blocks run from 15 to 1015
 * in grid / 20 waves. Another stream's kernel is launched at 20.
 */
static struct made beside(int grid, int start)
{
    struct made m = made_trace(0, 1);

    m.sms = 10;
    made_op(&m, 1, "aten::mm", 0, 30);
    made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(&m, 1, "cudaLaunchKernel", 20, 2, 2);
    made_grid(&m, 7, "big", 15, 1000, 1, grid);
    made_grid(&m, 20, "small", start, 50, 2, 1);
    return m;
}

static void check_beside(int grid, int start, int start_of_two)
{
    struct made m = beside(grid, start);
    struct made_job j;

    REQUIRE(made_load(&j, &m, 1));
    made_scaled(&j, NULL);
    CHECK_INT(made_start(&j, "small"), start * US);
    made_scaled(&j, "kernels=2");
    CHECK_INT(made_start(&j, "small"), start_of_two * US);
    made_scaled(&j, "kernels=0.001");
    CHECK_INT(made_start(&j, "small"), 25 * US);
    made_unload(&j);
}

/* The last of two waves begins at half the time, of eight at seven eighths. */
static void test_full__until_the_last_wave(void)
{
    check_beside(40, 515, 1015);
    check_beside(160, 890, 1765);
}

/* 19 blocks leave room at once, 20 do not until all of them are done. */
static void test_full__exactly(void)
{
    check_beside(19, 25, 25);
    check_beside(20, 1015, 2015);
}

/* Without the number of SMs nothing is known to be full. */
static void test_full__unknown_device(void)
{
    struct made m = beside(80, 25);
    struct made_job j;

    m.sms = 0;
    REQUIRE(made_load(&j, &m, 1));
    made_scaled(&j, "kernels=2");
    CHECK_INT(made_start(&j, "small"), 25 * US);
    made_unload(&j);
}

/*
 * Three kernels of a stream started 5 after their launches although the device
 * was full until 765: it goes before others, also when those take longer.
 */
static void test_full__but_a_stream_goes_first(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    m.sms = 10;
    made_op(&m, 1, "aten::mm", 0, 400);
    made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_grid(&m, 7, "big", 15, 1000, 1, 80);
    for (int i = 1; i <= 3; i++) {
        made_call(&m, 1, "cudaLaunchKernel", 100 * i, 2, 1 + i);
        made_grid(&m, 20, "urgent", 5 + 100 * i, 50, 1 + i, 1);
    }
    REQUIRE(made_load(&j, &m, 1));
    made_scaled(&j, NULL);
    CHECK_INT(made_start(&j, "urgent"), 105 * US);
    made_scaled(&j, "op:aten::mm=1.5");
    CHECK_INT(made_start(&j, "urgent"), 105 * US);
    made_unload(&j);
}

int main(void)
{
    RUN(test_launch__whatever_the_call_is_called);
    RUN(test_queue__blocks_when_full);
    RUN(test_queue__does_not_block_before);
    RUN(test_queue__finds_its_depth);
    RUN(test_queue__that_is_full_at_times);
    RUN(test_queue__depth_without_times);
    RUN(test_queue__says_what_it_cannot_explain);
    RUN(test_unlaunched__keeps_its_distance);
    RUN(test_queue__a_graph_is_one_launch);
    RUN(test_launch__gaps_inside_a_graph);
    RUN(test_full__until_the_last_wave);
    RUN(test_full__exactly);
    RUN(test_full__unknown_device);
    RUN(test_full__but_a_stream_goes_first);
    return check_summary();
}
