/*
 * tests/unit/core/read/kineto/test_kineto_words.c - keys, categories and phases
 * of events, events of two halves, and what allocators hold: of the reader's
 * own state, event by event.
 */
#include "core/read/kineto/read_kineto_internal.h"
#include "tests/check.h"

#include <stdlib.h>

struct made {
    struct msim_reader r;
    struct msim_read_result out;
    struct msim_kineto k;
    struct msim_trace *t;
};

static uint64_t offset_of(const struct msim_reader *r)
{
    (void)r;
    return 7;
}

static const struct msim_read_format FORMAT = {.offset = offset_of};
static struct made made;

static void make(struct made *m)
{
    memset(m, 0, sizeof(*m));
    m->t = calloc(1, sizeof(*m->t));
    if (!CHECK(m->t != NULL))
        abort();
    CHECK_INT(msim_strtab_new(&m->r.strings), MSIM_OK);
    m->r.out = &m->out;
    m->r.trace = m->t;
    m->r.format = &FORMAT;
    m->r.state = &m->k;
    m->k.based = true;
    msim_kineto_categories_init(&m->k);
}

static void release(struct made *m)
{
    msim_trace_free(m->t);
    msim_strtab_free(m->r.strings);
    free(m->k.open.data);
}

static const struct msim_import_count *row(const struct made *m,
                                           enum msim_import_kind kind)
{
    return &m->t->import.rows[kind];
}

/* ---- keys ---------------------------------------------------------------- */

static void test_kineto_keys__words(void)
{
    static const struct msim_keyword WANT[] = {
        {"ph", K_PH},
        {"cat", K_CAT},
        {"name", K_NAME},
        {"pid", K_PID},
        {"tid", K_TID},
        {"ts", K_TS},
        {"dur", K_DUR},
        {"args", K_ARGS},
        {"External id", K_EXTERNAL},
        {"external id", K_EXTERNAL},
        {"correlation", K_CORRELATION},
        {"device", K_DEVICE},
        {"stream", K_STREAM},
        {"sycl queue", K_STREAM},
        {"Physic Stream Id", K_STREAM},
        {"bytes", K_BYTES},
        {"Record function id", K_RF_ID},
        {"Sequence number", K_SEQ},
        {"Fwd thread id", K_FWD},
        {"Input Dims", K_DIMS},
        {"Input dims", K_DIMS},
        {"Input Strides", K_STRIDES},
        {"Input type", K_TYPES},
        {"Concrete Inputs", K_VALUES},
        {"grid", K_GRID},
        {"block", K_BLOCK},
        {"registers per thread", K_REGISTERS},
        {"shared memory", K_SHARED},
        {"cuda_sync_kind", K_SYNC_KIND},
        {"wait_on_stream", K_WAIT_STREAM},
        {"wait_on_cuda_event_record_corr_id", K_RECORD},
        {"Collective name", K_COLLECTIVE},
        {"dtype", K_DTYPE},
        {"In msg nelems", K_IN_ELEMS},
        {"Out msg nelems", K_OUT_ELEMS},
        {"Group size", K_GROUP_SIZE},
        {"Global rank start", K_GROUP_START},
        {"Global rank stride", K_GROUP_STRIDE},
        {"Process Group Name", K_GROUP_NAME},
        {"Process Group ID", K_GROUP_NAME},
        {"Process Group Ranks", K_GROUP_RANKS},
        {"Src Rank", K_SRC},
        {"Dst Rank", K_DST},
        {"Seq", K_COMM_SEQ},
        {"Task Type", K_TASK_TYPE},
        {"Device Type", K_DEVICE_TYPE},
        {"Device Id", K_DEVICE_ID},
        {"Total Allocated", K_ALLOCATED},
        {"Total Reserved", K_RESERVED},
        {"Name", K_OTHER},
        {"", K_OTHER},
    };
    static struct msim_keyset keys;

    msim_kineto_keys_init(&keys);
    for (size_t i = 0; i < sizeof(WANT) / sizeof(*WANT); i++)
        CHECK_INT(msim_keyset_find(&keys, WANT[i].text, strlen(WANT[i].text)),
                  WANT[i].id);
}

/* ---- categories ---------------------------------------------------------- */

static void check_category(const char *text, uint8_t cat, int needless)
{
    make(&made);
    CHECK_INT(msim_kineto_category(&made.r, text, strlen(text)), MSIM_OK);
    CHECK_INT(made.k.ev.cat, cat);
    CHECK_INT(made.k.ev.needless, needless < 0 ? 0 : needless);
    CHECK_STR(msim_strtab_text(made.r.strings, made.k.ev.category),
              cat == MSIM_KCAT_OTHER ? text : "");
    release(&made);
}

static void test_kineto_category__words(void)
{
    static const struct {
        const char *text;
        uint8_t cat;
        int needless;
    } WANT[] = {
        {"cpu_op", MSIM_KCAT_OP, -1},
        {"Operator", MSIM_KCAT_OP, -1},
        {"operator", MSIM_KCAT_OP, -1},
        {"user_annotation", MSIM_KCAT_ANNOTATION, -1},
        {"Runtime", MSIM_KCAT_CALL, -1},
        {"runtime", MSIM_KCAT_CALL, -1},
        {"cuda_runtime", MSIM_KCAT_CALL, -1},
        {"cuda_driver", MSIM_KCAT_CALL, -1},
        {"_runtime", MSIM_KCAT_CALL, -1},
        {"kernel", MSIM_KCAT_KERNEL, -1},
        {"Kernel", MSIM_KCAT_KERNEL, -1},
        {"hpu_op", MSIM_KCAT_KERNEL, -1},
        {"gpu_memcpy", MSIM_KCAT_MEMCPY, -1},
        {"Memcpy", MSIM_KCAT_MEMCPY, -1},
        {"gpu_memset", MSIM_KCAT_MEMSET, -1},
        {"Memset", MSIM_KCAT_MEMSET, -1},
        {"cuda_sync", MSIM_KCAT_SYNC, -1},
        {"python_function", MSIM_KCAT_DROP, MSIM_IMPORT_PYTHON},
        {"python_call", MSIM_KCAT_DROP, MSIM_IMPORT_PYTHON},
        {"gpu_user_annotation", MSIM_KCAT_DROP, MSIM_IMPORT_GPU_LABEL},
        {"cpu_instant_event", MSIM_KCAT_DROP, MSIM_IMPORT_INSTANT},
        {"overhead", MSIM_KCAT_DROP, MSIM_IMPORT_OVERHEAD},
        {"cuda_profiler_range", MSIM_KCAT_DROP, MSIM_IMPORT_RANGE},
        {"Trace", MSIM_KCAT_DROP, MSIM_IMPORT_WINDOW},
        {"ac2g", MSIM_KCAT_OTHER, -1},
        {"driver", MSIM_KCAT_OTHER, -1},
        {"runtime_x", MSIM_KCAT_OTHER, -1},
    };

    for (size_t i = 0; i < sizeof(WANT) / sizeof(*WANT); i++)
        check_category(WANT[i].text, WANT[i].cat, WANT[i].needless);
}

/* A name is kept of what may have run, not of arrows. */
static void test_kineto_category__kept(void)
{
    static const char PHASES[] = {'X', 'B', '\0', 's', 'i', 'E'};

    for (size_t i = 0; i < sizeof(PHASES); i++) {
        make(&made);
        made.k.ev.ph = PHASES[i];
        CHECK_INT(msim_kineto_category(&made.r, "odd", 3), MSIM_OK);
        CHECK_INT(made.k.ev.cat, MSIM_KCAT_OTHER);
        CHECK_STR(msim_strtab_text(made.r.strings, made.k.ev.category),
                  i < 3 ? "odd" : "");
        release(&made);
    }
}

static void check_task(const char *text, uint8_t cat)
{
    for (uint8_t before = 0; before <= MSIM_KCAT_DROP; before++) {
        bool open = before == MSIM_KCAT_UNSEEN || before == MSIM_KCAT_OTHER;
        uint8_t want = open && cat ? cat : before;

        make(&made);
        made.k.ev.cat = before;
        msim_kineto_task(&made.r, text, strlen(text));
        CHECK_INT(made.k.ev.cat, want);
        CHECK_INT(made.k.ev.needless,
                  open && cat == MSIM_KCAT_DROP ? MSIM_IMPORT_QUEUE_WAIT : 0);
        release(&made);
    }
}

/* A type of task counts where the category says nothing. */
static void test_kineto_category__tasks(void)
{
    check_task("AI_CORE", MSIM_KCAT_KERNEL);
    check_task("MIX_AIC", MSIM_KCAT_KERNEL);
    check_task("KERNEL_AIVEC", MSIM_KCAT_KERNEL);
    check_task("HCCL", MSIM_KCAT_KERNEL);
    check_task("SDMA_SQE", MSIM_KCAT_MEMCPY);
    check_task("MEMCPY_ASYNC", MSIM_KCAT_MEMCPY);
    check_task("EVENT_WAIT", MSIM_KCAT_DROP);
    check_task("NOTIFY_RECORD", MSIM_KCAT_DROP);
    check_task("PLACE_HOLDER_SQE", MSIM_KCAT_DROP);
    check_task("AI", MSIM_KCAT_UNSEEN);
    check_task("OTHER_AI_CORE", MSIM_KCAT_UNSEEN);
    check_task("", MSIM_KCAT_UNSEEN);
}

/* ---- what is not read ---------------------------------------------------- */

static void check_phase(char ph, enum msim_import_kind kind)
{
    make(&made);
    made.k.ev.ph = ph;
    made.k.ev.dur_us = 5;
    CHECK_INT(msim_kineto_unread(&made.r), MSIM_OK);
    CHECK_UINT(row(&made, kind)->n, 1);
    CHECK_UINT(row(&made, kind)->us, 0);
    release(&made);
}

static void test_kineto_category__phases(void)
{
    check_phase('s', MSIM_IMPORT_FLOW);
    check_phase('t', MSIM_IMPORT_FLOW);
    check_phase('f', MSIM_IMPORT_FLOW);
    check_phase('M', MSIM_IMPORT_METADATA);
    check_phase('i', MSIM_IMPORT_INSTANT);
    check_phase('I', MSIM_IMPORT_INSTANT);
    check_phase('n', MSIM_IMPORT_INSTANT);
    check_phase('C', MSIM_IMPORT_COUNTER);
    make(&made);
    made.k.ev.ph = 'Q';
    CHECK_INT(msim_kineto_unread(&made.r), MSIM_OK);
    CHECK_UINT(made.t->import.rows[MSIM_IMPORT_KINDS].n, 1);
    CHECK_INT(made.t->import.rows[MSIM_IMPORT_KINDS].kind, MSIM_IMPORT_PHASE);
    CHECK_STR(msim_strtab_text(made.r.strings,
                               made.t->import.rows[MSIM_IMPORT_KINDS].name),
              "Q");
    release(&made);
}

static void unread(char ph, uint8_t cat, int64_t dur_us)
{
    make(&made);
    made.k.ev.ph = ph;
    made.k.ev.cat = cat;
    made.k.ev.dur_us = dur_us;
    made.k.ev.needless = MSIM_IMPORT_PYTHON;
    CHECK_INT(msim_read_string(&made.r, "odd", 3, &made.k.ev.category), 0);
    CHECK_INT(msim_kineto_unread(&made.r), MSIM_OK);
}

/* Of what has a duration it is said how long, where it may have been work. */
static void test_kineto_category__unread(void)
{
    const struct msim_import_count *named;

    unread('X', MSIM_KCAT_OTHER, 5);
    named = &made.t->import.rows[MSIM_IMPORT_KINDS];
    CHECK_UINT(named->n, 1);
    CHECK_UINT(named->us, 5);
    CHECK_INT(named->kind, MSIM_IMPORT_CATEGORY);
    CHECK_STR(msim_strtab_text(made.r.strings, named->name), "odd");
    release(&made);
    unread('X', MSIM_KCAT_OTHER, -5);
    CHECK_UINT(made.t->import.rows[MSIM_IMPORT_KINDS].us, 0);
    release(&made);
    unread('X', MSIM_KCAT_UNSEEN, 5);
    CHECK_UINT(row(&made, MSIM_IMPORT_NO_CATEGORY)->n, 1);
    CHECK_UINT(row(&made, MSIM_IMPORT_NO_CATEGORY)->us, 5);
    release(&made);
    unread('B', MSIM_KCAT_DROP, 5);
    CHECK_UINT(row(&made, MSIM_IMPORT_PYTHON)->n, 1);
    CHECK_UINT(row(&made, MSIM_IMPORT_PYTHON)->us, 0);
    release(&made);
    unread('\0', MSIM_KCAT_OTHER, 5);
    CHECK_UINT(row(&made, MSIM_IMPORT_NO_PHASE)->n, 1);
    release(&made);
    unread('\0', MSIM_KCAT_UNSEEN, 5);
    CHECK_UINT(row(&made, MSIM_IMPORT_NO_PHASE)->n, 1);
    CHECK_UINT(row(&made, MSIM_IMPORT_NO_CATEGORY)->us, 0);
    release(&made);
}

/* ---- two halves ---------------------------------------------------------- */

static void half(int64_t tid, const char *name, int64_t us, int32_t ps)
{
    made.k.ev = (struct msim_kineto_event){
        .have = MSIM_KHAVE_TS, .tid = tid, .ts_us = us, .ts_ps = ps};
    if (!name)
        return;
    made.k.ev.have |= MSIM_KHAVE_NAME;
    CHECK_INT(msim_read_string(&made.r, name, strlen(name), &made.k.ev.name),
              0);
}

/* A begin of a row of that category, whose first word is its order. */
static void begin(uint8_t cat, int64_t tid, const char *name, int64_t us,
                  int32_t ps)
{
    struct msim_trace *t = made.t;

    half(tid, name, us, ps);
    made.k.ev.cat = cat;
    t->import.read++;
    switch (cat) {
    case MSIM_KCAT_OP:
    case MSIM_KCAT_ANNOTATION:
        t->ops[t->n_ops++].start = us;
        break;
    case MSIM_KCAT_CALL:
        t->calls[t->n_calls++].start = us;
        break;
    case MSIM_KCAT_SYNC:
        t->syncs[t->n_syncs++].start = us;
        break;
    default:
        t->gpu[t->n_gpu++].start = us;
    }
    CHECK_INT(msim_kineto_begin(&made.r, true), MSIM_OK);
}

static void end(int64_t tid, const char *name, int64_t us, int32_t ps)
{
    half(tid, name, us, ps);
    msim_kineto_end(&made.r);
}

static void make_rows(void)
{
    make(&made);
    made.t->ops = calloc(8, sizeof(*made.t->ops));
    made.t->calls = calloc(8, sizeof(*made.t->calls));
    made.t->syncs = calloc(8, sizeof(*made.t->syncs));
    made.t->gpu = calloc(8, sizeof(*made.t->gpu));
    if (!CHECK(made.t->ops && made.t->calls && made.t->syncs && made.t->gpu))
        abort();
}

/* The innermost of its thread, and of its name where it has one; in
 * picoseconds, with a borrow from the microsecond. */
static void test_kineto_pairs__ends(void)
{
    make_rows();
    begin(MSIM_KCAT_OP, 1, "outer", 10, 250000);
    begin(MSIM_KCAT_OP, 1, "inner", 12, 750000);
    begin(MSIM_KCAT_KERNEL, 2, "k", 13, 0);
    begin(MSIM_KCAT_KERNEL, 2, "l", 14, 0);
    end(1, NULL, 15, 500000); /* of inner */
    end(2, "k", 16, 0);       /* though l is open */
    end(3, NULL, 17, 0);      /* of no thread's */
    end(1, "other", 17, 0);   /* of no name's */
    end(2, NULL, 20, 0);      /* of l */
    end(1, NULL, 21, 0);
    end(1, NULL, 22, 0);
    CHECK_INT(made.t->ops[0].dur, 10750000);
    CHECK_INT(made.t->ops[1].dur, 2750000);
    CHECK_INT(made.t->gpu[0].dur, 3000000);
    CHECK_INT(made.t->gpu[1].dur, 6000000);
    CHECK_UINT(made.k.open.n, 0);
    CHECK_UINT(row(&made, MSIM_IMPORT_STRAY_END)->n, 3);
    CHECK_UINT(made.t->import.read, 8); /* four of each half */
    release(&made);
}

/* What made no row ends without one. */
static void test_kineto_pairs__without_a_row(void)
{
    make_rows();
    half(1, "x", 10, 0);
    CHECK_INT(msim_kineto_begin(&made.r, false), MSIM_OK);
    end(1, NULL, 15, 0);
    CHECK_UINT(row(&made, MSIM_IMPORT_END)->n, 1);
    CHECK_UINT(row(&made, MSIM_IMPORT_STRAY_END)->n, 0);
    CHECK_UINT(made.k.open.n, 0);
    CHECK_UINT(made.t->import.read, 0);
    release(&made);
}

/* What has no end leaves its row to the last one; innermost first. */
static void test_kineto_pairs__no_end(void)
{
    static const uint8_t CATS[] = {MSIM_KCAT_OP,     MSIM_KCAT_ANNOTATION,
                                   MSIM_KCAT_CALL,   MSIM_KCAT_SYNC,
                                   MSIM_KCAT_KERNEL, MSIM_KCAT_MEMCPY};

    for (size_t i = 0; i < sizeof(CATS); i++) {
        make_rows();
        begin(CATS[i], 1, "open", 1, 0);
        begin(CATS[i], 2, "done", 2, 0);
        half(3, "rowless", 3, 0);
        CHECK_INT(msim_kineto_begin(&made.r, false), MSIM_OK);
        end(2, NULL, 5, 0);
        msim_kineto_end_all(&made.r);
        CHECK_UINT(made.k.open.n, 0);
        CHECK_UINT(made.t->n_ops, i < 2);
        CHECK_UINT(made.t->n_calls, i == 2);
        CHECK_UINT(made.t->n_syncs, i == 3);
        CHECK_UINT(made.t->n_gpu, i > 3);
        CHECK_INT(i < 2    ? made.t->ops[0].start
                  : i == 2 ? made.t->calls[0].start
                  : i == 3 ? made.t->syncs[0].start
                           : made.t->gpu[0].start,
                  2);
        CHECK_INT(i < 2    ? made.t->ops[0].dur
                  : i == 2 ? made.t->calls[0].dur
                  : i == 3 ? made.t->syncs[0].dur
                           : made.t->gpu[0].dur,
                  3000000);
        CHECK_UINT(row(&made, MSIM_IMPORT_UNSOUND)->n, 1);
        CHECK_STR(msim_strtab_text(made.r.strings,
                                   row(&made, MSIM_IMPORT_UNSOUND)->example),
                  "event 'open' begins and does not end");
        CHECK_UINT(made.t->import.read, 2);
        release(&made);
    }
}

/* 4096 may be open at once. */
static void test_kineto_pairs__most(void)
{
    make(&made);
    for (int i = 0; i < 4096; i++) {
        half(1, "deep", i, 0);
        CHECK_INT(msim_kineto_begin(&made.r, false), MSIM_OK);
    }
    made.t->import.records = 5000;
    CHECK_INT(msim_kineto_begin(&made.r, false), MSIM_EFORMAT);
    CHECK_STR(made.r.problem.text,
              "event 5000 'deep' begins inside 4096 others, want ends");
    release(&made);
}

/* ---- memory -------------------------------------------------------------- */

static void memory(int64_t type, uint32_t have, int64_t allocated,
                   int64_t reserved)
{
    make(&made);
    made.k.base_us = 100;
    made.t->import.records = 3;
    made.k.ev = (struct msim_kineto_event){.have = have | MSIM_KHAVE_TS,
                                           .ts_us = 107,
                                           .ts_ps = 5,
                                           .pid = 4,
                                           .device_type = type,
                                           .device_id = 2,
                                           .allocated = allocated,
                                           .reserved = reserved};
    CHECK_INT(msim_kineto_add_memory(&made.r), MSIM_OK);
}

/* By PyTorch's numbers of devices. */
static void test_kineto_memory__devices(void)
{
    static const int64_t DEVICES[] = {1, 6, 12, 13, 15, 19, 20};

    for (int64_t type = -1; type < 30; type++) {
        bool device = false;

        for (size_t i = 0; i < sizeof(DEVICES) / sizeof(*DEVICES); i++)
            device |= DEVICES[i] == type;
        memory(type, MSIM_KHAVE_HELD, 10, 0);
        CHECK_UINT(made.t->n_memory, device);
        CHECK_UINT(made.t->import.read, device);
        CHECK_UINT(made.k.n_rows, device);
        CHECK_UINT(row(&made, MSIM_IMPORT_HOST_MEMORY)->n, type == 0);
        CHECK_UINT(made.t->import.rows[MSIM_IMPORT_KINDS].n, type && !device);
        release(&made);
    }
    memory(29, MSIM_KHAVE_HELD, 10, 0);
    CHECK_STR(msim_strtab_text(made.r.strings,
                               made.t->import.rows[MSIM_IMPORT_KINDS].name),
              "29");
    release(&made);
}

static void test_kineto_memory__row(void)
{
    memory(1, MSIM_KHAVE_HELD | MSIM_KHAVE_KEPT, 10, 20);
    REQUIRE(made.t->n_memory == 1);
    CHECK_INT(made.t->memory[0].at, 7000005);
    CHECK_INT(made.t->memory[0].device, 2);
    CHECK_INT(made.t->memory[0].pid, 4);
    CHECK_UINT(made.t->memory[0].allocated, 10);
    CHECK_UINT(made.t->memory[0].reserved, 20);
    release(&made);
    memory(1, MSIM_KHAVE_HELD, 10, 20);
    REQUIRE(made.t->n_memory == 1);
    CHECK_UINT(made.t->memory[0].reserved, MSIM_BYTES_UNKNOWN);
    release(&made);
    memory(1, MSIM_KHAVE_KEPT, 10, 20); /* a change alone */
    CHECK_UINT(made.t->n_memory, 0);
    CHECK_UINT(row(&made, MSIM_IMPORT_MEMORY_CHANGE)->n, 1);
    release(&made);
}

static void check_total(int64_t allocated, int64_t reserved, bool is)
{
    memory(1, MSIM_KHAVE_HELD | MSIM_KHAVE_KEPT, allocated, reserved);
    CHECK_UINT(made.t->n_memory, is);
    CHECK_UINT(row(&made, MSIM_IMPORT_UNSOUND)->n, !is);
    if (!is)
        CHECK_STR(msim_strtab_text(made.r.strings,
                                   row(&made, MSIM_IMPORT_UNSOUND)->example),
                  "event 3 '[memory]': a total is no number of bytes that "
                  "there can be");
    release(&made);
}

/* A pebibyte is the most. */
static void test_kineto_memory__totals(void)
{
    check_total(0, 0, true);
    check_total(INT64_C(1) << 50, INT64_C(1) << 50, true);
    check_total((INT64_C(1) << 50) + 1, 0, false);
    check_total(0, (INT64_C(1) << 50) + 1, false);
    check_total(-1, 0, false);
    check_total(0, -1, false);
}

int main(void)
{
    RUN(test_kineto_keys__words);
    RUN(test_kineto_category__words);
    RUN(test_kineto_category__kept);
    RUN(test_kineto_category__tasks);
    RUN(test_kineto_category__phases);
    RUN(test_kineto_category__unread);
    RUN(test_kineto_pairs__ends);
    RUN(test_kineto_pairs__without_a_row);
    RUN(test_kineto_pairs__no_end);
    RUN(test_kineto_pairs__most);
    RUN(test_kineto_memory__devices);
    RUN(test_kineto_memory__row);
    RUN(test_kineto_memory__totals);
    return check_summary();
}
