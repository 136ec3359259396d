/*
 * Tasks that wait for each other: which are found, how they are told, and what
 * tasks, lanes and dependencies are called.
 */
#include "core/graph/graph.h"
#include "tests/unit/made_ops.h"

#define TASKS 12
#define EDGES 24

/* Rank 3: operators around one another, calls and kernels of the first two,
 * with a stream of its own for each. Task i is of `kind[i]`. */
struct made {
    struct build b;
    struct msim_trace *ranks[1];
    struct msim_job job;
    struct msim_graph g;
    struct msim_stream streams[2];
    uint32_t topmost[BUILD_MAX];
    uint8_t kind[TASKS], edge_kind[EDGES];
    uint32_t lane[TASKS], n_preds[TASKS], edge_begin[TASKS + 1];
    uint32_t own_name[TASKS];
    struct msim_edge edges[EDGES];
    struct msim_task_ref refs[TASKS];
    struct msim_lane lanes[8];
};

static struct made m;

static void begin(void)
{
    memset(&m, 0, sizeof(m));
    build_init(&m.b);
    build_op(&m.b, 0, "outer", "", NULL);
    build_op(&m.b, 1, "inner", "", NULL);
    build_kernel(&m.b, 1, "gemm", 1, 1);
    build_kernel(&m.b, 0, "a kernel whose name is long", 1, 1);
    m.b.calls[0].name = build_text(&m.b, "cudaLaunchKernel");
    m.b.calls[1].name = build_text(&m.b, "cuLaunch");
    m.b.t.topmost = m.topmost;
    m.b.t.rank = 3;
    m.b.threads[0].tid = 77;
    m.streams[0].id = 7;
    m.streams[1].id = 20;
    m.b.t.streams = m.streams;
    m.b.t.n_streams = 2;
    m.ranks[0] = &m.b.t;
    m.job.ranks = m.ranks;
    m.job.n_ranks = 1;
    m.g = (struct msim_graph){.job = &m.job,
                              .n_tasks = TASKS,
                              .kind = m.kind,
                              .lane = m.lane,
                              .n_preds = m.n_preds,
                              .edge_begin = m.edge_begin,
                              .edges = m.edges,
                              .edge_kind = m.edge_kind,
                              .refs = m.refs,
                              .lanes = m.lanes,
                              .n_lanes = 8};
    for (uint32_t i = 0; i < TASKS; i++)
        m.refs[i] = (struct msim_task_ref){MSIM_NONE, MSIM_NONE, 0, 0, 0};
    m.lanes[1] = (struct msim_lane){0, 0, true};
    m.lanes[2] = (struct msim_lane){0, 1, true};
    m.lanes[3] = (struct msim_lane){0, MSIM_LANE_ADDED + 1, true};
    m.lanes[4] = (struct msim_lane){0, 2, true};
    m.lanes[5] = (struct msim_lane){0, MSIM_NONE, true};
    m.lanes[6] = (struct msim_lane){0, 1, false};
    m.lanes[7] = (struct msim_lane){0, MSIM_LANE_ADDED, true};
}

/* Edges come in the order of the tasks that they come from. */
static void edge(uint32_t from, uint32_t to, enum msim_edge_kind kind)
{
    m.edges[m.g.n_edges].to = to;
    m.edge_kind[m.g.n_edges++] = MSIM_EDGE_BYTE(kind, MSIM_FROM_TIMES);
    m.n_preds[to]++;
    for (uint32_t t = from + 1; t <= TASKS; t++)
        m.edge_begin[t] = m.g.n_edges;
}

static void test_graph_cycle__none(void)
{
    struct msim_cycle c;

    begin();
    edge(0, 1, MSIM_EDGE_PROGRAM);
    edge(0, 2, MSIM_EDGE_PROGRAM);
    edge(1, 2, MSIM_EDGE_PROGRAM);
    edge(5, 0, MSIM_EDGE_PROGRAM);
    CHECK_INT(msim_cycle_find(&c, &m.g), MSIM_OK);
    CHECK_INT(c.n, 0);
    CHECK_INT(c.n_stuck, 0);
    CHECK(!c.edges);
    msim_cycle_release(&c);
    build_release(&m.b);
}

/* 2 -> 4 -> 6 -> 2, with 0 before and 7 behind: the cycle alone, backwards. */
static void test_graph_cycle__found_backwards(void)
{
    struct msim_cycle c;
    uint32_t seen = 0;

    begin();
    edge(0, 2, MSIM_EDGE_PROGRAM);
    edge(2, 4, MSIM_EDGE_PROGRAM);
    edge(2, 7, MSIM_EDGE_PROGRAM);
    edge(4, 6, MSIM_EDGE_PROGRAM);
    edge(6, 2, MSIM_EDGE_PROGRAM);
    edge(7, 8, MSIM_EDGE_PROGRAM);
    CHECK_INT(msim_cycle_find(&c, &m.g), MSIM_OK);
    CHECK_INT(c.n, 3);
    CHECK_INT(c.n_stuck, 5);
    for (uint32_t i = 0; i < c.n && c.n == 3; i++) {
        uint32_t next = c.edges[(i + 1) % c.n];

        CHECK_INT(msim_edge_from(&m.g, c.edges[i]), m.edges[next].to);
        seen |= 1u << c.edges[i];
    }
    CHECK_INT(seen, 1 << 1 | 1 << 3 | 1 << 4);
    msim_cycle_release(&c);
    CHECK(!c.edges && !c.n);
    build_release(&m.b);
}

static void test_graph_cycle__of_one_and_of_two(void)
{
    struct msim_cycle c;

    begin();
    edge(3, 3, MSIM_EDGE_PROGRAM);
    CHECK_INT(msim_cycle_find(&c, &m.g), MSIM_OK);
    CHECK_INT(c.n, 1);
    CHECK_INT(c.n_stuck, 1);
    msim_cycle_release(&c);
    build_release(&m.b);
    begin();
    edge(0, 11, MSIM_EDGE_PROGRAM);
    edge(11, 0, MSIM_EDGE_PROGRAM);
    CHECK_INT(msim_cycle_find(&c, &m.g), MSIM_OK);
    CHECK_INT(c.n, 2);
    CHECK_INT(c.n_stuck, 2);
    msim_cycle_release(&c);
    build_release(&m.b);
}

static void test_graph_cycle__where_edges_begin(void)
{
    static const uint32_t FROM[] = {0, 0, 3, 4, 4, 4, 11};

    begin();
    for (size_t i = 0; i < 7; i++)
        edge(FROM[i], 5, MSIM_EDGE_PROGRAM);
    for (uint32_t i = 0; i < 7; i++)
        CHECK_INT(msim_edge_from(&m.g, i), FROM[i]);
    build_release(&m.b);
}

/* Tasks of a cycle: a call of the thread, a kernel, a collective, a gap. */
static void name_tasks(void)
{
    m.kind[0] = MSIM_TASK_CALL;
    m.refs[0].index = 0;
    m.refs[0].op = 1;
    m.lane[0] = 0;
    m.kind[1] = MSIM_TASK_KERNEL;
    m.refs[1].index = 1;
    m.lane[1] = 1;
    m.kind[2] = MSIM_TASK_GAP;
    m.lane[2] = MSIM_NONE;
}

static void test_graph_cycle__told(void)
{
    char text[440] = "";

    begin();
    name_tasks();
    edge(0, 1, MSIM_EDGE_LAUNCH);
    edge(1, 2, MSIM_EDGE_EVENT_SYNC);
    msim_edge_tell(text, sizeof(text), &m.g, 0);
    CHECK_STR(text, "kernel 1 'a kernel whose name is l' (rank 3, stream 7) "
                    "for call 0 'cudaLaunchKernel' (rank 3, thread 77): "
                    "launch");
    msim_edge_tell(text, sizeof(text), &m.g, 1);
    CHECK_STR(text, "kernel 1 'a kernel whose name is l' (rank 3, stream 7) "
                    "for call 0 'cudaLaunchKernel' (rank 3, thread 77): "
                    "launch; gap 2 'host' (rank 3, -) for kernel 1 'a kernel "
                    "whose name is l' (rank 3, stream 7): event "
                    "synchronisation");
    build_release(&m.b);
}

/* Orders of threads and streams are not listed, unless there are no others;
 * of others, four. */
static void test_graph_cycle__fails_with_what_matters(void)
{
    struct msim_error err = {0};

    begin();
    name_tasks();
    edge(0, 1, MSIM_EDGE_PROGRAM);
    edge(1, 2, MSIM_EDGE_STREAM);
    edge(2, 0, MSIM_EDGE_QUEUE);
    CHECK_INT(msim_cycle_fail(&m.g, &err), MSIM_ECYCLE);
    CHECK_STR(err.text,
              "3 of 12 tasks wait for each other: call 0 'cudaLaunchKernel' "
              "(rank 3, thread 77) for gap 2 'host' (rank 3, -): launch queue "
              "full");
    build_release(&m.b);

    begin();
    name_tasks();
    edge(0, 2, MSIM_EDGE_PROGRAM);
    edge(2, 0, MSIM_EDGE_STREAM);
    memset(&err, 0, sizeof(err));
    CHECK_INT(msim_cycle_fail(&m.g, &err), MSIM_ECYCLE);
    CHECK(strstr(err.text, "2 of 12 tasks wait for each other: "));
    CHECK(strstr(err.text, ": program order") ||
          strstr(err.text, ": stream order"));
    CHECK(!strstr(err.text, "; "));
    build_release(&m.b);

    begin();
    for (uint32_t i = 0; i < 6; i++) {
        m.lane[i] = MSIM_NONE;
        edge(i, (i + 1) % 6, MSIM_EDGE_QUEUE);
    }
    memset(&err, 0, sizeof(err));
    CHECK_INT(msim_cycle_fail(&m.g, &err), MSIM_ECYCLE);
    {
        uint32_t listed = 0;

        for (const char *p = err.text; (p = strstr(p, ": launch queue full"));
             p++)
            listed++;
        CHECK_INT(listed, 4);
    }
    build_release(&m.b);
}

static void test_task_text__kinds(void)
{
    static const char *const WORDS[] = {"host",       "gap",  "call",
                                        "kernel",     "copy", "communication",
                                        "rendezvous", ""};

    for (int i = 0; i < 8; i++)
        CHECK_STR(msim_task_kind_text((enum msim_task_kind)i), WORDS[i]);
}

/* The task's own name, else its operator's, else "host". */
static void test_task_text__names(void)
{
    begin();
    for (uint32_t i = 0; i < 7; i++) {
        m.kind[i] = (uint8_t)i;
        m.refs[i].index = i == MSIM_TASK_CALL ? 1 : 0;
        m.refs[i].op = 1;
    }
    CHECK_STR(msim_task_name(&m.g, MSIM_TASK_HOST), "inner");
    CHECK_STR(msim_task_name(&m.g, MSIM_TASK_GAP), "inner");
    CHECK_STR(msim_task_name(&m.g, MSIM_TASK_CALL), "cuLaunch");
    for (uint32_t i = MSIM_TASK_KERNEL; i <= MSIM_TASK_JOIN; i++)
        CHECK_STR(msim_task_name(&m.g, i), "gemm");
    for (uint32_t i = 0; i < 7; i++) {
        m.refs[i].index = MSIM_NONE;
        CHECK_INT(msim_task_own_name(&m.g, i), 0);
        CHECK_STR(msim_task_name(&m.g, i), "inner");
        CHECK_INT(msim_task_topmost(&m.g, i), m.b.ops[0].name);
        m.refs[i].op = MSIM_NONE;
        CHECK_STR(msim_task_name(&m.g, i), "host");
        CHECK_INT(msim_task_topmost(&m.g, i), 0);
    }
    m.g.own_name = m.own_name;
    m.own_name[3] = m.b.ops[1].name;
    CHECK_STR(msim_task_name(&m.g, 3), "inner");
    CHECK_STR(msim_task_name(&m.g, 4), "host");
    m.refs[3].index = 0;
    CHECK_STR(msim_task_name(&m.g, 3), "inner");
    m.refs[3].op = m.refs[4].op = 0;
    m.topmost[0] = MSIM_NONE;
    CHECK_INT(msim_task_topmost(&m.g, 3), 0);
    build_release(&m.b);
}

static void test_task_text__lanes(void)
{
    static const char *const LANES[] = {
        "thread 77",     "stream 7",      "stream 20", "new stream 1",
        "communication", "communication", "host",      "communication"};
    char name[MSIM_LANE_NAME];

    begin();
    for (uint32_t i = 0; i < 8; i++) {
        msim_lane_name(name, &m.g, i);
        CHECK_STR(name, LANES[i]);
    }
    msim_lane_name(name, &m.g, MSIM_NONE);
    CHECK_STR(name, "-");
    msim_stream_id(name, &m.g, 2);
    CHECK_STR(name, "20");
    /* a rank without GPU events computes and communicates */
    m.b.t.n_streams = 0;
    msim_lane_name(name, &m.g, 1);
    CHECK_STR(name, "compute");
    msim_stream_id(name, &m.g, 2);
    CHECK_STR(name, "communication");
    build_release(&m.b);
}

/* What no operator launched is in the label of its call. */
static void test_graph__around(void)
{
    begin();
    for (uint32_t i = 0; i < 7; i++) {
        m.kind[i] = (uint8_t)i;
        m.refs[i].index = 1;
    }
    m.b.calls[0].op = 1;
    m.b.calls[1].op = 0;
    m.b.gpu[1].call = 0;
    CHECK_INT(msim_graph_around(&m.g, MSIM_TASK_HOST), MSIM_NONE);
    CHECK_INT(msim_graph_around(&m.g, MSIM_TASK_GAP), MSIM_NONE);
    CHECK_INT(msim_graph_around(&m.g, MSIM_TASK_CALL), 0);
    for (uint32_t i = MSIM_TASK_KERNEL; i <= MSIM_TASK_JOIN; i++)
        CHECK_INT(msim_graph_around(&m.g, i), 1);
    m.b.gpu[1].call = MSIM_NONE;
    CHECK_INT(msim_graph_around(&m.g, MSIM_TASK_COPY), MSIM_NONE);
    m.refs[4].op = 0;
    CHECK_INT(msim_graph_around(&m.g, MSIM_TASK_COPY), 0);
    m.refs[3].index = MSIM_NONE;
    CHECK_INT(msim_graph_around(&m.g, MSIM_TASK_KERNEL), MSIM_NONE);
    build_release(&m.b);
}

/* In how many places the GPU was idle, for how long, and before what. */
static void test_graph__idle_queues(void)
{
    begin();
    msim_warn_queued_idle(&m.job, &m.g);
    CHECK_INT(m.job.n_warnings, 0);
    m.b.gpu[1].start = 1234500000;
    m.g.queued_idle = (struct msim_queued_idle){
        .n = 1, .total = 25000000, .longest = 15500000, .gpu = 1};
    msim_warn_queued_idle(&m.job, &m.g);
    m.g.queued_idle.n = 2;
    msim_warn_queued_idle(&m.job, &m.g);
    REQUIRE(m.job.n_warnings == 2);
    CHECK_STR(m.job.warnings[0],
              "incomplete trace: the GPU is idle in 1 place, 25.0 us in all, "
              "although work is queued, longest 15.5 us before 'a kernel whose "
              "name is long' at 1234.5 us: what ran there, or held it up, is "
              "not recorded");
    CHECK(strstr(m.job.warnings[1], "the GPU is idle in 2 places, "));
    free((void *)m.job.warnings);
    msim_arena_release(&m.job.arena);
    build_release(&m.b);
}

static void test_graph__words(void)
{
    CHECK_STR(msim_edge_text(MSIM_EDGE_PROGRAM), "program order");
    CHECK_STR(msim_edge_text(MSIM_EDGE_POINT_TO_POINT), "send and receive");
    CHECK_STR(msim_edge_source_text(MSIM_FROM_ORDER), "program order");
    CHECK_STR(msim_edge_source_text(MSIM_FROM_IDS), "recorded ids");
    CHECK_STR(msim_edge_source_text(MSIM_FROM_TIMES), "measured times");
    CHECK_STR(msim_copied_text(MSIM_COPIED_HOST), "host work in operators");
    CHECK_STR(msim_copied_text(MSIM_COPIED_UNEXPLAINED),
              "delays without a cause");
    CHECK_INT(msim_edge_kind_of(MSIM_EDGE_BYTE(MSIM_EDGE_POINT_TO_POINT, 2)),
              MSIM_EDGE_POINT_TO_POINT);
    CHECK_INT(msim_edge_source_of(MSIM_EDGE_BYTE(MSIM_EDGE_POINT_TO_POINT, 2)),
              MSIM_FROM_TIMES);
    msim_graph_free(NULL);
}

int main(void)
{
    RUN(test_graph_cycle__none);
    RUN(test_graph_cycle__found_backwards);
    RUN(test_graph_cycle__of_one_and_of_two);
    RUN(test_graph_cycle__where_edges_begin);
    RUN(test_graph_cycle__told);
    RUN(test_graph_cycle__fails_with_what_matters);
    RUN(test_task_text__kinds);
    RUN(test_task_text__names);
    RUN(test_task_text__lanes);
    RUN(test_graph__around);
    RUN(test_graph__idle_queues);
    RUN(test_graph__words);
    return check_summary();
}
