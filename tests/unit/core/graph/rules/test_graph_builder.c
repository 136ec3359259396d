/*
 * A graph while it grows: its tasks, edges and windows, what is left of a
 * call's work, and threads that hand work to each other.
 */
#include "core/graph/rules/graph_rules.h"
#include "tests/check.h"

#include <stdlib.h>

static struct msim_graph_builder b;
static struct msim_graph_options opt;

static void begin(void)
{
    memset(&b, 0, sizeof(b));
    memset(&opt, 0, sizeof(opt));
    b.g = calloc(1, sizeof(*b.g));
    b.opt = &opt;
}

static void end(void)
{
    msim_graph_free(b.g);
    free(b.tstart);
    free(b.tend);
    free(b.edges);
    free(b.meetings);
    msim_idmap_release(&b.iterations);
}

static uint32_t task(enum msim_task_kind kind, uint32_t lane, msim_ps start,
                     msim_ps dur)
{
    const struct msim_task_ref ref = {.index = 7, .op = 8, .rank = 9};
    uint32_t id = MSIM_NONE;

    CHECK_INT(msim_builder_task(&b, kind, lane, ref, start, dur, &id), MSIM_OK);
    return id;
}

static void edge(uint32_t from, uint32_t to, msim_ps lag)
{
    CHECK_INT(
        msim_builder_edge(&b, MSIM_EDGE_EVENT, MSIM_FROM_IDS, from, to, lag),
        MSIM_OK);
}

static void test_graph_builder__tasks(void)
{
    begin();
    for (uint32_t i = 0; i < 100; i++)
        CHECK_INT(task(MSIM_TASK_COPY, i, 10 * i, 5), i);
    CHECK_INT(task(MSIM_TASK_JOIN, 3, MSIM_TIME_NONE, 6), 100);
    CHECK_INT(b.g->n_tasks, 101);
    CHECK_INT(b.g->kind[42], MSIM_TASK_COPY);
    CHECK_INT(b.g->kind[100], MSIM_TASK_JOIN);
    CHECK_INT(b.g->lane[42], 42);
    CHECK_INT(b.g->window[42], MSIM_NONE);
    CHECK_INT(b.g->traced[42], 5);
    CHECK_INT(b.g->refs[42].rank, 9);
    CHECK_INT(b.tstart[42], 420);
    CHECK_INT(b.tend[42], 425);
    CHECK_INT(b.tend[100], MSIM_TIME_NONE);
    CHECK_INT(b.g->traced[100], 6);
    end();
}

/* By the task that they come from, in the order in which they were added; a
 * rule that is left out adds none. */
static void test_graph_builder__edges(void)
{
    static const uint32_t FROM[] = {2, 0, 2, 3, 0}, TO[] = {3, 1, 1, 3, 2};
    static const uint32_t BEGIN[] = {0, 2, 2, 4, 5}, ORDER[] = {1, 4, 0, 2, 3};
    static const uint32_t PREDS[] = {0, 2, 1, 2};

    begin();
    for (uint32_t i = 0; i < 4; i++)
        (void)task(MSIM_TASK_HOST, 0, 0, 1);
    for (uint32_t i = 0; i < 5; i++)
        edge(FROM[i], TO[i], 100 + i);
    opt.without = 1u << MSIM_EDGE_QUEUE;
    CHECK_INT(msim_builder_edge(&b, MSIM_EDGE_QUEUE, MSIM_FROM_IDS, 1, 2, 0),
              MSIM_OK);
    CHECK_INT(b.n_edges, 5);
    CHECK_INT(msim_builder_finish(&b), MSIM_OK);
    for (int again = 0; again < 2; again++) {
        CHECK_INT(b.g->n_edges, 5);
        for (uint32_t t = 0; t <= 4; t++)
            CHECK_INT(b.g->edge_begin[t], BEGIN[t]);
        for (uint32_t t = 0; t < 4; t++)
            CHECK_INT(b.g->n_preds[t], PREDS[t]);
        for (uint32_t i = 0; i < 5; i++) {
            CHECK_INT(b.g->edges[i].to, TO[ORDER[i]]);
            CHECK_INT(b.g->edges[i].lag, 100 + ORDER[i]);
            CHECK_INT(b.g->edge_kind[i],
                      MSIM_EDGE_BYTE(MSIM_EDGE_EVENT, MSIM_FROM_IDS));
        }
        CHECK_INT(msim_builder_finish(&b), MSIM_OK);
    }
    end();
}

static void test_graph_builder__lanes_releases_windows(void)
{
    const struct msim_window w = {.first = 1, .last = 2, .rank = 3};
    const struct msim_meeting meeting = {.group = 5, .rank = 1};
    uint32_t id = 9;

    begin();
    CHECK_INT(msim_builder_lane(&b, 4, 5, true, &id), MSIM_OK);
    CHECK_INT(id, 0);
    CHECK_INT(msim_builder_lane(&b, 6, 7, false, &id), MSIM_OK);
    CHECK_INT(id, 1);
    CHECK_INT(b.g->lanes[0].rank, 4);
    CHECK_INT(b.g->lanes[0].index, 5);
    CHECK(b.g->lanes[0].device && !b.g->lanes[1].device);
    CHECK_INT(msim_builder_release(&b, 8, 50, true), MSIM_OK);
    CHECK_INT(b.g->n_releases, 1);
    CHECK_INT(b.g->releases[0].task, 8);
    CHECK_INT(b.g->releases[0].at, 50);
    CHECK_INT(b.g->releases[0].traced, 50);
    CHECK(b.g->releases[0].external);
    /* of one step on two ranks, and of another one */
    CHECK_INT(msim_builder_window(&b, w, 12), MSIM_OK);
    CHECK_INT(msim_builder_window(&b, w, 11), MSIM_OK);
    CHECK_INT(msim_builder_window(&b, w, 12), MSIM_OK);
    CHECK_INT(b.g->n_windows, 3);
    CHECK_INT(b.g->n_iterations, 2);
    CHECK_INT(b.g->iterations[0], 12);
    CHECK_INT(b.g->iterations[1], 11);
    CHECK_INT(b.g->windows[0].iteration, 0);
    CHECK_INT(b.g->windows[1].iteration, 1);
    CHECK_INT(b.g->windows[2].iteration, 0);
    CHECK_INT(b.g->windows[2].last, 2);
    CHECK_INT(msim_builder_meet(&b, meeting), MSIM_OK);
    CHECK_INT(b.n_meetings, 1);
    CHECK_INT(b.meetings[0].group, 5);
    end();
}

/* A call of 10 .. 50: only what comes after the wait is its work, however often
 * it is told, and it never becomes more. */
static void test_graph_builder__waits_are_no_work(void)
{
    uint32_t id;

    begin();
    id = task(MSIM_TASK_CALL, 0, 10, 40);
    msim_builder_waited(&b, id, 10); /* before it began */
    CHECK_INT(b.g->traced[id], 40);
    CHECK_INT(b.g->copied[MSIM_COPIED_RETURN], 0);
    msim_builder_waited(&b, id, 30);
    CHECK_INT(b.g->traced[id], 20);
    CHECK_INT(b.g->copied[MSIM_COPIED_RETURN], 20);
    msim_builder_waited(&b, id, 25);
    CHECK_INT(b.g->traced[id], 20);
    msim_builder_waited(&b, id, 45);
    CHECK_INT(b.g->traced[id], 5);
    CHECK_INT(b.g->copied[MSIM_COPIED_RETURN], 5);
    msim_builder_waited(&b, id, 60); /* longer than it lasted */
    CHECK_INT(b.g->traced[id], 0);
    CHECK_INT(b.g->copied[MSIM_COPIED_RETURN], 0);
    id = task(MSIM_TASK_CALL, 0, 10, 40);
    msim_builder_waited(&b, id, 11);
    CHECK_INT(b.g->traced[id], 39);
    end();
}

static void test_graph_builder__sorts_by_key(void)
{
    struct msim_keyed keys[] = {{5, 2}, {3, 9}, {5, 1}, {-4, 7}};
    static const uint32_t ORDER[] = {7, 9, 1, 2};

    msim_keyed_sort(keys, 4);
    for (uint32_t i = 0; i < 4; i++)
        CHECK_INT(keys[i].index, ORDER[i]);
    msim_keyed_sort(NULL, 0);
}

/* ---- threads that hand over -----------------------------------------------
 */

#define US ((msim_ps)MSIM_PS_PER_US)

static struct msim_thread threads[3];
static uint32_t first[3], last[3];
static struct msim_trace trace;
static struct msim_rank_tasks tasks;

/* Thread `u` runs operators; its tasks follow. */
static void thread(uint32_t u)
{
    first[u] = last[u] = b.g->n_tasks;
    threads[u].op_begin = 0;
    threads[u].op_end = 1;
}

static uint32_t on(uint32_t u, enum msim_task_kind kind, int from, int to)
{
    uint32_t id = task(kind, u, from * US, (to - from) * US);

    last[u] = b.g->n_tasks;
    return id;
}

static void begin_threads(void)
{
    begin();
    memset(threads, 0, sizeof(threads));
    trace = (struct msim_trace){.threads = threads, .n_threads = 3};
    tasks = (struct msim_rank_tasks){.trace = &trace,
                                     .thread_first = first,
                                     .thread_end = last,
                                     .base = 1000 * US};
    for (uint32_t u = 0; u < 3; u++)
        first[u] = last[u] = 0;
}

/* The main thread waits from 100 to 200 for the second one, which is busy until
 * `until` and was handed work at 50. */
static void hold_wait(int gap_end, int until, bool waits)
{
    uint32_t gap, node;
    msim_ps tail = (gap_end - until) * US;

    begin_threads();
    thread(0);
    (void)on(0, MSIM_TASK_HOST, 0, 50);
    (void)on(0, MSIM_TASK_CALL, 50, 100);
    gap = on(0, MSIM_TASK_GAP, 100, gap_end);
    (void)on(0, MSIM_TASK_HOST, gap_end, 300);
    thread(1);
    node = on(1, MSIM_TASK_HOST, 60, until);
    CHECK_INT(msim_graph_handover(&b, &tasks), MSIM_OK);
    /* the first task of all is released, that of the other thread handed */
    CHECK_INT(b.g->n_releases, 1);
    CHECK_INT(b.g->releases[0].task, 0);
    CHECK_INT(b.g->releases[0].at, 1000 * US);
    CHECK(!b.g->releases[0].external);
    CHECK_INT(b.n_edges, waits ? 2 : 1);
    CHECK_INT(b.g->traced[gap], waits ? tail : (msim_ps)(gap_end - 100) * US);
    CHECK_INT(b.edges[0].from, waits ? node : 0);
    CHECK_INT(b.edges[0].edge.to, waits ? gap : node);
    CHECK_INT(b.edges[0].edge.lag, 0);
    CHECK_INT(b.edges[0].kind,
              MSIM_EDGE_BYTE(MSIM_EDGE_HANDOVER, MSIM_FROM_TIMES));
    CHECK_INT(b.g->traced[node], 10 * US);
    CHECK_INT(b.g->copied[MSIM_COPIED_HANDOVER], 10 * US + (waits ? tail : 0));
    end();
}

static void test_graph_handover__waits_for_the_other(void)
{
    hold_wait(200, 195, true);
    hold_wait(200, 150, true);  /* half of the gap */
    hold_wait(200, 149, false); /* less */
    hold_wait(130, 125, true);  /* as long as an idle one is */
    hold_wait(129, 125, false);
    hold_wait(200, 200, true);
}

/* Of several that were busy last the first; not the thread itself, nor what
 * takes no time then, nor a gap, nor threads without operators. */
static void test_graph_handover__who_gave(void)
{
    uint32_t gap, giver;

    begin_threads();
    thread(0);
    gap = on(0, MSIM_TASK_GAP, 0, 0); /* the first task is none to hand */
    (void)on(0, MSIM_TASK_HOST, 0, 10);
    gap = on(0, MSIM_TASK_GAP, 10, 110);
    thread(1);
    (void)on(1, MSIM_TASK_HOST, 0, 50);
    giver = on(1, MSIM_TASK_HOST, 50, 100);
    (void)on(1, MSIM_TASK_GAP, 100, 110);
    (void)on(1, MSIM_TASK_CALL, 110, 110);
    thread(2);
    (void)on(2, MSIM_TASK_HOST, 0, 100);
    CHECK_INT(msim_graph_handover(&b, &tasks), MSIM_OK);
    CHECK_INT(b.n_edges, 1);
    CHECK_INT(b.edges[0].from, giver);
    CHECK_INT(b.edges[0].edge.to, gap);
    CHECK_INT(b.g->traced[gap], 10 * US);
    end();

    begin_threads();
    thread(0);
    (void)on(0, MSIM_TASK_HOST, 0, 10);
    gap = on(0, MSIM_TASK_GAP, 10, 110);
    thread(1);
    (void)on(1, MSIM_TASK_HOST, 0, 100);
    threads[1].op_end = 0;
    CHECK_INT(msim_graph_handover(&b, &tasks), MSIM_OK);
    CHECK_INT(b.n_edges, 0);
    CHECK_INT(b.g->n_releases, 2);
    end();
}

/* The one that was busy last, though an earlier thread was busy before. */
static void test_graph_handover__the_last(void)
{
    uint32_t gap, giver;

    begin_threads();
    thread(0);
    (void)on(0, MSIM_TASK_HOST, 0, 10);
    gap = on(0, MSIM_TASK_GAP, 10, 110);
    thread(1);
    (void)on(1, MSIM_TASK_HOST, 0, 90);
    thread(2);
    giver = on(2, MSIM_TASK_HOST, 0, 100);
    CHECK_INT(msim_graph_handover(&b, &tasks), MSIM_OK);
    CHECK_INT(b.n_edges, 1);
    CHECK_INT(b.edges[0].from, giver);
    CHECK_INT(b.g->traced[gap], 10 * US);
    end();
}

/* A gap that a thread begins with is the first of that thread, whichever comes
 * before it. */
static void test_graph_handover__begins_with_a_gap(void)
{
    begin_threads();
    thread(0);
    (void)on(0, MSIM_TASK_HOST, 0, 100);
    thread(1);
    (void)on(1, MSIM_TASK_GAP, 0, 110);
    (void)on(1, MSIM_TASK_HOST, 110, 120);
    CHECK_INT(msim_graph_handover(&b, &tasks), MSIM_OK);
    CHECK_INT(b.n_edges, 0);
    CHECK_INT(b.g->n_releases, 2);
    end();
}

/* A gap that waited for something else already is none of another thread's. */
static void test_graph_handover__known_waits(void)
{
    for (int known = 0; known < 2; known++) {
        uint32_t gap;

        begin_threads();
        thread(0);
        (void)on(0, MSIM_TASK_HOST, 0, 10);
        gap = on(0, MSIM_TASK_GAP, 10, 110);
        b.g->traced[gap] -= known;
        thread(1);
        (void)on(1, MSIM_TASK_HOST, 0, 100);
        CHECK_INT(msim_graph_handover(&b, &tasks), MSIM_OK);
        CHECK_INT(b.n_edges, !known);
        CHECK_INT(b.g->traced[gap], known ? 100 * US - 1 : 10 * US);
        end();
    }
}

int main(void)
{
    RUN(test_graph_builder__tasks);
    RUN(test_graph_builder__edges);
    RUN(test_graph_builder__lanes_releases_windows);
    RUN(test_graph_builder__waits_are_no_work);
    RUN(test_graph_builder__sorts_by_key);
    RUN(test_graph_handover__waits_for_the_other);
    RUN(test_graph_handover__who_gave);
    RUN(test_graph_handover__the_last);
    RUN(test_graph_handover__begins_with_a_gap);
    RUN(test_graph_handover__known_waits);
    return check_summary();
}
