/*
 * tests/unit/core/graph/rules/test_graph_sync.c - calls and streams that wait.
 *
 * Calls that wait for the GPU, and streams that wait for each other: from
 * recorded ids, from measured times, from the order of calls alone. Times are
 * microseconds.
 */
#include "tests/unit/made_job.h"

/* ---- calls that wait ---------------------------------------------------- */

/*
 * k from 15 to 115, a call from 12 to 117 that waits for it (2 are work), 50
 * more on the host: 167. Kernels of 200: 15 + 200 + 2 + 50.
 */
static void check_waiting_call(const char *name, enum msim_edge_kind kind)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "aten::mm", 0, 167);
    made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(&m, 1, name, 12, 105, 2);
    made_kernel(&m, 7, "k", 15, 100, 1);
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, NULL), 167 * US);
    CHECK_INT(made_edges(&j, kind, MSIM_EDGE_SOURCES), 1);
    CHECK_INT(made_scaled(&j, "kernels=2"), 267 * US);
    CHECK_INT(made_scaled(&j, "kernels=0"), 64 * US);
    CHECK_INT(made_without(&j, kind), 115 * US);
    made_unload(&j);
}

static void test_sync__every_call_that_waits(void)
{
    check_waiting_call("cudaDeviceSynchronize", MSIM_EDGE_DEVICE_SYNC);
    check_waiting_call("cuCtxSynchronize", MSIM_EDGE_DEVICE_SYNC);
    check_waiting_call("hipDeviceSynchronize", MSIM_EDGE_DEVICE_SYNC);
    check_waiting_call("cudaStreamSynchronize", MSIM_EDGE_STREAM_SYNC);
    check_waiting_call("hipStreamSynchronize", MSIM_EDGE_STREAM_SYNC);
    check_waiting_call("cudaEventSynchronize", MSIM_EDGE_EVENT_SYNC);
    check_waiting_call("cudaFree", MSIM_EDGE_HIDDEN_SYNC);
    check_waiting_call("cudaMalloc", MSIM_EDGE_HIDDEN_SYNC);
    check_waiting_call("cudaEventElapsedTime", MSIM_EDGE_HIDDEN_SYNC);
}

/* Neither a cudaMalloc of 8 has waited, nor one during which nothing ended. */
static void test_sync__hides_nothing(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "aten::mm", 0, 90);
    made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(&m, 1, "cudaMalloc", 12, 8, 2);
    made_call(&m, 1, "cudaEventElapsedTime", 30, 50, 3);
    made_kernel(&m, 7, "k", 15, 100, 1);
    REQUIRE(made_load(&j, &m, 1));
    made_scaled(&j, "kernels=10");
    CHECK_INT(made_end(&j, "cudaMalloc"), 20 * US);
    CHECK_INT(made_end(&j, "cudaEventElapsedTime"), 80 * US);
    made_unload(&j);
}

/*
 * Found idle: k ended at 25, the call took 3 from 50 on and did not wait. Ten
 * times as long, k ends at 115: the call, and 20 of host, come after.
 */
static void check_found_idle(const char *name)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "aten::mm", 0, 73);
    made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(&m, 1, name, 50, 3, 2);
    made_kernel(&m, 7, "k", 15, 10, 1);
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, NULL), 73 * US);
    CHECK_INT(made_scaled(&j, "kernels=10"), (15 + 100 + 3 + 20) * US);
    made_unload(&j);
}

static void test_sync__of_what_was_idle(void)
{
    check_found_idle("cudaDeviceSynchronize");
    check_found_idle("cudaStreamSynchronize");
    check_found_idle("cudaFree");
}

/*
 * The GPU's clock is 10 late: by it k, launched last, ends at 115 and the call
 * returns at 105. That is no reason to think that it waited for the kernel of
 * the other stream, which was done at 40. It had no work of its own.
 */
static void check_late_clock(bool ids)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "aten::mm", 0, 110);
    made_call(&m, 1, "cudaLaunchKernel", 8, 2, 1);
    made_call(&m, 1, "cudaLaunchKernel", 10, 2, 2);
    made_call(&m, 1, "cudaStreamSynchronize", 12, 93, 3);
    made_kernel(&m, 20, "other", 13, 27, 1);
    made_kernel(&m, 7, "k", 15, 100, 2);
    if (ids)
        made_sync(&m, "Stream Sync", 12, 93, 3, 7, -1, -1);
    REQUIRE(made_load(&j, &m, 1));
    made_scaled(&j, NULL);
    CHECK_INT(made_end(&j, "cudaStreamSynchronize"), 105 * US);
    made_scaled(&j, "kernels=2");
    CHECK_INT(made_end(&j, "cudaStreamSynchronize"), (15 + 200 - 10) * US);
    made_scaled(&j, "kernels=0");
    CHECK_INT(made_end(&j, "cudaStreamSynchronize"), 12 * US);
    made_unload(&j);
}

/*
 * Ten kernels of 200 were queued before the recording; the thread begins 30
 * after the first, and synchronises 15 later, until all have ended. 100 of host
 * work follow: nothing of the call is work.
 */
static void test_sync__of_what_was_queued_before(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    for (int i = 0; i < 10; i++)
        made_kernel(&m, 7, "k", 200 * i, 200, 100 + i);
    made_op(&m, 1, "aten::mm", 30, 2070);
    made_call(&m, 1, "cudaDeviceSynchronize", 45, 1955, 1);
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, NULL), (30 + 2070) * US);
    CHECK_INT(made_scaled(&j, "kernels=0"), (30 + 115) * US);
    CHECK_INT(made_scaled(&j, "kernels=2"), (30 + 4070) * US);
    made_unload(&j);
}

/*
 * The launches of the last five are lost. The synchronisation ends with the
 * seventh, so it came before the launch of the eighth.
 */
static void test_sync__of_lost_launches(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "aten::mm", 0, 2000);
    for (int i = 0; i < 10; i++) {
        if (i < 5)
            made_call(&m, 1, "cudaLaunchKernel", 2 * i, 2, i + 1);
        made_kernel(&m, 7, "k", 10 + 150 * i, 150, i + 1);
    }
    made_call(&m, 1, "cudaDeviceSynchronize", 50, 1010, 100);
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, NULL), 2000 * US);
    CHECK_INT(made_scaled(&j, "kernels=0"), (50 + 940) * US);
    CHECK_INT(made_scaled(&j, "kernels=2"), (2110 + 940) * US);
    made_unload(&j);
}

/*
 * The kernels of the graph's second launch are not recorded: 900 of the second
 * wait stay as they were, and are no work of the host. The third wait has
 * nothing to wait for: its 400 are the call's.
 */
static void test_sync__of_what_is_not_recorded(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "aten::mm", 0, 2600);
    made_call(&m, 1, "cudaGraphLaunch", 10, 5, 1);
    made_kernel(&m, 7, "k", 20, 900, 1);
    made_call(&m, 1, "cudaStreamSynchronize", 20, 900, 2);
    made_call(&m, 1, "cudaGraphLaunch", 1010, 5, 3);
    made_call(&m, 1, "cudaStreamSynchronize", 1020, 900, 4);
    made_call(&m, 1, "cudaStreamSynchronize", 2000, 400, 5);
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, NULL), 2600 * US);
    CHECK_INT(made_scaled(&j, "kernels=0"), 1700 * US);
    CHECK_INT(made_scaled(&j, "host=0"), (10 + 900 + 900) * US);
    made_unload(&j);
}

static void test_sync__by_clocks_that_differ(void)
{
    check_late_clock(true);
    check_late_clock(false);
}

/* ---- recorded ids ------------------------------------------------------- */

/*
 * Two streams: `a` from 15 to 25 on 7, `b` from 17 to 27 on 20. The call at
 * 50 found both idle; its ids say that it is for stream 7 alone, though `b` was
 * launched last.
 */
static struct made two_streams(const char *call)
{
    struct made m = made_trace(0, 1);

    made_op(&m, 1, "aten::mm", 0, 60);
    made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(&m, 1, "cudaLaunchKernel", 12, 2, 2);
    made_call(&m, 1, call, 50, 3, 3);
    made_kernel(&m, 7, "a", 15, 10, 1);
    made_kernel(&m, 20, "b", 17, 10, 2);
    return m;
}

static void test_sync__stream_by_ids(void)
{
    struct made m = two_streams("cudaStreamSynchronize");
    struct made_job j;

    made_sync(&m, "Stream Sync", 50, 3, 3, 7, -1, -1);
    REQUIRE(made_load(&j, &m, 1));
    made_scaled(&j, NULL);
    CHECK_INT(made_end(&j, "cudaStreamSynchronize"), 53 * US);
    CHECK_INT(made_edges(&j, MSIM_EDGE_STREAM_SYNC, MSIM_FROM_IDS), 1);
    made_scaled(&j, "kernels=10"); /* a until 115, b until 117 */
    CHECK_INT(made_end(&j, "cudaStreamSynchronize"), (115 + 3) * US);
    made_unload(&j);
}

static void test_sync__device_is_every_stream(void)
{
    struct made m = two_streams("cudaDeviceSynchronize");
    struct made_job j;

    REQUIRE(made_load(&j, &m, 1));
    made_scaled(&j, "kernels=10");
    CHECK_INT(made_edges(&j, MSIM_EDGE_DEVICE_SYNC, MSIM_FROM_ORDER), 2);
    CHECK_INT(made_end(&j, "cudaDeviceSynchronize"), (117 + 3) * US);
    made_unload(&j);
}

/*
 * An event recorded at 14, between the launches of k1 (15..115) and k2
 * (116..216): the call from 30 to 117 waits for k1 alone.
 */
static struct made recorded_event(void)
{
    struct made m = made_trace(0, 1);

    made_op(&m, 1, "aten::mm", 0, 120);
    made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(&m, 1, "cudaEventRecord", 14, 1, 2);
    made_call(&m, 1, "cudaLaunchKernel", 20, 2, 3);
    made_call(&m, 1, "cudaEventSynchronize", 30, 87, 4);
    made_kernel(&m, 7, "k1", 15, 100, 1);
    made_kernel(&m, 7, "k2", 116, 100, 3);
    return m;
}

static void check_event(struct made m, enum msim_edge_source source)
{
    struct made_job j;

    REQUIRE(made_load(&j, &m, 1));
    made_scaled(&j, NULL);
    CHECK_INT(made_end(&j, "cudaEventSynchronize"), 117 * US);
    CHECK_INT(made_edges(&j, MSIM_EDGE_EVENT_SYNC, source), 1);
    made_scaled(&j, "kernels=2");
    CHECK_INT(made_end(&j, "cudaEventSynchronize"), (15 + 200 + 2) * US);
    made_scaled(&j, "kernels=0");
    CHECK_INT(made_end(&j, "cudaEventSynchronize"), (30 + 2) * US);
    made_unload(&j);
}

static void test_sync__event_by_ids(void)
{
    struct made m = recorded_event();

    made_sync(&m, "Event Sync", 30, 87, 4, -1, 7, 2);
    check_event(m, MSIM_FROM_IDS);
}

static void test_sync__event_by_times(void)
{
    check_event(recorded_event(), MSIM_FROM_TIMES);
}

/* ---- streams that wait -------------------------------------------------- */

/*
 * Stream 24 waits for an event that stream 20 recorded at 14, after k1
 * (15..315) and before k2 (315..515): its kernel follows k1 within 2.
 */
static struct made waiting_stream(void)
{
    struct made m = made_trace(0, 1);

    made_op(&m, 1, "aten::mm", 0, 30);
    made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(&m, 1, "cudaEventRecord", 14, 1, 2);
    made_call(&m, 1, "cudaLaunchKernel", 16, 2, 3);
    made_call(&m, 1, "cudaStreamWaitEvent", 18, 1, 4);
    made_call(&m, 1, "cudaLaunchKernel", 20, 2, 5);
    made_kernel(&m, 20, "k1", 15, 300, 1);
    made_kernel(&m, 20, "k2", 315, 200, 3);
    made_kernel(&m, 24, "waits", 317, 10, 5);
    return m;
}

static void check_stream_wait(struct made m, enum msim_edge_source source)
{
    struct made_job j;

    REQUIRE(made_load(&j, &m, 1));
    made_scaled(&j, NULL);
    CHECK_INT(made_start(&j, "waits"), 317 * US);
    CHECK_INT(made_edges(&j, MSIM_EDGE_EVENT, source), 1);
    made_scaled(&j, "kernels=2");
    CHECK_INT(made_start(&j, "waits"), (15 + 600 + 2) * US);
    made_scaled(&j, "kernels=0.01");
    CHECK_INT(made_start(&j, "waits"), 25 * US); /* its own launch at 20 */
    made_without(&j, MSIM_EDGE_EVENT);
    CHECK_INT(made_start(&j, "waits"), 25 * US);
    made_unload(&j);
}

static void test_wait__by_ids(void)
{
    struct made m = waiting_stream();

    made_sync(&m, "Stream Wait Event", 18, 1, 4, 24, 20, 2);
    check_stream_wait(m, MSIM_FROM_IDS);
}

static void test_wait__by_times(void)
{
    check_stream_wait(waiting_stream(), MSIM_FROM_TIMES);
}

/* Where no GPU time may be read, the order of calls has to do: a wait is for
 * all that the other stream had been given by then, k2 too. */
static void test_wait__by_order_of_calls(void)
{
    struct made m = waiting_stream();
    struct made_job j;

    REQUIRE(made_load(&j, &m, 1));
    made_run(&j, (struct made_what){.blind = true});
    CHECK_INT(made_start(&j, "waits"), made_end(&j, "k2"));
    made_unload(&j);
}

/* A wait that bound nothing: 30 after k1 its stream was launched into. */
static void test_wait__that_was_over(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "aten::mm", 0, 60);
    made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(&m, 1, "cudaEventRecord", 14, 1, 2);
    made_call(&m, 1, "cudaStreamWaitEvent", 40, 1, 3);
    made_call(&m, 1, "cudaLaunchKernel", 50, 2, 4);
    made_kernel(&m, 20, "k1", 15, 10, 1);
    made_kernel(&m, 24, "waits", 55, 10, 4);
    made_sync(&m, "Stream Wait Event", 40, 1, 3, 24, 20, 2);
    REQUIRE(made_load(&j, &m, 1));
    made_scaled(&j, NULL);
    CHECK_INT(made_start(&j, "waits"), 55 * US);
    made_scaled(&j, "kernels=10"); /* and the 1 that a wait takes at most */
    CHECK_INT(made_start(&j, "waits"), (15 + 100 + 1) * US);
    made_unload(&j);
}

/* ---- copies ------------------------------------------------------------- */

/*
 * A copy from 15 to 100, its call from 10. One that blocks returns at 105, one
 * that does not at 12. Twice as long, the copy ends at 185.
 */
static void check_copy(const char *call, const char *way, bool blocks)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "aten::copy_", 0, 155);
    made_call(&m, 1, call, 10, blocks ? 95 : 2, 1);
    made_copy(&m, 7, way, 15, 85, 1, 4096);
    REQUIRE(made_load(&j, &m, 1));
    made_scaled(&j, NULL);
    CHECK_INT(made_end(&j, call), (blocks ? 105 : 12) * US);
    made_scaled(&j, "copies=2");
    CHECK_INT(made_end(&j, call), (blocks ? 190 : 12) * US);
    made_scaled(&j, "copies=0");
    CHECK_INT(made_end(&j, call), (blocks ? 15 : 12) * US);
    made_unload(&j);
}

static void test_copy__blocks_or_not(void)
{
    check_copy("cudaMemcpyAsync", "DtoH (Device -> Pageable)", true);
    check_copy("cudaMemcpyAsync", "HtoD (Pageable -> Device)", true);
    check_copy("cudaMemcpy", "HtoD (Pinned -> Device)", true);
    check_copy("hipMemcpyWithStream", "DtoH (Device -> Pinned)", true);
    check_copy("cudaMemcpyAsync", "HtoD (Pinned -> Device)", false);
    check_copy("cudaMemcpyAsync", "DtoH (Device -> Pinned)", false);
    check_copy("cudaMemcpyAsync", "DtoD (Device -> Device)", false);
}

/* A pageable copy of little is staged: its call is back before it is done. */
static void test_copy__staged(void)
{
    check_copy("cudaMemcpyAsync", "HtoD (Pageable -> Device)", false);
}

/*
 * A megabyte of pageable memory to the device is staged part by part, once the
 * stream is done with k (15..115): the copy runs from 116 to 216, its call from
 * 20 until the last part is staged, 26 before that. All of it was waiting.
 */
static void test_copy__returns_before_its_last_part(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;

    made_op(&m, 1, "aten::copy_", 0, 200);
    made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(&m, 1, "cudaMemcpyAsync", 20, 170, 2);
    made_kernel(&m, 7, "k", 15, 100, 1);
    made_copy(&m, 7, "HtoD (Pageable -> Device)", 116, 100, 2, 1 << 20);
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(made_scaled(&j, NULL), 216 * US);
    CHECK_INT(made_end(&j, "cudaMemcpyAsync"), 190 * US);
    made_scaled(&j, "kernels=2");
    CHECK_INT(made_end(&j, "cudaMemcpyAsync"), (216 + 100 - 26) * US);
    made_scaled(&j, "copies=2");
    CHECK_INT(made_end(&j, "cudaMemcpyAsync"), (116 + 200 - 26) * US);
    made_scaled(&j, "kernels=0"); /* 5 after its launch, like k */
    CHECK_INT(made_end(&j, "cudaMemcpyAsync"), (25 + 100 - 26) * US);
    made_unload(&j);
}

int main(void)
{
    RUN(test_sync__every_call_that_waits);
    RUN(test_sync__hides_nothing);
    RUN(test_sync__of_what_was_idle);
    RUN(test_sync__of_what_was_queued_before);
    RUN(test_sync__of_lost_launches);
    RUN(test_sync__of_what_is_not_recorded);
    RUN(test_sync__by_clocks_that_differ);
    RUN(test_sync__stream_by_ids);
    RUN(test_sync__device_is_every_stream);
    RUN(test_sync__event_by_ids);
    RUN(test_sync__event_by_times);
    RUN(test_wait__by_ids);
    RUN(test_wait__by_times);
    RUN(test_wait__by_order_of_calls);
    RUN(test_wait__that_was_over);
    RUN(test_copy__blocks_or_not);
    RUN(test_copy__staged);
    RUN(test_copy__returns_before_its_last_part);
    return check_summary();
}
