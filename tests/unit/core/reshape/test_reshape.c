/*
 * tests/unit/core/reshape/test_reshape.c - traces with other sizes, made here
 * and recorded at both sizes.
 */
#include "core/reshape/reshape.h"

#include "tests/unit/core/rewrite/trained_step.h"

#include <math.h>
#include <unistd.h>

#define F1 "\"float\""
#define F2 F1 ", " F1
#define F3 F2 ", " F1

/* 8 samples of 43 tokens and 512 channels; weights of 512, whose sizes 8
 * divides too. */
struct made_call {
    const char *name, *sizes, *types;
};

static const struct made_call OPS[] = {
    {"aten::conv2d", "[[8, 3, 8, 8], [64, 3, 7, 7], [64]]", F3},
    {"aten::linear", "[[8, 43, 512], [128, 512], [128]]", F3},
    {"aten::addmm", "[[128], [344, 512], [512, 128]]", F3},
    {"aten::mm", "[[128, 344], [344, 512]]", F2},
    {"aten::mm", "[[344, 128], [128, 512]]", F2},
    {"aten::bmm", "[[64, 43, 16], [64, 16, 43]]", F2},
    {"aten::add_", "[[8, 64, 43], [1, 64, 1]]", F2},
    {"aten::softmax", "[[8, 8, 43, 43]]", F1},
    {"aten::sum", "[[8]]", F1},
    {"aten::_foreach_add_", "[[8, 512]]", F1},
};
#define N_OPS (sizeof(OPS) / sizeof(*OPS))

/* 4 samples of 512 tokens, flattened, in a layer of 512 x 2048. */
static const struct made_call AMBIGUOUS[] = {
    {"aten::embedding", "[[100, 512], [4, 512]]", F2},
    {"aten::relu", "[[4, 512, 512]]", F1},
    {"aten::linear", "[[2048, 512], [2048, 512], [2048]]", F3},
};

/* A Kineto trace of calls, each of fp32. */
static const char *trace_text(const struct made_call *calls, size_t n_calls)
{
    static char text[8192];
    size_t n = (size_t)snprintf(text, sizeof(text), "{\"traceEvents\": [");

    for (size_t i = 0; i < n_calls; i++)
        n += (size_t)snprintf(
            text + n, sizeof(text) - n,
            "%s{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"%s\", "
            "\"pid\": 1, \"tid\": 1, \"ts\": %zu, \"dur\": 2, \"args\": "
            "{\"Input Dims\": %s, \"Input type\": [%s]}}",
            i ? ", " : "", calls[i].name, 10 * i, calls[i].sizes,
            calls[i].types);
    snprintf(text + n, sizeof(text) - n, "]}");
    return text;
}

/* The sizes of all tensors of an operator: "8,3,8,8 64,3,7,7 64 ". */
static const char *sizes_of(const struct msim_trace *t, uint32_t op)
{
    static char text[512];
    const struct msim_arg *a = msim_args_get(t, t->ops[op].args, 0);
    const struct msim_arg *end =
        a ? a + t->blocks[t->ops[op].args].count : NULL;
    size_t n = 0;

    text[0] = '\0';
    for (; a < end; a++) {
        for (uint32_t i = 0; a->kind == MSIM_ARG_TENSOR && i < a->n; i++)
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%lld",
                                  i ? "," : "",
                                  (long long)msim_arg_dims(t, a)[i]);
        if (a->kind == MSIM_ARG_TENSOR)
            n += (size_t)snprintf(text + n, sizeof(text) - n, " ");
    }
    return text;
}

static struct msim_trace *reshaped(const struct msim_trace *t,
                                   const struct msim_reshape *r)
{
    struct msim_error err = {0};
    struct msim_trace *view = NULL;

    CHECK_INT(msim_reshaped_new(&view, t, r, &err), MSIM_OK);
    CHECK_STR(err.text, "");
    return view;
}

static void test_batch(const struct msim_trace *t)
{
    static const char *const want[] = {"16,3,8,8 64,3,7,7 64 ",
                                       "16,43,512 128,512 128 ",
                                       "128 688,512 512,128 ",
                                       "128,688 688,512 ",
                                       "688,128 128,512 ",
                                       "128,43,16 128,16,43 ",
                                       "16,64,43 1,64,1 ",
                                       "16,8,43,43 ",
                                       "16 ",
                                       "8,512 "};
    const struct msim_reshape r = {.axes = {{0, 16, false}}, .n_axes = 1};
    struct msim_trace *view = reshaped(t, &r);

    CHECK_INT(msim_axis_batch_of(t), 8);
    for (uint32_t i = 0; view && i < t->n_ops; i++)
        CHECK_STR(sizes_of(view, i), want[i]);
    CHECK_STR(sizes_of(t, 0), "8,3,8,8 64,3,7,7 64 "); /* not edited */
    CHECK(fabs(msim_reshaped_growth(view, t, 7) - 2) < 1e-12);
    CHECK(fabs(msim_reshaped_growth(view, t, MSIM_NONE) - 1) < 1e-12);
    msim_reshaped_free(view);
}

/* Every size of a sequence changes, of scores of attention both. */
static void test_sequence(const struct msim_trace *t)
{
    const struct msim_reshape r = {.axes = {{43, 86, true}}, .n_axes = 1};
    const struct msim_reshape both = {.axes = {{8, 16, false}, {43, 86, true}},
                                      .n_axes = 2};
    struct msim_trace *view = reshaped(t, &r);

    if (view) {
        CHECK_STR(sizes_of(view, 7), "8,8,86,86 ");
        CHECK_STR(sizes_of(view, 4), "688,128 128,512 ");
        CHECK_STR(sizes_of(view, 0), "8,3,8,8 64,3,7,7 64 ");
    }
    msim_reshaped_free(view);
    view = reshaped(t, &both);
    if (view) {
        CHECK_STR(sizes_of(view, 7), "16,8,86,86 ");
        CHECK_STR(sizes_of(view, 3), "128,1376 1376,512 ");
    }
    msim_reshaped_free(view);
}

static void test_dtype(const struct msim_trace *t)
{
    const struct msim_reshape r = {.dtype = MSIM_DT_BF16};
    struct msim_trace *view = reshaped(t, &r);

    if (view) {
        CHECK_STR(sizes_of(view, 0), sizes_of(t, 0));
        CHECK_INT(msim_args_get(view, view->ops[0].args, 1)->dtype,
                  MSIM_DT_BF16);
        CHECK_INT(msim_args_get(t, t->ops[0].args, 1)->dtype, MSIM_DT_F32);
        CHECK(fabs(msim_reshaped_growth(view, t, 0) - 0.5) < 1e-12);
    }
    msim_reshaped_free(view);
}

static void test_nothing_to_change(const struct msim_trace *t)
{
    const struct msim_reshape r = {.axes = {{9, 16, false}}, .n_axes = 1};
    struct msim_error err = {0};
    struct msim_trace *view = NULL;

    CHECK_INT(msim_reshaped_new(&view, t, &r, &err), MSIM_EUSAGE);
    CHECK(view == NULL);
    CHECK(strstr(err.text, "has a size of 9") != NULL);
}

/* A Kineto trace: which 1 of [1, 64, 1] is the batch? */
static void test_batch_of_one(const struct msim_trace *t)
{
    const struct msim_reshape r = {.axes = {{1, 16, false}}, .n_axes = 1};
    struct msim_error err = {0};
    struct msim_trace *view = NULL;

    CHECK_INT(msim_reshaped_new(&view, t, &r, &err), MSIM_EUSAGE);
    CHECK(view == NULL);
    CHECK(strstr(err.text, "want an execution trace") != NULL);
}

/* ---- a model recorded at two sizes ----------------------------------------
 */

/* What operators that compute are given, each different list once. */
static bool computes(const char *name)
{
    static const char *const names[] = {"aten::addmm",
                                        "aten::bmm",
                                        "aten::baddbmm",
                                        "aten::cat",
                                        "aten::gelu",
                                        "aten::_softmax",
                                        "aten::mul",
                                        "aten::add_",
                                        "aten::mean",
                                        "aten::log",
                                        "aten::index",
                                        "aten::add",
                                        "aten::copy_",
                                        "aten::clamp",
                                        "aten::convolution",
                                        "aten::native_layer_norm",
                                        "aten::cudnn_batch_norm"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static bool has(const struct msim_trace *t, const char *name, const char *sizes)
{
    for (uint32_t i = 0; i < t->n_ops; i++)
        if (!strcmp(msim_trace_text(t, t->ops[i].name), name) &&
            !strcmp(sizes_of(t, i), sizes))
            return true;
    return false;
}

static uint32_t missing(const struct msim_trace *from,
                        const struct msim_trace *in)
{
    uint32_t n = 0;
    char sizes[512];

    for (uint32_t i = 0; i < from->n_ops; i++) {
        const char *name = msim_trace_text(from, from->ops[i].name);

        if (!computes(name))
            continue;
        snprintf(sizes, sizeof(sizes), "%s", sizes_of(from, i));
        if (!has(in, name, sizes)) {
            fprintf(stderr, "only one has %s %s\n", name, sizes);
            n++;
        }
    }
    return n;
}

static struct msim_job *loaded(const char *path)
{
    struct msim_load_options opt = {.threads = 1};
    struct msim_error err = {0};
    struct msim_job *job = NULL;

    CHECK_INT(msim_job_load(&job, &path, 1, &opt, &err), MSIM_OK);
    return job;
}

/* The particles of a jet are its sequence: 43 at most in one batch, 71 in
 * another, with one token more for the class and a size for their pairs. */
static void test_recorded_at_both(void)
{
    const char *small =
        MSIM_TRACES "/traces/particle-transformer-a100/kineto/batch-8.json.gz";
    const char *large =
        MSIM_TRACES "/traces/particle-transformer-a100/kineto/batch-32.json.gz";
    const struct msim_reshape r = {.axes = {{8, 32, false},
                                            {43, 71, true},
                                            {44, 72, true},
                                            {946, 2556, true}},
                                   .n_axes = 4};
    struct msim_job *a, *b;
    struct msim_trace *view;

    if (!MSIM_TRACES[0] || access(small, R_OK) != 0)
        return;
    a = loaded(small);
    b = loaded(large);
    view = a && b ? reshaped(a->ranks[0], &r) : NULL;
    if (view) {
        CHECK_INT(missing(view, b->ranks[0]), 0);
        CHECK_INT(missing(b->ranks[0], view), 0);
    }
    msim_reshaped_free(view);
    msim_job_free(a);
    msim_job_free(b);
}

/*
 * 4 samples of 16 tokens in a layer of 64 x 64: all matrices have one shape.
 * With 8 samples there are 128 rows of data; the weight, its copy for the
 * product, its gradient and state keep 64. Backward multiplies over tokens.
 */
static const struct made_node SQUARE[] = {
    {9, 0, "aten::to", 0, -1, "1:64x64", "8:64x64"},
    {10, 0, "aten::linear", 0, 1, "3:4x16x64 8:64x64", "20:4x16x64"},
    {11, 10, "aten::mm", 0, -1, "3:64x64 8:64x64", "20:64x64"},
    {20, 0, "autograd::engine::evaluate_function: M", 0, -1, "", ""},
    {21, 20, "MmBackward0", 1, 1, "", ""},
    {22, 21, "aten::mm", 0, -1, "20:64x64 3:64x64", "31:64x64"},
    {30, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {31, 30, "torch::autograd::AccumulateGrad", 1, -1, "", ""},
    {32, 31, "aten::add_", 0, -1, "5:64x64 31:64x64", ""},
    {40, 0, "Optimizer.step#Adam.step", 7, -1, "", ""},
    {41, 40, "aten::addcdiv_", 0, -1, "1:64x64 5:64x64 4:64x64", ""},
};

static void test_reshape__square(void)
{
    const struct msim_reshape r = {.axes = {{.from = 4, .to = 8}}, .n_axes = 1};
    struct msim_job *job = made_nodes(SQUARE, sizeof(SQUARE) / sizeof(*SQUARE));
    struct msim_trace *v = NULL;
    struct msim_error err = {0};

    REQUIRE(job != NULL);
    CHECK_INT(msim_reshaped_new(&v, job->ranks[0], &r, &err), MSIM_OK);
    REQUIRE(v != NULL);
    CHECK_STR(sizes_of(v, find_op(v, "aten::to", 0)), "64,64 ");
    CHECK_STR(sizes_of(v, find_op(v, "aten::linear", 0)), "8,16,64 64,64 ");
    CHECK_STR(sizes_of(v, find_op(v, "aten::mm", 0)), "128,64 64,64 ");
    CHECK_STR(sizes_of(v, find_op(v, "aten::mm", 1)), "64,128 128,64 ");
    CHECK_STR(sizes_of(v, find_op(v, "aten::add_", 0)), "64,64 64,64 ");
    CHECK_STR(sizes_of(v, find_op(v, "aten::addcdiv_", 0)),
              "64,64 64,64 64,64 ");
    msim_reshaped_free(v);
    msim_job_free(job);
}

/* 8 samples of 64 tokens and a width of 64, in layers of 512. */
static const struct made_call AS_MANY[] = {
    {"aten::linear", "[[8, 64, 64], [512, 64], [512]]", F3},
    {"aten::relu", "[[8, 64, 512]]", F1},
    {"aten::add", "[[8, 24, 512], [8, 64, 64]]", F2},
    {"aten::mul", "[[40, 512], [64, 64]]", F2},
    {"aten::t", "[[40, 512]]", F1},
    {"aten::softmax", "[[32, 64, 64]]", F1},
};

/* What layers take and give is no axis of data where it comes last. */
static void test_reshape__features(void)
{
    static const struct {
        const char *name, *sequence, *batch;
    } want[] = {
        {"aten::linear", "8,128,64 512,64 512 ", "16,64,64 512,64 512 "},
        {"aten::relu", "8,128,512 ", "16,64,512 "},
        {"aten::add", "8,24,512 8,128,64 ", "16,24,512 16,64,64 "},
        {"aten::mul", "40,512 128,64 ", "40,512 64,64 "},
        {"aten::t", "40,1024 ", "40,1024 "},
        {"aten::softmax", "32,128,128 ", "64,64,64 "},
    };
    const struct msim_reshape r[] = {
        {.axes = {{.from = 64, .to = 128, .every = true}}, .n_axes = 1},
        {.axes = {{.from = 8, .to = 16}}, .n_axes = 1}};
    struct msim_error err;
    struct msim_job *job = load_text(
        trace_text(AS_MANY, sizeof(AS_MANY) / sizeof(*AS_MANY)), false, &err);

    REQUIRE(job != NULL);
    for (int k = 0; k < 2; k++) {
        struct msim_trace *v = NULL;

        CHECK_INT(msim_reshaped_new(&v, job->ranks[0], &r[k], &err), MSIM_OK);
        REQUIRE(v != NULL);
        for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
            CHECK_STR(sizes_of(v, find_op(v, want[i].name, 0)),
                      k ? want[i].batch : want[i].sequence);
        msim_reshaped_free(v);
    }
    msim_job_free(job);
}

static void check_doubt(const struct made_call *calls, size_t n,
                        struct msim_axis axis, const char *text)
{
    const struct msim_reshape r = {.axes = {axis}, .n_axes = 1};
    char doubt[MSIM_RESHAPE_DOUBT] = "none";
    struct msim_error err;
    struct msim_job *job = load_text(trace_text(calls, n), false, &err);

    REQUIRE(job != NULL);
    CHECK_INT(msim_reshape_doubt(doubt, job->ranks[0], &r, NULL), MSIM_OK);
    CHECK(strncmp(doubt, text, *text ? strlen(text) : 1) == 0);
    msim_job_free(job);
}

/* Data that is shaped as a weight holds the batch, or the sequence. */
static void test_reshape__doubt(void)
{
    static const char TEXT[] =
        "'aten::linear' reads [2048, 512], which is shaped as a weight";

    check_doubt(AMBIGUOUS, 3, (struct msim_axis){4, 8, false}, TEXT);
    check_doubt(AMBIGUOUS, 3, (struct msim_axis){512, 256, true}, TEXT);
    check_doubt(AMBIGUOUS, 3, (struct msim_axis){0, 8, false}, TEXT);
    check_doubt(AMBIGUOUS, 3, (struct msim_axis){100, 8, false}, "");
    check_doubt(OPS, N_OPS, (struct msim_axis){8, 16, false}, "");
    check_doubt(OPS, N_OPS, (struct msim_axis){43, 16, true}, "");
}

int main(void)
{
    struct msim_error err;
    struct msim_job *job = load_text(trace_text(OPS, N_OPS), false, &err);

    CHECK(job != NULL);
    if (job) {
        test_batch(job->ranks[0]);
        test_sequence(job->ranks[0]);
        test_dtype(job->ranks[0]);
        test_nothing_to_change(job->ranks[0]);
        test_batch_of_one(job->ranks[0]);
    }
    msim_job_free(job);
    test_recorded_at_both();
    RUN(test_reshape__square);
    RUN(test_reshape__features);
    RUN(test_reshape__doubt);
    return check_summary();
}
