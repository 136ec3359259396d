/*
 * tests/unit/core/trace/test_order_device.c - which call started an activity of
 * the GPU, which operator made the call, and what is missing.
 */
#include "core/trace/trace_columns.h"

#include "tests/check.h"

#include <stdlib.h>

#define MOST 16
#define US   ((msim_ps)MSIM_PS_PER_US)

enum { /* strings */
       LAUNCH = 1,
       GRAPH,
       MEMCPY,
       ODD,
       BEGIN,
       END,
       KERNEL,
       OTHER
};
static const char *const WORDS[] = {"cudaLaunchKernel",
                                    "cudaGraphLaunch",
                                    "cudaMemcpyAsync",
                                    "fooStart",
                                    "cudaStreamBeginCapture",
                                    "cudaStreamEndCapture",
                                    "k",
                                    "other"};

static struct msim_strtab *strings;
static struct msim_op ops[3];
static struct msim_call calls[MOST];
static struct msim_gpu gpu[MOST];
static struct msim_sync syncs[3];
static struct msim_stream streams[3];
static struct msim_thread threads[2];
static struct msim_trace t;

static void begin(void)
{
    memset(streams, 0, sizeof(streams));
    memset(threads, 0, sizeof(threads));
    t = (struct msim_trace){.ops = ops,
                            .calls = calls,
                            .gpu = gpu,
                            .syncs = syncs,
                            .streams = streams,
                            .n_streams = 3,
                            .threads = threads,
                            .n_threads = 2,
                            .strings = strings};
}

/* Rows of a thread or a stream stand behind each other; times in us. */
static struct msim_call *add_call(uint32_t thread, uint32_t name, int start,
                                  int dur, uint32_t correlation)
{
    struct msim_call *c = &calls[t.n_calls++];

    *c = (struct msim_call){.thread = thread,
                            .name = name,
                            .start = start * US,
                            .dur = dur * US,
                            .correlation = correlation,
                            .op = MSIM_NONE,
                            .gpu = MSIM_NONE};
    return c;
}

static struct msim_gpu *add_gpu(uint32_t stream, int start, int dur,
                                uint32_t correlation)
{
    struct msim_gpu *g = &gpu[t.n_gpu++];

    *g = (struct msim_gpu){.stream = stream,
                           .name = KERNEL,
                           .start = start * US,
                           .dur = dur * US,
                           .correlation = correlation,
                           .call = MSIM_NONE,
                           .op = MSIM_NONE,
                           .comm = MSIM_NONE};
    return g;
}

static uint32_t noted(enum msim_import_kind kind)
{
    return (uint32_t)t.import.rows[kind].n;
}

static uint32_t order(void)
{
    uint32_t repeated = 99;

    msim_order_thread_ranges(&t);
    CHECK_INT(msim_order_device(&t, &repeated), MSIM_OK);
    return repeated;
}

static void test_order_device__order(void)
{
    static const uint32_t want[] = {5, 6, 2, 4, 3};

    begin();
    add_gpu(2, 9, 1, 3);
    add_gpu(1, 5, 1, 6);
    add_gpu(1, 5, 0, 5);
    add_gpu(2, 7, 0, 4);
    add_gpu(2, 7, 0, 2);
    order();
    CHECK(t.has_gpu_events);
    for (uint32_t i = 0; i < 5; i++)
        CHECK_UINT(gpu[i].correlation, want[i]);
    CHECK_UINT(streams[0].gpu_end, 0);
    CHECK_UINT(streams[1].gpu_begin, 0);
    CHECK_UINT(streams[1].gpu_end, 2);
    CHECK_UINT(streams[2].gpu_begin, 2);
    CHECK_UINT(streams[2].gpu_end, 5);
    begin();
    order();
    CHECK(!t.has_gpu_events);
}

/* Operator 0 holds label 1; label 2 stands alone. Of a graph's two activities
 * the first is the call's. */
static void test_order_device__links(void)
{
    static const uint32_t op[] = {0, 0, 0, MSIM_NONE, MSIM_NONE};

    begin();
    for (int i = 0; i < 3; i++) {
        ops[i] = msim_op_empty();
        ops[i].kind = i ? MSIM_OP_ANNOTATION : MSIM_OP_OPERATOR;
    }
    ops[1].parent = 0;
    t.n_ops = 3;
    add_call(0, LAUNCH, 0, 1, 10)->op = 0;
    add_call(0, GRAPH, 2, 1, 11)->op = 1;
    add_call(0, LAUNCH, 4, 1, 12)->op = 2;
    add_call(0, LAUNCH, 6, 1, 13);
    add_gpu(0, 10, 1, 10);
    add_gpu(0, 30, 1, 11);
    add_gpu(0, 40, 1, 12);
    add_gpu(0, 50, 1, 99);
    add_gpu(1, 20, 1, 11);
    add_gpu(1, 60, 1, 13);
    add_gpu(1, 70, 1, 0);
    add_gpu(2, 20, 1, 11); /* at once with another stream's */
    CHECK_UINT(order(), 0);
    CHECK_UINT(gpu[0].call, 0);
    CHECK_UINT(gpu[1].call, 1);
    CHECK_UINT(gpu[2].call, 2);
    CHECK_UINT(gpu[3].call, MSIM_NONE);
    CHECK_UINT(gpu[4].call, 1);
    CHECK_UINT(gpu[5].call, 3);
    CHECK_UINT(gpu[6].call, MSIM_NONE);
    CHECK_UINT(gpu[0].op, op[0]);
    CHECK_UINT(gpu[1].op, op[1]);
    CHECK_UINT(gpu[4].op, op[2]);
    CHECK_UINT(gpu[2].op, op[3]);
    CHECK_UINT(gpu[5].op, op[4]);
    CHECK(!gpu[0].in_graph && gpu[1].in_graph && gpu[4].in_graph);
    CHECK_UINT(calls[1].gpu, 4);
    CHECK_UINT(calls[3].gpu, 5);
    CHECK_UINT(t.unlinked_gpu, 2);
    CHECK_UINT(noted(MSIM_IMPORT_UNLAUNCHED), 2);
    CHECK_UINT(noted(MSIM_IMPORT_EARLY), 0);
    CHECK_UINT(noted(MSIM_IMPORT_LOST), 0);
    CHECK_UINT(noted(MSIM_IMPORT_CALL_KIND), 0);
}

/* A call whose name says nothing is what it starts; others stay. */
static void test_order_device__kinds(void)
{
    static const uint8_t starts[] = {MSIM_GPU_KERNEL, MSIM_GPU_COMM,
                                     MSIM_GPU_MEMCPY, MSIM_GPU_MEMSET,
                                     MSIM_GPU_KERNEL};
    static const uint8_t want[] = {MSIM_CALL_LAUNCH, MSIM_CALL_LAUNCH,
                                   MSIM_CALL_MEMCPY, MSIM_CALL_MEMSET,
                                   MSIM_CALL_MEMCPY};

    begin();
    for (uint32_t i = 0; i < 5; i++) {
        add_call(0, i < 4 ? ODD : MEMCPY, 2 * (int)i, 1, 1 + i);
        add_gpu(0, 20 + 2 * (int)i, 1, 1 + i)->kind = starts[i];
    }
    add_call(0, ODD, 12, 1, 9);
    order();
    for (uint32_t i = 0; i < 5; i++)
        CHECK_INT(calls[i].kind, want[i]);
    CHECK_INT(calls[5].kind, MSIM_CALL_OTHER);
    CHECK_UINT(noted(MSIM_IMPORT_CALL_KIND), 4);
}

/* Of two calls of one number the one that starts work is the launch; two that
 * do are two processes' but where one is in the other. */
static void test_order_device__one_number_twice(void)
{
    static const struct {
        uint32_t name[2], thread;
        int start[2], dur[2];
        uint32_t call, repeated;
    } cases[] = {
        {{ODD, LAUNCH}, 0, {0, 1}, {5, 1}, 1, 0},
        {{LAUNCH, ODD}, 0, {0, 1}, {5, 1}, 0, 0},
        {{ODD, LAUNCH}, 1, {0, 9}, {5, 1}, 1, 0},
        {{LAUNCH, MEMCPY}, 0, {0, 1}, {5, 1}, 0, 0},
        {{LAUNCH, LAUNCH}, 0, {0, 6}, {5, 1}, 0, 0},
        {{LAUNCH, LAUNCH}, 0, {0, 7}, {5, 1}, 0, 1},
        {{LAUNCH, LAUNCH}, 0, {7, 0}, {1, 5}, 0, 1},
        {{LAUNCH, LAUNCH}, 0, {6, 0}, {1, 5}, 0, 0},
        {{LAUNCH, LAUNCH}, 1, {0, 1}, {5, 1}, 0, 1},
        {{LAUNCH, ODD}, 1, {0, 7}, {5, 1}, 0, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        begin();
        add_call(0, cases[i].name[0], cases[i].start[0], cases[i].dur[0], 3);
        add_call(cases[i].thread, cases[i].name[1], cases[i].start[1],
                 cases[i].dur[1], 3);
        add_gpu(0, 20, 1, 3);
        if (!CHECK_UINT(order(), cases[i].repeated) ||
            !CHECK_UINT(gpu[0].call, cases[i].call))
            fprintf(stderr, "case %zu\n", i);
    }
    begin(); /* no number is no number twice */
    add_call(0, LAUNCH, 0, 1, 0);
    add_call(1, LAUNCH, 9, 1, 0);
    CHECK_UINT(order(), 0);
}

/* The same activity twice counts once, but for what graphs start, and what has
 * no launch. */
static void test_order_device__copies(void)
{
    static const struct {
        uint32_t name, correlation, left;
    } cases[] = {{LAUNCH, 4, 1}, {GRAPH, 4, 3}, {LAUNCH, 5, 3}, {LAUNCH, 0, 3}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        begin();
        add_call(0, cases[i].name, 0, 1, 4);
        for (int k = 0; k < 3; k++)
            add_gpu(0, 9, 0, cases[i].correlation);
        order();
        CHECK_UINT(t.n_gpu, cases[i].left);
        CHECK_UINT(noted(MSIM_IMPORT_TWICE), 3 - cases[i].left);
        CHECK_UINT(streams[0].gpu_end, cases[i].left);
    }
    for (int differs = 0; differs < 5; differs++) {
        struct msim_gpu *g;

        begin();
        add_call(0, LAUNCH, 0, 1, 4);
        add_call(0, LAUNCH, 2, 1, 5);
        add_gpu(0, 9, 0, 4);
        g = add_gpu(differs == 0, differs == 1 ? 10 : 9, differs == 2 ? 1 : 0,
                    differs == 3 ? 5 : 4);
        g->name = differs == 4 ? OTHER : KERNEL;
        order();
        CHECK_UINT(t.n_gpu, 2);
    }
}

/* Without a launch: ahead of what has one, or of a number below all calls'. */
static void test_order_device__early(void)
{
    static const struct {
        uint32_t correlations[3]; /* of a stream, one behind the other */
        uint32_t graph; /* number of a graph's launch at 15; 0: none */
        uint32_t early; /* bits of those */
    } cases[] = {
        {{50, 10, 51}, 0, 1},  {{50, 51, 10}, 0, 3},  {{50, 51, 52}, 0, 0},
        {{9, 50, 8}, 0, 5},    {{10, 9, 8}, 0, 0},    {{0, 10, 0}, 0, 1},
        {{50, 51, 10}, 60, 1}, {{50, 51, 60}, 60, 3}, {{9, 50, 51}, 60, 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint32_t early = 0, n = 0;

        begin();
        add_call(0, LAUNCH, 0, 1, 10);
        add_call(0, LAUNCH, 2, 1, 0);
        if (cases[i].graph)
            add_call(0, GRAPH, 15, 1, cases[i].graph);
        for (int k = 0; k < 3; k++)
            add_gpu(1, 10 + 5 * k, 1, cases[i].correlations[k]);
        order();
        for (uint32_t k = 0; k < 3; k++) {
            early |= (uint32_t)gpu[k].early << k;
            n += gpu[k].early;
        }
        if (!CHECK_UINT(early, cases[i].early))
            fprintf(stderr, "case %zu\n", i);
        CHECK_UINT(noted(MSIM_IMPORT_EARLY), n);
        CHECK_UINT(noted(MSIM_IMPORT_UNLAUNCHED), t.unlinked_gpu - n);
    }
    begin(); /* without numbers nothing tells */
    add_call(0, LAUNCH, 0, 1, 0);
    add_gpu(0, 10, 1, 4);
    order();
    CHECK(!gpu[0].early);
}

/* Launches without an activity, but for what is captured and what is inside
 * another call: l a launch, g a graph's, m a copy, b and e begin and end of a
 * capture, n a launch inside the call before; upper case: it is lost. */
static void test_order_device__lost(void)
{
    static const char *const cases[] = {
        "L",        "GL",  "mL",     "Ln",   "blleL", "leL",
        "lleLbleL", "Lbe", "LbleLe", "mleL", "bleL",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint32_t n = 0, lost = 0;

        begin();
        for (const char *at = cases[i]; *at; at++, n++) {
            char c = *at >= 'a' ? *at : (char)(*at - 'A' + 'a');
            int at_us = 10 * (int)n;

            if (c == 'n')
                add_call(0, LAUNCH, at_us - 9, 4, n + 1);
            else
                add_call(0,
                         c == 'l'   ? LAUNCH
                         : c == 'g' ? GRAPH
                         : c == 'm' ? MEMCPY
                         : c == 'b' ? BEGIN
                                    : END,
                         at_us, 5, n + 1);
            lost += *at < 'a';
        }
        add_call(1, LAUNCH, 0, 1, n + 1); /* of another thread: as it is */
        add_gpu(0, 200, 1, n + 1);
        order();
        for (uint32_t k = 0; k < n; k++)
            if (!CHECK(calls[k].lost == (cases[i][k] < 'a')))
                fprintf(stderr, "'%s' at %u\n", cases[i], k);
        CHECK(!calls[n].lost);
        CHECK_UINT(noted(MSIM_IMPORT_LOST), lost);
    }
}

static void test_order_device__synchronisations(void)
{
    begin();
    add_call(0, ODD, 0, 1, 5);
    add_call(0, ODD, 3, 1, 6);
    syncs[0] = (struct msim_sync){.start = 9, .call = 6, .record_call = 5};
    syncs[1] = (struct msim_sync){.start = 9, .call = 5};
    syncs[2] = (struct msim_sync){.start = 8, .record_call = 77};
    t.n_syncs = 3;
    order();
    CHECK_UINT(syncs[0].call, MSIM_NONE);
    CHECK_UINT(syncs[0].record_call, MSIM_NONE);
    CHECK_UINT(syncs[1].call, 0);
    CHECK_UINT(syncs[1].record_call, MSIM_NONE);
    CHECK_UINT(syncs[2].call, 1);
    CHECK_UINT(syncs[2].record_call, 0);
}

/* Devices with kernels or collectives, each once. */
static void test_order_device__gpus(void)
{
    static const uint8_t kinds[] = {MSIM_GPU_KERNEL, MSIM_GPU_COMM,
                                    MSIM_GPU_MEMCPY, MSIM_GPU_MEMSET};
    static const uint32_t want[] = {2, 2, 1, 1};

    for (int i = 0; i < 4; i++) {
        begin();
        streams[0].device = streams[1].device = 4;
        streams[2].device = 5;
        add_gpu(0, 0, 1, 0);
        add_gpu(1, 0, 1, 0);
        add_gpu(2, 0, 1, 0)->kind = MSIM_GPU_MEMCPY;
        add_gpu(2, 5, 1, 0)->kind = kinds[i];
        order();
        CHECK_INT(msim_order_gpus(&t), MSIM_OK);
        CHECK_UINT(t.gpus, want[i]);
    }
}

int main(void)
{
    uint32_t id;

    if (!CHECK(msim_strtab_new(&strings) == MSIM_OK))
        return check_summary();
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(*WORDS); i++)
        CHECK(msim_strtab_add(strings, WORDS[i], strlen(WORDS[i]), &id) ==
                  MSIM_OK &&
              id == i + 1);
    RUN(test_order_device__order);
    RUN(test_order_device__links);
    RUN(test_order_device__kinds);
    RUN(test_order_device__one_number_twice);
    RUN(test_order_device__copies);
    RUN(test_order_device__early);
    RUN(test_order_device__lost);
    RUN(test_order_device__synchronisations);
    RUN(test_order_device__gpus);
    msim_strtab_free(strings);
    return check_summary();
}
