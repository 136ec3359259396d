/*
 * tests/unit/core/job/test_job.c - jobs of several files.
 *
 * Jobs of several files: written into a temporary folder, loaded, removed.
 */
#include "tests/unit/loaded.h"

#include <sys/stat.h>

#define X(cat, name, tid, ts, dur, args)                                       \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name                       \
    "\",\"pid\":9,\"tid\":" tid ",\"ts\":" ts ",\"dur\":" dur                  \
    ",\"args\":{" args "}}"
#define KINETO(more, events) "{" more "\"traceEvents\":[" events "]}"
#define RANK(r, n)                                                             \
    "\"distributedInfo\":{\"rank\":" r ",\"world_size\":" n "}"                \
    ","
#define ET_OP(id, parent, name, in, shape, type)                               \
    "{\"name\":\"" name "\",\"id\":" id ",\"rf_id\":" id ",\"parent\":" parent \
    ",\"scope\":0,\"tid\":1,\"inputs\":[" in "],\"input_shapes\":[" shape      \
    "],\"input_types\":[" type "]}"
#define ET(nodes) "{\"schema\":\"1.0.1\",\"nodes\":[" nodes "]}"

#define MAX_FILES 8

struct folder {
    char path[64];
    char files[MAX_FILES][128];
    int n;
};

static void folder_begin(struct folder *f)
{
    memset(f, 0, sizeof(*f));
    snprintf(f->path, sizeof(f->path), "msim-test-XXXXXX");
    CHECK(mkdtemp(f->path) != NULL);
}

static void folder_add(struct folder *f, const char *name, const char *text)
{
    char path[sizeof(f->files[0])];
    FILE *out;

    snprintf(path, sizeof(path), "%.60s/%.60s", f->path, name);
    memcpy(f->files[f->n++], path, sizeof(path));
    out = fopen(path, "wb");
    CHECK(out && fwrite(text, 1, strlen(text), out) == strlen(text));
    if (out)
        fclose(out);
}

static void folder_end(struct folder *f)
{
    while (f->n)
        unlink(f->files[--f->n]);
    rmdir(f->path);
}

static struct msim_job *load(const struct folder *f, uint32_t threads,
                             struct msim_error *err)
{
    struct msim_load_options opt = {.threads = threads};
    const char *paths[] = {f->path};
    struct msim_job *job = NULL;
    const char *broken;

    memset(err, 0, sizeof(*err));
    if (msim_job_load(&job, paths, 1, &opt, err) != MSIM_OK)
        return NULL;
    broken = job_broken(job);
    CHECK_STR(broken ? broken : "", "");
    return job;
}

/* One origin for all: rank 1 begins 7 us after rank 0. */
static void test_job__ranks_on_one_clock(void)
{
    struct msim_error err;
    struct folder f;
    struct msim_job *job;

    folder_begin(&f);
    folder_add(
        &f, "b.json",
        KINETO(RANK("0", "2"), X("cpu_op", "a", "1", "1000000", "5", "")));
    folder_add(
        &f, "a.json",
        KINETO(RANK("1", "2"), X("cpu_op", "a", "1", "1000007", "5", "")));
    folder_add(&f, "README.md", "# not a trace");
    folder_add(&f, "meta.json", "{\"peak\": 1}");
    job = load(&f, 1, &err);
    REQUIRE(job);
    CHECK_UINT(job->n_ranks, 2);
    CHECK_INT(job->ranks[0]->rank, 0);
    CHECK_INT(job->ranks[0]->ops[0].start, 0);
    CHECK_INT(job->ranks[1]->ops[0].start, 7 * MSIM_PS_PER_US);
    CHECK_UINT(job->n_files, 2);
    msim_job_free(job);
    folder_end(&f);
}

/* One process, recorded twice: the numbers of its steps are no ranks. */
static void test_job__numbers_of_steps(void)
{
    struct msim_error err;
    struct folder f;

    folder_begin(&f);
    folder_add(&f, "step.100.json",
               KINETO("", X("cpu_op", "a", "1", "10", "5", "")));
    folder_add(&f, "step.200.json",
               KINETO("", X("cpu_op", "a", "1", "90", "5", "")));
    CHECK(load(&f, 1, &err) == NULL);
    CHECK_INT(err.status, MSIM_EFORMAT);
    CHECK(strstr(err.text, "of another step than") != NULL);
    folder_end(&f);
}

/* A group of four ranks: 3 may be one of them, where 0 is, too. */
static void test_job__ranks_of_groups(void)
{
    struct msim_error err;
    struct folder f;
    struct msim_job *job;
    static const char reduce[] =
        KINETO("", X("kernel", "ncclDevKernel", "7", "10", "5",
                     "\"Collective name\":\"allreduce\",\"Group size\":4,"
                     "\"Process Group Name\":\"0\","
                     "\"Process Group Ranks\":\"[0, 1, 2, 3]\""));

    folder_begin(&f);
    folder_add(&f, "run-TP-0.json", reduce);
    folder_add(&f, "run-TP-3.json", reduce);
    job = load(&f, 1, &err);
    REQUIRE(job);
    CHECK_UINT(job->n_ranks, 2);
    CHECK_INT(job->ranks[1]->rank, 3);
    msim_job_free(job);
    folder_end(&f);
}

/* baseTimeNanoseconds counts: the same instant from two bases. */
static void test_job__bases_are_added(void)
{
    struct msim_error err;
    struct folder f;
    struct msim_job *job;

    folder_begin(&f);
    folder_add(&f, "rank0.json",
               KINETO("\"baseTimeNanoseconds\":5000000001,",
                      X("cpu_op", "a", "1", "10.5", "5", "")));
    folder_add(&f, "rank1.json",
               KINETO("", X("cpu_op", "a", "1", "5000010.501", "5", "")));
    job = load(&f, 1, &err);
    REQUIRE(job);
    CHECK_INT(job->ranks[0]->ops[0].start, 0);
    CHECK_INT(job->ranks[1]->ops[0].start, 0);
    msim_job_free(job);
    folder_end(&f);
}

#define REDUCE(ts, corr)                                                       \
    X("kernel", "ncclKernel_AllReduce()", "7", ts, "10",                       \
      "\"stream\":7,\"device\":0,\"correlation\":" corr)
#define HOST(name, r) RANK(r, "2") "\"host_name\":\"" name "\","

/* Hosts whose clocks are 3 s apart: the ends of collectives say so. */
static void test_job__clocks_of_hosts_are_aligned(void)
{
    struct msim_error err;
    struct folder f;
    struct msim_job *job;

    folder_begin(&f);
    folder_add(
        &f, "0.json",
        KINETO(HOST("a", "0"), REDUCE("1000", "1") "," REDUCE(
                                   "2000", "2") "," REDUCE("3000", "3")));
    folder_add(
        &f, "1.json",
        KINETO(HOST("b", "1"), REDUCE("3001000", "1") "," REDUCE(
                                   "3002001", "2") "," REDUCE("3003000", "3")));
    job = load(&f, 1, &err);
    REQUIRE(job);
    CHECK_INT(job->ranks[1]->clock_shift, -3000000 * (msim_ps)MSIM_PS_PER_US);
    CHECK_INT(job->ranks[1]->gpu[0].start, job->ranks[0]->gpu[0].start);
    CHECK_INT(job->ranks[1]->gpu[1].start,
              job->ranks[0]->gpu[1].start + MSIM_PS_PER_US);
    CHECK(job->n_warnings >= 1 && strstr(job->warnings[0], "aligned"));
    msim_job_free(job);
    folder_end(&f);
}

static void test_job__links_et_with_kineto(void)
{
    struct msim_error err;
    struct folder f;
    struct msim_job *job;
    const struct msim_trace *t;

    folder_begin(&f);
    folder_add(
        &f, "et.json",
        ET(ET_OP("4", "3", "aten::addmm", "[8,9,0,6,4,\"cuda:0\"]", "[2,3]",
                 "\"Tensor(float)\"") "," ET_OP("3", "2", "aten::linear", "",
                                                "",
                                                "") ","
                                                    "{\"name\":\"[pytorch|"
                                                    "profiler|execution_trace|"
                                                    "thread]\",\"id\":2,"
                                                    "\"parent\":1,\"scope\":7,"
                                                    "\"tid\":1}"));
    /* Two iterations, with a label and an operator that the ET has not. */
    folder_add(
        &f, "kineto.json",
        KINETO(RANK("5", "1"),
               X("user_annotation", "label", "1", "0", "90", "") "," X(
                   "cpu_op", "aten::linear", "1", "10", "20",
                   "") "," X("cpu_op", "aten::addmm", "1", "12", "10",
                             "") "," X("cpu_op", "extra", "1", "35", "2",
                                       "") "," X("cpu_op", "aten::linear", "1",
                                                 "40", "20",
                                                 "") "," X("cpu_op",
                                                           "aten::addmm", "1",
                                                           "42", "10", "")));
    job = load(&f, 1, &err);
    REQUIRE(job);
    REQUIRE(job->n_ranks == 1);
    t = job->ranks[0];
    CHECK_INT(t->rank, 5);
    CHECK(t->has_times && t->has_et);
    CHECK_ARGS(t, t->ops[find_op(t, "aten::addmm", 0)].args, "fp32[2,3]@gpu");
    CHECK_ARGS(t, t->ops[find_op(t, "aten::addmm", 1)].args, "fp32[2,3]@gpu");
    CHECK_UINT(t->ops[find_op(t, "aten::addmm", 1)].et_id, 4);
    CHECK_UINT(t->ops[find_op(t, "extra", 0)].et_id, 0);
    CHECK_REL(job->files[0].linked, 0.8, 1e-12); /* 4 of 5 operators */
    msim_job_free(job);
    folder_end(&f);
}

/* Details come along, to where the columns of both files have moved. */
static void test_job__links_details(void)
{
    static const char et[] =
        "{\"schema\":\"1.1.1\",\"nodes\":[{\"name\":\"aten::neg\",\"id\":4,"
        "\"ctrl_deps\":2,\"inputs\":{\"values\":[[8,9,0,6,8,\"cpu\"]],"
        "\"shapes\":[[2,3]],\"types\":[\"Tensor(long int)\"],\"strides\":[[7,"
        "11]]},\"attrs\":[{\"name\":\"tid\",\"value\":1},{\"name\":"
        "\"op_schema\",\"value\":\"aten::neg(Tensor self)\"},{\"name\":"
        "\"tensor_range\",\"value\":\"{\\\"0\\\":[1,5]}\"}]}]}";
    struct msim_load_options opt = {.threads = 1, .details = true};
    struct msim_job *job = NULL;
    struct msim_error err;
    struct folder f;
    const char *paths[] = {f.path};
    const struct msim_trace *t;
    const struct msim_op *op;

    folder_begin(&f);
    folder_add(&f, "et-rank5.json", et);
    folder_add(
        &f, "kineto.json",
        KINETO(RANK("5", "1"), X("cpu_op", "aten::neg", "1", "10", "20",
                                 "\"Input Dims\":[[4,5,6]],\"Input type\":"
                                 "[\"float\"]")));
    REQUIRE(msim_job_load(&job, paths, 1, &opt, &err) == MSIM_OK);
    CHECK(!job_broken(job));
    t = job->ranks[0];
    op = &t->ops[find_op(t, "aten::neg", 0)];
    CHECK_STR(msim_trace_text(t, op->schema), "aten::neg(Tensor self)");
    REQUIRE(t->has_times && t->n_tensor_strides == 1 && t->n_ranges == 1);
    CHECK_INT(t->dims[t->tensor_strides[op->ids]], 7);
    CHECK_INT(t->dims[t->tensor_strides[op->ids] + 1], 11);
    CHECK_UINT(t->ranges[0].id, op->ids);
    msim_job_free(job);
    folder_end(&f);
}

static void test_job__two_files_of_one_rank(void)
{
    struct msim_error err;
    struct folder f;

    folder_begin(&f);
    folder_add(&f, "a-rank3.json",
               KINETO("", X("cpu_op", "a", "1", "1", "5", "")));
    folder_add(&f, "b-rank3.json",
               KINETO("", X("cpu_op", "a", "1", "1", "5", "")));
    CHECK(!load(&f, 1, &err));
    CHECK(strstr(err.text, "rank 3") && strstr(err.text, "a-rank3.json"));
    CHECK(strstr(err.file, "b-rank3.json"));
    folder_end(&f);
}

static void test_job__rank_not_said(void)
{
    struct msim_error err;
    struct folder f;

    folder_begin(&f);
    folder_add(&f, "a.json", KINETO("", X("cpu_op", "a", "1", "1", "5", "")));
    folder_add(&f, "rank3.json",
               KINETO("", X("cpu_op", "a", "1", "1", "5", "")));
    CHECK(!load(&f, 1, &err));
    CHECK(strstr(err.file, "a.json") && strstr(err.text, "says no rank"));
    folder_add(&f, "b.json", KINETO("", X("cpu_op", "a", "1", "1", "5", "")));
    CHECK(!load(&f, 1, &err));
    CHECK(strstr(err.file, "b.json") && strstr(err.text, "a.json"));
    folder_end(&f);
}

static void test_job__nothing_to_load(void)
{
    struct msim_error err;
    struct folder f;

    folder_begin(&f);
    CHECK(!load(&f, 1, &err));
    CHECK_INT(err.status, MSIM_EFORMAT);
    CHECK(strstr(err.text, "no trace"));
    folder_add(&f, "notes.txt", "hello");
    CHECK(!load(&f, 1, &err));
    /* A name that promises a trace is told why it is none. */
    folder_add(&f, "x.et", "\x5e\x12\x10\x0a\x06schema");
    CHECK(!load(&f, 1, &err));
    CHECK(strstr(err.text, "Chakra"));
    folder_end(&f);
}

static void test_job__broken_file_in_a_folder(void)
{
    struct msim_error err;
    struct folder f;

    folder_begin(&f);
    folder_add(&f, "rank0.json",
               KINETO("", X("cpu_op", "a", "1", "1", "5", "")));
    folder_add(&f, "rank1.json", "{\"traceEvents\":[{\"ph\":");
    folder_add(&f, "rank2.json", "{\"traceEvents\":[}");
    for (uint32_t threads = 1; threads < 5; threads++) { /* the first is told */
        CHECK(!load(&f, threads, &err));
        CHECK_INT(err.status, MSIM_ETRUNCATED);
        CHECK(strstr(err.file, "rank1.json"));
    }
    folder_end(&f);
}

static bool same_column(const void *a, uint32_t n_a, const void *b,
                        uint32_t n_b, size_t size)
{
    return n_a == n_b && (n_a == 0 || !memcmp(a, b, n_a * size));
}

/* Real traces with one thread and with two: the same, byte for byte. */
static void test_job__threads_change_nothing(void)
{
    const char *path = MSIM_TRACES "/traces/vgg13-h100";
    struct msim_load_options opt = {.threads = 1};
    struct msim_error err = {0};
    struct msim_job *one, *two;

    SKIP_WITHOUT_TRACES();
    REQUIRE(msim_job_load(&one, &path, 1, &opt, &err) == MSIM_OK);
    opt.threads = 2;
    REQUIRE(msim_job_load(&two, &path, 1, &opt, &err) == MSIM_OK);
#define SAME(field, type)                                                      \
    CHECK(same_column(one->ranks[0]->field, one->ranks[0]->n_##field,          \
                      two->ranks[0]->field, two->ranks[0]->n_##field,          \
                      sizeof(type)));
    SAME(dims, int64_t)
    SAME(args, struct msim_arg)
    SAME(blocks, struct msim_arg_block)
    SAME(tensor_ids, struct msim_tensor_id)
    SAME(configs, struct msim_launch_config)
#undef SAME
    CHECK_UINT(one->ranks[0]->n_ops, two->ranks[0]->n_ops);
    CHECK_UINT(one->ranks[0]->n_gpu, two->ranks[0]->n_gpu);
    msim_job_free(one);
    msim_job_free(two);
}

#define KERNEL(name, ts)                                                       \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name                        \
    "\",\"pid\":0,\"tid\":7,\"ts\":" ts                                        \
    ",\"dur\":5,\"args\":{\"device\":0,\"stream\":7}}"

/*
 * A library's kernel is communication by its name, and has no row of comms: its
 * waiting cannot be told. The user's pattern adds a kernel; one that matches
 * none is a warning.
 */
static void test_job__communication_by_name(void)
{
    static const char TEXT[] = KINETO(
        "", KERNEL("void deep_ep::intranode::combine<8>()", "0") "," KERNEL(
                "mylib::exchange_rows", "10") "," KERNEL("mylib::add", "20"));
    struct msim_load_options opt = {.threads = 1};
    struct msim_job *job;

    CHECK_INT(msim_job_load_memory(&job, "a.json", TEXT, sizeof(TEXT) - 1, &opt,
                                   NULL),
              MSIM_OK);
    CHECK_INT(job->ranks[0]->gpu[0].kind, MSIM_GPU_COMM);
    CHECK_UINT(job->ranks[0]->gpu[0].comm, MSIM_NONE);
    CHECK_INT(job->ranks[0]->gpu[1].kind, MSIM_GPU_KERNEL);
    CHECK_UINT(job->files[0].collectives, 1);
    msim_job_free(job);

    opt.communication[opt.n_communication++] = "mylib::ex*";
    opt.communication[opt.n_communication++] = "mylib::none*";
    CHECK_INT(msim_job_load_memory(&job, "a.json", TEXT, sizeof(TEXT) - 1, &opt,
                                   NULL),
              MSIM_OK);
    CHECK_INT(job->ranks[0]->gpu[1].kind, MSIM_GPU_COMM);
    CHECK_INT(job->ranks[0]->gpu[2].kind, MSIM_GPU_KERNEL);
    CHECK_UINT(job->files[0].collectives, 2);
    CHECK(job->n_warnings > 0 &&
          strstr(job->warnings[0], "mylib::none*") != NULL);
    msim_job_free(job);
}

/* A limit of the memory is one of the load, with a sentence. */
static void test_job__memory_is_limited(void)
{
    static const char text[] = "{\"traceEvents\":[]}";
    struct msim_load_options opt = {.memory = 1, .threads = 1};
    struct msim_error err = {0};
    struct msim_job *job;

    CHECK_INT(
        msim_job_load_memory(&job, "mem", text, sizeof(text) - 1, &opt, &err),
        MSIM_ELIMIT);
    CHECK(strstr(err.text, "the traces take more than"));
    opt.memory = 0;
    CHECK_INT(
        msim_job_load_memory(&job, "mem", text, sizeof(text) - 1, &opt, NULL),
        MSIM_OK);
    msim_job_free(job);
}

int main(void)
{
    RUN(test_job__memory_is_limited);
    RUN(test_job__ranks_on_one_clock);
    RUN(test_job__numbers_of_steps);
    RUN(test_job__ranks_of_groups);
    RUN(test_job__bases_are_added);
    RUN(test_job__clocks_of_hosts_are_aligned);
    RUN(test_job__links_et_with_kineto);
    RUN(test_job__links_details);
    RUN(test_job__two_files_of_one_rank);
    RUN(test_job__rank_not_said);
    RUN(test_job__nothing_to_load);
    RUN(test_job__broken_file_in_a_folder);
    RUN(test_job__threads_change_nothing);
    RUN(test_job__communication_by_name);
    return check_summary();
}
