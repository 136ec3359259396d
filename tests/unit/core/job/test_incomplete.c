/*
 * tests/unit/core/job/test_incomplete.c - recordings with something missing.
 *
 * Recordings with something missing are called incomplete, with the evidence;
 * complete ones are not. Times are microseconds.
 */
#include "core/job/job.h"

#include "tests/unit/made_job.h"

/* Load, simulate as traced, and look for what is missing. */
static bool judge(struct made_job *j, struct made *m)
{
    if (!made_load(j, m, 1))
        return false;
    msim_warn_lost_events(j->job);
    made_scaled(j, NULL);
    msim_warn_queued_idle(j->job, j->graph);
    return true;
}

/* k1, and k2 behind it in its stream. */
static struct made two_kernels(int first_launch)
{
    struct made m = made_trace(0, 1);

    made_op(&m, 1, "aten::mm", 0, 30);
    if (first_launch)
        made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(&m, 1, "cudaLaunchKernel", 14, 2, 2);
    made_kernel(&m, 7, "k1", 15, 100, 1);
    made_kernel(&m, 7, "k2", 116, 50, 2);
    return m;
}

static void test_incomplete__is_complete(void)
{
    struct made m = two_kernels(1);
    struct made_job j;

    REQUIRE(judge(&j, &m));
    CHECK(!made_warned(&j, "incomplete"));
    made_unload(&j);
}

/* k1 was launched before the recording: it is there at its time and holds up
 * its stream, but not k2's launch. */
static void test_incomplete__launched_before(void)
{
    struct made m = two_kernels(0);
    struct made_job j;

    REQUIRE(judge(&j, &m));
    CHECK(made_warned(&j, "incomplete trace: of 2 GPU activities 1 have no "
                          "launch"));
    CHECK_INT(made_start(&j, "k2"), 116 * US);
    made_scaled(&j, "kernels=2");
    CHECK_INT(made_start(&j, "k2"), (15 + 200 + 1) * US);
    made_unload(&j);
}

/* Kernels k0 to k5, each 10 at 0, 20, .. of one stream, but for the second. */
static void check_room(int dur, int ends, bool says)
{
    struct made m = made_trace(0, 1);
    struct made_job j;
    char name[8];

    made_op(&m, 1, "aten::mm", 0, 60);
    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof(name), "k%d", i);
        made_call(&m, 1, "cudaLaunchKernel", 2 * i, 1, i + 1);
        made_kernel(&m, 7, name, 20 + 20 * i, i == 1 ? dur : 10, i + 1);
    }
    REQUIRE(judge(&j, &m));
    CHECK_INT(made_end(&j, "k1") - made_start(&j, "k1"), ends * US);
    CHECK_INT(made_start(&j, "k5"), 120 * US);
    CHECK(made_warned(&j, "1 GPU activity is recorded to end when") == says);
    made_unload(&j);
}

/* The next may begin early, as programmatic launches do, but not end before,
 * and nothing behind it may. */
static void test_incomplete__room_of_a_stream(void)
{
    check_room(19, 19, false);
    check_room(29, 29, false);
    check_room(31, 31, false); /* a microsecond may be cut off */
    check_room(32, 20, true);
    check_room(50000, 20, true);
}

/* Branches of a graph run side by side, and end before what comes behind it. */
static void test_incomplete__room_of_a_graph(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_call(&m, 1, "cudaGraphLaunch", 0, 1, 1);
    made_call(&m, 1, "cudaLaunchKernel", 2, 1, 2);
    made_call(&m, 1, "cudaLaunchKernel", 4, 1, 3);
    made_kernel(&m, 7, "long", 10, 70, 1);
    made_kernel(&m, 7, "wrong", 12, 9000, 1);
    made_kernel(&m, 7, "short", 20, 10, 1);
    made_kernel(&m, 7, "short", 40, 10, 1);
    made_kernel(&m, 7, "behind", 90, 10, 2);
    made_kernel(&m, 7, "last", 110, 10, 3);
    REQUIRE(judge(&j, &m));
    CHECK_INT(made_end(&j, "long") - made_start(&j, "long"), 70 * US);
    CHECK_INT(made_end(&j, "wrong") - made_start(&j, "wrong"), 78 * US);
    CHECK(made_warned(&j, "next begins (8922 us): wrong"));
    made_unload(&j);
}

/* Where it is the rule, the stream is no queue. */
static void test_incomplete__no_queue(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;
    char name[8];

    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof(name), "k%d", i);
        made_call(&m, 1, "cudaLaunchKernel", 2 * i, 1, i + 1);
        made_kernel(&m, 7, name, 20 + 20 * i, 50, i + 1);
    }
    REQUIRE(judge(&j, &m));
    CHECK_INT(made_end(&j, "k1") - made_start(&j, "k1"), 50 * US);
    CHECK(!made_warned(&j, "GPU activities are recorded to end"));
    made_unload(&j);
}

/* The iteration that a kernel belongs to, or -1. */
static int64_t iteration_of(const struct made_job *j, const char *name)
{
    uint32_t w = j->graph->window[made_task(j, name)];

    return w == MSIM_NONE
               ? -1
               : j->graph->iterations[j->graph->windows[w].iteration];
}

/* Where no launch is recorded, its time says to which iteration a kernel
 * belongs. */
static void test_incomplete__no_launch_is_recorded(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_step(&m, 1, 4, 0, 100);
    made_step(&m, 1, 5, 100, 100);
    made_kernel(&m, 7, "a", 10, 20, 0);
    made_kernel(&m, 7, "b", 90, 20, 3);
    made_kernel(&m, 9, "c", 120, 20, 0);
    made_kernel(&m, 7, "d", 210, 20, 0);
    REQUIRE(judge(&j, &m));
    CHECK_INT(iteration_of(&j, "a"), 4);
    CHECK_INT(iteration_of(&j, "b"), 4);
    CHECK_INT(iteration_of(&j, "c"), 5);
    CHECK_INT(iteration_of(&j, "d"), -1);
    CHECK(made_warned(&j, "of 4 GPU activities 4 have no launch; they belong"));
    made_unload(&j);
}

/* What was in its queue before the recording, ahead of all that have a launch,
 * belongs to none. */
static void test_incomplete__launches_are_not_recorded(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_step(&m, 1, 4, 0, 100);
    made_step(&m, 1, 5, 100, 100);
    made_kernel(&m, 7, "a", 10, 20, 0);
    made_kernel(&m, 7, "b", 90, 20, 30);
    made_kernel(&m, 7, "c", 120, 20, 32);
    made_kernel(&m, 7, "d", 210, 20, 0);
    made_call(&m, 1, "cudaLaunchKernel", 110, 2, 31);
    made_kernel(&m, 9, "early", 20, 20, 0);
    made_kernel(&m, 9, "linked", 115, 20, 31);
    made_kernel(&m, 9, "late", 140, 20, 0);
    REQUIRE(judge(&j, &m));
    CHECK_INT(iteration_of(&j, "a"), 4);
    CHECK_INT(iteration_of(&j, "b"), -1);
    CHECK_INT(iteration_of(&j, "c"), 5);
    CHECK_INT(iteration_of(&j, "d"), -1);
    CHECK_INT(iteration_of(&j, "early"), -1);
    CHECK_INT(iteration_of(&j, "linked"), 5);
    CHECK_INT(iteration_of(&j, "late"), 5);
    CHECK(made_warned(&j, "of 7 GPU activities 2 have no launch; they occupy"));
    CHECK(made_warned(&j, "of 7 GPU activities 4 have no launch; they belong"));
    made_unload(&j);
}

/* Two of three launches started nothing that is recorded. */
static void test_incomplete__lost_kernels(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "aten::mm", 0, 60);
    made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(&m, 1, "cudaLaunchKernel", 30, 2, 2);
    made_call(&m, 1, "cudaLaunchKernelExC", 40, 2, 3);
    made_kernel(&m, 7, "k1", 15, 10, 1);
    REQUIRE(judge(&j, &m));
    CHECK(made_warned(&j, "incomplete trace: 2 of 3 kernel launches have no "
                          "kernel, the first of them 'cudaLaunchKernel' with "
                          "correlation 2"));
    made_unload(&j);
}

/* A driver call inside a runtime call is the same launch. */
static void test_incomplete__nested_launch(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "aten::mm", 0, 60);
    made_call(&m, 1, "cudaLaunchKernel", 10, 6, 1);
    made_call(&m, 1, "cuLaunchKernel", 12, 2, 2);
    made_kernel(&m, 7, "k1", 18, 10, 1);
    REQUIRE(judge(&j, &m));
    CHECK(!made_warned(&j, "incomplete"));
    made_unload(&j);
}

/* What a graph captures on its thread runs nothing: of four launches on thread
 * 1 and one on thread 2, those behind a capture and beside it are lost. */
static void check_captured(const char *begin, const char *end, int lost)
{
    struct made m = made_trace(0, 1);
    struct made_job j;
    char text[80];

    made_op(&m, 1, "aten::mm", 0, 90);
    made_call(&m, 1, "cudaLaunchKernel", 5, 2, 1);
    made_kernel(&m, 7, "k1", 15, 10, 1);
    if (begin)
        made_call(&m, 1, begin, 10, 1, 2);
    made_call(&m, 1, "cudaLaunchKernel", 20, 2, 3);
    made_call(&m, 1, "cuLaunchKernelEx", 30, 2, 4);
    if (end)
        made_call(&m, 1, end, 40, 1, 5);
    made_call(&m, 1, "cudaLaunchKernel", 50, 2, 6);
    made_call(&m, 2, "cudaLaunchKernel", 25, 2, 7);
    REQUIRE(judge(&j, &m));
    snprintf(text, sizeof(text), "%d of %d kernel launches have no kernel",
             lost, lost + 1);
    CHECK(made_warned(&j, text));
    made_unload(&j);
}

static void test_incomplete__captured_launches(void)
{
    check_captured(NULL, NULL, 4);
    check_captured("cudaStreamBeginCapture_v10000", "cudaStreamEndCapture", 2);
    check_captured("hipStreamBeginCapture", "hipStreamEndCapture", 2);
    check_captured("cuStreamBeginCaptureToGraph", "cuStreamEndCapture", 2);
    check_captured("cudaStreamBeginCapture", NULL, 1);
    check_captured(NULL, "cudaStreamEndCapture_ptsz", 2);
    check_captured("cudaStreamIsCapturing", "cudaStreamGetCaptureInfo_v2", 4);
}

/*
 * k2 could have started at 26, 1 after k1, and did at 500, with nothing beside
 * it: 474 in which the GPU did nothing that is recorded. They are kept.
 */
static void test_incomplete__idle_with_work_queued(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "aten::mm", 0, 30);
    made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(&m, 1, "cudaLaunchKernel", 14, 2, 2);
    made_kernel(&m, 7, "k1", 15, 10, 1);
    made_kernel(&m, 7, "k2", 500, 50, 2);
    REQUIRE(judge(&j, &m));
    CHECK(made_warned(&j, "incomplete trace: the GPU is idle in 1 place, "
                          "474.0 us in all, although work is queued, longest "
                          "474.0 us before 'k2' at 500.0 us"));
    CHECK_INT(made_start(&j, "k2"), 500 * US);
    CHECK_INT(j.graph->copied[MSIM_COPIED_UNEXPLAINED], 474 * US);
    made_unload(&j);
}

/* The same delay while another stream is busy: unexplained, but nothing has to
 * be missing from the recording. */
static void test_incomplete__busy_elsewhere(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "aten::mm", 0, 30);
    made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(&m, 1, "cudaLaunchKernel", 14, 2, 2);
    made_call(&m, 1, "cudaLaunchKernel", 18, 2, 3);
    made_kernel(&m, 7, "k1", 15, 10, 1);
    made_kernel(&m, 7, "k2", 500, 50, 2);
    made_kernel(&m, 20, "other", 23, 600, 3);
    REQUIRE(judge(&j, &m));
    CHECK(!made_warned(&j, "incomplete"));
    CHECK_INT(j.graph->copied[MSIM_COPIED_UNEXPLAINED], 474 * US);
    made_unload(&j);
}

int main(void)
{
    RUN(test_incomplete__is_complete);
    RUN(test_incomplete__launched_before);
    RUN(test_incomplete__room_of_a_stream);
    RUN(test_incomplete__room_of_a_graph);
    RUN(test_incomplete__no_queue);
    RUN(test_incomplete__no_launch_is_recorded);
    RUN(test_incomplete__launches_are_not_recorded);
    RUN(test_incomplete__lost_kernels);
    RUN(test_incomplete__nested_launch);
    RUN(test_incomplete__captured_launches);
    RUN(test_incomplete__idle_with_work_queued);
    RUN(test_incomplete__busy_elsewhere);
    return check_summary();
}
