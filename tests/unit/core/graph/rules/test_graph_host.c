/*
 * tests/unit/core/graph/rules/test_graph_host.c - threads that hand work to
 * each other, and loaders.
 *
 * Threads that hand work to each other, and loaders that feed them. Times are
 * microseconds.
 */
#include "tests/unit/made_job.h"

#define FETCH   "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
#define FETCHES "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"

/* ---- hand-over ---------------------------------------------------------- */

/*
 * Two steps. Thread 1 runs `forward` for 100, is idle for 200 and goes on with
 * `step` for 40; thread 2 runs `backward` for 180 in between, 10 after it was
 * handed the work and 10 before it hands back. Between the steps thread 2 is
 * idle. 350 and 350 again.
 */
static struct made training(void)
{
    struct made m = made_trace(0, 1);

    for (int at = 0; at < 700; at += 350) {
        made_op(&m, 1, "forward", at, 100);
        made_op(&m, 2, "backward", at + 110, 180);
        made_op(&m, 1, "step", at + 300, 50);
    }
    return m;
}

static void test_handover__there_and_back(void)
{
    struct made m = training();
    struct made_job j;

    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, NULL), 700 * US);
    /* Thread 2's start and its idle time, thread 1's two idle times. */
    CHECK_INT(made_edges(&j, MSIM_EDGE_HANDOVER, MSIM_FROM_TIMES), 4);
    CHECK_INT(j.graph->copied[MSIM_COPIED_HANDOVER], 40 * US);
    CHECK_INT(made_scaled(&j, "host:backward=2"), 2 * (350 + 180) * US);
    CHECK_INT(made_scaled(&j, "host:backward=0"), 2 * (350 - 180) * US);
    CHECK_INT(made_scaled(&j, "host:forward=2"), 2 * (350 + 100) * US);
    CHECK_INT(made_scaled(&j, "host=3"), 3 * 700 * US);
    /* Each thread alone: thread 2 takes 10 + 180 + 10 + 180. */
    CHECK_INT(made_without(&j, MSIM_EDGE_HANDOVER), 380 * US);
    made_unload(&j);
}

/* A pause in which no other thread did anything is work of the thread's own:
 * it was interpreting, or held up by what no one records. */
static void test_handover__nobody_handed_over(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "a", 0, 100);
    made_op(&m, 1, "b", 300, 50);
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, NULL), 350 * US);
    CHECK_INT(made_edges(&j, MSIM_EDGE_HANDOVER, MSIM_EDGE_SOURCES), 0);
    CHECK_INT(j.graph->copied[MSIM_COPIED_GAP], 200 * US);
    CHECK_INT(made_scaled(&j, "host:a=0"), 250 * US);
    made_unload(&j);
}

/* Another thread that was busy for the first quarter of a pause did not end it:
 * 150 of 200 came after. */
static void test_handover__ended_too_early(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "a", 0, 100);
    made_op(&m, 2, "other", 110, 40);
    made_op(&m, 1, "b", 300, 50);
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, NULL), 350 * US);
    CHECK_INT(j.graph->copied[MSIM_COPIED_GAP], 200 * US);
    CHECK_INT(made_scaled(&j, "host:other=0"), 350 * US);
    made_unload(&j);
}

/* Of two threads that end at once the first handed over: without its work the
 * second's is the longest. */
static void test_handover__first_of_equals(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "a", 0, 100);
    made_op(&m, 2, "two", 110, 180);
    made_op(&m, 3, "three", 110, 180);
    made_op(&m, 1, "b", 300, 50);
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, NULL), 350 * US);
    CHECK_INT(made_scaled(&j, "host:three=0"), 350 * US);
    CHECK_INT(made_scaled(&j, "host:two=0"), 290 * US);
    made_unload(&j);
}

/* A backward pass that synchronises: the thread that waits for it waits for
 * the GPU through it. k from 135 to 235, the synchronisation ends 5 later. */
static void test_handover__passes_the_gpu_on(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "forward", 0, 100);
    made_op(&m, 2, "backward", 110, 180);
    made_call(&m, 2, "cudaLaunchKernel", 130, 2, 1);
    made_kernel(&m, 7, "k", 135, 100, 1);
    made_call(&m, 2, "cudaStreamSynchronize", 140, 100, 2);
    made_op(&m, 1, "step", 300, 50);
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, NULL), 350 * US);
    CHECK_INT(made_scaled(&j, "kernels=2"), 450 * US);
    /* 140 + 5 instead of 240. */
    CHECK_INT(made_scaled(&j, "kernels=0"), (350 - 95) * US);
    made_unload(&j);
}

/* ---- data loaders ------------------------------------------------------- */

/*
 * Batches from worker processes at 3000 and 10000, each waited for, then 5000
 * of training. The processes go on at their own rate, 7000 a batch.
 */
static struct made fed(void)
{
    struct made m = made_trace(0, 1);

    made_op(&m, 1, FETCH, 0, 3000);
    made_op(&m, 1, "train", 3000, 5000);
    made_op(&m, 1, FETCH, 8000, 2000);
    made_op(&m, 1, "train", 10000, 5000);
    return m;
}

static void test_loader__waits_as_long_as_it_has_to(void)
{
    struct made m = fed();
    struct made_job j;

    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, NULL), 15000 * US);
    CHECK_INT(j.graph->copied[MSIM_COPIED_LOADER], 7000 * US);
    /* Training of 6000 waits 1000, one of 7000 or more does not wait. */
    CHECK_INT(made_scaled(&j, "host:train=1.2"), (10000 + 6000) * US);
    CHECK_INT(made_scaled(&j, "host:train=1.4"), (10000 + 7000) * US);
    CHECK_INT(made_scaled(&j, "host:train=2"), (13000 + 10000) * US);
    /* Training of 1000 waits 6000: batches come no sooner for it. */
    CHECK_INT(made_scaled(&j, "host:train=0.2"), (10000 + 1000) * US);
    CHECK_INT(made_scaled(&j, "host:train=0"), 10000 * US);
    made_unload(&j);
}

/* A batch that was there takes 80: nobody waited, and that is work. */
static void test_loader__batch_was_there(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, FETCH, 0, 80);
    made_op(&m, 1, "train", 80, 5000);
    made_op(&m, 1, FETCH, 5080, 80);
    made_op(&m, 1, "train", 5160, 5000);
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, "host:train=0.5"), 5160 * US);
    CHECK_INT(made_edges(&j, MSIM_EDGE_LOADER, MSIM_EDGE_SOURCES), 0);
    made_unload(&j);
}

/* A batch that was there, and 800 to put it together: work inside the call is
 * no wait, though the whole takes longer than a short one. */
static void test_loader__works_inside(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    for (int at = 0; at < 12400; at += 6200) {
        made_op(&m, 1, FETCH, at, 1200);
        made_op(&m, 1, "aten::cat", at + 100, 800);
        made_op(&m, 1, "train", at + 1200, 5000);
    }
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, "host:train=0"), 2400 * US);
    CHECK_INT(made_edges(&j, MSIM_EDGE_LOADER, MSIM_EDGE_SOURCES), 0);
    made_unload(&j);
}

/*
 * Batches that were there: 90 from the queue, some 1300 where they have to be
 * received, though training takes 120 ms at one time and 160 at another. That
 * is a cost. Without training nothing is waited for.
 */
static void test_loader__receives_at_a_cost(void)
{
    static const int TOOK[] = {4300, 80, 90, 1250, 1370, 1400};
    static const int TRAINING[] = {177000, 124000, 127000,
                                   125000, 162000, 115000};
    struct made m = made_trace(0, 1);
    struct made_job j;
    int at = 0;

    for (int i = 0; i < 6; i++) {
        made_op(&m, 1, FETCH, at, TOOK[i]);
        made_op(&m, 1, "train", at + TOOK[i], TRAINING[i]);
        at += TOOK[i] + TRAINING[i];
    }
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, NULL), at * US);
    CHECK_INT(made_scaled(&j, "host:train=0"), 8490 * US);
    CHECK_INT(made_edges(&j, MSIM_EDGE_LOADER, MSIM_EDGE_SOURCES), 0);
    made_unload(&j);
}

/*
 * Training takes 100 to 104 ms and a batch comes every 150 ms: what is left is
 * waited for, but for the 80 us of taking a batch that is there.
 */
static void test_loader__waits_vary_as_training(void)
{
    static const int TRAINING[] = {100000, 104000, 102000, 101000, 103000};
    struct made m = made_trace(0, 1);
    struct made_job j;
    int at = 50080;

    made_op(&m, 1, FETCH, 0, 80);
    made_op(&m, 1, FETCH, 80, 50000);
    for (int i = 0; i < 5; i++) {
        made_op(&m, 1, "train", at, TRAINING[i]);
        made_op(&m, 1, FETCH, at + TRAINING[i], 150000 - TRAINING[i]);
        at += 150000;
    }
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, NULL), at * US);
    CHECK_INT(made_scaled(&j, "host:train=0"), at * US);
    CHECK_INT(made_scaled(&j, "host:enumerate*=0"), (at - 80) * US);
    made_unload(&j);
}

/*
 * Batches that were there and take 3000, 2900 of it in operators of the taking
 * thread: work, which nobody waited for, however long it is.
 */
static void test_loader__works_on_a_batch(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    for (int i = 0; i < 2; i++) {
        made_op(&m, 1, FETCH, 8000 * i, 3000);
        made_op(&m, 1, "aten::cat", 8000 * i + 50, 2900);
        made_op(&m, 1, "train", 8000 * i + 3000, 5000);
    }
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, NULL), 16000 * US);
    CHECK_INT(made_edges(&j, MSIM_EDGE_LOADER, MSIM_EDGE_SOURCES), 0);
    CHECK_INT(made_scaled(&j, "host:train=0"), 6000 * US);
    made_unload(&j);
}

/*
 * The same batches, 4100 late: each call waits for 4100 and works for 2900, and
 * the processes go on at their own rate, 12000 a batch.
 */
static void test_loader__waits_and_works(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    for (int i = 0; i < 2; i++) {
        made_op(&m, 1, FETCH, 12000 * i, 7000);
        made_op(&m, 1, "aten::cat", 12000 * i + 4100, 2900);
        made_op(&m, 1, "train", 12000 * i + 7000, 5000);
    }
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, NULL), 24000 * US);
    CHECK_INT(j.graph->copied[MSIM_COPIED_LOADER], 12000 * US);
    /* The second batch comes at 16100, and 2900 of work follow. */
    CHECK_INT(made_scaled(&j, "host:train=0"), 19000 * US);
    made_unload(&j);
}

/* Calls of 5000 each, whatever training takes: three show a cost, and two too
 * little, so that they count as waits. */
static void test_loader__few_calls(void)
{
    static const int TRAINING[] = {1000, 3000, 9000};

    for (int n = 2; n <= 3; n++) {
        struct made m = made_trace(0, 1);
        struct made_job j;
        int at = 0;

        for (int i = 0; i < n; i++) {
            made_op(&m, 1, FETCH, at, 5000);
            made_op(&m, 1, "train", at + 5000, TRAINING[i]);
            at += 5000 + TRAINING[i];
        }
        REQUIRE(made_load(&j, &m, 1));
        CHECK_INT(made_scaled(&j, NULL), at * US);
        /* both batches, and the second arrival behind the first */
        CHECK_INT(made_edges(&j, MSIM_EDGE_LOADER, MSIM_EDGE_SOURCES),
                  n == 2 ? 3 : 0);
        made_unload(&j);
    }
}

/* Batches that are there take 300 to 500, and the median of that is no wait: a
 * wait is 1000 or more beyond it. */
static void test_loader__usual_cost(void)
{
    for (int more = 0; more < 2; more++) {
        static const int TOOK[] = {300, 500, 400, 1399, 400};
        struct made m = made_trace(0, 1);
        struct made_job j;
        int at = 0;

        for (int i = 0; i < 5; i++) {
            int took = TOOK[i] + (i == 3 ? more : 0);

            made_op(&m, 1, FETCH, at, took);
            made_op(&m, 1, "train", at + took, 5000);
            at += took + 5000;
        }
        REQUIRE(made_load(&j, &m, 1));
        CHECK_INT(made_scaled(&j, NULL), at * US);
        CHECK_INT(made_edges(&j, MSIM_EDGE_LOADER, MSIM_EDGE_SOURCES), more);
        made_unload(&j);
    }
}

/* Loading on the training thread is its work, however long. */
static void test_loader__on_the_thread_itself(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, FETCHES, 0, 70000);
    made_op(&m, 1, "train", 70000, 5000);
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, "host:enumerate(DataLoader)*=0.1"), 12000 * US);
    CHECK_INT(made_edges(&j, MSIM_EDGE_LOADER, MSIM_EDGE_SOURCES), 0);
    made_unload(&j);
}

/* ---- cycles ------------------------------------------------------------- */

/*
 * Times that make no sense must not make a cycle: activities of two streams
 * that begin and end together, with waits each way, all with ids.
 */
static void test_graph__waits_both_ways(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;
    struct msim_error err = {0};
    enum msim_status status;

    made_op(&m, 1, "aten::mm", 0, 60);
    made_call(&m, 1, "cudaEventRecord", 20, 1, 10);
    made_call(&m, 1, "cudaEventRecord", 22, 1, 11);
    made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(&m, 1, "cudaLaunchKernel", 12, 2, 2);
    made_call(&m, 1, "cudaStreamWaitEvent", 2, 1, 12);
    made_call(&m, 1, "cudaStreamWaitEvent", 4, 1, 13);
    made_kernel(&m, 20, "a", 30, 10, 1);
    made_kernel(&m, 24, "b", 30, 10, 2);
    made_sync(&m, "Stream Wait Event", 2, 1, 12, 24, 20, 10);
    made_sync(&m, "Stream Wait Event", 4, 1, 13, 20, 24, 11);
    REQUIRE(made_load(&j, &m, 1));
    status = made_try(&j, (struct made_what){0}, &err);
    CHECK_INT(status, MSIM_ECYCLE);
    CHECK(strstr(err.text, "wait for each other") != NULL);
    CHECK(strstr(err.text, "'a'") && strstr(err.text, "'b'"));
    CHECK(strstr(err.text, ": stream waits for event") != NULL);
    made_unload(&j);
}

int main(void)
{
    RUN(test_handover__there_and_back);
    RUN(test_handover__nobody_handed_over);
    RUN(test_handover__ended_too_early);
    RUN(test_handover__first_of_equals);
    RUN(test_handover__passes_the_gpu_on);
    RUN(test_loader__waits_as_long_as_it_has_to);
    RUN(test_loader__batch_was_there);
    RUN(test_loader__works_inside);
    RUN(test_loader__receives_at_a_cost);
    RUN(test_loader__waits_vary_as_training);
    RUN(test_loader__works_on_a_batch);
    RUN(test_loader__waits_and_works);
    RUN(test_loader__few_calls);
    RUN(test_loader__usual_cost);
    RUN(test_loader__on_the_thread_itself);
    RUN(test_graph__waits_both_ways);
    return check_summary();
}
