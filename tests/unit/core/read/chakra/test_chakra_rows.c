/*
 * tests/unit/core/read/chakra/test_chakra_rows.c - what nodes and metadata of
 * Chakra files become, of other tools' and of ours.
 */
#include "core/read/chakra/read_chakra.h"

#include "tests/unit/loaded.h"
#include "tests/unit/made_chakra.h"

#define LENGTH(list) (sizeof(list) / sizeof(*(list)))
#define INT64_FIELD  9
#define TEXT_FIELD   29

/* An attribute is a number, or a text. */
struct attr {
    const char *name;
    int64_t number;
    const char *text;
};

static void add_attrs(struct made *m, uint64_t field, const struct attr *a)
{
    for (; a->name; a++)
        made_attr(m, field, a->name, a->text ? TEXT_FIELD : INT64_FIELD,
                  a->number, a->text);
}

static void add_node(struct made *m, uint64_t id, uint64_t type,
                     const char *name, const struct attr *attrs)
{
    struct made n = {.n = 0};

    made_number(&n, 1, id);
    made_text(&n, 2, name);
    made_number(&n, 3, type);
    made_number(&n, 7, 5); /* us */
    add_attrs(&n, 10, attrs);
    made_message(m, &n);
}

static const struct attr NO_ATTRS[] = {{.name = NULL}};

/* ---- other tools' -------------------------------------------------------- */

/* "op name:kind:scope:seq", or what ran on the GPU: "gpu kind:device:stream".
 */
static void spell_row(const struct msim_trace *t, struct spelled *to)
{
    memset(to, 0, sizeof(*to));
    for (uint32_t i = 0; i < t->n_ops; i++)
        if (t->ops[i].et_id == 2)
            spell(to, "op %s:%d:%d:%d", msim_trace_text(t, t->ops[i].name),
                  t->ops[i].kind, t->ops[i].scope, t->ops[i].seq);
    for (uint32_t i = 0; i < t->n_gpu; i++)
        spell(to, "gpu %d:%" PRId64 ":%" PRId64, t->gpu[i].kind,
              t->streams[t->gpu[i].stream].device,
              t->streams[t->gpu[i].stream].id);
}

static void test_chakra_rows__of_other_tools(void)
{
    static const struct {
        uint64_t type;
        const char *name;
        struct attr attrs[4];
        const char *want;
    } ROWS[] = {
        {4, "a", {{0}}, "op a:0:0:-1"},
        {4, "a", {{"is_cpu_op", 1, NULL}}, "op a:0:0:-1"},
        {4, "a", {{"scope", 7, NULL}, {"seq_id", 0, NULL}}, "op a:1:7:0"},
        {4, "a", {{"scope", 255, NULL}}, "op a:0:255:-1"},
        {4, "a", {{"scope", 256, NULL}}, "op a:0:0:-1"},
        {4, "a", {{"scope", -1, NULL}}, "op a:0:0:-1"},
        {4, "a", {{"seq_id", INT32_MAX, NULL}}, "op a:0:0:2147483647"},
        {4, "a", {{"seq_id", INT32_MAX + 1LL, NULL}}, "op a:0:0:-1"},
        {4, "a", {{"seq_id", -2, NULL}}, "op a:0:0:-1"},
        /* on the GPU: by its type, its name, or for what it states */
        {4, "a", {{"is_cpu_op", 0, NULL}}, "gpu 0:0:0"},
        {4, "a", {{"num_ops", 1, NULL}}, "gpu 0:0:0"},
        {4, "a", {{"num_ops", 0, NULL}}, "op a:0:0:-1"},
        {4, "a", {{"tensor_size", 1, NULL}}, "op a:0:0:-1"},
        {2, "a", {{"tensor_size", 1, NULL}}, "gpu 2:0:0"},
        {3, "a", {{"tensor_size", 1, NULL}}, "gpu 2:0:0"},
        {3, "a", {{"num_ops", 1, NULL}}, "op a:0:0:-1"},
        {1, "a", {{"tensor_size", 1, NULL}}, "op a:0:0:-1"},
        {2, "a", {{"is_cpu_op", 0, NULL}}, "gpu 2:0:0"},
        {4, "Memcpy HtoD", {{"is_cpu_op", 0, NULL}}, "gpu 2:0:0"},
        {4, "Memset x", {{"is_cpu_op", 0, NULL}}, "gpu 3:0:0"},
        {2, "Memset x", {{"is_cpu_op", 0, NULL}}, "gpu 3:0:0"},
        {4, "Memse", {{"is_cpu_op", 0, NULL}}, "gpu 0:0:0"},
        /* what is sent, received and shared has a stream each */
        {5, "a", {{0}}, "gpu 1:0:2"},
        {6, "a", {{0}}, "gpu 1:0:3"},
        {7, "a", {{0}}, "gpu 1:0:1"},
        {7, "a", {{"is_cpu_op", 1, NULL}}, "op a:0:0:-1"},
        {8, "a", {{0}}, "op a:0:0:-1"},
        {7, "a", {{"tid", 0, NULL}, {"device", 4, NULL}}, "gpu 1:4:0"},
        {7, "a", {{"tid", 5, NULL}, {"stream", 0, NULL}}, "gpu 1:0:0"},
        {7, "a", {{"stream", 6, NULL}}, "gpu 1:0:6"},
        /* parts of one operator */
        {4, "aten::mm(0)", {{0}}, "op aten::mm:0:0:-1"},
        {4, "f(12)", {{0}}, "op f:0:0:-1"},
        {4, "f()", {{0}}, "op f():0:0:-1"},
        {4, "ff()", {{0}}, "op ff():0:0:-1"},
        {4, "(12)", {{0}}, "op (12):0:0:-1"},
        {4, "f(x)", {{0}}, "op f(x):0:0:-1"},
        {4, "f1)", {{0}}, "op f1):0:0:-1"},
        {4, "ab12)", {{0}}, "op ab12):0:0:-1"},
        {4, "f(12", {{0}}, "op f(12:0:0:-1"},
        {4, "1234)", {{0}}, "op 1234):0:0:-1"},
    };

    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        struct made m = {.n = 0};
        struct msim_error err;
        struct msim_job *job;
        struct spelled got;

        made_metadata(&m);
        add_node(&m, 1, 4, "anchor", NO_ATTRS);
        add_node(&m, 2, ROWS[i].type, ROWS[i].name, ROWS[i].attrs);
        job = made_load(&m, false, &err);
        REQUIRE(job != NULL);
        spell_row(job->ranks[0], &got);
        if (!CHECK_STR(got.text, ROWS[i].want))
            fprintf(stderr, "    in row %zu\n", i);
        CHECK_UINT(job->ranks[0]->import.read, 2);
        msim_job_free(job);
    }
}

/* Types are from 1 to 7; others are read, and said. */
static void test_chakra_rows__of_no_known_type(void)
{
    static const char *const NAMES[] = {"0", "8", "9"};
    struct made m = {.n = 0};
    struct msim_error err;
    struct msim_job *job;
    const struct msim_import_count *c;

    made_metadata(&m);
    for (uint64_t type = 0; type < 10; type++)
        add_node(&m, 1 + type, type, "a",
                 (const struct attr[]){{"is_cpu_op", 1, NULL}, {0}});
    job = made_load(&m, false, &err);
    REQUIRE(job != NULL);
    CHECK_UINT(job->ranks[0]->n_ops, 10);
    c = &job->ranks[0]->import.rows[MSIM_IMPORT_KINDS];
    for (int i = 0; i < 3; i++) {
        CHECK_INT(c[i].kind, MSIM_IMPORT_NODE_TYPE);
        CHECK_UINT(c[i].n, 1);
        CHECK_UINT(c[i].us, 0);
        CHECK_STR(msim_trace_text(job->ranks[0], c[i].name), NAMES[i]);
    }
    CHECK_UINT(c[3].n, 0);
    msim_job_free(job);
}

/* Whom it is with, how much it is, and in what. */
static void test_chakra_rows__of_collectives(void)
{
    static const struct {
        uint64_t type;
        const char *name;
        struct attr attrs[5];
        int collective, peer;
        uint64_t elems;
    } ROWS[] = {
        {5,
         "a",
         {{"comm_dst", 3, 0}, {"comm_src", 2, 0}, {"comm_size", 8, 0}},
         MSIM_COLL_SEND,
         3,
         8},
        {6,
         "a",
         {{"comm_dst", 3, 0}, {"comm_src", 0, 0}, {"comm_size", 1, 0}},
         MSIM_COLL_RECV,
         0,
         1},
        {6, "a", {{"comm_peer", INT32_MAX, 0}}, MSIM_COLL_RECV, INT32_MAX, 0},
        {6, "a", {{"comm_peer", INT32_MAX + 1LL, 0}}, MSIM_COLL_RECV, -1, 0},
        {7,
         "a",
         {{"comm_peer", 5, 0}, {"comm_src", 4, 0}, {"comm_dst", 3, 0}},
         MSIM_COLL_UNKNOWN,
         5,
         0},
        {7,
         "ncclKernel_AllReduce",
         {{"comm_size", -4, 0}},
         MSIM_COLL_ALL_REDUCE,
         -1,
         0},
        {7,
         "ncclKernel_AllReduce",
         {{"comm_type", 4, 0}},
         MSIM_COLL_SCATTER,
         -1,
         0},
        {7,
         "ncclKernel_AllReduce",
         {{"comm_type", 4, 0}, {"collective_name", 0, "barrier"}},
         MSIM_COLL_BARRIER,
         -1,
         0},
        {5, "a", {{"comm_type", 4, 0}}, MSIM_COLL_SEND, -1, 0},
        {7, "a", {{"comm_type", 10, 0}}, MSIM_COLL_UNKNOWN, -1, 0},
        {7, "a", {{"comm_type", -1, 0}}, MSIM_COLL_UNKNOWN, -1, 0},
    };

    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        struct made m = {.n = 0};
        struct msim_error err;
        struct msim_job *job;
        const struct msim_comm *c;

        made_metadata(&m);
        add_node(&m, 2, ROWS[i].type, ROWS[i].name, ROWS[i].attrs);
        job = made_load(&m, false, &err);
        REQUIRE(job && job->ranks[0]->n_comms == 1);
        c = job->ranks[0]->comms;
        CHECK_INT(c->collective, ROWS[i].collective);
        CHECK_INT(c->peer, ROWS[i].peer);
        CHECK_UINT(c->in_elems, ROWS[i].elems);
        CHECK_UINT(c->out_elems, ROWS[i].elems);
        CHECK_INT(c->dtype, MSIM_DT_U8); /* bytes are all that is said */
        CHECK_INT(c->sequence, -1);
        CHECK_UINT(c->group, MSIM_NONE);
        msim_job_free(job);
    }
}

/* Elements are of the type of what goes in: 12 bytes are 3 of 4 bytes. */
static void test_chakra_rows__of_typed_collectives(void)
{
    struct made m = {.n = 0};
    struct msim_error err;
    struct msim_job *job;

    made_metadata(&m);
    made_node(&m, (struct made_node){.id = 1,
                                     .name = "x",
                                     .type = 7,
                                     .micros = 5,
                                     .values = "[[3, 4, 0, 3, 4, 'cuda:0']]",
                                     .shapes = "[[3]]",
                                     .types = "['Tensor(float)']",
                                     .gpu = true,
                                     .comm_size = 12});
    job = made_load(&m, false, &err);
    REQUIRE(job && job->ranks[0]->n_comms == 1);
    CHECK_INT(job->ranks[0]->comms[0].dtype, MSIM_DT_F32);
    CHECK_UINT(job->ranks[0]->comms[0].in_elems, 3);
    CHECK_UINT(job->ranks[0]->comms[0].out_elems, 3);
    msim_job_free(job);
}

/* Chakra's numbers of collectives, there and back: two are one of ours. */
static void test_chakra_rows__comm_types(void)
{
    static const uint8_t WANT[] = {
        MSIM_COLL_ALL_REDUCE,     MSIM_COLL_REDUCE,
        MSIM_COLL_ALL_GATHER,     MSIM_COLL_GATHER,
        MSIM_COLL_SCATTER,        MSIM_COLL_BROADCAST,
        MSIM_COLL_ALL_TO_ALL,     MSIM_COLL_REDUCE_SCATTER,
        MSIM_COLL_REDUCE_SCATTER, MSIM_COLL_BARRIER};

    for (int i = -1; i <= (int)LENGTH(WANT); i++) {
        bool known = i >= 0 && i < (int)LENGTH(WANT);

        CHECK_INT(msim_chakra_collective(i),
                  known ? WANT[i] : MSIM_COLL_UNKNOWN);
        if (known)
            CHECK_INT(msim_chakra_comm_type((enum msim_collective)WANT[i]),
                      i == 8 ? 7 : i);
    }
    CHECK_INT(msim_chakra_comm_type(MSIM_COLL_SEND), -1);
    CHECK_STR(msim_chakra_word_text(MSIM_CHAKRA_NO_WORD), "");
    CHECK_STR(msim_chakra_word_text(MSIM_CHAKRA_IS_CPU_OP), "is_cpu_op");
    CHECK_STR(msim_chakra_word_text(MSIM_CHAKRA_BLOCK), "block");
    CHECK_STR(msim_chakra_word_text(MSIM_CHAKRA_WORDS), "");
    CHECK_STR(msim_chakra_event_text(MSIM_CHAKRA_OPERATOR_EVENT), "operator");
    CHECK_STR(msim_chakra_event_text(MSIM_CHAKRA_MADE_EVENT), "made");
    CHECK_STR(msim_chakra_event_text(MSIM_CHAKRA_EVENTS), "");
}

/* ---- ours ---------------------------------------------------------------- */

/* A list of numbers, which has the field of int64 lists. */
static void add_list(struct made *m, const char *name, const int64_t *values,
                     size_t n)
{
    struct made list = {.n = 0}, packed = {.n = 0}, a = {.n = 0};

    for (size_t i = 0; i < n; i++)
        made_varint(&packed, (uint64_t)values[i]);
    made_bytes(&list, 1, packed.bytes, packed.n);
    made_text(&a, 1, name);
    made_bytes(&a, 10, list.bytes, list.n);
    made_bytes(m, 2, a.bytes, a.n);
}

static void add_names(struct made *m, const char *const *names)
{
    struct made list = {.n = 0}, a = {.n = 0};

    for (; *names; names++)
        made_text(&list, 1, *names);
    made_text(&a, 1, "thread_names");
    made_bytes(&a, 30, list.bytes, list.n);
    made_bytes(m, 2, a.bytes, a.n);
}

/* Two threads, three streams of two devices, and these attributes. */
static void add_ours(struct made *m, const struct attr *attrs)
{
    struct made meta = {.n = 0};

    made_text(&meta, 1, "");
    made_attr(&meta, 2, "mystique_sim", TEXT_FIELD, 0, "1");
    made_attr(&meta, 2, "schema", TEXT_FIELD, 0, "1.1.0");
    add_list(&meta, "threads", (const int64_t[]){10, 11, 12, 13, 99}, 5);
    add_names(&meta, (const char *const[]){"main", "other", "none", NULL});
    add_list(&meta, "streams", (const int64_t[]){0, 7, 1, 7, 0, 7, 1, 8, 9}, 9);
    add_attrs(&meta, 2, attrs);
    made_message(m, &meta);
}

static void test_chakra_rows__metadata(void)
{
    static const struct attr ATTRS[] = {
        {"rank", 3, 0},
        {"world_size", 4, 0},
        {"has_et", 1, 0},
        {"gpu_memory_bytes", 1, 0},
        {"gpu_sms", 1, 0},
        {"gpu_cc_major", 9, 0},
        {"gpu_cc_minor", 1, 0},
        {"host", 0, "node"},
        {"gpu_name", 0, "made"},
        {"process_groups", 0, "[{\"pg_name\":\"g\"}]"},
        {0}};
    static const struct attr WILD[] = {
        {"rank", -2, 0},        {"world_size", UINT32_MAX, 0},
        {"gpu_sms", -1, 0},     {"gpu_memory_bytes", -1, 0},
        {"gpu_cc_major", 0, 0}, {0}};

    for (int wild = 0; wild < 2; wild++) {
        struct made m = {.n = 0};
        struct msim_error err;
        struct msim_job *job;
        const struct msim_trace *t;

        add_ours(&m, wild ? WILD : ATTRS);
        for (int64_t thread = 0; thread < 2; thread++)
            add_node(&m, (uint64_t)thread + 1, 4, "a",
                     (const struct attr[]){{"event", 0, "operator"},
                                           {"thread", thread, 0},
                                           {"fw_thread", 1 - thread, 0},
                                           {"start_ns", thread, 0},
                                           {0}});
        job = made_load(&m, false, &err);
        REQUIRE(job != NULL);
        t = job->ranks[0];
        REQUIRE(t->n_threads == 2);
        CHECK_INT(t->threads[0].pid, 10);
        CHECK_INT(t->threads[0].tid, 11);
        CHECK_INT(t->threads[1].pid, 12);
        CHECK_STR(msim_trace_text(t, t->threads[0].name), "main");
        CHECK_STR(msim_trace_text(t, t->threads[1].name), "other");
        CHECK_UINT(t->ops[0].fw_thread, 1);
        CHECK_INT(t->ops[1].start, 1000);
        REQUIRE(t->n_streams == 3);
        CHECK_INT(t->streams[1].device, 1);
        CHECK_INT(t->streams[1].id, 7);
        CHECK_INT(t->streams[2].device, 1);
        CHECK_INT(t->streams[2].id, 8);
        CHECK_INT(t->rank, wild ? -1 : 3);
        CHECK_UINT(t->world_size, wild ? 0 : 4);
        CHECK(t->has_et == !wild);
        CHECK_UINT(t->gpu_properties.memory_bytes, !wild);
        CHECK_UINT(t->gpu_properties.sms, !wild);
        CHECK_UINT(t->gpu_properties.cc_major, wild ? 0 : 9);
        CHECK_UINT(t->gpu_properties.cc_minor, !wild);
        CHECK_STR(msim_trace_text(t, t->host), wild ? "" : "node");
        CHECK_STR(msim_trace_text(t, t->gpu_properties.name),
                  wild ? "" : "made");
        CHECK_UINT(t->n_groups, !wild);
        REQUIRE(job->n_files == 1);
        CHECK_STR(job->files[0].version, "1.1.0"); /* of what it was made of */
        msim_job_free(job);
    }
}

#define KERNEL_ATTRS                                                           \
    {"correlation", 5, 0}, {"device", 1, 0}, {"stream", 7, 0},                 \
    {                                                                          \
        "bytes", 1, 0                                                          \
    }

/* One node of each kind that we write. */
static struct msim_job *load_kinds(int64_t sync_kind)
{
    struct made m = {.n = 0};
    struct msim_error err;

#define NODE(id, name, what, ...)                                              \
    add_node(&m, id, 4, name,                                                  \
             (const struct attr[]){{"event", 0, what},                         \
                                   {"start_ns", 1000 * (id), 0},               \
                                   {"thread", 1, 0},                           \
                                   __VA_ARGS__,                                \
                                   {0}})
    add_ours(&m, (const struct attr[]){{0}});
    NODE(1, "op", "operator", {"et_id", UINT32_MAX - 1, 0}, {"rf_id", 3, 0});
    NODE(2, "label", "annotation", {"et_id", UINT32_MAX, 0});
    NODE(3, "cudaLaunchKernel", "call", {"correlation", 5, 0});
    NODE(4, "gemm", "kernel", KERNEL_ATTRS, {"registers_per_thread", 1, 0});
    NODE(20, "Memcpy HtoD (Pageable -> Device)", "copy", KERNEL_ATTRS);
    NODE(30, "Memcpy DtoH", "memset", {"correlation", -5, 0}, {"device", 1, 0},
         {"stream", 7, 0});
    NODE(40, "sync", "synchronisation", {"sync_kind", sync_kind, 0},
         {"stream", 7, 0}, {"wait_stream", 8, 0}, {"device", 1, 0},
         {"correlation", 5, 0}, {"record_correlation", 5, 0});
    NODE(50, "", "made", {"comm", 1, 0});
    NODE(51, "", "rest", {"comm", 1, 0});
    NODE(52, "", "strange", {"comm", 1, 0});
#undef NODE
    return made_load(&m, false, &err);
}

static void test_chakra_rows__of_ours(void)
{
    struct msim_job *job = load_kinds(MSIM_CALL_FREE);
    const struct msim_trace *t;
    const struct msim_import_count *c;

    REQUIRE(job != NULL);
    t = job->ranks[0];
    REQUIRE(t->n_ops == 2 && t->n_calls == 1 && t->n_gpu == 3 &&
            t->n_syncs == 1);
    CHECK_INT(t->ops[0].kind, MSIM_OP_OPERATOR);
    CHECK_UINT(t->ops[0].et_id, UINT32_MAX - 1);
    CHECK_UINT(t->ops[0].rf_id, 3);
    CHECK_INT(t->ops[1].kind, MSIM_OP_ANNOTATION);
    CHECK_UINT(t->ops[1].et_id, 0); /* no number that there can be */
    CHECK_UINT(t->calls[0].correlation, 5);
    CHECK_INT(t->calls[0].start, 2 * (msim_ps)MSIM_PS_PER_US);
    CHECK_INT(t->calls[0].dur, 5 * (msim_ps)MSIM_PS_PER_US);
    CHECK_INT(t->gpu[0].kind, MSIM_GPU_KERNEL);
    CHECK_UINT(t->gpu[0].call, 0);
    CHECK_UINT(t->gpu[0].bytes, 1);
    CHECK_UINT(t->gpu[0].config, MSIM_NONE); /* no grid */
    CHECK_INT(t->streams[t->gpu[0].stream].device, 1);
    CHECK_INT(t->streams[t->gpu[0].stream].id, 7);
    CHECK_INT(t->gpu[1].kind, MSIM_GPU_MEMCPY);
    CHECK_INT(t->gpu[1].copy_kind, MSIM_COPY_H2D);
    CHECK(t->gpu[1].pageable);
    CHECK_INT(t->gpu[2].kind, MSIM_GPU_MEMSET);
    CHECK_INT(t->gpu[2].copy_kind, MSIM_COPY_UNKNOWN);
    CHECK_UINT(t->gpu[2].correlation, 0);
    CHECK_INT(t->syncs[0].kind, MSIM_CALL_FREE);
    CHECK_UINT(t->syncs[0].call, 0);
    CHECK_INT(t->streams[t->syncs[0].stream].id, 7);
    CHECK_INT(t->streams[t->syncs[0].wait_stream].id, 8);
    /* What is for simulators alone, and what nobody knows. */
    CHECK_UINT(t->import.records, 10);
    CHECK_UINT(t->import.read, 7);
    CHECK_UINT(t->import.rows[MSIM_IMPORT_MADE].n, 2);
    c = &t->import.rows[MSIM_IMPORT_KINDS];
    CHECK_INT(c->kind, MSIM_IMPORT_NODE_KIND);
    CHECK_UINT(c->n, 1);
    CHECK_STR(msim_trace_text(t, c->name), "strange");
    msim_job_free(job);
    job = load_kinds(MSIM_CALL_FREE + 1);
    REQUIRE(job && job->ranks[0]->n_syncs == 1);
    CHECK_INT(job->ranks[0]->syncs[0].kind, MSIM_CALL_OTHER);
    msim_job_free(job);
    job = load_kinds(-1);
    REQUIRE(job && job->ranks[0]->n_syncs == 1);
    CHECK_INT(job->ranks[0]->syncs[0].kind, MSIM_CALL_OTHER);
    msim_job_free(job);
}

/* A thread that the file has not. */
static void test_chakra_rows__threads_of_ours(void)
{
    for (int64_t thread = -1; thread < 3; thread++) {
        struct made m = {.n = 0};
        struct msim_error err;
        struct msim_job *job;
        char want[96];

        add_ours(&m, (const struct attr[]){{0}});
        add_node(&m, 1, 4, "a",
                 (const struct attr[]){{"event", 0, "operator"},
                                       {"thread", thread, 0},
                                       {"start_ns", 1, 0},
                                       {0}});
        job = made_load(&m, false, &err);
        CHECK((job != NULL) == (thread == 0 || thread == 1));
        snprintf(want, sizeof(want),
                 "'thread' is %d, and the file has 2 threads", (int)thread);
        CHECK((strstr(err.text, want) != NULL) == !job);
        msim_job_free(job);
    }
}

/* Any writer may list its groups, under two names. */
static void test_chakra_rows__groups(void)
{
    static const struct {
        struct attr attr[2];
        uint32_t groups;
    } ROWS[] = {{{{"process_groups", 0, "[{\"pg_name\":\"g\"}]"}}, 1},
                {{{"pg_config", 0, "[{\"pg_name\":\"g\"}]"}}, 1},
                {{{"groups", 0, "[{\"pg_name\":\"g\"}]"}}, 0},
                {{{"pg_config", 7, NULL}}, 0}};

    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        struct made m = {.n = 0}, meta = {.n = 0};
        struct msim_error err;
        struct msim_job *job;

        made_text(&meta, 1, "0.0.4");
        add_attrs(&meta, 2, ROWS[i].attr);
        made_message(&m, &meta);
        add_node(&m, 1, 4, "a", NO_ATTRS);
        job = made_load(&m, false, &err);
        REQUIRE(job != NULL);
        CHECK_UINT(job->ranks[0]->n_groups, ROWS[i].groups);
        CHECK_STR(job->files[0].version, "0.0.4");
        msim_job_free(job);
    }
}

int main(void)
{
    RUN(test_chakra_rows__of_other_tools);
    RUN(test_chakra_rows__of_no_known_type);
    RUN(test_chakra_rows__of_collectives);
    RUN(test_chakra_rows__of_typed_collectives);
    RUN(test_chakra_rows__comm_types);
    RUN(test_chakra_rows__metadata);
    RUN(test_chakra_rows__of_ours);
    RUN(test_chakra_rows__threads_of_ours);
    RUN(test_chakra_rows__groups);
    return check_summary();
}
