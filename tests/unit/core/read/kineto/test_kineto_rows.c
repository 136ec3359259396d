/*
 * tests/unit/core/read/kineto/test_kineto_rows.c - the columns of the rows that
 * events become.
 */
#include "tests/unit/loaded_kineto.h"

#define LENGTH(list) (sizeof(list) / sizeof(*(list)))

static const char *text_of(const struct msim_trace *t, uint32_t id)
{
    return msim_trace_text(t, id);
}

/* All that a kernel says of itself, under each of a key's names. */
static void test_kineto_rows__of_a_kernel(void)
{
    static const char *const STREAM[] = {"stream", "sycl queue",
                                         "Physic Stream Id"};

    for (size_t i = 0; i < LENGTH(STREAM); i++) {
        struct made m = made_trace(0, 1);
        struct msim_job *job;
        const struct msim_launch_config *c;
        const struct msim_trace *t;

        made_op(&m, 1, "anchor", 0, 100);
        made_event(&m, "kernel", "k", 4, 6, 10, 5);
        made_add(&m,
                 "\"device\":0,\"%s\":0,\"grid\":[1,2,3,9],\"block\":[4,5,6,9],"
                 "\"registers per thread\":7,\"shared memory\":8}},",
                 STREAM[i]);
        made_event(&m, "kernel", "k", 4, 6, 20, 5); /* the same launch */
        made_add(&m, "\"grid\":[1,2,3],\"block\":[4,5,6],\"registers per "
                     "thread\":7,\"shared memory\":8,\"bytes\":-1}},");
        made_event(&m, "kernel", "k", 4, 6, 30, 5);
        made_add(&m, "\"grid\":[-1,0,4294967296]}},");
        made_event(&m, "kernel", "k", 4, 6, 40, 5);
        made_add(&m, "\"registers per thread\":7}},"); /* no grid */
        job = load_made(&m);
        REQUIRE(job && job->ranks[0]->n_gpu == 4);
        t = job->ranks[0];
        /* 0 is a device and a stream; without them the event's process and
         * thread are. */
        REQUIRE(t->n_streams == 2 && t->n_configs == 2);
        CHECK_INT(t->streams[0].device, 0);
        CHECK_INT(t->streams[0].id, 0);
        CHECK_INT(t->streams[1].device, 4);
        CHECK_INT(t->streams[1].id, 6);
        CHECK_INT(t->gpu[0].kind, MSIM_GPU_KERNEL);
        CHECK_UINT(t->gpu[0].config, 0);
        CHECK_UINT(t->gpu[1].config, 0);
        CHECK_UINT(t->gpu[1].bytes, 0);
        CHECK_UINT(t->gpu[2].config, 1);
        CHECK_UINT(t->gpu[3].config, MSIM_NONE);
        c = t->configs;
        for (uint32_t k = 0; k < 3; k++) {
            CHECK_UINT(c->grid[k], 1 + k);
            CHECK_UINT(c->block[k], 4 + k);
        }
        CHECK_UINT(c->registers, 7);
        CHECK_UINT(c->shared_bytes, 8);
        CHECK_UINT(c[1].grid[0], 0);
        CHECK_UINT(c[1].grid[2], UINT32_MAX);
        msim_job_free(job);
    }
}

/* Bytes and ways of copies, and of what sets memory. */
static void test_kineto_rows__of_copies(void)
{
    struct made m = made_trace(0, 1);
    struct msim_job *job;
    const struct msim_trace *t;

    made_op(&m, 1, "anchor", 0, 100);
    made_copy(&m, 7, "HtoD (Pageable -> Device)", 10, 1, 0, 1);
    made_copy(&m, 7, "DtoH (Device -> Pinned)", 20, 1, 0, 0);
    made_copy(&m, 7, "DtoD (Device -> Device)", 30, 1, 0, -5);
    made_event(&m, "gpu_memset", "Memset (Device)", 0, 7, 40, 1);
    made_add(&m, "\"device\":0,\"stream\":7,\"bytes\":64}},");
    job = load_made(&m);
    REQUIRE(job && job->ranks[0]->n_gpu == 4);
    t = job->ranks[0];
    CHECK_INT(t->gpu[0].kind, MSIM_GPU_MEMCPY);
    CHECK_INT(t->gpu[0].copy_kind, MSIM_COPY_H2D);
    CHECK(t->gpu[0].pageable);
    CHECK_UINT(t->gpu[0].bytes, 1);
    CHECK_INT(t->gpu[1].copy_kind, MSIM_COPY_D2H);
    CHECK(!t->gpu[1].pageable);
    CHECK_INT(t->gpu[2].copy_kind, MSIM_COPY_D2D);
    CHECK_UINT(t->gpu[2].bytes, 0);
    CHECK_INT(t->gpu[3].kind, MSIM_GPU_MEMSET);
    CHECK_INT(t->gpu[3].copy_kind, MSIM_COPY_UNKNOWN);
    CHECK_UINT(t->gpu[3].bytes, 64);
    msim_job_free(job);
}

/* A thread is a process and a number; where neither is said they are 0. */
static void test_kineto_rows__of_threads(void)
{
    struct made m = made_trace(0, 1);
    struct msim_job *job;
    const struct msim_trace *t;

    made_event(&m, "cpu_op", "a", 5, 1, 0, 9);
    made_add(&m, "}},");
    made_event(&m, "cpu_op", "b", 5, 2, 0, 9);
    made_add(&m, "}},");
    made_event(&m, "cpu_op", "c", 4, 1, 0, 9);
    made_add(&m, "}},");
    made_event(&m, "cpu_op", "d", 5, 1, 20, 9);
    made_add(&m, "}},");
    made_add(&m, "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":5,\"tid\":2,"
                 "\"args\":{\"name\":\"worker\"}},"
                 "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":5,\"tid\":3,"
                 "\"args\":{\"name\":\"without events\"}},");
    job = load_made(&m);
    REQUIRE(job && job->ranks[0]->n_threads == 3);
    t = job->ranks[0];
    CHECK_INT(t->threads[0].pid, 4);
    CHECK_INT(t->threads[1].tid, 1);
    CHECK_UINT(t->threads[1].op_end - t->threads[1].op_begin, 2);
    CHECK_INT(t->threads[2].tid, 2);
    CHECK_STR(text_of(t, t->threads[1].name), "");
    CHECK_STR(text_of(t, t->threads[2].name), "worker");
    /* Names of threads are read, the mark of the end is metadata. */
    CHECK_UINT(t->import.read, 6);
    CHECK_UINT(count_of(t, MSIM_IMPORT_METADATA, NULL), 1);
    msim_job_free(job);
}

/* Sequence numbers tell which thread an operator's forward ran on; no others
 * are kept. */
static void test_kineto_rows__of_operators(void)
{
    static const struct {
        const char *name, *args;
        int thread, seq, scope;
        uint32_t forward;
    } ROWS[] = {
        {"f0", "\"Sequence number\":0", 2, 0, 0, MSIM_NONE},
        {"f1", "\"Sequence number\":2147483647", 3, INT32_MAX, 0, MSIM_NONE},
        {"b0", "\"Sequence number\":0,\"Fwd thread id\":1", 4, 0, 1, 1},
        {"b1", "\"Sequence number\":2147483647,\"Fwd thread id\":9", 4,
         INT32_MAX, 1, 2},
        {"b2", "\"Sequence number\":5,\"Fwd thread id\":1", 4, 5, 1, MSIM_NONE},
        {"b3", "\"Fwd thread id\":1", 4, -1, 1, MSIM_NONE},
        {"c0", "\"Sequence number\":7,\"Fwd thread id\":0", 1, 7, 0, MSIM_NONE},
        {"b4", "\"Sequence number\":7,\"Fwd thread id\":-1", 5, 7, 0,
         MSIM_NONE},
        {"c1", "\"Sequence number\":-1", 1, -1, 0, MSIM_NONE},
        {"c2", "\"Sequence number\":2147483648", 1, -1, 0, MSIM_NONE},
    };
    struct made m = made_trace(0, 1);
    struct msim_job *job;
    const struct msim_trace *t;

    for (size_t k = LENGTH(ROWS); k-- > 0;) {
        made_event(&m, "cpu_op", ROWS[k].name, 1, ROWS[k].thread, 10 * (int)k,
                   5);
        made_add(&m, "%s,\"Record function id\":%d}},", ROWS[k].args, (int)k);
    }
    made_event(&m, "cpu_op", "ProfilerStep#3", 1, 1, 200, 5);
    made_add(&m, "}},");
    made_event(&m, "user_annotation", "label", 1, 1, 300, 5);
    made_add(&m, "}},");
    job = load_made(&m);
    REQUIRE(job);
    t = job->ranks[0];
    for (size_t k = 0; k < LENGTH(ROWS); k++) {
        uint32_t i = find_op(t, ROWS[k].name, 0);

        REQUIRE(i != MSIM_NONE);
        CHECK_INT(t->ops[i].seq, ROWS[k].seq);
        CHECK_INT(t->ops[i].scope, ROWS[k].scope);
        CHECK_UINT(t->ops[i].rf_id, k);
        CHECK_INT(t->ops[i].kind, MSIM_OP_OPERATOR);
        CHECK_UINT(t->ops[i].fw_thread, ROWS[k].forward);
    }
    for (const char *const *name =
             (const char *const[]){"ProfilerStep#3", "label", NULL};
         *name; name++) {
        const struct msim_op *op = &t->ops[find_op(t, *name, 0)];

        CHECK_INT(op->kind, MSIM_OP_ANNOTATION);
        CHECK_INT(op->scope, 7);
    }
    msim_job_free(job);
}

/* Times to the picosecond, from the first on; what begins alone has none yet
 * and what has no category is no row. */
static void test_kineto_rows__of_times(void)
{
    struct made m = made_trace(0, 1);
    struct msim_job *job;
    const struct msim_trace *t;

    made_add(&m, "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":"
                 "5.000001,\"dur\":2.000003},"
                 "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"c\","
                 "\"ts\":6.5,\"dur\":0.25},"
                 "{\"ph\":\"X\",\"name\":\"x\",\"ts\":6,\"dur\":1},"
                 "{\"ph\":\"X\",\"cat\":\"odd\",\"name\":\"x\",\"ts\":6,"
                 "\"dur\":1},");
    job = load_made(&m);
    REQUIRE(job);
    t = job->ranks[0];
    REQUIRE(t->n_ops == 1 && t->n_calls == 1);
    CHECK_INT(t->ops[0].start, 0);
    CHECK_INT(t->ops[0].dur, 2000003);
    CHECK_INT(t->calls[0].start, 1499999);
    CHECK_INT(t->calls[0].dur, 250000);
    CHECK_UINT(t->n_gpu, 0);
    CHECK_UINT(t->import.read, 2);
    msim_job_free(job);
}

/* Of two that begin and end together the one with the lower number is the
 * outer one, whatever their order in the file. */
static void test_kineto_rows__of_equal_times(void)
{
    struct made m = made_trace(0, 1);
    struct msim_job *job;
    const struct msim_trace *t;

    made_event(&m, "cpu_op", "inner", 1, 1, 0, 9);
    made_add(&m, "\"External id\":8}},");
    made_event(&m, "cpu_op", "outer", 1, 1, 0, 9);
    made_add(&m, "\"external id\":7}},");
    job = load_made(&m);
    REQUIRE(job && job->ranks[0]->n_ops == 2);
    t = job->ranks[0];
    CHECK_STR(text_of(t, t->ops[0].name), "outer");
    CHECK_UINT(t->ops[1].parent, 0);
    msim_job_free(job);
}

/* What waits for what: -1 is no stream, also where it is unsigned. */
static void test_kineto_rows__of_synchronisations(void)
{
    static const struct {
        const char *kind, *name, *stream;
        int want;
        bool has;
    } ROWS[] = {
        {"Stream Sync", "x", "0", MSIM_CALL_STREAM_SYNC, true},
        {"Event Sync", "x", "-1", MSIM_CALL_EVENT_SYNC, false},
        {"Stream Wait Event", "x", "4294967295", MSIM_CALL_STREAM_WAIT, false},
        {"Context Sync", "x", "4294967294", MSIM_CALL_DEVICE_SYNC, true},
        {NULL, "Context Sync", "7", MSIM_CALL_DEVICE_SYNC, true},
    };

    for (size_t i = 0; i < LENGTH(ROWS); i++)
        for (int wait = 0; wait < 2; wait++) {
            struct made m = made_trace(0, 1);
            struct msim_job *job;
            const struct msim_trace *t;
            const struct msim_sync *s;

            made_op(&m, 1, "anchor", 0, 100);
            made_call(&m, 1, "cudaEventRecord", 2, 1, 5);
            made_call(&m, 1, "cudaEventSynchronize", 10, 9, 6);
            made_event(&m, "cuda_sync", ROWS[i].name, 3, 1, 11, 7);
            if (ROWS[i].kind)
                made_add(&m, "\"cuda_sync_kind\":\"%s\",", ROWS[i].kind);
            made_add(&m,
                     "\"%s\":%s,\"wait_on_cuda_event_record_corr_id\":5,"
                     "\"correlation\":6}},",
                     wait ? "wait_on_stream" : "stream", ROWS[i].stream);
            job = load_made(&m);
            REQUIRE(job && job->ranks[0]->n_syncs == 1);
            t = job->ranks[0];
            s = t->syncs;
            CHECK_INT(s->kind, ROWS[i].want);
            CHECK_INT(s->start, 11 * MSIM_PS_PER_US);
            CHECK_INT(s->dur, 7 * MSIM_PS_PER_US);
            CHECK_UINT(s->call, 1);
            CHECK_UINT(s->record_call, 0);
            CHECK_UINT(s->stream, ROWS[i].has && !wait ? 0 : MSIM_NONE);
            CHECK_UINT(s->wait_stream, ROWS[i].has && wait ? 0 : MSIM_NONE);
            CHECK_UINT(t->n_streams, ROWS[i].has);
            if (ROWS[i].has)
                CHECK_INT(t->streams[0].device, 3);
            msim_job_free(job);
        }
}

/* Numbers that join a call with its kernel: those that have 32 bits, and from
 * 2^31 on those that have more, in their order. */
static void test_kineto_rows__of_correlations(void)
{
    static const char *const IDS[] = {"1",          "0",  "-1", "4294967295",
                                      "4294967296", "-2", "-2", "5000000000"};
    static const uint32_t WANT[] = {1,
                                    0,
                                    0,
                                    UINT32_MAX,
                                    1u << 31,
                                    (1u << 31) + 1,
                                    (1u << 31) + 1,
                                    (1u << 31) + 2};
    struct made m = made_trace(0, 1);
    struct msim_job *job;

    made_op(&m, 1, "anchor", 0, 100);
    for (size_t i = 0; i < LENGTH(IDS); i++) {
        made_event(&m, "kernel", "k", 0, 7, 10 * (int)i, 5);
        made_add(&m, "\"correlation\":%s}},", IDS[i]);
    }
    job = load_made(&m);
    REQUIRE(job && job->ranks[0]->n_gpu == LENGTH(IDS));
    for (size_t i = 0; i < LENGTH(IDS); i++)
        CHECK_UINT(job->ranks[0]->gpu[i].correlation, WANT[i]);
    msim_job_free(job);
}

int main(void)
{
    RUN(test_kineto_rows__of_a_kernel);
    RUN(test_kineto_rows__of_copies);
    RUN(test_kineto_rows__of_threads);
    RUN(test_kineto_rows__of_operators);
    RUN(test_kineto_rows__of_times);
    RUN(test_kineto_rows__of_equal_times);
    RUN(test_kineto_rows__of_synchronisations);
    RUN(test_kineto_rows__of_correlations);
    return check_summary();
}
