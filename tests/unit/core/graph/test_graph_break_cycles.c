/*
 * Inferred dependencies that contradict each other: which one is left out, what
 * is said of it, and which circles stay.
 */
#include "core/graph/build/graph_break_cycles.h"
#include "core/graph/graph.h"
#include "tests/check.h"

#include <stdlib.h>

#define US ((msim_ps)MSIM_PS_PER_US)

static struct msim_graph_builder b;
static struct msim_graph_options opt;
static struct msim_job job;
static struct msim_trace trace;
static struct msim_trace *ranks[2] = {&trace, &trace};

static void begin(void)
{
    uint32_t lane;

    memset(&b, 0, sizeof(b));
    memset(&job, 0, sizeof(job));
    memset(&trace, 0, sizeof(trace));
    opt = (struct msim_graph_options){.device_times = true};
    job.ranks = ranks;
    job.n_ranks = 1;
    b.g = calloc(1, sizeof(*b.g));
    b.g->job = &job;
    b.job = &job;
    b.opt = &opt;
    CHECK_INT(msim_builder_lane(&b, 0, MSIM_NONE, false, &lane), MSIM_OK);
}

static void end(void)
{
    free((void *)job.warnings);
    msim_arena_release(&job.arena);
    msim_graph_free(b.g);
    free(b.tstart);
    free(b.tend);
    free(b.edges);
}

static void task(enum msim_task_kind kind, uint32_t lane, int start, int stop)
{
    const struct msim_task_ref ref = {.index = MSIM_NONE, .op = MSIM_NONE};
    uint32_t id;

    CHECK_INT(msim_builder_task(&b, kind, lane, ref, start * US,
                                (stop - start) * US, &id),
              MSIM_OK);
}

static void edge(uint32_t from, uint32_t to, enum msim_edge_kind kind,
                 enum msim_edge_source source)
{
    CHECK_INT(msim_builder_edge(&b, kind, source, from, to, 0), MSIM_OK);
}

/* Which of the edges are left, by the order in which they were added, as bits;
 * edges are told by their lags. */
static unsigned left(bool *meetings)
{
    unsigned bits = 0;

    for (uint32_t i = 0; i < b.n_edges; i++)
        b.edges[i].edge.lag = i;
    CHECK_INT(msim_builder_finish(&b), MSIM_OK);
    CHECK_INT(msim_graph_break_cycles(&b, meetings), MSIM_OK);
    for (uint32_t i = 0; i < b.g->n_edges; i++)
        bits |= 1u << b.g->edges[i].lag;
    CHECK_INT(b.g->n_edges, b.n_edges);
    return bits;
}

/* Two calls that wait for each other: what is recorded stays. */
static void test_break_cycles__what_is_inferred(void)
{
    static const struct {
        enum msim_edge_kind kind;
        enum msim_edge_source source;
        bool inferred;
    } CASES[] = {
        {MSIM_EDGE_PROGRAM, MSIM_FROM_TIMES, false},
        {MSIM_EDGE_LAUNCH, MSIM_FROM_TIMES, false},
        {MSIM_EDGE_STREAM, MSIM_FROM_TIMES, false},
        {MSIM_EDGE_COLLECTIVE, MSIM_FROM_TIMES, false},
        {MSIM_EDGE_POINT_TO_POINT, MSIM_FROM_TIMES, false},
        {MSIM_EDGE_EVENT, MSIM_FROM_TIMES, true},
        {MSIM_EDGE_EVENT, MSIM_FROM_ORDER, true},
        {MSIM_EDGE_EVENT, MSIM_FROM_IDS, false},
        {MSIM_EDGE_QUEUE, MSIM_FROM_TIMES, true},
        {MSIM_EDGE_HANDOVER, MSIM_FROM_TIMES, true},
    };
    bool meetings;

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        begin();
        task(MSIM_TASK_CALL, 0, 0, 10);
        task(MSIM_TASK_CALL, 0, 10, 20);
        edge(0, 1, MSIM_EDGE_PROGRAM, MSIM_FROM_ORDER);
        edge(1, 0, CASES[i].kind, CASES[i].source);
        CHECK_INT(left(&meetings), CASES[i].inferred ? 1 : 3);
        CHECK_INT(job.n_warnings, CASES[i].inferred);
        CHECK(!meetings);
        end();
    }
}

/* Of several the one that goes back furthest: a call by its end, an activity
 * by its start, from the end of what it waits for. */
static void test_break_cycles__furthest_back(void)
{
    bool meetings;

    /* 0 waits for 2 (30 - 10 = 20 back), 2 for 1 (20 - 30), 1 for 0 */
    begin();
    task(MSIM_TASK_CALL, 0, 0, 10);
    task(MSIM_TASK_CALL, 0, 10, 20);
    task(MSIM_TASK_CALL, 0, 20, 30);
    edge(0, 1, MSIM_EDGE_EVENT, MSIM_FROM_TIMES);
    edge(1, 2, MSIM_EDGE_EVENT, MSIM_FROM_TIMES);
    edge(2, 0, MSIM_EDGE_EVENT, MSIM_FROM_TIMES);
    CHECK_INT(left(&meetings), 3);
    end();

    /* a kernel of 0 .. 50 waits for a call that ends at 20; that waits for the
     * kernel's end, 30 later */
    begin();
    task(MSIM_TASK_KERNEL, 0, 0, 50);
    task(MSIM_TASK_CALL, 0, 10, 20);
    edge(1, 0, MSIM_EDGE_EVENT, MSIM_FROM_TIMES);
    edge(0, 1, MSIM_EDGE_EVENT, MSIM_FROM_TIMES);
    CHECK_INT(left(&meetings), 1);
    end();
    begin();
    task(MSIM_TASK_KERNEL, 0, 0, 50);
    task(MSIM_TASK_CALL, 0, 10, 45);
    edge(1, 0, MSIM_EDGE_EVENT, MSIM_FROM_TIMES);
    edge(0, 1, MSIM_EDGE_EVENT, MSIM_FROM_TIMES);
    CHECK_INT(left(&meetings), 2);
    end();
}

/* The circle's first inferred edge, by its lag, told in `text`. */
static unsigned first_of_circle(char *text, size_t size)
{
    struct msim_cycle c;
    unsigned lag = 99;

    for (uint32_t i = 0; i < b.n_edges; i++)
        b.edges[i].edge.lag = i;
    CHECK_INT(msim_builder_finish(&b), MSIM_OK);
    CHECK_INT(msim_cycle_find(&c, b.g), MSIM_OK);
    for (uint32_t i = c.n; i-- > 0;)
        if (msim_edge_kind_of(b.g->edge_kind[c.edges[i]]) !=
            MSIM_EDGE_PROGRAM) {
            lag = (unsigned)b.g->edges[c.edges[i]].lag;
            *text = '\0';
            msim_edge_tell(text, size, b.g, c.edges[i]);
        }
    msim_cycle_release(&c);
    return lag;
}

/* Where no times may be read, or there are none, the first of the circle,
 * whichever the times would tell. */
static void test_break_cycles__without_times(void)
{
    for (int way = 0; way < 4; way++) {
        char text[300];
        bool meetings;
        unsigned lag;

        begin();
        task(MSIM_TASK_CALL, 0, way % 2 ? 20 : 0, way % 2 ? 30 : 10);
        task(MSIM_TASK_CALL, 0, way % 2 ? 0 : 20, way % 2 ? 10 : 30);
        edge(0, 1, MSIM_EDGE_EVENT, MSIM_FROM_TIMES);
        edge(1, 0, MSIM_EDGE_EVENT, MSIM_FROM_TIMES);
        if (way / 2)
            b.tend[0] = b.tend[1] = MSIM_TIME_NONE;
        else
            opt.device_times = false;
        lag = first_of_circle(text, sizeof(text));
        CHECK_INT(left(&meetings), 3 & ~(1u << lag));
        CHECK_INT(job.n_warnings, 1);
        end();
    }
}

/* A rank that began behind what waits for it begins when it was recorded; of
 * one rank alone nothing says so. */
static void test_break_cycles__begins(void)
{
    for (uint32_t n = 1; n <= 2; n++) {
        bool meetings;

        begin();
        job.n_ranks = n;
        task(MSIM_TASK_CALL, 0, 0, 10);
        task(MSIM_TASK_JOIN, MSIM_NONE, 30, 30);
        edge(0, 1, MSIM_EDGE_BEGIN, MSIM_FROM_TIMES);
        edge(1, 0, MSIM_EDGE_PROGRAM, MSIM_FROM_ORDER);
        CHECK_INT(left(&meetings), n == 1 ? 3 : 2);
        CHECK_INT(meetings, n == 1);
        CHECK_INT(job.n_warnings, 0);
        CHECK_INT(b.g->n_releases, n - 1);
        if (b.g->n_releases) {
            CHECK_INT(b.g->releases[0].task, 1);
            CHECK_INT(b.g->releases[0].at, 30 * US);
            CHECK(!b.g->releases[0].external);
        }
        end();
    }
}

/* Two circles: both are broken, and the first is told. */
static void test_break_cycles__told_once(void)
{
    char text[300];
    bool meetings;

    begin();
    for (int i = 0; i < 4; i++)
        task(MSIM_TASK_CALL, 0, 10 * i, 10 * i + 10);
    edge(0, 1, MSIM_EDGE_PROGRAM, MSIM_FROM_ORDER);
    edge(1, 0, MSIM_EDGE_QUEUE, MSIM_FROM_TIMES);
    edge(2, 3, MSIM_EDGE_PROGRAM, MSIM_FROM_ORDER);
    edge(3, 2, MSIM_EDGE_QUEUE, MSIM_FROM_TIMES);
    (void)first_of_circle(text, sizeof(text));
    CHECK_INT(left(&meetings), 5);
    REQUIRE(job.n_warnings == 1);
    CHECK(strstr(job.warnings[0], "2 of the dependencies that are inferred "
                                  "contradict others and are left out; the "
                                  "first: "));
    CHECK(strstr(job.warnings[0], ": launch queue full"));
    CHECK(strstr(job.warnings[0], text));
    end();
}

/* Only one of two edges of another kind between the same tasks is left out. */
static void test_break_cycles__one_edge_of_two(void)
{
    bool meetings;

    begin();
    task(MSIM_TASK_CALL, 0, 0, 10);
    task(MSIM_TASK_CALL, 0, 10, 20);
    task(MSIM_TASK_CALL, 0, 20, 30);
    edge(0, 1, MSIM_EDGE_PROGRAM, MSIM_FROM_ORDER);
    edge(1, 0, MSIM_EDGE_EVENT, MSIM_FROM_TIMES);
    edge(1, 2, MSIM_EDGE_EVENT, MSIM_FROM_TIMES);
    edge(0, 2, MSIM_EDGE_EVENT, MSIM_FROM_TIMES);
    CHECK_INT(left(&meetings), 1 | 4 | 8);
    end();
}

/* 64 are repaired, no more. */
static void test_break_cycles__many(void)
{
    for (uint32_t circles = 64; circles <= 65; circles++) {
        bool meetings;

        begin();
        for (uint32_t i = 0; i < 2 * circles; i++)
            task(MSIM_TASK_CALL, 0, (int)i, (int)i + 1);
        for (uint32_t i = 0; i < circles; i++) {
            edge(2 * i, 2 * i + 1, MSIM_EDGE_PROGRAM, MSIM_FROM_ORDER);
            edge(2 * i + 1, 2 * i, MSIM_EDGE_EVENT, MSIM_FROM_TIMES);
        }
        CHECK_INT(msim_builder_finish(&b), MSIM_OK);
        CHECK_INT(msim_graph_break_cycles(&b, &meetings), MSIM_OK);
        CHECK_INT(b.g->n_edges, 2 * circles - 64);
        end();
    }
}

/* Ranks meet in it: it stays, unless they meet only where it is recorded. A
 * rank's own arrival is no meeting. */
static void test_break_cycles__meetings(void)
{
    for (int way = 0; way < 3; way++) {
        bool meetings = way == 2;

        begin();
        task(MSIM_TASK_CALL, 0, 0, 10);
        task(MSIM_TASK_JOIN, way == 2 ? 0 : MSIM_NONE, 10, 10);
        edge(0, 1, MSIM_EDGE_PROGRAM, MSIM_FROM_ORDER);
        edge(1, 0, MSIM_EDGE_EVENT, MSIM_FROM_TIMES);
        b.apart = way == 1;
        CHECK_INT(left(&meetings), way == 0 ? 3 : 1);
        CHECK_INT(meetings, way != 2);
        end();
    }
}

int main(void)
{
    RUN(test_break_cycles__what_is_inferred);
    RUN(test_break_cycles__furthest_back);
    RUN(test_break_cycles__without_times);
    RUN(test_break_cycles__begins);
    RUN(test_break_cycles__told_once);
    RUN(test_break_cycles__one_edge_of_two);
    RUN(test_break_cycles__many);
    RUN(test_break_cycles__meetings);
    return check_summary();
}
