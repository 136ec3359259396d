/*
 * tests/unit/core/chakra/test_write_chakra.c - a job written as Chakra, and
 * read back.
 *
 * Traces as Chakra: what was Chakra goes out as it came; all else comes back
 * with every column, and what simulators read of it is the dependency graph.
 *
 * What does not come back, because a loaded trace does not have it: op_schema,
 * fw_parent, tensor_range and strides of an ET; the number of a tensor's
 * device; arguments of Kineto events that no column keeps.
 */
#include "core/chakra/write_chakra.h"
#include "core/graph/build/graph_build.h"
#include "core/run/engine.h"
#include "core/stream/input.h"
#include "tests/unit/engine_starts.h"

#include "tests/unit/loaded.h"
#include "tests/unit/made_chakra.h"
#include "tests/unit/same_trace.h"

#include <chakra.pb-c.h>
#include <unistd.h>

/* ---- files -------------------------------------------------------------- */

struct folder {
    char path[64], out[96];
};

static bool folder_new(struct folder *f)
{
    snprintf(f->path, sizeof(f->path), "msim-chakra-XXXXXX");
    if (!mkdtemp(f->path))
        return false;
    snprintf(f->out, sizeof(f->out), "%s/x", f->path);
    return true;
}

static void folder_remove(const struct folder *f, uint32_t ranks)
{
    char name[128];

    unlink(f->out);
    for (uint32_t i = 0; i < ranks; i++) {
        snprintf(name, sizeof(name), "%s.%u.et", f->out, i);
        unlink(name);
    }
    rmdir(f->path);
}

static struct msim_job *load(const char *const *paths, uint32_t n, bool keep)
{
    struct msim_load_options opt = {.threads = 1, .keep_source = keep};
    struct msim_error err = {0};
    struct msim_job *job = NULL;

    if (msim_job_load(&job, paths, n, &opt, &err) != MSIM_OK)
        fprintf(stderr, "%s: %s\n", err.file, err.text);
    return job;
}

static enum msim_status write_job(struct msim_job *job, const char *path,
                                  struct msim_chakra_summary *summary)
{
    struct msim_chakra_options opt = {.works = NULL};
    struct msim_error err = {0};
    enum msim_status status = msim_chakra_write(job, path, &opt, summary, &err);

    if (status != MSIM_OK)
        fprintf(stderr, "%s: %s\n", err.file, err.text);
    return status;
}

/* All bytes of a file, inflated; the caller frees. */
static char *read_all(const char *path, size_t *n)
{
    struct msim_input *in;
    const char *bytes;
    char *text = NULL;
    size_t len;

    *n = 0;
    if (msim_input_open(&in, path, false, NULL) != MSIM_OK)
        return NULL;
    while (msim_input_next(in, &bytes, &len, NULL) == MSIM_OK && len) {
        char *grown = realloc(text, *n + len);

        if (!grown)
            break;
        text = grown;
        memcpy(text + *n, bytes, len);
        *n += len;
    }
    msim_input_close(in);
    return text;
}

/* ---- Chakra to Chakra
 * --------------------------------------------------------- */

static void check_same_bytes(const char *from, const char *to)
{
    size_t n, m;
    char *a = read_all(from, &n), *b = read_all(to, &m);

    CHECK(a && b);
    CHECK_UINT(m, n);
    CHECK(a && b && n == m && !memcmp(a, b, n));
    free(a);
    free(b);
}

static void test_write__chakra_goes_out_as_it_came(void)
{
    static const char *const FILES[] = {
        MSIM_TRACES "/traces/chakra/feeder.et.gz",
        MSIM_TRACES "/traces/chakra/two-ranks.0.et.gz",
        MSIM_TRACES "/traces/chakra/two-ranks.1.et.gz"};
    struct msim_chakra_summary summary;
    struct folder f;
    struct msim_job *job;
    char name[128];

    SKIP_WITHOUT_TRACES();
    REQUIRE(folder_new(&f));
    job = load(FILES, 1, true);
    if (CHECK(job != NULL)) {
        CHECK_INT(write_job(job, f.out, &summary), MSIM_OK);
        CHECK_UINT(summary.copied, 1);
        CHECK_UINT(summary.nodes, 3664);
        check_same_bytes(FILES[0], f.out);
    }
    msim_job_free(job);
    job = load(FILES + 1, 2, true);
    if (CHECK(job != NULL)) {
        CHECK_INT(write_job(job, f.out, &summary), MSIM_OK);
        CHECK_UINT(summary.files, 2);
        for (int i = 0; i < 2; i++) {
            snprintf(name, sizeof(name), "%s.%d.et", f.out, i);
            check_same_bytes(FILES[1 + i], name);
        }
    }
    msim_job_free(job);
    folder_remove(&f, 2);
}

/* Fields and attributes that nobody knows are kept too. */
static void test_write__keeps_what_it_does_not_know(void)
{
    struct made m = {.n = 0}, node = {.n = 0};
    struct msim_chakra_summary summary;
    struct msim_error err;
    struct msim_job *job;
    struct folder f;
    size_t n;
    char *text;

    made_metadata(&m);
    made_node_message(&node,
                      &(struct made_node){.id = 1, .name = "a", .micros = 3});
    made_attr(&node, 10, "colour", 29, 0, "green");
    made_number(&node, 99, 7);
    made_message(&m, &node);
    job = made_load(&m, false, &err);
    REQUIRE(job && folder_new(&f));
    CHECK_INT(write_job(job, f.out, &summary), MSIM_OK);
    text = read_all(f.out, &n);
    CHECK(text && n == m.n && !memcmp(text, m.bytes, n));
    free(text);
    msim_job_free(job);
    folder_remove(&f, 0);
}

/* ---- what a simulator reads
 * -------------------------------------------------------- */

struct sim {
    ChakraProtoMsg__Node **nodes; /* by id; [0] is none */
    uint32_t n;
    int64_t *end;
};

static const ChakraProtoMsg__AttributeProto *
find(const ChakraProtoMsg__Node *node, const char *name)
{
    for (size_t i = 0; i < node->n_attr; i++)
        if (!strcmp(node->attr[i]->name, name))
            return node->attr[i];
    return NULL;
}

static int64_t number(const ChakraProtoMsg__Node *node, const char *name,
                      int64_t otherwise)
{
    const ChakraProtoMsg__AttributeProto *a = find(node, name);

    return a ? a->int64_val : otherwise;
}

static void sim_release(struct sim *s)
{
    for (uint32_t i = 1; s->nodes && i <= s->n; i++)
        if (s->nodes[i])
            chakra_proto_msg__node__free_unpacked(s->nodes[i], NULL);
    free(s->nodes);
    free(s->end);
}

static size_t varint(const char *s, uint64_t *v)
{
    size_t n = 0;

    *v = 0;
    do
        *v |= (uint64_t)(s[n] & 0x7f) << (7 * n);
    while (s[n++] & 0x80);
    return n;
}

static bool sim_read(struct sim *s, const char *path)
{
    size_t len, at = 0;
    char *bytes = read_all(path, &len);
    uint64_t size;

    *s = (struct sim){.nodes = calloc(len / 2 + 2, sizeof(*s->nodes))};
    while (bytes && s->nodes && at < len) {
        ChakraProtoMsg__Node *node;
        bool metadata = at == 0;

        at += varint(bytes + at, &size);
        if (!metadata) {
            node = chakra_proto_msg__node__unpack(NULL, size,
                                                  (uint8_t *)bytes + at);
            if (!CHECK(node != NULL))
                break;
            CHECK(node->id > 0 && !s->nodes[node->id]);
            s->nodes[node->id] = node;
            s->n = node->id > s->n ? (uint32_t)node->id : s->n;
        }
        at += size;
    }
    free(bytes);
    s->end = calloc((size_t)s->n + 1, sizeof(*s->end));
    return s->end && s->n;
}

/* What every node promises to whoever reads the file. */
static void check_node(const struct sim *s, const ChakraProtoMsg__Node *node)
{
    const ChakraProtoMsg__AttributeProto *cpu = find(node, "is_cpu_op");
    bool comm = node->type >= CHAKRA_PROTO_MSG__NODE_TYPE__COMM_SEND_NODE;
    int64_t own = number(node, "duration_ns", 0);

    REQUIRE(cpu != NULL);
    CHECK(!comm || !cpu->bool_val);
    CHECK(!comm || find(node, "comm_size"));
    CHECK(node->type != CHAKRA_PROTO_MSG__NODE_TYPE__COMM_COLL_NODE ||
          find(node, "comm_type"));
    CHECK_UINT(node->duration_micros, (own + 500) / 1000);
    /* What a node depends on stands before it: there is no cycle. */
    for (size_t i = 0; i < node->n_data_deps; i++)
        CHECK(node->data_deps[i] < node->id && s->nodes[node->data_deps[i]]);
    for (size_t i = 0; i < node->n_ctrl_deps; i++)
        CHECK(node->ctrl_deps[i] < node->id && s->nodes[node->ctrl_deps[i]]);
}

/* Start when all that a node depends on has ended, and its delay passed. */
static int64_t sim_start(const struct sim *s, const ChakraProtoMsg__Node *node)
{
    const ChakraProtoMsg__AttributeProto *lags = find(node, "data_deps_lag_ns");
    int64_t start = number(node, "not_before_ns", INT64_MIN / 2);

    for (size_t i = 0; i < node->n_data_deps; i++) {
        int64_t end = s->end[node->data_deps[i]] +
                      (lags ? lags->int64_list->values[i] : 0);

        start = end > start ? end : start;
    }
    return start;
}

/* The end of the last node; -1 where a node lacks what others depend on. */
static int64_t simulate(struct sim *s)
{
    int64_t last = 0;

    for (uint32_t i = 1; i <= s->n; i++) {
        const ChakraProtoMsg__Node *node = s->nodes[i];
        int64_t start;

        if (!node)
            continue;
        check_node(s, node);
        start = sim_start(s, node);
        if (start < INT64_MIN / 4)
            start = 0; /* a definition: nothing runs */
        s->end[i] = start + number(node, "duration_ns", 0);
        last = s->end[i] > last ? s->end[i] : last;
    }
    return last;
}

/* The same by the graph, without what slows tasks that share a device. */
static int64_t graph_end(struct msim_job *job)
{
    const struct msim_graph_options opt = {.device_times = true,
                                           .peers = MSIM_PEERS_FIXED,
                                           .without_sharing = UINT32_MAX};
    struct msim_scenario how = {.dur = NULL};
    struct msim_graph *g = NULL;
    struct msim_engine *e = NULL;
    msim_ps *start = NULL, *dur = NULL, last = 0;

    memset(how.lag, 0xff, sizeof(how.lag));
    if (msim_graph_build(&g, job, &opt, NULL) == MSIM_OK &&
        msim_engine_new(&e, g) == MSIM_OK) {
        start = malloc(((size_t)g->n_tasks + 1) * sizeof(*start));
        dur = malloc(((size_t)g->n_tasks + 1) * sizeof(*dur));
    }
    for (uint32_t i = 0; dur && i < g->n_tasks; i++)
        dur[i] = g->traced[i] > 0 ? g->traced[i] : 0;
    how.dur = dur;
    if (start && dur && engine_starts(e, &how, start, NULL) == MSIM_OK)
        for (uint32_t i = 0; i < g->n_tasks; i++)
            last = start[i] + dur[i] > last ? start[i] + dur[i] : last;
    free(start);
    free(dur);
    msim_engine_free(e);
    msim_graph_free(g);
    return last / 1000;
}

/* ---- there and back
 * ------------------------------------------------------------------ */

static void name_rank(const struct folder *f, uint32_t ranks, uint32_t i,
                      char name[128])
{
    if (ranks == 1)
        snprintf(name, 128, "%s", f->out);
    else
        snprintf(name, 128, "%s.%u.et", f->out, i);
}

/* One rank alone is simulated as the graph says; all have sound nodes. */
static void check_files(const struct folder *f, struct msim_job *job)
{
    for (uint32_t i = 0; i < job->n_ranks; i++) {
        struct sim s;
        char name[128];

        name_rank(f, job->n_ranks, i, name);
        if (CHECK(sim_read(&s, name))) {
            int64_t last = simulate(&s);

            if (job->n_ranks == 1 && job->ranks[0]->has_times)
                CHECK_INT(last, graph_end(job));
        }
        sim_release(&s);
    }
}

static void there_and_back(const char *const *paths, uint32_t n)
{
    struct msim_job *job = load(paths, n, false), *back = NULL;
    struct msim_chakra_summary summary;
    struct folder f;
    const char *list[] = {f.path};

    if (!CHECK(job != NULL) || !CHECK(folder_new(&f))) {
        msim_job_free(job);
        return;
    }
    CHECK_INT(write_job(job, f.out, &summary), MSIM_OK);
    CHECK_UINT(summary.files, job->n_ranks);
    CHECK_UINT(summary.copied, 0);
    CHECK_UINT(summary.rounded, 0);
    back = load(job->n_ranks == 1 ? (const char *[]){f.out} : list, 1, false);
    if (CHECK(back != NULL) && CHECK(back->n_ranks == job->n_ranks))
        for (uint32_t i = 0; i < job->n_ranks; i++)
            check_same_trace(job->ranks[i], back->ranks[i]);
    check_files(&f, job);
    msim_job_free(back);
    folder_remove(&f, job->n_ranks);
    msim_job_free(job);
}

static void test_write__samples_come_back(void)
{
    const char *gpt2 = MSIM_DATA "/traces/gpt2",
               *et = MSIM_DATA "/traces/bert/et",
               *kineto = MSIM_DATA "/traces/bert/kineto";

    there_and_back(&gpt2, 1);
    there_and_back(&et, 1);
    there_and_back(&kineto, 1);
}

static void test_write__real_traces_come_back(void)
{
#define T MSIM_TRACES "/traces/"
    static const char *const SETS[][2] = {
        {T "vgg13-h100"},
        {T "linear-2080ti"},
        {T "dlrm-8xv100/et", T "dlrm-8xv100/kineto"},
        {T "torchrec-4xv100"},
        {T "ranking-a100"},
        {T "resnet50-v100/kineto/workers-0.json.gz"},
        {T "resnet50-ddp-2xa100/kineto"},
        {T "sync-edges-a100/cuda_event_sync_multi_stream.json.gz"},
        {T "concurrent-copies-a100/trace.json.gz"},
        {T "same-model-mi300x-b300-graphs/semantic_purity_qwen3_30b_a3b/"
           "MI300.json.gz"},
        {T "et-only/hf-gpt2-1.1.0.json.gz"},
        {T "megatron-8b-tp8-a100"}};
#undef T

    SKIP_WITHOUT_TRACES();
    for (size_t i = 0; i < sizeof(SETS) / sizeof(SETS[0]); i++) {
        unsigned before = check_state.failures;

        there_and_back(SETS[i], SETS[i][1] ? 2 : 1);
        if (check_state.failures != before)
            fprintf(stderr, "    in %s\n", SETS[i][0]);
    }
}

/* Times finer than a nanosecond are cut, and that is counted. */
static void test_write__counts_what_is_cut(void)
{
    static const char TRACE[] =
        "{\"schemaVersion\":1,\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_"
        "op\","
        "\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":2.0005}]}";
    struct msim_chakra_summary summary;
    struct msim_error err;
    struct msim_job *job = load_text(TRACE, false, &err), *back;
    struct folder f;
    const char *out = f.out;

    REQUIRE(job && folder_new(&f));
    CHECK_INT(write_job(job, f.out, &summary), MSIM_OK);
    CHECK(summary.rounded > 0);
    back = load(&out, 1, false);
    REQUIRE(back != NULL);
    CHECK_INT(back->ranks[0]->ops[0].dur, 2000000);
    msim_job_free(back);
    msim_job_free(job);
    folder_remove(&f, 0);
}

int main(void)
{
    RUN(test_write__chakra_goes_out_as_it_came);
    RUN(test_write__keeps_what_it_does_not_know);
    RUN(test_write__samples_come_back);
    RUN(test_write__real_traces_come_back);
    RUN(test_write__counts_what_is_cut);
    return check_summary();
}
