/*
 * tests/unit/core/graph/test_task_text.c - what tasks, lanes and edges are
 * called, what a task stands around, and the warning of an idle GPU.
 */
#include "core/graph/graph.h"

#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>

enum { GEMM, COPY }; /* GPU events */
enum { INNER = 1, LABEL };
#define OWN_NAME 9

/* Strings 1 to 9 are "n1" to "n9"; operator 1 is in operator 0, 2 a label. */
static struct msim_op ops[] = {{.name = 1}, {.name = 2}, {.name = 3}};
static uint32_t topmost[] = {0, 0, MSIM_NONE};
static struct msim_call calls[] = {{.name = 4, .op = LABEL},
                                   {.name = 5, .op = MSIM_NONE}};
static struct msim_gpu gpu[] = {{.name = 6, .call = 0, .start = 2500000},
                                {.name = 7, .call = MSIM_NONE}};
static struct msim_thread threads[] = {{.tid = 123}, {.tid = -5}};
static struct msim_stream streams[] = {{.id = 7}, {.id = 20}};
static struct msim_trace trace = {.ops = ops,
                                  .n_ops = 3,
                                  .topmost = topmost,
                                  .calls = calls,
                                  .gpu = gpu,
                                  .threads = threads,
                                  .n_threads = 2,
                                  .streams = streams,
                                  .n_streams = 2};
static struct msim_trace *ranks[] = {&trace};

/* One task each; what its name, its own one and the topmost one are ("":
 * none), and the operator around it. */
static const struct task {
    uint8_t kind;
    uint32_t index, op;
    const char *name, *own, *topmost;
    uint32_t around;
} TASKS[] = {
    {MSIM_TASK_HOST, 0, 0, "n1", "", "n1", 0},
    {MSIM_TASK_HOST, INNER, INNER, "n2", "", "n1", INNER},
    {MSIM_TASK_HOST, 0, LABEL, "n3", "", "", LABEL},
    {MSIM_TASK_GAP, MSIM_NONE, MSIM_NONE, "host", "", "", MSIM_NONE},
    {MSIM_TASK_GAP, 0, MSIM_NONE, "host", "", "", MSIM_NONE},
    {MSIM_TASK_CALL, 0, INNER, "n4", "n4", "n1", INNER},
    {MSIM_TASK_CALL, 0, MSIM_NONE, "n4", "n4", "", LABEL},
    {MSIM_TASK_CALL, 1, MSIM_NONE, "n5", "n5", "", MSIM_NONE},
    {MSIM_TASK_CALL, MSIM_NONE, MSIM_NONE, "host", "", "", MSIM_NONE},
    {MSIM_TASK_KERNEL, GEMM, 0, "n6", "n6", "n1", 0},
    {MSIM_TASK_KERNEL, GEMM, MSIM_NONE, "n6", "n6", "", LABEL},
    {MSIM_TASK_KERNEL, MSIM_NONE, INNER, "n2", "", "n1", INNER},
    {MSIM_TASK_COPY, COPY, MSIM_NONE, "n7", "n7", "", MSIM_NONE},
    {MSIM_TASK_COMM, GEMM, MSIM_NONE, "n6", "n6", "", LABEL},
    {MSIM_TASK_JOIN, COPY, 0, "n7", "n7", "n1", 0},
    {MSIM_TASK_JOIN, MSIM_NONE, MSIM_NONE, "host", "", "", MSIM_NONE},
};
#define N_TASKS (sizeof(TASKS) / sizeof(*TASKS))

static uint8_t kinds[N_TASKS];
static struct msim_task_ref refs[N_TASKS];
static uint32_t own_names[N_TASKS];
static struct msim_job job = {.ranks = ranks, .n_ranks = 1};
static struct msim_graph g = {
    .job = &job, .n_tasks = N_TASKS, .kind = kinds, .refs = refs};

static void check_task(uint32_t i)
{
    const struct task *t = &TASKS[i];

    CHECK_STR(msim_task_name(&g, i), t->name);
    CHECK_STR(msim_trace_text(&trace, msim_task_own_name(&g, i)), t->own);
    CHECK_STR(msim_trace_text(&trace, msim_task_topmost(&g, i)), t->topmost);
    CHECK_UINT(msim_graph_around(&g, i), t->around);
}

static void test_task_text__names(void)
{
    for (uint32_t i = 0; i < N_TASKS; i++) {
        kinds[i] = TASKS[i].kind;
        refs[i] =
            (struct msim_task_ref){.index = TASKS[i].index, .op = TASKS[i].op};
        check_task(i);
    }
}

/* A name that a change gave goes before that of the trace; 0 is none. */
static void test_task_text__given_names(void)
{
    g.own_name = own_names;
    own_names[0] = own_names[5] = OWN_NAME;
    CHECK_STR(msim_task_name(&g, 0), "n9");
    CHECK_STR(msim_task_name(&g, 5), "n9");
    check_task(1);
    check_task(6);
    g.own_name = NULL;
}

static void test_task_text__lanes(void)
{
    static struct msim_lane lanes[] = {
        {0, 0, true},
        {0, 1, true},
        {0, 2, true},
        {0, MSIM_LANE_ADDED, true},
        {0, MSIM_LANE_ADDED + 1, true},
        {0, MSIM_LANE_ADDED + 12, true},
        {0, MSIM_NONE, true},
        {0, 0, false},
        {0, 1, false},
        {0, 2, false},
        {0, MSIM_NONE, false},
    };
    static const char *const want[] = {
        "stream 7",     "stream 20",     "communication", "communication",
        "new stream 1", "new stream 12", "communication", "thread 123",
        "thread -5",    "host",          "host"};
    char name[MSIM_LANE_NAME];

    g.lanes = lanes;
    for (uint32_t i = 0; i < sizeof(lanes) / sizeof(*lanes); i++) {
        msim_lane_name(name, &g, i);
        CHECK_STR(name, want[i]);
    }
    msim_stream_id(name, &g, 1);
    CHECK_STR(name, "20");
    msim_lane_name(name, &g, MSIM_NONE);
    CHECK_STR(name, "-");
}

/* Without GPU events the first lane computes, and any other communicates. */
static void test_task_text__lanes_without_streams(void)
{
    static struct msim_lane lanes[] = {{0, 0, true}, {0, 1, true}};
    char name[MSIM_LANE_NAME];

    g.lanes = lanes;
    trace.n_streams = 0;
    msim_lane_name(name, &g, 0);
    CHECK_STR(name, "compute");
    msim_stream_id(name, &g, 1);
    CHECK_STR(name, "communication");
    trace.n_streams = 2;
}

static void test_task_text__words(void)
{
    static const char *const kind[] = {
        "host", "gap", "call", "kernel", "copy", "communication", "rendezvous"};
    static const char *const source[] = {"program order", "recorded ids",
                                         "measured times"};

    for (int i = MSIM_TASK_HOST; i <= MSIM_TASK_JOIN; i++)
        CHECK_STR(msim_task_kind_text((enum msim_task_kind)i), kind[i]);
    CHECK_STR(msim_task_kind_text((enum msim_task_kind)(MSIM_TASK_JOIN + 1)),
              "");
    CHECK_STR(msim_edge_text(MSIM_EDGE_PROGRAM), "program order");
    CHECK_STR(msim_edge_text(MSIM_EDGE_POINT_TO_POINT), "send and receive");
    CHECK_STR(msim_copied_text(MSIM_COPIED_HOST), "host work in operators");
    CHECK_STR(msim_copied_text(MSIM_COPIED_UNEXPLAINED),
              "delays without a cause");
    for (int i = 0; i < MSIM_EDGE_SOURCES; i++)
        CHECK_STR(msim_edge_source_text((enum msim_edge_source)i), source[i]);
}

static void test_task_text__idle_gpu(void)
{
    static const struct {
        struct msim_queued_idle idle;
        const char *want;
    } cases[] = {
        {{0, 5000000, 5000000, 0, 0}, NULL},
        {{1, 1500000, 1500000, 0, GEMM},
         "incomplete trace: the GPU is idle in 1 place, 1.5 us in all, "
         "although work is queued, longest 1.5 us before 'n6' at 2.5 us: what "
         "ran there, or held it up, is not recorded"},
        {{2, 3000000, 2000000, 0, COPY},
         "incomplete trace: the GPU is idle in 2 places, 3.0 us in all, "
         "although work is queued, longest 2.0 us before 'n7' at 0.0 us: what "
         "ran there, or held it up, is not recorded"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint32_t n = job.n_warnings;

        g.queued_idle = cases[i].idle;
        msim_warn_queued_idle(&job, &g);
        REQUIRE(job.n_warnings == n + (cases[i].want != NULL));
        if (cases[i].want)
            CHECK_STR(job.warnings[n], cases[i].want);
    }
    msim_graph_free(NULL);
    free(job.warnings);
    msim_arena_release(&job.arena);
}

/* Names that the trace's numbers stand for. */
static bool make_names(struct msim_strtab **strings)
{
    if (msim_strtab_new(strings) != MSIM_OK)
        return false;
    for (int i = 1; i <= OWN_NAME; i++) {
        char name[16];
        uint32_t id;

        snprintf(name, sizeof(name), "n%d", i);
        if (msim_strtab_add(*strings, name, strlen(name), &id) != MSIM_OK ||
            id != (uint32_t)i)
            return false;
    }
    trace.strings = *strings;
    return true;
}

int main(void)
{
    struct msim_strtab *strings = NULL;

    if (!CHECK(make_names(&strings)))
        return check_summary();
    RUN(test_task_text__names);
    RUN(test_task_text__given_names);
    RUN(test_task_text__lanes);
    RUN(test_task_text__lanes_without_streams);
    RUN(test_task_text__words);
    RUN(test_task_text__idle_gpu);
    msim_strtab_free(strings);
    return check_summary();
}
