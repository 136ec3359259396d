/*
 * tests/unit/core/read/kineto/test_kineto_category.c - what events are by
 * their category, by the type of a task and by their phase.
 */
#include "tests/unit/loaded_kineto.h"

/* What an event becomes; from COUNTED on, what it is counted as. */
enum { OP, LABEL, CALL, SYNC, GPU, COUNTED = 16 };
#define IS(kind)     (GPU + MSIM_GPU_##kind)
#define COUNT(kind)  (COUNTED + MSIM_IMPORT_##kind)
#define LENGTH(list) (sizeof(list) / sizeof(*(list)))

/* One event beside an operator is of column `what`, and of no other. */
static void check_one(struct made *m, const char *said, int what)
{
    struct msim_job *job;
    const struct msim_trace *t;
    int got = -1;

    made_op(m, 1, "anchor", 0, 100);
    job = load_made(m);
    REQUIRE(job);
    t = job->ranks[0];
    if (t->n_ops == 2)
        got =
            t->ops[find_op(t, "x", 0)].kind == MSIM_OP_ANNOTATION ? LABEL : OP;
    else if (t->n_calls == 1)
        got = CALL;
    else if (t->n_syncs == 1)
        got = SYNC;
    else if (t->n_gpu == 1)
        got = GPU + t->gpu[0].kind;
    for (int kind = 0; kind < MSIM_IMPORT_UNSOUND; kind++)
        if (kind != MSIM_IMPORT_METADATA &&
            count_of(t, (enum msim_import_kind)kind, NULL)) {
            CHECK_INT(got, -1);
            got = COUNTED + kind;
        }
    if (!CHECK_INT(got, what))
        fprintf(stderr, "    of '%s'\n", said);
    /* All are accounted for: the mark of the end is the one of metadata. */
    CHECK_UINT(t->import.records, 3);
    CHECK_UINT(t->import.read, what < COUNTED ? 2 : 1);
    msim_job_free(job);
}

static void test_kineto_category__of_every_name(void)
{
    static const struct {
        const char *cat;
        int what;
    } ROWS[] = {
        {"cpu_op", OP},
        {"Operator", OP},
        {"operator", OP},
        {"user_annotation", LABEL},
        {"Runtime", CALL},
        {"runtime", CALL},
        {"kernel", IS(KERNEL)},
        {"Kernel", IS(KERNEL)},
        {"hpu_op", IS(KERNEL)},
        {"gpu_memcpy", IS(MEMCPY)},
        {"Memcpy", IS(MEMCPY)},
        {"gpu_memset", IS(MEMSET)},
        {"Memset", IS(MEMSET)},
        {"cuda_sync", SYNC},
        {"python_function", COUNT(PYTHON)},
        {"python_call", COUNT(PYTHON)},
        {"gpu_user_annotation", COUNT(GPU_LABEL)},
        {"cpu_instant_event", COUNT(INSTANT)},
        {"overhead", COUNT(OVERHEAD)},
        {"cuda_profiler_range", COUNT(RANGE)},
        {"Trace", COUNT(WINDOW)},
        /* the runtime and the driver of any device */
        {"_runtime", CALL},
        {"_driver", CALL},
        {"cuda_runtime", CALL},
        {"privateuse1_driver", CALL},
        {"cuda_runtimes", COUNT(CATEGORY)},
        {"driver", COUNT(CATEGORY)},
        {"a_river", COUNT(CATEGORY)},
        {"kernels", COUNT(CATEGORY)},
        {"", COUNT(CATEGORY)},
    };

    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        struct made m = made_trace(0, 1);

        made_event(&m, ROWS[i].cat, "x", 0, 1, 10, 5);
        made_add(&m, "\"device\":0,\"stream\":1}},");
        check_one(&m, ROWS[i].cat, ROWS[i].what);
    }
}

/* A type of task decides where the category does not. */
static void test_kineto_category__of_tasks(void)
{
    static const struct {
        const char *cat, *task;
        int what;
    } ROWS[] = {
        {NULL, "AI_", IS(KERNEL)},
        {NULL, "AI_CORE", IS(KERNEL)},
        {NULL, "MIX_", IS(KERNEL)},
        {NULL, "KERNEL", IS(KERNEL)},
        {NULL, "KERNEL_AICPU", IS(KERNEL)},
        {NULL, "HCCL", IS(KERNEL)},
        {NULL, "SDMA", IS(MEMCPY)},
        {NULL, "MEMCPY", IS(MEMCPY)},
        {NULL, "EVENT", COUNT(QUEUE_WAIT)},
        {NULL, "NOTIFY", COUNT(QUEUE_WAIT)},
        {NULL, "NOTIFY_WAIT_SQE", COUNT(QUEUE_WAIT)},
        {NULL, "PLACE_HOLDER", COUNT(QUEUE_WAIT)},
        {NULL, "AI", COUNT(NO_CATEGORY)},
        {NULL, "MIX", COUNT(NO_CATEGORY)},
        {NULL, "an EVENT", COUNT(NO_CATEGORY)},
        {"odd", "AI_CORE", IS(KERNEL)},
        {"odd", "SDMA_SQE", IS(MEMCPY)},
        {"odd", "other", COUNT(CATEGORY)},
        {"cpu_op", "AI_CORE", OP},
        {"gpu_memset", "SDMA", IS(MEMSET)},
    };

    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        struct made m = made_trace(0, 1);

        made_add(&m, "{\"ph\":\"X\",\"name\":\"x\",");
        if (ROWS[i].cat)
            made_add(&m, "\"cat\":\"%s\",", ROWS[i].cat);
        made_add(&m,
                 "\"pid\":0,\"tid\":1,\"ts\":10,\"dur\":5,\"args\":{\"Task "
                 "Type\":\"%s\"}},",
                 ROWS[i].task);
        check_one(&m, ROWS[i].task, ROWS[i].what);
    }
}

/* Whatever the category of what has no duration. */
static void test_kineto_category__of_phases(void)
{
    static const struct {
        const char *phase, *counts; /* the name that it counts by, or NULL */
        int what;
    } ROWS[] = {{"s", NULL, COUNT(FLOW)},     {"t", NULL, COUNT(FLOW)},
                {"f", NULL, COUNT(FLOW)},     {"i", NULL, COUNT(INSTANT)},
                {"I", NULL, COUNT(INSTANT)},  {"n", NULL, COUNT(INSTANT)},
                {"C", NULL, COUNT(COUNTER)},  {"b", "b", COUNT(PHASE)},
                {"Q", "Q", COUNT(PHASE)},     {"XX", "?", COUNT(PHASE)},
                {"", "?", COUNT(PHASE)},      {"X", NULL, IS(KERNEL)},
                {"E", NULL, COUNT(STRAY_END)}};

    for (size_t i = 0; i < LENGTH(ROWS); i++)
        for (int first = 0; first < 2; first++) { /* the phase, or the rest */
            struct made m = made_trace(0, 1);
            char ph[32];

            snprintf(ph, sizeof(ph), "\"ph\":\"%s\"", ROWS[i].phase);
            made_add(&m,
                     "{%s%s\"cat\":\"kernel\",\"name\":\"x\",\"pid\":0,"
                     "\"tid\":1,\"ts\":10,\"dur\":5%s%s},",
                     first ? ph : "", first ? "," : "", first ? "" : ",",
                     first ? "" : ph);
            check_one(&m, ph, ROWS[i].what);
        }
}

/* How long unread events last counts by the name of their category. */
static void test_kineto_category__times_of_unread(void)
{
    struct made m = made_trace(0, 1);
    struct msim_job *job;
    const struct msim_import_count *c;

    made_op(&m, 1, "anchor", 0, 100);
    for (int dur = 0; dur < 3; dur++) {
        made_event(&m, "odd", "x", 0, 1, 10, dur); /* 0 + 1 + 2 */
        made_add(&m, "}},");
        made_event(&m, "other", "x", 0, 1, 10, 1);
        made_add(&m, "}},");
        made_add(&m, "{\"ph\":\"X\",\"name\":\"x\",\"ts\":5,\"dur\":%d},", dur);
        made_add(&m, "{\"name\":\"x\",\"ts\":5,\"dur\":9},");
    }
    made_add(&m, "{\"ph\":\"b\",\"name\":\"x\",\"ts\":5,\"dur\":9},");
    made_event(&m, "odd", "x", 0, 1, 10, -9); /* which cannot be: 0 */
    made_add(&m, "}},");
    job = load_made(&m);
    REQUIRE(job);
    c = counted(job->ranks[0], MSIM_IMPORT_CATEGORY, "odd");
    REQUIRE(c);
    CHECK_UINT(c->n, 4);
    CHECK_UINT(c->us, 3);
    c = counted(job->ranks[0], MSIM_IMPORT_CATEGORY, "other");
    REQUIRE(c);
    CHECK_UINT(c->n, 3);
    CHECK_UINT(c->us, 3);
    c = counted(job->ranks[0], MSIM_IMPORT_NO_CATEGORY, NULL);
    REQUIRE(c);
    CHECK_UINT(c->n, 3);
    CHECK_UINT(c->us, 3);
    c = counted(job->ranks[0], MSIM_IMPORT_NO_PHASE, NULL);
    REQUIRE(c);
    CHECK_UINT(c->n, 3);
    CHECK_UINT(c->us, 0);
    c = counted(job->ranks[0], MSIM_IMPORT_PHASE, "b");
    REQUIRE(c);
    CHECK_UINT(c->us, 0);
    msim_job_free(job);
}

int main(void)
{
    RUN(test_kineto_category__of_every_name);
    RUN(test_kineto_category__of_tasks);
    RUN(test_kineto_category__of_phases);
    RUN(test_kineto_category__times_of_unread);
    return check_summary();
}
