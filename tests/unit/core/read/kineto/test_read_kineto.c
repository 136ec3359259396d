/*
 * tests/unit/core/read/kineto/test_read_kineto.c - Kineto traces of every age.
 */
#include "core/work/rules/opmap_rule.h"

#include "tests/unit/loaded.h"

/* An event with the fields that all complete events have. */
#define X(cat, name, tid, ts, dur, args)                                       \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name                       \
    "\",\"pid\":9,\"tid\":" tid ",\"ts\":" ts ",\"dur\":" dur                  \
    ",\"args\":{" args "}}"
#define TRACE(events) "{\"schemaVersion\":1,\"traceEvents\":[" events "]}"

static void test_read_kineto__nests_and_links(void)
{
    /* The kernel's External id is that of an operator it has nothing to do
       with, as in files of 2023. */
    /* clang-format off */
    static const char text[] =
        TRACE(X("cpu_op", "aten::linear", "1", "100", "50",
        "\"External id\":1") ","
        X("cpu_op", "aten::addmm", "1", "110", "30", "\"External id\":2") ","
        X("cpu_op", "other", "1", "200", "5", "\"External id\":77") ","
        X("cuda_runtime", "cudaLaunchKernelExC", "1", "120", "10",
        "\"correlation\":77") ","
        X("kernel", "gemm", "7", "140", "20", "\"External id\":77,\"correlat"
        "ion\":77,\"device\":0,\"stream\":7,\"grid\":[4,5,1],\"block\":[128"
        ",1,1],\"registers per thread\":32,\"shared memory\":1024"));
    /* clang-format on */
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);
    const struct msim_trace *t;

    REQUIRE(job);
    t = job->ranks[0];
    CHECK_UINT(t->n_ops, 3);
    CHECK_UINT(t->ops[0].end, 2);
    CHECK_UINT(t->ops[1].parent, 0);
    CHECK_UINT(t->ops[2].parent, MSIM_NONE);
    CHECK_INT(t->ops[0].start, 0);
    CHECK_INT(t->ops[1].start, 10 * MSIM_PS_PER_US);
    CHECK_INT(t->ops[1].dur, 30 * MSIM_PS_PER_US);
    REQUIRE(t->n_calls == 1 && t->n_gpu == 1);
    CHECK_INT(t->calls[0].kind, MSIM_CALL_LAUNCH);
    CHECK_UINT(t->calls[0].op, 1);
    CHECK_UINT(t->calls[0].gpu, 0);
    CHECK_UINT(t->gpu[0].op, 1);
    CHECK_UINT(t->gpu[0].call, 0);
    REQUIRE(t->gpu[0].config == 0);
    CHECK_UINT(t->configs[0].grid[1], 5);
    CHECK_UINT(t->configs[0].block[0], 128);
    CHECK_UINT(t->configs[0].shared_bytes, 1024);
    CHECK_INT(t->streams[0].id, 7);
    CHECK_UINT(t->unlinked_gpu, 0);
    msim_job_free(job);
}

/* Nanoseconds in microseconds with three digits, beyond what a double has. */
static void test_read_kineto__times_are_exact(void)
{
    /* clang-format off */
    static const char text[] =
        TRACE(X("cpu_op", "a", "1", "4458676524648.797", "189.626", "") ","
        X("cpu_op", "b", "1", "4458676524648.798", "0.001", ""));
    /* clang-format on */
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);

    REQUIRE(job);
    CHECK_INT(job->ranks[0]->ops[1].start, 1000);
    CHECK_INT(job->ranks[0]->ops[0].dur, 189626000);
    CHECK_INT(job->ranks[0]->ops[1].dur, 1000);
    msim_job_free(job);
}

static void test_read_kineto__list_of_2020(void)
{
    /* clang-format off */
    static const char text[] =
        "[" X("Operator", "ProfilerStep#5", "\"3340707648\"", "10", "100",
        "\"Input dims\":[]") ","
        X("Operator", "aten::mm", "\"3340707648\"", "20", "30",
        "\"Input dims\":[[2,3],[3,4],[]],\"Input type\":[]") ","
        X("Runtime", "cudaLaunchKernel", "\"3340707648\"", "30", "5",
        "\"correlation\":1") ","
        X("Kernel", "k", "\"stream 7\"", "50", "5", "\"correlation\":1,\"str"
        "eam\":7,\"device\":0") ","
        X("Memset", "Memset (Device)", "\"stream 7\"", "60", "5",
        "\"correlation\":2,\"stream\":7,\"device\":0,\"bytes\":64") "]";
    /* clang-format on */
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);
    const struct msim_trace *t;

    REQUIRE(job);
    t = job->ranks[0];
    CHECK_UINT(t->n_steps, 1);
    CHECK_INT(t->steps[0].number, 5);
    CHECK_INT(t->ops[0].kind, MSIM_OP_ANNOTATION);
    CHECK_ARGS(t, t->ops[1].args, "unknown[2,3] unknown[3,4] -");
    CHECK_UINT(t->gpu[0].op, 1);
    CHECK_UINT(t->unlinked_gpu, 1);
    CHECK_UINT(t->gpu[1].bytes, 64);
    CHECK_UINT(t->n_streams, 1);
    msim_job_free(job);
}

static void test_read_kineto__arguments(void)
{
    /* clang-format off */
    static const char text[] =
        TRACE(X("cpu_op", "op", "1", "1", "5", "\"Input Dims\":[[16,640],[],"
        "[],[[8],[]],[],[],[],[]],\"Input type\":[\"c10::BFloat16\",\"Scala"
        "r\",\"ScalarList\",\"TensorList\",\"\",\"Scalar\",\"Scalar\",\"lon"
        "g int\"],\"Concrete Inputs\":[\"\",\"0.5\",\"[128, 1]\",\"\",\"\","
        "\"True\",\"-3\",\"\"]"));
    /* clang-format on */
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);
    const struct msim_trace *t;

    REQUIRE(job);
    t = job->ranks[0];
    CHECK_ARGS(t, t->ops[0].args,
               "bfloat16[16,640] 0.5r L2:2 128 1 L2:2 unknown[8] unknown[] - "
               "true -3 int64[]");
    CHECK_UINT(msim_args_count(t, t->ops[0].args), 8);
    CHECK_INT(msim_args_get(t, t->ops[0].args, 6)->v.i, -3);
    CHECK_UINT(msim_arg_elems(t, msim_args_get(t, t->ops[0].args, 0)),
               16 * 640);
    CHECK_UINT(msim_arg_elems(t, msim_args_get(t, t->ops[0].args, 7)), 1);
    msim_job_free(job);
}

/* The layout of tensor `i` of the first operator. */
static int layout_of(const struct msim_trace *t, uint32_t i)
{
    return msim_args_get(t, t->ops[0].args, i)->layout;
}

static struct msim_job *load_strides(const char *strides)
{
    /* clang-format off */
    static const char form[] =
        TRACE(X("cpu_op", "op", "1", "1", "5", "\"Input Dims\":[[2,3,4,5],[4,"
        "5],[],[[4,5],[4,5]],[4,1]],\"Input type\":[\"float\",\"float\",\"Sca"
        "lar\",\"TensorList\",\"float\"]%s"));
    /* clang-format on */
    char text[1024];
    struct msim_error err;

    snprintf(text, sizeof(text), form, strides);
    return load_text(text, false, &err);
}

/* Strides say how a tensor lies; without them, or where their lists have other
 * lengths than those of the sizes, it is taken to be plain. */
static void test_read_kineto__strides(void)
{
    static const char *const UNKNOWN[] = {
        "", ",\"Input Strides\":[[60,1,15,3],[5,1]]",
        ",\"Input Strides\":[[60,1,15],[3,5,1],[],[[5,1],[1,4]],[1,1]]"};
    struct msim_job *job =
        load_strides(",\"Input Strides\":[[60,1,15,3],[20,1],[],[[5,1],[1,4]],["
                     "1,1]]");
    const struct msim_trace *t;

    REQUIRE(job);
    t = job->ranks[0];
    CHECK_INT(layout_of(t, 0), MSIM_LAYOUT_TURNED); /* channels last */
    CHECK_INT(layout_of(t, 1), MSIM_LAYOUT_GAPS);   /* a part of rows of 20 */
    CHECK_INT(msim_args_get(t, t->ops[0].args, 3)[1].layout, MSIM_LAYOUT_PLAIN);
    CHECK_INT(msim_args_get(t, t->ops[0].args, 3)[2].layout,
              MSIM_LAYOUT_TURNED);
    CHECK_INT(layout_of(t, 4), MSIM_LAYOUT_PLAIN);
    msim_job_free(job);
    for (size_t i = 0; i < sizeof(UNKNOWN) / sizeof(*UNKNOWN); i++) {
        job = load_strides(UNKNOWN[i]);
        REQUIRE(job);
        CHECK_INT(layout_of(job->ranks[0], 0), MSIM_LAYOUT_PLAIN);
        CHECK_INT(layout_of(job->ranks[0], 1), MSIM_LAYOUT_PLAIN);
        msim_job_free(job);
    }
}

/* Equal lists are one block. */
static void test_read_kineto__interns_arguments(void)
{
#define OP(ts)                                                                 \
    X("cpu_op", "op", "1", ts, "1",                                            \
      "\"Input Dims\":[[2,2]],\"Input type\":[\"float\"]")
    /* clang-format off */
    static const char text[] =
        TRACE(OP("1") ","
        OP("3") ","
        OP("5"));
    /* clang-format on */
#undef OP
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);

    REQUIRE(job);
    CHECK_UINT(job->ranks[0]->n_blocks, 1);
    CHECK_UINT(job->ranks[0]->n_dims, 2);
    msim_job_free(job);
}

static void test_read_kineto__collective_metadata(void)
{
#define META                                                                   \
    "\"Collective name\":\"_allgather_base\",\"In msg nelems\":10,"            \
    "\"Out msg nelems\":20,\"Group size\":2,\"dtype\":\"BFloat16\","           \
    "\"Process Group Name\":\"1\",\"Process Group Ranks\":\"[2, 3]\""
    /* clang-format off */
    static const char text[] =
        TRACE(X("cpu_op", "record_param_comms", "1", "10", "20", META) ","
        X("user_annotation", "nccl:_all_gather_base", "1", "12", "10", "")
        ","
        X("cuda_runtime", "cudaLaunchKernelExC", "1", "14", "2",
        "\"correlation\":5") ","
        X("kernel", "some_name", "4", "20", "5", "\"correlation\":5,\"stream"
        "\":4,\"device\":0," META) ","
        X("cpu_op", "record_param_comms", "1", "40", "1", ""));
    /* clang-format on */
#undef META
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);
    const struct msim_trace *t;

    REQUIRE(job);
    t = job->ranks[0];
    REQUIRE(t->n_comms == 2 && t->n_groups == 1);
    CHECK_INT(t->comms[0].collective, MSIM_COLL_ALL_GATHER);
    CHECK_UINT(t->comms[0].in_elems, 10);
    CHECK_UINT(t->comms[0].out_elems, 20);
    CHECK_INT(t->comms[0].dtype, MSIM_DT_BF16);
    CHECK_UINT(t->comms[0].group, 0);
    CHECK_INT(t->comms[1].collective, MSIM_COLL_WAIT);
    CHECK_UINT(t->groups[0].size, 2);
    REQUIRE(t->groups[0].count == 2);
    CHECK_INT(t->group_ranks[t->groups[0].first + 1], 3);
    CHECK_INT(t->gpu[0].kind, MSIM_GPU_COMM);
    CHECK_UINT(t->gpu[0].comm, 0);
    /* The label is not what launched it. */
    CHECK_STR(msim_trace_text(t, t->ops[t->gpu[0].op].name),
              "record_param_comms");
    msim_job_free(job);
}

/* A file of types alone: no size of any operator was ever read. */
static void test_read_kineto__types_without_sizes(void)
{
    /* clang-format off */
    static const char text[] =
        TRACE(X("cpu_op", "aten::add", "1", "10", "20",
        "\"Input type\":[\"float\"],\"Concrete Inputs\":[\"\"]"));
    /* clang-format on */
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);

    REQUIRE(job);
    CHECK_ARGS(job->ranks[0], job->ranks[0]->ops[0].args, "fp32[]");
    msim_job_free(job);
}

/* Without metadata: kind and size from the label, at last from the kernel. */
static void test_read_kineto__collectives_without_metadata(void)
{
    /* clang-format off */
    static const char text[] =
        TRACE(X("cpu_op", "record_param_comms", "1", "10", "20",
        "\"Input Dims\":[[],[]],\"Input type\":[\"TensorList\",\"Scalar\"]")
        ","
        X("user_annotation", "nccl:all_reduce", "1", "12", "10",
        "\"Input Dims\":[[394241]],\"Input type\":[\"float\"]") ","
        X("cuda_runtime", "cudaLaunchKernel", "1", "14", "2",
        "\"correlation\":5") ","
        X("kernel", "ncclKernel_AllReduce_RING_LL_Sum_float(...)", "4", "20",
        "5", "\"correlation\":5,\"stream\":4,\"device\":0") ","
        X("kernel", "ncclDevKernel_Broadcast_RING_LL(...)", "4", "30", "5",
        "\"correlation\":6,\"stream\":4,\"device\":0"));
    /* clang-format on */
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);
    const struct msim_trace *t;

    REQUIRE(job);
    t = job->ranks[0];
    REQUIRE(t->n_comms == 2 && t->n_gpu == 2);
    CHECK_INT(t->comms[0].collective, MSIM_COLL_ALL_REDUCE);
    CHECK_UINT(t->comms[0].in_elems, 394241);
    CHECK_UINT(t->comms[0].out_elems, 394241);
    CHECK_INT(t->comms[0].dtype, MSIM_DT_F32);
    CHECK_UINT(t->gpu[0].comm, 0);
    CHECK_INT(t->comms[1].collective, MSIM_COLL_BROADCAST);
    CHECK_UINT(t->comms[1].op, MSIM_NONE);
    CHECK_UINT(t->gpu[1].comm, 1);
    msim_job_free(job);
}

static void test_read_kineto__synchronisation(void)
{
    /* clang-format off */
    static const char text[] =
        TRACE(X("cuda_runtime", "cudaEventRecord", "1", "10", "2",
        "\"correlation\":3") ","
        X("cuda_runtime", "cudaStreamWaitEvent", "1", "20", "2",
        "\"correlation\":4") ","
        X("cuda_sync", "Stream Wait Event", "24", "20", "2",
        "\"cuda_sync_kind\":\"Stream Wait Event\",\"stream\":24,\"wait_on_s"
        "tream\":20,\"wait_on_cuda_event_record_corr_id\":3,\"correlation\""
        ":4,\"device\":0") ","
        X("cuda_sync", "Context Sync", "-1", "30", "2",
        "\"stream\":-1,\"correlation\":9,\"device\":0"));
    /* clang-format on */
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);
    const struct msim_trace *t;

    REQUIRE(job);
    t = job->ranks[0];
    REQUIRE(t->n_syncs == 2);
    CHECK_INT(t->syncs[0].kind, MSIM_CALL_STREAM_WAIT);
    CHECK_UINT(t->syncs[0].call, 1);
    CHECK_UINT(t->syncs[0].record_call, 0);
    CHECK_INT(t->streams[t->syncs[0].stream].id, 24);
    CHECK_INT(t->streams[t->syncs[0].wait_stream].id, 20);
    CHECK_INT(t->syncs[1].kind, MSIM_CALL_DEVICE_SYNC);
    CHECK_UINT(t->syncs[1].stream, MSIM_NONE);
    CHECK_UINT(t->syncs[1].call, MSIM_NONE);
    msim_job_free(job);
}

static void test_read_kineto__graphs_and_unknown_launches(void)
{
    /* clang-format off */
    static const char text[] =
        TRACE(X("cuda_runtime", "cudaGraphLaunch", "1", "10", "2",
        "\"correlation\":3") ","
        X("cuda_runtime", "INVALID", "1", "20", "2", "\"correlation\":4") ","
        X("kernel", "a", "7", "30", "5", "\"correlation\":3,\"stream\":7,\"d"
        "evice\":0") ","
        X("kernel", "b", "7", "40", "5", "\"correlation\":3,\"stream\":7,\"d"
        "evice\":0") ","
        X("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", "7", "50", "5",
        "\"correlation\":4,\"stream\":7,\"device\":0,\"bytes\":8"));
    /* clang-format on */
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);
    const struct msim_trace *t;

    REQUIRE(job);
    t = job->ranks[0];
    CHECK(t->gpu[0].in_graph && t->gpu[1].in_graph && !t->gpu[2].in_graph);
    CHECK_UINT(t->calls[0].gpu, 0);
    CHECK_INT(t->calls[1].kind, MSIM_CALL_MEMCPY);
    CHECK_INT(t->gpu[2].copy_kind, MSIM_COPY_H2D);
    CHECK(t->gpu[2].pageable);
    msim_job_free(job);
}

/* Truncated microseconds: a child that sticks out, siblings that overlap. */
static void test_read_kineto__overlaps_are_clamped(void)
{
    /* clang-format off */
    static const char text[] =
        TRACE(X("cpu_op", "parent", "1", "10", "10", "") ","
        X("cpu_op", "child", "1", "15", "6", "") ","
        X("cpu_op", "next", "1", "19", "10", ""));
    /* clang-format on */
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);
    const struct msim_trace *t;

    REQUIRE(job);
    t = job->ranks[0];
    CHECK_UINT(t->ops[1].parent, 0);
    CHECK_INT(t->ops[1].dur, 5 * MSIM_PS_PER_US);
    CHECK_UINT(t->ops[2].parent, MSIM_NONE);
    CHECK_INT(t->ops[2].start, 10 * MSIM_PS_PER_US);
    CHECK_INT(t->ops[2].dur, 9 * MSIM_PS_PER_US);
    msim_job_free(job);
}

/* Without duration, at the end of the operator before: its callee. */
static void test_read_kineto__last_instant(void)
{
    /* clang-format off */
    static const char text[] =
        TRACE(X("cpu_op", "aten::item", "1", "10", "1", "") ","
        X("cpu_op", "aten::_local_scalar_dense", "1", "11", "0", "") ","
        X("cpu_op", "aten::other", "1", "11", "0", ""));
    /* clang-format on */
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);
    const struct msim_trace *t;

    REQUIRE(job);
    t = job->ranks[0];
    CHECK_UINT(t->ops[1].parent, 0);
    CHECK_UINT(t->ops[2].parent, MSIM_NONE);
    msim_job_free(job);
}

static void test_read_kineto__what_it_leaves_out(void)
{
    /* clang-format off */
    static const char text[] =
        TRACE("{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":9,\"tid\":1,\""
        "args\":{\"name\":\"main\"}},{\"ph\":\"s\",\"id\":3,\"pid\":9,\"tid"
        "\":1,\"ts\":1,\"cat\":\"ac2g\",\"name\":\"ac2g\"}," X(
        "python_function", "f", "1", "1", "9", "\"Python id\":1") ","
        X("cpu_op", "a", "1", "2", "3", ""));
    /* clang-format on */
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);
    const struct msim_trace *t;

    REQUIRE(job);
    t = job->ranks[0];
    CHECK_UINT(job->files[0].events, 4);
    CHECK_UINT(t->n_ops, 1);
    CHECK_UINT(t->n_threads, 1);
    CHECK_STR(msim_trace_text(t, t->threads[0].name), "main");
    CHECK(t->cpu_only);
    msim_job_free(job);
}

static void test_read_kineto__top_level(void)
{
    /* clang-format off */
    static const char text[] =
        "{\"traceEvents\":[" X("kernel", "k", "7", "1", "2",
        "\"device\":1,\"stream\":7,\"correlation\":1")
        "],\"deviceProperties\":[{\"id\":0,\"name\":\"A\"},{\"id\":1,\"name"
        "\":\"B\",\"totalGlobalMem\":42297524224,\"numSms\":108,\"computeMa"
        "jor\":8,\"computeMinor\":6}],\"schemaVersion\":1,\"distributedInfo"
        "\":{\"rank\":3,\"world_size\":4,\"pg_config\":[{\"pg_name\":\"0\","
        "\"pg_size\":4,\"ranks\":[]},{\"pg_name\":\"tp\",\"pg_size\":2,\"ra"
        "nks\":\"[2, 3]\"}]},\"unknown\":{\"x\":[1,{}]}}";
    /* clang-format on */
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);
    const struct msim_trace *t;

    REQUIRE(job);
    t = job->ranks[0];
    CHECK_STR(job->files[0].gpu, "B");
    CHECK_UINT(t->gpu_properties.memory_bytes, 42297524224u);
    CHECK_UINT(t->gpu_properties.sms, 108);
    CHECK_UINT(t->gpu_properties.cc_minor, 6);
    CHECK_INT(t->rank, 3);
    CHECK_UINT(t->world_size, 4);
    REQUIRE(t->n_groups == 2);
    CHECK_UINT(t->groups[0].count, 4);
    CHECK_UINT(t->groups[1].count, 2);
    CHECK_INT(t->group_ranks[t->groups[1].first], 2);
    msim_job_free(job);
}

#define CUT_WORLD "512"

/* The members of a group of `size` that `rank` calls, whose list, start and
 * stride are `text`: how many are known, the last of them, and the nodes of
 * eight that they are on. */
static void check_cut(int rank, const char *text, uint32_t size, uint32_t count,
                      int32_t last, uint32_t nodes)
{
    char file[1024];
    struct msim_error err;
    struct msim_job *job;
    const struct msim_trace *t;

    snprintf(file, sizeof(file),
             "{\"distributedInfo\":{\"rank\":%d,\"world_size\":" CUT_WORLD
             "},\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":"
             "\"record_param_comms\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,"
             "\"args\":{\"Collective name\":\"allreduce\",\"Process Group "
             "Name\":\"3\",\"Group size\":%u,\"In msg nelems\":8,"
             "\"Out msg nelems\":8,\"dtype\":\"Float\"%s}}]}",
             rank, size, text);
    job = load_text(file, false, &err);
    REQUIRE(job);
    t = job->ranks[0];
    CHECK_UINT(t->groups[0].size, size);
    CHECK_UINT(t->groups[0].count, count);
    if (count && t->groups[0].count)
        CHECK_INT(t->group_ranks[t->groups[0].first + count - 1], last);
    CHECK_UINT(msim_comm_work(t, 0).u.coll.nodes, nodes);
    CHECK_UINT(job->n_warnings - 1, !count); /* 1 of 512 ranks is there */
    msim_job_free(job);
}

/* A list that Kineto cut goes on as it began. Ranks at one distance, and tiles
 * of neighbours: 2 of every 8. What is not regular, or would leave the job or
 * out the caller, is unknown: neighbours. */
static void test_read_kineto__completes_groups(void)
{
#define LIST(ranks) ",\"Process Group Ranks\":\"[" ranks "]\""
#define ONE(start, stride)                                                     \
    ",\"Global rank start\":" start ",\"Global rank stride\":" stride
    check_cut(0, LIST("0, 8, 16, 24, ..."), 64, 64, 504, 64);
    check_cut(3, LIST("3, 7, 11, ...") ONE("3", "4"), 16, 16, 63, 8);
    check_cut(0, LIST("0, 1, 8, 9, 16, ..."), 8, 8, 25, 4);
    check_cut(0, LIST("0, 1, 8, 9, 16, ...") ONE("0", "-1"), 8, 8, 25, 4);
    check_cut(5, LIST("5, ...") ONE("5", "16"), 4, 4, 53, 4);
    check_cut(2, ONE("2", "8"), 4, 4, 26, 4);
    check_cut(0, LIST("0, 8, 16, 24"), 4, 4, 24, 4);
    check_cut(0, LIST("0, 8, 16, ...") ONE("0", "-1"), 8, 0, 0, 1);
    check_cut(0, LIST("0, 1, 5, 13, 14, ..."), 8, 0, 0, 1);
    check_cut(0, LIST("0, 16, 32, ..."), 64, 0, 0, 8);
    check_cut(0, LIST("..."), 64, 0, 0, 8);
    check_cut(0, "", 64, 0, 0, 8);
    check_cut(1, LIST("0, 8, 16, 24, ..."), 64, 0, 0, 8);
#undef LIST
#undef ONE
}

static void test_read_kineto__refuses(void)
{
    /* clang-format off */
    static const struct {
        const char *text;
        enum msim_status status;
        const char *says;
    } bad[] = {
        {TRACE("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\"}"),
         MSIM_EFORMAT, "event 1 'a' has no 'ts'"},
        {TRACE(X("cpu_op", "a", "1", "2", "-3", "")), MSIM_EFORMAT,
         "event 1 'a': 'dur' is -3, want >= 0 us"},
        {TRACE(X("cpu_op", "a", "1", "\"x\"", "3", "")), MSIM_EFORMAT,
         "'ts' is x, want microseconds"},
        {TRACE(X("cpu_op", "a", "1", "1", "3", "") ","
               X("cpu_op", "a", "1", "99999999999999999", "3", "")),
         MSIM_EFORMAT, "more than a day"},
        {"{\"a\":1}", MSIM_EFORMAT, "neither 'nodes'"},
        {"", MSIM_EFORMAT, "is empty"},
        {"hello", MSIM_EFORMAT, "found 'h', want '{' or '['"},
        {"{\"traceEvents\":[", MSIM_ETRUNCATED, "cut: found the end"},
        {"{\"traceEvents\":[1,]}", MSIM_ESYNTAX, "found ']', want JSON"},
    };
    /* clang-format on */
    struct msim_error err;
    size_t i;

    for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        CHECK(load_text(bad[i].text, false, &err) == NULL);
        CHECK_INT(err.status, bad[i].status);
        if (!strstr(err.text, bad[i].says))
            CHECK_STR(err.text, bad[i].says);
    }
}

static void test_read_kineto__salvages_complete_events(void)
{
    /* clang-format off */
    static const char text[] =
        "{\"traceEvents\":[" X("cpu_op", "a", "1", "2", "3", "") ","
        X("cpu_op", "b", "1", "12", "3", "") ",{\"ph\":\"X\",\"ca";
    /* clang-format on */
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);

    CHECK(job == NULL);
    CHECK_INT(err.status, MSIM_ETRUNCATED);
    CHECK_UINT(err.offset, strlen(text));
    CHECK(strstr(err.text, "--salvage keeps the 2 complete events"));
    job = load_text(text, true, &err);
    REQUIRE(job);
    CHECK_UINT(job->ranks[0]->n_ops, 2);
    CHECK(job->files[0].salvaged);
    REQUIRE(job->n_warnings == 1);
    CHECK(strstr(job->warnings[0], "kept the 2 complete events"));
    CHECK(!strstr(job->warnings[0], "--salvage"));
    msim_job_free(job);
}

int main(void)
{
    RUN(test_read_kineto__nests_and_links);
    RUN(test_read_kineto__times_are_exact);
    RUN(test_read_kineto__list_of_2020);
    RUN(test_read_kineto__arguments);
    RUN(test_read_kineto__strides);
    RUN(test_read_kineto__interns_arguments);
    RUN(test_read_kineto__collective_metadata);
    RUN(test_read_kineto__types_without_sizes);
    RUN(test_read_kineto__collectives_without_metadata);
    RUN(test_read_kineto__synchronisation);
    RUN(test_read_kineto__graphs_and_unknown_launches);
    RUN(test_read_kineto__overlaps_are_clamped);
    RUN(test_read_kineto__last_instant);
    RUN(test_read_kineto__what_it_leaves_out);
    RUN(test_read_kineto__top_level);
    RUN(test_read_kineto__completes_groups);
    RUN(test_read_kineto__refuses);
    RUN(test_read_kineto__salvages_complete_events);
    return check_summary();
}
