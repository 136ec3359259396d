/*
 * tests/unit/core/trace/test_order.c - rows in order: threads and streams,
 * operators inside each other, calls in operators, steps.
 */
#include "core/trace/trace_columns.h"

#include "tests/unit/loaded.h"

#define MOST 300
#define US   ((msim_ps)MSIM_PS_PER_US)

static struct msim_strtab *strings;
static struct msim_op ops[MOST];
static struct msim_call calls[MOST];
static struct msim_thread threads[3];
static struct msim_trace t;

static uint32_t word(const char *text)
{
    uint32_t id = 0;

    CHECK_INT(msim_strtab_add(strings, text, strlen(text), &id), MSIM_OK);
    return id;
}

static void begin(void)
{
    memset(ops, 0, sizeof(ops));
    memset(calls, 0, sizeof(calls));
    memset(threads, 0, sizeof(threads));
    t = (struct msim_trace){.ops = ops,
                            .calls = calls,
                            .threads = threads,
                            .n_threads = 3,
                            .strings = strings,
                            .has_times = true};
}

static struct msim_op *add_op(uint32_t thread, msim_ps start, msim_ps dur)
{
    struct msim_op *op = &ops[t.n_ops++];

    *op = msim_op_empty();
    op->thread = thread;
    op->start = start;
    op->dur = dur;
    return op;
}

static struct msim_call *add_call(uint32_t thread, msim_ps start, msim_ps dur)
{
    struct msim_call *c = &calls[t.n_calls++];

    *c = (struct msim_call){
        .thread = thread, .start = start, .dur = dur, .gpu = MSIM_NONE};
    return c;
}

/* ---- where times begin --------------------------------------------------- */

/* Whichever kind of row comes first; memory is shifted, and counts not. */
static void test_order__from_zero(void)
{
    struct msim_gpu gpu = {0};
    struct msim_sync sync = {0};
    struct msim_memory_total memory[2] = {{0}};

    for (int first = 0; first < 4; first++) {
        begin();
        t.gpu = &gpu;
        t.syncs = &sync;
        t.memory = memory;
        t.n_gpu = t.n_syncs = t.n_memory = 1;
        add_op(0, first == 0 ? 10 : 30, 1);
        add_call(0, first == 1 ? 10 : 40, 1);
        gpu.start = first == 2 ? 10 : 50;
        sync.start = first == 3 ? 10 : 60;
        memory[0].at = memory[1].at = 5;
        CHECK_INT(msim_order_from_zero(&t), 10);
        CHECK_INT(ops[0].start, first == 0 ? 0 : 20);
        CHECK_INT(calls[0].start, first == 1 ? 0 : 30);
        CHECK_INT(gpu.start, first == 2 ? 0 : 40);
        CHECK_INT(sync.start, first == 3 ? 0 : 50);
        CHECK_INT(memory[0].at, -5);
        CHECK_INT(memory[1].at, 5); /* which is no row */
    }
    begin();
    t.memory = memory;
    t.n_memory = 1;
    CHECK_INT(msim_order_from_zero(&t), INT64_MAX);
    CHECK_INT(memory[0].at, -5);
}

/* ---- lanes --------------------------------------------------------------- */

static void test_order__lanes(void)
{
    static struct msim_stream streams[] = {
        {.device = 1, .id = 7}, {.id = 20}, {.id = 7}};
    static struct msim_gpu gpu[] = {
        {.stream = 0}, {.stream = 1}, {.stream = 2}};
    static struct msim_sync syncs[] = {{.stream = 0, .wait_stream = MSIM_NONE},
                                       {.stream = MSIM_NONE, .wait_stream = 1}};

    begin();
    threads[0] = (struct msim_thread){.pid = 9, .tid = 1};
    threads[1] = (struct msim_thread){.pid = 8, .tid = 3};
    threads[2] = (struct msim_thread){.pid = 8, .tid = 2};
    t.streams = streams;
    t.gpu = gpu;
    t.syncs = syncs;
    t.n_streams = t.n_gpu = 3;
    t.n_syncs = 2;
    for (uint32_t i = 0; i < 3; i++) {
        add_op(i, 0, 1);
        add_call(2 - i, 0, 1);
    }
    CHECK_INT(msim_order_lanes(&t), MSIM_OK);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_INT(threads[i].tid, i == 2 ? 1 : 2 + i);
        CHECK_UINT(ops[i].thread, 2 - i);
        CHECK_UINT(calls[i].thread, i);
        CHECK_INT(streams[i].id, i == 1 ? 20 : 7);
        CHECK_INT(streams[i].device, i == 2);
        CHECK_UINT(gpu[i].stream, 2 - i);
    }
    CHECK_UINT(syncs[0].stream, 2);
    CHECK_UINT(syncs[0].wait_stream, MSIM_NONE);
    CHECK_UINT(syncs[1].stream, MSIM_NONE);
    CHECK_UINT(syncs[1].wait_stream, 1);
}

/* ---- operators ----------------------------------------------------------- */

/* "start+dur^parent<end" of each, in ps and microseconds. */
static void check_ops(const char *want)
{
    struct spelled got = {"", 0};

    for (uint32_t i = 0; i < t.n_ops; i++) {
        spell(&got, "%s%" PRId64 "+%" PRId64, i ? " " : "", ops[i].start,
              ops[i].dur);
        if (ops[i].parent != MSIM_NONE)
            spell(&got, "^%u", ops[i].parent);
        spell(&got, "<%u", ops[i].end);
    }
    CHECK_STR(got.text, want);
}

static void test_order__operators(void)
{
    static const struct {
        msim_ps rows[4][2]; /* start, dur; up to a negative one */
        const char *want;
    } cases[] = {
        {{{0, 100}, {10, 20}, {40, 60}, {-1}}, "0+100<3 10+20^0<2 40+60^0<3"},
        {{{0, 100}, {10, 50}, {20, 5}, {70, 5}},
         "0+100<4 10+50^0<3 20+5^1<3 70+5^0<4"},
        {{{0, 10}, {0, 20}, {-1}}, "0+20<2 0+10^0<2"},
        {{{50, 10}, {0, 20}, {-1}}, "0+20<1 50+10<2"},
        /* it begins where the other ends, or within */
        {{{0, 100}, {100, 50}, {-1}}, "0+100<1 100+50<2"},
        {{{0, 100}, {50, 0}, {-1}}, "0+100<2 50+0^0<2"},
        /* half of it inside is enough, and the rest is cut; else the part
         * inside is */
        {{{0, 100}, {90, 20}, {-1}}, "0+100<2 90+10^0<2"},
        {{{0, 100}, {90, 21}, {-1}}, "0+100<1 100+11<2"},
        {{{0, 200}, {0, 100}, {60, 100}, {-1}}, "0+200<3 0+100^0<2 100+60^0<3"},
        /* behind one that was moved, it begins no sooner */
        {{{0, 100}, {90, 30}, {95, 40}, {-1}}, "0+100<1 100+20<3 100+20^1<3"},
        {{{0, 100}, {90, 30}, {95, 3}, {-1}}, "0+100<1 100+20<3 100+0^1<3"},
        /* of no length at an end that was cut to a microsecond */
        {{{0, 2 * US}, {2 * US, 0}, {-1}}, "0+2000000<2 2000000+0^0<2"},
        {{{0, 2 * US}, {2 * US, 1}, {-1}}, "0+2000000<1 2000000+1<2"},
        {{{0, 2 * US + 5}, {2 * US + 5, 0}, {-1}}, "0+2000005<1 2000005+0<2"},
        {{{0, 2 * US}, {US, 5}, {2 * US, 0}, {-1}},
         "0+2000000<2 1000000+5^0<2 2000000+0<3"},
        {{{0, 0}, {0, 0}, {-1}}, "0+0<1 0+0<2"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        begin();
        for (int k = 0; k < 4 && cases[i].rows[k][0] >= 0; k++)
            add_op(1, cases[i].rows[k][0], cases[i].rows[k][1])->et_id = k;
        CHECK_INT(msim_order_ops(&t), MSIM_OK);
        check_ops(cases[i].want);
        CHECK_UINT(ops[t.n_ops - 1].et_id, 0); /* the ordinal is gone */
    }
}

/* By thread, whose operators are no parents of another's; what is equal goes by
 * ordinal, then by name. */
static void test_order__ties_and_threads(void)
{
    begin();
    add_op(1, 0, 100)->name = word("d");
    add_op(0, 5, 10)->name = word("c");
    add_op(0, 5, 10)->name = word("b");
    add_op(0, 5, 10)->name = word("a");
    ops[1].et_id = 1;
    ops[2].et_id = ops[3].et_id = 2;
    CHECK_INT(msim_order_ops(&t), MSIM_OK);
    check_ops("5+10<3 5+10^0<3 5+10^1<3 0+100<4");
    for (uint32_t i = 0; i < 4; i++)
        CHECK_UINT(ops[i].name, word(i == 0   ? "c"
                                     : i == 1 ? "a"
                                     : i == 2 ? "b"
                                              : "d"));
    msim_order_thread_ranges(&t);
    CHECK_UINT(threads[0].op_begin, 0);
    CHECK_UINT(threads[0].op_end, 3);
    CHECK_UINT(threads[1].op_begin, 3);
    CHECK_UINT(threads[1].op_end, 4);
    CHECK_UINT(threads[2].op_begin, 0);
    CHECK_UINT(threads[2].op_end, 0);
}

/* Labels and roots are no operators, those in them are. */
static void test_order__topmost(void)
{
    static const uint8_t kind[] = {MSIM_OP_ROOT,     MSIM_OP_ANNOTATION,
                                   MSIM_OP_OPERATOR, MSIM_OP_ANNOTATION,
                                   MSIM_OP_OPERATOR, MSIM_OP_OPERATOR};
    static const uint32_t parent[] = {MSIM_NONE, 0, 1, 2, 3, 1},
                          want[] = {MSIM_NONE, MSIM_NONE, 2, 2, 2, 5};

    begin();
    for (int i = 0; i < 6; i++) {
        add_op(0, i, 1)->kind = kind[i];
        ops[i].parent = parent[i];
    }
    CHECK_INT(msim_order_topmost(&t), MSIM_OK);
    CHECK_UINT(t.n_topmost, 6);
    for (int i = 0; i < 6; i++)
        CHECK_UINT(t.topmost[i], want[i]);
    free(t.topmost);
}

/* ---- calls --------------------------------------------------------------- */

/* Of [0, 100) with [10, 50) and [50, 70) inside: the innermost one that has
 * half of the call. */
static void test_order__calls(void)
{
    static const struct {
        msim_ps start, dur;
        uint32_t op;
    } cases[] = {
        {5, 2, 0},   {12, 5, 1},          {30, 20, 1},
        {45, 10, 1}, {46, 9, 0},          {50, 10, 2},
        {69, 40, 0}, {90, 20, 0},         {90, 21, MSIM_NONE},
        {100, 0, 0}, {100, 5, MSIM_NONE}, {101, 1, MSIM_NONE},
    };
    size_t n = sizeof(cases) / sizeof(*cases);

    for (size_t i = 0; i <= n; i++) {
        begin();
        add_op(0, 0, 100);
        add_op(0, 10, 40);
        add_op(0, 50, 20);
        CHECK_INT(msim_order_ops(&t), MSIM_OK);
        /* each alone, then all, the last one first */
        for (size_t k = n; k-- > 0;)
            if (k == i || (i == n && cases[k].start != 90))
                add_call(0, cases[k].start, cases[k].dur);
        CHECK_INT(msim_order_calls(&t), MSIM_OK);
        CHECK_UINT(threads[0].call_begin, 0);
        CHECK_UINT(threads[0].call_end, t.n_calls);
        if (i < n && !CHECK_UINT(calls[0].op, cases[i].op))
            fprintf(stderr, "call %zu\n", i);
        for (uint32_t k = 0; i == n && k < t.n_calls; k++)
            for (size_t c = 0; c < n; c++)
                if (calls[k].start == cases[c].start &&
                    calls[k].dur == cases[c].dur)
                    CHECK_UINT(calls[k].op, cases[c].op);
    }
}

static void test_order__calls_in_order(void)
{
    begin();
    add_call(1, 0, 5)->correlation = 1;
    add_call(0, 7, 5)->correlation = 3;
    add_call(0, 7, 5)->correlation = 2;
    add_call(0, 7, 6)->correlation = 9;
    add_call(0, 6, 1)->correlation = 8;
    CHECK_INT(msim_order_calls(&t), MSIM_OK);
    for (uint32_t i = 0; i < 5; i++) {
        static const uint32_t want[] = {8, 9, 2, 3, 1};

        CHECK_UINT(calls[i].correlation, want[i]);
        CHECK_UINT(calls[i].op, MSIM_NONE);
    }
    CHECK_UINT(threads[1].call_begin, 4);
    CHECK_UINT(threads[1].call_end, 5);
}

/* An operator 256 levels further out is not looked for. */
static void test_order__deep_calls(void)
{
    for (int inner = 255; inner <= 256; inner++) {
        begin();
        add_op(0, 0, 1000);
        for (int i = 0; i < inner; i++)
            add_op(0, 0, 100);
        CHECK_INT(msim_order_ops(&t), MSIM_OK);
        add_call(0, 60, 100);
        CHECK_INT(msim_order_calls(&t), MSIM_OK);
        CHECK_UINT(calls[0].op, inner == 255 ? 0 : MSIM_NONE);
    }
}

/* ---- steps --------------------------------------------------------------- */

static void add_mark(uint32_t thread, msim_ps start, msim_ps dur, int number)
{
    char name[32];
    struct msim_op *op = add_op(thread, start, dur);

    snprintf(name, sizeof(name), "ProfilerStep#%d", number);
    op->kind = MSIM_OP_ANNOTATION;
    op->name = word(name);
}

static void check_steps(const char *want)
{
    struct spelled got = {"", 0};

    CHECK_INT(msim_order_steps(&t), MSIM_OK);
    for (uint32_t i = 0; i < t.n_steps; i++)
        spell(&got, "%s%d", i ? " " : "", (int)t.steps[i].number);
    CHECK_STR(got.text, want);
    free(t.steps);
    t.steps = NULL;
    t.n_steps = t.cap_steps = 0;
}

static void test_order__steps(void)
{
    begin();
    add_mark(0, 0, 10, 1);
    add_mark(0, 2, 3, 9); /* inside another: none */
    add_mark(0, 30, 10, 3);
    add_op(0, 50, 5)->name = word("ProfilerStep#4"); /* no label */
    add_mark(1, 10, 20, 2); /* of another thread, in turn */
    CHECK_INT(msim_order_ops(&t), MSIM_OK);
    CHECK_INT(msim_order_steps(&t), MSIM_OK);
    CHECK_INT(t.steps[1].start, 10);
    CHECK_INT(t.steps[1].dur, 20);
    CHECK_UINT(t.steps[1].op, 4);
    free(t.steps);
    t.steps = NULL;
    t.n_steps = t.cap_steps = 0;
    check_steps("1 2 3");
}

/* Marks 1 and 2 of thread 0 overlap mark 9 of thread 1: the busier thread has
 * the steps. */
static void test_order__steps_of_the_busiest(void)
{
    static const struct {
        int launches[2], ops[2]; /* of each thread, in its marks */
        msim_ps dur;             /* of mark 9 */
        const char *want;
    } cases[] = {
        {{1, 0}, {0, 3}, 90, "1 2"}, {{0, 1}, {3, 0}, 4, "9"},
        {{1, 1}, {1, 0}, 90, "1 2"}, {{0, 0}, {0, 1}, 4, "9"},
        {{0, 0}, {0, 0}, 21, "9"},   {{0, 0}, {0, 0}, 20, "1 2"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        begin();
        add_mark(0, 0, 10, 1);
        for (int k = 0; k < cases[i].ops[0]; k++)
            add_op(0, 1 + k, 1);
        add_mark(0, 10, 10, 2);
        add_mark(1, 9, cases[i].dur, 9);
        for (int k = 0; k < cases[i].ops[1]; k++)
            add_op(1, 10 + k, 1);
        for (uint32_t th = 0; th < 2; th++)
            for (int k = 0; k < cases[i].launches[th]; k++)
                add_call(th, 1, 1)->gpu = 0;
        add_call(1 - (uint32_t)(i % 2), 1, 1); /* starts nothing */
        CHECK_INT(msim_order_ops(&t), MSIM_OK);
        check_steps(cases[i].want);
    }
}

/* Where one ends another thread's may begin. */
static void test_order__steps_side_by_side(void)
{
    begin();
    add_mark(0, 0, 10, 1);
    add_mark(1, 10, 10, 2);
    CHECK_INT(msim_order_ops(&t), MSIM_OK);
    check_steps("1 2");
    begin(); /* the long one of thread 0 is not over at the third */
    add_mark(0, 0, 30, 1);
    add_mark(1, 31, 2, 2);
    add_mark(0, 32, 5, 3);
    CHECK_INT(msim_order_ops(&t), MSIM_OK);
    check_steps("1 3");
}

/* Of an execution trace: from the mark's node to the next mark's. */
static void test_order__steps_of_nodes(void)
{
    static const uint32_t from[] = {10, 20, 30}, to[] = {20, 30, MSIM_NONE};

    begin();
    t.has_times = false;
    for (int i = 0; i < 3; i++) {
        add_mark(0, 0, 0, 3 - i);
        ops[i].et_id = 30 - 10 * (uint32_t)i;
        ops[i].end = (uint32_t)i + 1;
    }
    CHECK_INT(msim_order_steps(&t), MSIM_OK);
    REQUIRE(t.n_steps == 3);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(t.steps[i].number, i + 1);
        CHECK_UINT(t.steps[i].node_from, from[i]);
        CHECK_UINT(t.steps[i].node_to, to[i]);
    }
    free(t.steps);
}

/* Without times a thread with more marks is no busier: the first one is. */
static void test_order__steps_without_times(void)
{
    static const struct {
        uint32_t thread, node, end;
        int number; /* 0: no mark */
    } rows[] = {{0, 10, 3, 1}, {0, 11, 2, 0}, {0, 40, 3, 0}, {1, 20, 5, 2},
                {1, 21, 5, 0}, {1, 30, 7, 3}, {1, 31, 7, 0}};

    begin();
    t.has_times = false;
    for (int i = 0; i < 7; i++) {
        if (rows[i].number)
            add_mark(rows[i].thread, MSIM_TIME_NONE, MSIM_TIME_NONE,
                     rows[i].number);
        else
            add_op(rows[i].thread, MSIM_TIME_NONE, MSIM_TIME_NONE);
        ops[i].et_id = rows[i].node;
        ops[i].end = rows[i].end;
    }
    check_steps("1");
}

int main(void)
{
    if (!CHECK(msim_strtab_new(&strings) == MSIM_OK))
        return check_summary();
    RUN(test_order__from_zero);
    RUN(test_order__lanes);
    RUN(test_order__operators);
    RUN(test_order__ties_and_threads);
    RUN(test_order__topmost);
    RUN(test_order__calls);
    RUN(test_order__calls_in_order);
    RUN(test_order__deep_calls);
    RUN(test_order__steps);
    RUN(test_order__steps_of_the_busiest);
    RUN(test_order__steps_side_by_side);
    RUN(test_order__steps_of_nodes);
    RUN(test_order__steps_without_times);
    msim_strtab_free(strings);
    return check_summary();
}
