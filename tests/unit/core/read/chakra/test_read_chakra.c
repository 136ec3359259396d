/*
 * tests/unit/core/read/chakra/test_read_chakra.c - Chakra files, whole and
 * damaged.
 */
#include "core/read/chakra/read_chakra.h"

#include "tests/trace_checks.h"
#include "tests/unit/loaded.h"
#include "tests/unit/made_chakra.h"

/* ---- what is one -------------------------------------------------------- */

static void test_sniff__knows_metadata(void)
{
    struct made m = {.n = 0};

    made_metadata(&m);
    CHECK_INT(msim_chakra_sniff(m.bytes, m.n, false), MSIM_CHAKRA_YES);
    for (size_t i = 0; i < m.n; i++)
        CHECK_INT(msim_chakra_sniff(m.bytes, i, false), MSIM_CHAKRA_MORE);
}

/* Metadata of 123 bytes begins with '{', and a line feed is its first tag. */
static void test_sniff__tells_json_whose_brace_is_a_length(void)
{
    char text[200];
    struct made m = {.n = 0}, meta = {.n = 0};

    memset(text, ' ', sizeof(text));
    memcpy(text, "{\n\"", 3);
    CHECK_INT(msim_chakra_sniff(text, sizeof(text), false), MSIM_CHAKRA_NO);
    CHECK_INT(msim_chakra_sniff("{\n", 2, true), MSIM_CHAKRA_NO);
    CHECK_INT(msim_chakra_sniff("[]", 2, true), MSIM_CHAKRA_NO);
    CHECK_INT(msim_chakra_sniff("hello world", 11, false), MSIM_CHAKRA_NO);
    memset(text, 'v', sizeof(text));
    made_bytes(&meta, 1, text, 121);
    made_message(&m, &meta);
    CHECK_INT(m.bytes[0], '{');
    CHECK_INT(msim_chakra_sniff(m.bytes, m.n, false), MSIM_CHAKRA_YES);
}

/* ---- a run is laid out -------------------------------------------------- */

/*
 * outer (10 us of its own) calls inner (5), which launches a kernel of 100 on
 * stream 7; after (2) waits for inner alone. The thread: 0, 10, 15. The
 * kernel begins when inner's own work is done, at 15, and ends at 115: the
 * last end, of the whole trace too.
 */
static void make_run(struct made *m)
{
    made_metadata(m);
    made_node(m, (struct made_node){.id = 10, .name = "outer", .micros = 10});
    made_node(m, (struct made_node){.id = 11,
                                    .name = "aten::mm(0)",
                                    .parent = 10,
                                    .micros = 5,
                                    .deps = {10},
                                    .values = "[[3, 4, 0, 6, 4, 'cuda:0'], "
                                              "[1, True], 'it\\'s', 1e-05]",
                                    .shapes = "[[2, 3], [[], []], [], []]",
                                    .types = "['Tensor(float)', "
                                             "'GenericList[Int,Bool]', "
                                             "'String', 'Double']"});
    made_node(m, (struct made_node){.id = 12,
                                    .name = "gemm",
                                    .parent = 11,
                                    .micros = 100,
                                    .deps = {11},
                                    .gpu = true,
                                    .stream = 7});
    made_node(m, (struct made_node){
                     .id = 13, .name = "after", .micros = 2, .deps = {11}});
}

static void test_read__lays_a_run_out(void)
{
    struct made m = {.n = 0};
    struct msim_error err;
    struct msim_job *job;
    const struct msim_trace *t;

    make_run(&m);
    job = made_load(&m, false, &err);
    CHECK_STR(err.text, "");
    REQUIRE(job != NULL);
    CHECK_STR(job_broken(job) ? job_broken(job) : "", "");
    t = job->ranks[0];
    CHECK_INT(job->files[0].format, MSIM_FORMAT_CHAKRA);
    CHECK_STR(job->files[0].version, "0.0.4");
    CHECK_UINT(job->files[0].events, 4);
    CHECK(t->has_times && t->has_et && t->has_gpu_events);
    REQUIRE(t->n_ops == 3 && t->n_gpu == 1 && t->n_calls == 1);
    /* The part number is gone: it is the operator. */
    CHECK_STR(msim_trace_text(t, t->ops[1].name), "aten::mm");
    CHECK_UINT(t->ops[1].parent, 0);
    CHECK_UINT(t->ops[1].et_id, 11);
    CHECK_INT(t->ops[0].dur, 15 * MSIM_PS_PER_US);
    CHECK_INT(t->ops[1].start, 10 * MSIM_PS_PER_US);
    CHECK_INT(t->ops[2].start, 15 * MSIM_PS_PER_US);
    CHECK_UINT(t->gpu[0].op, 1);
    CHECK_UINT(t->gpu[0].call, 0);
    CHECK_INT(t->gpu[0].start, 15 * MSIM_PS_PER_US);
    CHECK_INT(t->gpu[0].dur, 100 * MSIM_PS_PER_US);
    CHECK_INT(t->streams[0].id, 7);
    CHECK_UINT(t->unlinked_gpu, 0);
    msim_job_free(job);
}

static void test_read__takes_python_lists(void)
{
    struct made m = {.n = 0};
    struct spelled s = {.len = 0};
    struct msim_error err;
    struct msim_job *job;

    make_run(&m);
    job = made_load(&m, false, &err);
    REQUIRE(job != NULL);
    spell_args(job->ranks[0], job->ranks[0]->ops[1].args, &s);
    CHECK_STR(s.text, "fp32[2,3]@gpu L2:2 1 true 'it's' 1e-05r");
    CHECK_UINT(job->ranks[0]->tensor_ids[0].storage, 4);
    msim_job_free(job);
}

/*
 * `next` of the CPU needs the kernel (0 to 2, launched by a; 100 long: until
 * 102), so an event is recorded behind the launch and waited for; `other` on
 * stream 8 needs it too, so that stream waits for the same event.
 */
static void test_read__makes_waits_of_dependencies(void)
{
    struct made m = {.n = 0};
    struct msim_error err;
    struct msim_job *job;
    const struct msim_trace *t;
    uint32_t sync = 0, wait = 0;

    made_metadata(&m);
    made_node(&m, (struct made_node){.id = 1, .name = "a", .micros = 2});
    made_node(&m, (struct made_node){.id = 2,
                                     .name = "k",
                                     .parent = 1,
                                     .micros = 100,
                                     .deps = {1},
                                     .gpu = true,
                                     .stream = 7});
    made_node(&m, (struct made_node){.id = 3,
                                     .name = "other",
                                     .parent = 1,
                                     .micros = 4,
                                     .deps = {1, 2},
                                     .gpu = true,
                                     .stream = 8});
    made_node(&m, (struct made_node){
                      .id = 4, .name = "next", .micros = 3, .deps = {1, 2}});
    job = made_load(&m, false, &err);
    REQUIRE(job != NULL);
    t = job->ranks[0];
    CHECK_INT(t->ops[1].start, 102 * MSIM_PS_PER_US);
    REQUIRE(t->n_gpu == 2 && t->n_syncs == 2);
    CHECK_INT(t->gpu[1].start, 102 * MSIM_PS_PER_US);
    for (uint32_t i = 0; i < 2; i++) {
        const struct msim_sync *s = &t->syncs[i];

        sync += s->kind == MSIM_CALL_EVENT_SYNC;
        wait += s->kind == MSIM_CALL_STREAM_WAIT;
        REQUIRE(s->call != MSIM_NONE && s->record_call != MSIM_NONE);
        CHECK_INT(t->calls[s->record_call].kind, MSIM_CALL_EVENT_RECORD);
        CHECK_INT(t->streams[s->wait_stream].id, 7);
    }
    CHECK(sync == 1 && wait == 1);
    msim_job_free(job);
}

static void test_read__takes_collectives(void)
{
    struct made m = {.n = 0};
    struct msim_error err;
    struct msim_job *job;
    const struct msim_trace *t;

    made_metadata(&m);
    made_node(&m, (struct made_node){.id = 1, .name = "a", .micros = 2});
    made_node(&m, (struct made_node){.id = 2,
                                     .name = "ncclKernel",
                                     .type = 7,
                                     .parent = 1,
                                     .micros = 9,
                                     .gpu = true,
                                     .stream = 3,
                                     .comm_type = 2,
                                     .comm_size = 4096,
                                     .pg = "0"});
    job = made_load(&m, false, &err);
    REQUIRE(job != NULL);
    t = job->ranks[0];
    REQUIRE(t->n_comms == 1 && t->n_gpu == 1);
    CHECK_INT(t->gpu[0].kind, MSIM_GPU_COMM);
    CHECK_INT(t->comms[0].collective, MSIM_COLL_ALL_GATHER);
    /* Bytes are all that is said: bytes they are. */
    CHECK_INT(t->comms[0].dtype, MSIM_DT_U8);
    CHECK_UINT(t->comms[0].in_elems, 4096);
    CHECK_STR(msim_trace_text(t, t->groups[t->comms[0].group].name), "0");
    msim_job_free(job);
}

/* Without any duration it is an execution trace, and the tree is by parent. */
static void test_read__without_times_is_an_et(void)
{
    struct made m = {.n = 0};
    struct msim_error err;
    struct msim_job *job;

    made_metadata(&m);
    made_node(&m, (struct made_node){.id = 5, .name = "outer"});
    made_node(&m, (struct made_node){.id = 6, .name = "inner", .parent = 5});
    made_node(
        &m, (struct made_node){.id = 7, .name = "k", .parent = 6, .gpu = true});
    job = made_load(&m, false, &err);
    REQUIRE(job != NULL);
    CHECK(!job->ranks[0]->has_times);
    CHECK_UINT(job->ranks[0]->n_ops, 2);
    CHECK_UINT(job->ranks[0]->ops[1].parent, 0);
    CHECK_UINT(job->ranks[0]->n_gpu, 0);
    REQUIRE(job->n_warnings == 1);
    CHECK(strstr(job->warnings[0], "1 of 3 nodes on the GPU is left out"));
    msim_job_free(job);
}

/* ---- damage ------------------------------------------------------------- */

/* Loading fails with this status, offset and text. */
static void check_refused(const struct made *m, enum msim_status status,
                          uint64_t offset, const char *text)
{
    struct msim_error err;
    struct msim_job *job = made_load(m, false, &err);

    CHECK(job == NULL);
    CHECK_INT(err.status, status);
    CHECK_UINT(err.offset, offset);
    if (!CHECK(strstr(err.text, text) != NULL))
        fprintf(stderr, "    got: %s\n", err.text);
    msim_job_free(job);
}

static void test_damage__is_named_with_its_place(void)
{
    struct made m = {.n = 0}, node = {.n = 0};
    size_t good, at;

    made_metadata(&m);
    made_node(&m, (struct made_node){.id = 1, .name = "a", .micros = 1});
    good = m.n;

    made_raw(&m, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10);
    check_refused(&m, MSIM_ESYNTAX, good, "a message of more than 1024 MiB");
    m.n = good;
    made_varint(&m, (uint64_t)1 << 40);
    check_refused(&m, MSIM_ESYNTAX, good, "a message of more than 1024 MiB");

    m.n = good;
    made_varint(&m, 1000);
    made_raw(&m, "\x08\x02", 2);
    check_refused(&m, MSIM_ETRUNCATED, good + 4,
                  "cut: the Chakra trace ends 4 bytes into a message of 1002");
    m.n = good;
    made_raw(&m, "\x80", 1);
    check_refused(&m, MSIM_ETRUNCATED, good + 1, "within the length");

    /* A name that says it is longer than its node. */
    m.n = good;
    made_raw(&m, "\x04\x08\x02\x12\x09", 5);
    check_refused(&m, MSIM_ESYNTAX, good + 3, "a field runs past its message");
    /* An id of eleven bytes; a group, which there are none of. */
    m.n = good;
    made_raw(&m, "\x0c\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13);
    check_refused(&m, MSIM_ESYNTAX, good + 1, "more than 64 bits");
    m.n = good;
    made_raw(&m, "\x01\x0b", 2);
    check_refused(&m, MSIM_ESYNTAX, good + 1, "no known wire type");

    m.n = good;
    node.n = 0;
    made_number(&node, 1, 2);
    made_text(&node, 2,
              "b\xff"
              "c");
    at = m.n + 1 + 2 + 2 + 1; /* length, id, tag and length, 'b' */
    made_message(&m, &node);
    check_refused(&m, MSIM_ESYNTAX, at, "text that is not UTF-8");
    /* The name where a number belongs: protobuf-c refuses that. */
    m.n = good;
    made_raw(&m, "\x03\x0a\x01x", 4);
    check_refused(&m, MSIM_ESYNTAX, good + 1, "node 2 in the file");
}

static void test_damage__in_what_nodes_say(void)
{
    struct made m = {.n = 0};
    size_t good, last;

    made_metadata(&m);
    made_node(&m, (struct made_node){.id = 1, .name = "a", .micros = 1});
    good = m.n;

    made_node(&m, (struct made_node){.id = 1, .name = "b", .micros = 1});
    check_refused(&m, MSIM_EFORMAT, good + 1, "two nodes have the id 1: 'b'");
    m.n = good;
    made_node(&m, (struct made_node){
                      .id = 2, .name = "b", .micros = 1, .deps = {1, 9}});
    check_refused(&m, MSIM_EFORMAT, good + 1,
                  "node 2 'b' depends on node 9, which is not there");
    m.n = good;
    made_node(
        &m, (struct made_node){.id = 2, .name = "b", .micros = 1, .deps = {3}});
    last = m.n;
    made_node(
        &m, (struct made_node){.id = 3, .name = "c", .micros = 1, .deps = {2}});
    check_refused(&m, MSIM_ECYCLE, last + 1,
                  "the data_deps of nodes form a cycle: 3 'c' -> 2 'b' -> 3");
    m.n = good;
    made_node(&m, (struct made_node){
                      .id = 2, .name = "b", .micros = (uint64_t)1 << 62});
    check_refused(&m, MSIM_EFORMAT, good + 1, "more than a day");
    /* Without times the parents are the tree, and must be one. */
    m.n = 0;
    made_metadata(&m);
    made_node(&m, (struct made_node){.id = 2, .name = "b", .parent = 3});
    made_node(&m, (struct made_node){.id = 3, .name = "c", .parent = 2});
    check_refused(&m, MSIM_ECYCLE, MSIM_OFFSET_NONE,
                  "the parents of nodes form a cycle");
}

static void test_damage__is_salvaged(void)
{
    struct made m = {.n = 0};
    struct msim_error err;
    struct msim_job *job;

    make_run(&m);
    m.n -= 3;
    check_refused(&m, MSIM_ETRUNCATED, m.n,
                  "--salvage keeps the 3 complete nodes before it");
    job = made_load(&m, true, &err);
    REQUIRE(job != NULL);
    CHECK_UINT(job->files[0].events, 3);
    CHECK(job->files[0].salvaged);
    REQUIRE(job->n_warnings == 1);
    CHECK(strstr(job->warnings[0], "kept the 3 complete nodes before"));
    msim_job_free(job);
}

/* Every cut is refused, and every byte may be anything: nothing crashes. */
static void test_damage__never_crashes(void)
{
    struct made m = {.n = 0};
    struct msim_error err;

    make_run(&m);
    for (size_t n = 0; n < m.n; n++) {
        struct made cut = m;

        cut.n = n;
        /* At the end of a message nothing tells it from a shorter file. */
        msim_job_free(made_load(&cut, false, &err));
        msim_job_free(made_load(&cut, true, &err));
    }
    for (size_t at = 0; at < m.n; at++)
        for (int bit = 0; bit < 8; bit++) {
            struct msim_job *job;

            m.bytes[at] = (char)(m.bytes[at] ^ (1 << bit));
            job = made_load(&m, bit % 2, &err);
            CHECK(job || err.text[0]);
            if (job)
                CHECK_STR(job_broken(job) ? job_broken(job) : "", "");
            msim_job_free(job);
            m.bytes[at] = (char)(m.bytes[at] ^ (1 << bit));
        }
}

/* ---- real ones ---------------------------------------------------------- */

static void test_read__real_files(void)
{
    static const struct {
        const char *name;
        uint64_t nodes, ops, kernels;
    } FILES[] = {{"feeder.et.gz", 3664, 2448, 896},
                 {"two-ranks.0.et.gz", 1634, 1578, 42},
                 {"two-ranks.1.et.gz", 1634, 1578, 42}};
    struct msim_load_options opt = {.threads = 1};

    SKIP_WITHOUT_TRACES();
    for (int i = 0; i < 3; i++) {
        char path[512];
        const char *list[] = {path};
        struct msim_job *job;

        snprintf(path, sizeof(path), MSIM_TRACES "/traces/chakra/%s",
                 FILES[i].name);
        REQUIRE(msim_job_load(&job, list, 1, &opt, NULL) == MSIM_OK);
        CHECK_STR(job_broken(job) ? job_broken(job) : "", "");
        CHECK_UINT(job->files[0].events, FILES[i].nodes);
        CHECK_UINT(job->files[0].ops, FILES[i].ops);
        CHECK_UINT(job->files[0].kernels, FILES[i].kernels);
        CHECK_INT(job->files[0].rank, i - 1); /* feeder.et.gz says none */
        msim_job_free(job);
    }
}

int main(void)
{
    RUN(test_sniff__knows_metadata);
    RUN(test_sniff__tells_json_whose_brace_is_a_length);
    RUN(test_read__lays_a_run_out);
    RUN(test_read__takes_python_lists);
    RUN(test_read__makes_waits_of_dependencies);
    RUN(test_read__takes_collectives);
    RUN(test_read__without_times_is_an_et);
    RUN(test_damage__is_named_with_its_place);
    RUN(test_damage__in_what_nodes_say);
    RUN(test_damage__is_salvaged);
    RUN(test_damage__never_crashes);
    RUN(test_read__real_files);
    return check_summary();
}
