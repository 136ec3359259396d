/*
 * predict/edit/edit_overlap.c: which edges hold no more, which streams
 * transfers go to, and what follows what then.
 */
#include "predict/edit/edit_internal.h"

#include "tests/check.h"
#include "tests/unit/made_remake.h"

static struct made_remake m;
static char text[64];

/* Tasks of stream 7, one letter each: k a kernel, c a copy, t a transfer, a its
 * arrival. Each follows the one before; three kernels more on a lane of its own
 * rank make `main` the stream with most kernels. */
static void stream(const char *tasks, uint32_t main)
{
    remake_new(&m, 1);
    for (uint32_t i = 0; tasks[i]; i++) {
        enum msim_task_kind kind = tasks[i] == 'k'   ? MSIM_TASK_KERNEL
                                   : tasks[i] == 'c' ? MSIM_TASK_COPY
                                   : tasks[i] == 't' ? MSIM_TASK_COMM
                                                     : MSIM_TASK_JOIN;

        (void)remake_task(&m, kind, 1, 10);
        if (i)
            remake_edge(&m, i - 1, i, MSIM_EDGE_STREAM, 5);
    }
    for (int i = 0; i < 9; i++)
        (void)remake_task(&m, MSIM_TASK_KERNEL, main, 10);
}

static uint32_t dropped(void)
{
    uint32_t n = 0;

    for (uint32_t e = 0; e < m.g.n_edges; e++)
        n += m.d.overlay.dropped[e];
    return n;
}

/* Other work of the rank's GPU waits no more; other communication, the host and
 * other ranks do. */
static void test_edit_overlap__unties(void)
{
    static const struct {
        enum msim_task_kind kind;
        uint16_t rank;
        bool dropped;
    } TO[] = {{MSIM_TASK_KERNEL, 0, true}, {MSIM_TASK_COPY, 0, true},
              {MSIM_TASK_COMM, 0, false},  {MSIM_TASK_JOIN, 0, false},
              {MSIM_TASK_CALL, 0, false},  {MSIM_TASK_KERNEL, 1, false}};
    const uint32_t n = sizeof(TO) / sizeof(*TO);

    remake_new(&m, 2);
    (void)remake_task(&m, MSIM_TASK_COMM, 2, 10);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t t = remake_task(&m, TO[i].kind,
                                 TO[i].kind < MSIM_TASK_COMM ? 1 : 3, 10);

        m.refs[t].rank = TO[i].rank;
        remake_edge(&m, 0, t, MSIM_EDGE_EVENT, 0);
    }
    remake_edge(&m, 1, 2, MSIM_EDGE_STREAM, 0);
    if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
        CHECK_INT(msim_edit_overlap(&m.d), MSIM_OK);
        for (uint32_t e = 0; e < n; e++)
            CHECK_INT(m.d.overlay.dropped[e], TO[e].dropped);
        CHECK_INT(m.d.overlay.dropped[n], 0);
        CHECK_INT(m.d.overlay.n_lanes, 0); /* it has a stream of its own */
        CHECK_INT(m.d.overlay.n_edges, 0);
    }
    remake_done(&m);
}

/* From the stream of other work to one of its own: what was before and behind
 * it follow each other, and each transfer the one before. */
static void test_edit_overlap__leaves_the_main_stream(void)
{
    static const struct {
        const char *tasks;
        uint32_t moved, n_ties, tie[3][2], dropped;
    } CASE[] = {
        {"katk", 0x6, 1, {{0, 3}}, 1},
        {"ktk", 0x2, 1, {{0, 2}}, 1},
        {"ctc", 0x2, 1, {{0, 2}}, 1},
        {"tk", 0x1, 0, {{0}}, 1},
        {"kt", 0x2, 0, {{0}}, 0},
        {"kttk", 0x6, 2, {{0, 3}, {1, 2}}, 1},
        {"katatk", 0x1e, 2, {{0, 5}, {2, 3}}, 1},
        {"ktkatk", 0x1a, 3, {{0, 2}, {2, 5}, {1, 3}}, 2},
    };

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        uint32_t n = (uint32_t)strlen(CASE[i].tasks);

        stream(CASE[i].tasks, 1);
        /* what ends a case is behind its last: another stream's */
        if (CASE[i].tasks[n - 1] == 't')
            for (uint32_t t = n; t < m.g.n_tasks; t++)
                m.lane[t] = MSIM_NONE;
        if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
            CHECK_INT(msim_edit_overlap(&m.d), MSIM_OK);
            CHECK_INT(m.d.overlay.n_lanes, 1);
            for (uint32_t t = 0; t < n; t++)
                CHECK_INT(m.d.overlay.lane[t],
                          CASE[i].moved >> t & 1 ? REMAKE_LANES : 1);
            CHECK_INT(m.d.overlay.n_edges, CASE[i].n_ties);
            for (uint32_t k = 0; k < CASE[i].n_ties; k++)
                CHECK_INT(remake_tied(&m, CASE[i].tie[k][0], CASE[i].tie[k][1],
                                      MSIM_EDGE_STREAM),
                          0);
            CHECK_INT(dropped(), CASE[i].dropped);
        }
        remake_done(&m);
    }
}

/* On another stream than the one with most work it stays where it is. */
static void test_edit_overlap__stays_on_its_stream(void)
{
    stream("ktk", 2);
    if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
        CHECK_INT(msim_edit_overlap(&m.d), MSIM_OK);
        CHECK_INT(m.d.overlay.n_lanes, 0);
        CHECK_INT(m.d.overlay.n_edges, 0);
        CHECK_INT(dropped(), 1);
    }
    remake_done(&m);
}

/* What is not selected stays, and what leaves the stream follows it no more. */
static void test_edit_overlap__takes_a_selection(void)
{
    stream("kttk", 1);
    (void)build_op(&m.b, 0, "nccl:one", "", NULL);
    (void)build_op(&m.b, 0, "nccl:two", "", NULL);
    m.refs[1].op = 0;
    m.refs[2].op = 1;
    remake_select(&m, "op:nccl:two", text);
    if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
        CHECK_INT(msim_edit_overlap(&m.d), MSIM_OK);
        CHECK_INT(m.d.overlay.lane[1], 1);
        CHECK_INT(m.d.overlay.lane[2], REMAKE_LANES);
        CHECK_INT(m.d.overlay.n_edges, 1);
        CHECK_INT(remake_tied(&m, 1, 3, MSIM_EDGE_STREAM), 0);
    }
    remake_done(&m);
}

/* What was before is found by the order of the stream alone. */
static void test_edit_overlap__follows_its_stream(void)
{
    stream("kktk", 1);
    (void)remake_task(&m, MSIM_TASK_KERNEL, 2, 10);
    remake_edge(&m, 13, 2, MSIM_EDGE_STREAM, 0); /* another stream's */
    remake_edge(&m, 0, 2, MSIM_EDGE_EVENT, 0);
    if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
        CHECK_INT(msim_edit_overlap(&m.d), MSIM_OK);
        CHECK_INT(m.d.overlay.n_edges, 1);
        CHECK_INT(remake_tied(&m, 1, 3, MSIM_EDGE_STREAM), 0);
    }
    remake_done(&m);
}

/* Each rank has a stream and an order of its own. */
static void test_edit_overlap__of_two_ranks(void)
{
    remake_new(&m, 2);
    m.lanes[2].rank = 1;
    for (uint32_t i = 0; i < 6; i++) {
        uint32_t t = remake_task(
            &m, i % 3 == 1 ? MSIM_TASK_COMM : MSIM_TASK_KERNEL, 1 + i / 3, 10);

        m.refs[t].rank = (uint16_t)(i / 3);
        if (i % 3)
            remake_edge(&m, i - 1, i, MSIM_EDGE_STREAM, 0);
    }
    if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
        CHECK_INT(msim_edit_overlap(&m.d), MSIM_OK);
        CHECK_INT(m.d.overlay.n_lanes, 2);
        CHECK_INT(m.d.overlay.lane[1], REMAKE_LANES);
        CHECK_INT(m.d.overlay.lane[4], REMAKE_LANES + 1);
        CHECK_INT(m.d.overlay.lanes[1].rank, 1);
        CHECK_INT(m.d.overlay.n_edges, 2);
        CHECK_INT(remake_tied(&m, 3, 5, MSIM_EDGE_STREAM), 0);
    }
    remake_done(&m);
}

static void test_edit_overlap__has_nothing_to_move(void)
{
    stream("kk", 1);
    if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
        CHECK_INT(msim_edit_overlap(&m.d), MSIM_EUSAGE);
        CHECK_STR(m.err.text, "the job has no communication to overlap");
    }
    remake_done(&m);
}

int main(void)
{
    RUN(test_edit_overlap__unties);
    RUN(test_edit_overlap__leaves_the_main_stream);
    RUN(test_edit_overlap__stays_on_its_stream);
    RUN(test_edit_overlap__takes_a_selection);
    RUN(test_edit_overlap__follows_its_stream);
    RUN(test_edit_overlap__of_two_ranks);
    RUN(test_edit_overlap__has_nothing_to_move);
    return check_summary();
}
