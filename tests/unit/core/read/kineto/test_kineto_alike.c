/*
 * tests/unit/core/read/kineto/test_kineto_alike.c - events that are one that
 * was read, but for numbers, become the same rows as where each is read by
 * itself.
 */
#include "tests/unit/loaded_kineto.h"

#define ROUNDS 12

/* Events in the words of PyTorch; where `apart`, no two are alike, since each
 * has a member of its own that nobody reads. */
struct text {
    char text[256 << 10];
    size_t len;
    bool apart;
    unsigned n;
};

static struct text alike, apart;

MSIM_PRINTF(2, 3)
static void say(struct text *t, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    t->len +=
        (size_t)vsnprintf(t->text + t->len, sizeof(t->text) - t->len, fmt, ap);
    va_end(ap);
    REQUIRE(t->len < sizeof(t->text));
}

static void begin(struct text *t, bool each_apart)
{
    *t = (struct text){.apart = each_apart};
    say(t, "{\"schemaVersion\": 1, \"traceEvents\": [\n");
}

static void end(struct text *t)
{
    say(t, "{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 1, \"tid\": 1, "
           "\"args\": {\"name\": \"main\"}}]}\n");
}

static void event(struct text *t, const char *ph, const char *cat,
                  const char *name)
{
    say(t,
        "{\"ph\": \"%s\", \"cat\": \"%s\", \"name\": \"%s\", \"apart\": "
        "\"%03u\", ",
        ph, cat, name, t->apart ? ++t->n : 0);
}

static void times(struct text *t, unsigned tid, double ts, double dur)
{
    say(t, "\"pid\": 1, \"tid\": %u, \"ts\": %.3f, \"dur\": %.3f,\n", tid, ts,
        dur);
}

/* A product, of floats or of what nobody knows or says. */
static void product(struct text *t, unsigned i, double ts, const char *type)
{
    event(t, "X", "cpu_op", "aten::mm");
    times(t, 1 + i % 3 / 2, ts, 20.5);
    say(t,
        "\"args\": {\"External id\": %u,\"Ev Idx\": %u, \"Input Dims\": [[%u, "
        "4], [4, 2], []]%s, \"Concrete Inputs\": [\"\", \"\", \"%u\"], "
        "\"Fwd thread id\": %u, \"Sequence number\": %u}},\n",
        100 + i, i, 2 + i % 2, type, i % 2, i % 2, 7 * i);
}

static void launch(struct text *t, unsigned i, double ts)
{
    event(t, "X", "cuda_runtime", "cudaLaunchKernel");
    times(t, 1, ts, 2);
    say(t,
        "\"args\": {\"External id\": %u, \"cbid\": 211, \"correlation\": "
        "%u}},\n",
        100 + i, 500 + i);
    event(t, "s", "ac2g", "ac2g");
    say(t, "\"id\": %u, \"pid\": 1, \"tid\": 1, \"ts\": %.0f},\n", 500 + i, ts);
}

static void device(struct text *t, unsigned i, double ts)
{
    event(t, "X", "kernel", i % 4 ? "gemm" : "ncclKernel_AllReduce");
    times(t, 7, ts, 3.25);
    say(t,
        "\"args\": {\"External id\": %u, \"queued\": 0, \"device\": 0, "
        "\"stream\": %u, \"correlation\": %u, \"grid\": [%u, 1, 1], \"block\": "
        "[64, 1, 1], \"est. achieved occupancy %%\": %u.5}},\n",
        100 + i, 7 + i % 2, 500 + i, 1 + i % 3, i);
    event(t, "X", "gpu_memcpy", "Memcpy HtoD (Pageable -> Device)");
    times(t, 7, ts + 4, 1);
    say(t,
        "\"args\": {\"stream\": 7, \"device\": 0, \"bytes\": %u, "
        "\"memory bandwidth (GB/s)\": 1.%u}},\n",
        64 * i, i);
    event(t, "X", "cuda_sync", "Stream Wait Event");
    times(t, 7, ts + 5, 1);
    say(t,
        "\"args\": {\"stream\": %u, \"correlation\": %u, "
        "\"wait_on_stream\": 7, \"wait_on_cuda_event_record_corr_id\": "
        "%u}},\n",
        7 + i % 2, 500 + i, 500 + i / 2);
}

/* What makes no row, or more than one. */
static void others(struct text *t, unsigned i, double ts)
{
    event(t, "X", "python_function", "module.py(1): f");
    times(t, 1, ts, 2);
    say(t, "\"args\": {\"Python id\": %u}},\n", i);
    event(t, "X", "unheard_of", "x");
    times(t, 1, ts, 1 + i);
    say(t, "\"args\": {}},\n");
    event(t, i % 2 ? "E" : "B", "cpu_op", "half");
    say(t, "\"pid\": 1, \"tid\": 9, \"ts\": %.0f},\n", ts);
    event(t, "X", "cpu_op", "record_param_comms");
    times(t, 1, ts, 1);
    say(t,
        "\"args\": {\"Collective name\": \"allreduce\", \"dtype\": "
        "\"Float\", \"In msg nelems\": %u, \"Group size\": 2, \"Process "
        "Group Name\": \"g\"}},\n",
        8 + i);
    event(t, "X", "cpu_op", "late");
    times(t, 1, i % 6 == 5 ? 9e15 : ts, 1);
    say(t, "\"args\": {}},\n");
}

static void write_rounds(struct text *t, bool each_apart)
{
    begin(t, each_apart);
    for (unsigned i = 0; i < ROUNDS; i++) {
        double ts = 1e15 + 1000 * i + 0.125 * (i % 8);

        product(t, i, ts, ", \"Input type\": [\"float\", \"float\", \"Int\"]");
        product(t, i, ts + 100, ", \"Input type\": [\"floaty\", \"f\", \"\"]");
        product(t, i, ts + 200, "");
        launch(t, i, ts + 300);
        device(t, i, ts + 400);
        others(t, i, ts + 500);
    }
    end(t);
}

static struct msim_job *load(const struct text *t)
{
    struct msim_error err;
    struct msim_job *job = load_text(t->text, false, &err);

    CHECK_STR(job ? "" : err.text, "");
    return job;
}

/* Columns of `n` rows without gaps. */
#define CHECK_COLUMN(a, b, column, n)                                          \
    do {                                                                       \
        CHECK_UINT((a)->n, (b)->n);                                            \
        CHECK((a)->n == (b)->n &&                                              \
              ((a)->n == 0 || !memcmp((a)->column, (b)->column,                \
                                      (a)->n * sizeof(*(a)->column))));        \
    } while (0)

#define CHECK_FIELD(field) CHECK_INT((int64_t)x->field, (int64_t)y->field)

static void check_ops(const struct msim_trace *a, const struct msim_trace *b)
{
    REQUIRE(a->n_ops == b->n_ops);
    for (uint32_t i = 0; i < a->n_ops; i++) {
        const struct msim_op *x = &a->ops[i], *y = &b->ops[i];

        CHECK_STR(msim_trace_text(a, x->name), msim_trace_text(b, y->name));
        CHECK_FIELD(start);
        CHECK_FIELD(dur);
        CHECK_FIELD(et_id);
        CHECK_FIELD(rf_id);
        CHECK_FIELD(seq);
        CHECK_FIELD(thread);
        CHECK_FIELD(fw_thread);
        CHECK_FIELD(args);
        CHECK_FIELD(comm);
        CHECK_FIELD(kind);
    }
}

static void check_on_device(const struct msim_trace *a,
                            const struct msim_trace *b)
{
    REQUIRE(a->n_gpu == b->n_gpu && a->n_calls == b->n_calls &&
            a->n_syncs == b->n_syncs);
    for (uint32_t i = 0; i < a->n_gpu; i++) {
        const struct msim_gpu *x = &a->gpu[i], *y = &b->gpu[i];

        CHECK_FIELD(start);
        CHECK_FIELD(dur);
        CHECK_FIELD(bytes);
        CHECK_FIELD(stream);
        CHECK_FIELD(call);
        CHECK_FIELD(correlation);
        CHECK_FIELD(config);
        CHECK_FIELD(kind);
        CHECK_FIELD(comm);
    }
    for (uint32_t i = 0; i < a->n_calls; i++) {
        const struct msim_call *x = &a->calls[i], *y = &b->calls[i];

        CHECK_FIELD(start);
        CHECK_FIELD(dur);
        CHECK_FIELD(correlation);
        CHECK_FIELD(thread);
    }
    for (uint32_t i = 0; i < a->n_syncs; i++) {
        const struct msim_sync *x = &a->syncs[i], *y = &b->syncs[i];

        CHECK_FIELD(start);
        CHECK_FIELD(stream);
        CHECK_FIELD(wait_stream);
        CHECK_FIELD(record_call);
    }
}

static void check_counts(const struct msim_trace *a, const struct msim_trace *b)
{
    CHECK_UINT(a->import.records, b->import.records);
    CHECK_UINT(a->import.read, b->import.read);
    for (int k = 0; k < MSIM_IMPORT_KINDS; k++) {
        CHECK_UINT(a->import.rows[k].n, b->import.rows[k].n);
        CHECK_UINT(a->import.rows[k].us, b->import.rows[k].us);
    }
    CHECK_UINT(count_of(a, MSIM_IMPORT_CATEGORY, "unheard_of"), ROUNDS);
    CHECK_UINT(counted(a, MSIM_IMPORT_CATEGORY, "unheard_of")->us,
               counted(b, MSIM_IMPORT_CATEGORY, "unheard_of")->us);
}

static void test_kineto_alike__rows_are_the_same(void)
{
    struct msim_job *job[2];
    const struct msim_trace *a, *b;

    write_rounds(&alike, false);
    write_rounds(&apart, true);
    job[0] = load(&alike);
    job[1] = load(&apart);
    REQUIRE(job[0] && job[1]);
    a = job[0]->ranks[0];
    b = job[1]->ranks[0];
    check_ops(a, b);
    check_on_device(a, b);
    check_counts(a, b);
    CHECK_COLUMN(a, b, blocks, n_blocks);
    CHECK_COLUMN(a, b, dims, n_dims);
    CHECK_COLUMN(a, b, configs, n_configs);
    CHECK_UINT(a->n_comms, b->n_comms);
    CHECK_UINT(job[0]->n_warnings, job[1]->n_warnings);
    for (uint32_t i = 0; i < job[0]->n_warnings; i++)
        CHECK_STR(job[0]->warnings[i], job[1]->warnings[i]);
    msim_job_free(job[0]);
    msim_job_free(job[1]);
}

/* Another of the same operator, with this instead of its ts. */
static void timed(struct text *t, const char *members)
{
    say(t,
        "{\"ph\": \"X\", \"name\": \"op\", \"cat\": \"cpu_op\", \"pid\": 1, "
        "\"tid\": 1, \"dur\": 1, %s},\n",
        members);
}

/* A number that is odd, or stands twice, is what it is in any event. */
static void test_kineto_alike__numbers_are_their_own(void)
{
    static const struct {
        const char *members;
        enum msim_status status;
        msim_ps start; /* after the first */
    } odd[] = {
        {"\"ts\": 1030", MSIM_OK, 30 * MSIM_PS_PER_US},
        {"\"ts\": 1030.0625", MSIM_OK, 30062500},
        {"\"ts\": 1030.06250009", MSIM_OK, 30062500},
        {"\"ts\": 0000001030", MSIM_ESYNTAX, 0},
        {"\"ts\": 1.03e3", MSIM_OK, 30 * MSIM_PS_PER_US},
        {"\"ts\": \"1030\"", MSIM_OK, 30 * MSIM_PS_PER_US},
        {"\"ts\": 1010, \"ts\": 1030", MSIM_OK, 30 * MSIM_PS_PER_US},
        {"\"ts\": 1010, \"ts\": \"1030\"", MSIM_OK, 30 * MSIM_PS_PER_US},
        {"\"ts\": 1030, \"dur\": 12345678.5", MSIM_OK, 30 * MSIM_PS_PER_US},
        {"\"ts\": 1030.", MSIM_ESYNTAX, 0},
    };

    for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
        struct msim_error err;
        struct msim_job *job;
        const struct msim_trace *t;

        begin(&alike, false);
        timed(&alike, "\"ts\": 1000");
        timed(&alike, "\"ts\": 1010");
        for (int twice = 0; twice < 2; twice++)
            timed(&alike, odd[i].members);
        end(&alike);
        job = load_text(alike.text, false, &err);
        CHECK_INT(job ? MSIM_OK : err.status, odd[i].status);
        if (!job)
            continue;
        t = job->ranks[0];
        REQUIRE(t->n_ops == 4);
        CHECK_INT(t->ops[1].start, 10 * MSIM_PS_PER_US);
        CHECK_INT(t->ops[2].start, odd[i].start);
        CHECK_INT(t->ops[3].start, odd[i].start);
        msim_job_free(job);
    }
}

int main(void)
{
    RUN(test_kineto_alike__rows_are_the_same);
    RUN(test_kineto_alike__numbers_are_their_own);
    return check_summary();
}
