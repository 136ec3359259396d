/*
 * tests/unit/core/reshape/test_axis.c - which size is the batch, which sizes
 * hold an axis, and what becomes of them.
 */
#include "core/reshape/reshape.h"

#include "tests/unit/loaded.h"

/* Operators of a Kineto trace: a name, and the sizes of its tensors as JSON. */
struct called {
    const char *name, *sizes;
};

static struct msim_job *kineto(const struct called *ops, size_t n)
{
    static char text[16384];
    size_t len = (size_t)snprintf(text, sizeof(text), "{\"traceEvents\": [");
    struct msim_error err;

    for (size_t i = 0; i < n && ops[i].name; i++) {
        len += (size_t)snprintf(
            text + len, sizeof(text) - len,
            "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"pid\":1,"
            "\"tid\":1,\"ts\":%zu,\"dur\":2,\"args\":{\"Input Dims\":%s,"
            "\"Input type\":[",
            i ? "," : "", ops[i].name, 10 * i, ops[i].sizes);
        for (const char *c = ops[i].sizes + 1; (c = strchr(c, '[')); c++)
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s",
                                    c == ops[i].sizes + 1 ? "\"float\""
                                                          : ",\"float\"");
        len += (size_t)snprintf(text + len, sizeof(text) - len, "]}}");
    }
    snprintf(text + len, sizeof(text) - len, "]}");
    return load_text(text, false, &err);
}

/* ---- the batch ------------------------------------------------------------
 */

static void check_batch(const struct called *ops, size_t n, int64_t want)
{
    struct msim_job *job = kineto(ops, n);

    REQUIRE(job != NULL);
    if (!check_int(msim_axis_batch_of(job->ranks[0]), want, ops[0].name,
                   __FILE__, __LINE__))
        fprintf(stderr, "and %s\n", n > 1 && ops[1].name ? ops[1].name : "-");
    msim_job_free(job);
}

/* One operator of three vectors: of 10, 11 and 12. */
static void test_axis__batch_by_name(void)
{
    static const struct {
        const char *name;
        int64_t want;
    } names[] = {{"aten::conv1d", 10},     {"aten::conv2d", 10},
                 {"aten::conv3d", 10},     {"aten::embedding", 11},
                 {"aten::batch_norm", 10}, {"aten::cross_entropy_loss", 11},
                 {"aten::group_norm", 10}, {"aten::convolution", 10},
                 {"aten::relu", 0},        {"aten::embedding_bag", 12}};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const struct called op = {names[i].name, "[[10],[11],[12]]"};

        check_batch(&op, 1, names[i].want);
    }
}

/* Most have it, or it comes first; of tokens in a row, as many samples as
 * attention has, where it has as many tokens. */
static void test_axis__batch_of_several(void)
{
    static const struct {
        struct called ops[4];
        int64_t want;
    } cases[] = {
        {{{"aten::conv2d", "[[8,3,9,9]]"},
          {"aten::conv2d", "[[16,3,9,9]]"},
          {"aten::batch_norm", "[[16,3,9,9]]"}},
         16},
        {{{"aten::conv2d", "[[8,3,9,9]]"}, {"aten::conv2d", "[[16,3,9,9]]"}},
         8},
        {{{"aten::conv2d", "[[]]"}, {"aten::conv2d", "[[1,3,9,9]]"}}, 1},
        {{{"aten::embedding", "[[100,8],[64]]"},
          {"aten::scaled_dot_product_attention", "[[4,2,16,8],[4,2,16,8]]"}},
         4},
        {{{"aten::embedding", "[[100,8],[64]]"},
          {"aten::scaled_dot_product_attention", "[[2,2,16,8],[4,2,16,8]]"}},
         64},
        {{{"aten::embedding", "[[100,8],[64]]"},
          {"aten::scaled_dot_product_attention", "[[64,2,1,8]]"}},
         64},
        {{{"aten::embedding", "[[100,8],[64]]"},
          {"aten::scaled_dot_product_attention", "[[4,16,8],[4,2,16,8]]"}},
         64},
        {{{"aten::embedding", "[[100,8],[64]]"},
          {"aten::mul", "[[4,2,16,8],[4,2,16,8]]"}},
         64},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_batch(cases[i].ops, 4, cases[i].want);
}

/* ---- sizes ----------------------------------------------------------------
 */

/* Those that hold the axis: "8:1 24:1". */
static void check_sizes(const struct called *ops, size_t n,
                        struct msim_axis axis, const char *want)
{
    struct msim_job *job = kineto(ops, n);
    struct msim_axis_sizes s;
    struct spelled got = {"", 0};

    REQUIRE(job != NULL);
    CHECK_INT(msim_axis_sizes_find(&s, job->ranks[0], &axis), MSIM_OK);
    for (uint32_t i = 0; i < s.n; i++) {
        spell(&got, "%s%lld:%u", i ? " " : "", (long long)s.flat[i].size,
              s.flat[i].times);
        CHECK_UINT(msim_axis_times(&s, s.flat[i].size), s.flat[i].times);
        CHECK_UINT(msim_axis_times(&s, s.flat[i].size + 1),
                   i + 1 < s.n && s.flat[i + 1].size == s.flat[i].size + 1
                       ? s.flat[i + 1].times
                       : 0);
    }
    CHECK_STR(got.text, want);
    msim_axis_sizes_release(&s);
    msim_job_free(job);
}

/* Products of neighbours, of which one is the first of that size, or any; not
 * of weights, nor with what is empty. */
static void test_axis__sizes(void)
{
    static const struct called data[] = {{"aten::add", "[[5,8,3,8],[7,9]]"}};
    static const struct called thin[] = {
        {"aten::add", "[[8,1,2,0,8,3],[8]]"},
        {"aten::add", "[[9000000000000000000,8,3]]"}};
    static const struct called layers[] = {
        {"aten::linear", "[[8,6],[8,6],[8]]"},
        {"aten::linear", "[[3,8],[10,8],[10]]"},
        {"aten::add", "[[8,10],[8,4]]"}};

    check_sizes(data, 1, (struct msim_axis){8, 16, false},
                "8:1 24:1 40:1 120:1 192:1 960:1");
    check_sizes(data, 1, (struct msim_axis){8, 16, true},
                "8:1 24:1 40:1 120:1 192:2 960:2");
    check_sizes(data, 1, (struct msim_axis){7, 16, false}, "7:1 63:1");
    check_sizes(data, 1, (struct msim_axis){2, 16, false}, "2:1");
    check_sizes(thin, 2, (struct msim_axis){8, 16, false}, "8:1 16:1 24:1");
    check_sizes(layers, 3, (struct msim_axis){8, 16, false}, "8:1 24:1 32:1");
}

/* Samples and tokens of attention, which has heads between them. */
static void test_axis__attention(void)
{
    static const struct called ops[] = {
        {"aten::_scaled_dot_product_flash_attention",
         "[[4,2,16,5],[4,2,32,5],[16,2,16,5],[4,2,1,5]]"},
        {"aten::mul", "[[4,3,64,5]]"}};

    check_sizes(ops, 2, (struct msim_axis){4, 8, false},
                "4:1 8:1 12:1 40:1 64:1 128:1 256:1 640:1 768:1 1280:1 3840:1");
    check_sizes(ops, 2, (struct msim_axis){16, 8, false},
                "16:1 32:1 64:1 80:1 128:1 160:1 256:1 512:1 640:1 2560:1");
    check_sizes(ops, 2, (struct msim_axis){16, 8, true},
                "16:1 32:1 64:1 80:1 128:1 160:1 256:2 512:2 640:1 2560:2");
}

/* Indices of embedding_bag go with the batch, if bags do, unless a weight has
 * as many rows. */
static void test_axis__looked_up(void)
{
    static const struct called bags[] = {
        {"aten::embedding_bag", "[[100,6],[37],[8]]"},
        {"aten::embedding_bag", "[[100,6],[41],[9]]"},
        {"aten::embedding_bag", "[[100,6],[43],[10]]"},
        {"aten::embedding_bag", "[[100,6],[100],[8]]"}};

    check_sizes(bags, 4, (struct msim_axis){8, 16, false}, "8:1 37:1 41:1");
    check_sizes(bags, 4, (struct msim_axis){8, 16, true}, "8:1");
}

/* So do rows that nonzero chooses from data with the axis. */
static void test_axis__chosen(void)
{
    static const char text[] =
        "{\"schema\":\"1.1.1\",\"nodes\":["
        "{\"id\":3,\"name\":\"aten::nonzero\",\"ctrl_deps\":2,"
        "\"inputs\":{\"values\":[[5,6,0,16,1,\"cpu\"]],\"shapes\":[[8,2]],"
        "\"types\":[\"Tensor(bool)\"]},"
        "\"outputs\":{\"values\":[[7,8,0,10,8,\"cpu\"]],\"shapes\":[[5,2]],"
        "\"types\":[\"Tensor(long int)\"]},"
        "\"attrs\":[{\"name\":\"tid\",\"value\":1}]},"
        "{\"id\":4,\"name\":\"aten::nonzero\",\"ctrl_deps\":2,"
        "\"inputs\":{\"values\":[[9,10,0,7,1,\"cpu\"]],\"shapes\":[[7]],"
        "\"types\":[\"Tensor(bool)\"]},"
        "\"outputs\":{\"values\":[[11,12,0,3,8,\"cpu\"]],\"shapes\":[[3,1]],"
        "\"types\":[\"Tensor(long int)\"]},"
        "\"attrs\":[{\"name\":\"tid\",\"value\":1}]}]}";
    const struct msim_axis axis = {8, 16, false};
    struct msim_axis_sizes s;
    struct msim_error err;
    struct msim_job *job = load_text(text, true, &err);

    REQUIRE(job != NULL);
    CHECK_INT(msim_axis_sizes_find(&s, job->ranks[0], &axis), MSIM_OK);
    CHECK_UINT(msim_axis_times(&s, 5), 1);
    CHECK_UINT(msim_axis_times(&s, 3), 0);
    msim_axis_sizes_release(&s);
    msim_job_free(job);
}

/* Rows of numbers as wide as a layer's, transposed or not. */
static void test_axis__feature(void)
{
    static const struct called ops[] = {
        {"aten::linear", "[[3,8],[24,8],[24]]"},
        {"aten::add", "[[5,24],[5,9],[2,5,24],[2,2,5,24],[24]]"}};
    const struct msim_axis axis = {8, 16, false};
    struct msim_job *job = kineto(ops, 2);
    struct msim_axis_sizes s;
    struct msim_arg a[5];

    REQUIRE(job != NULL);
    CHECK_INT(msim_axis_sizes_find(&s, job->ranks[0], &axis), MSIM_OK);
    for (uint32_t i = 0; i < 5; i++)
        a[i] = *msim_args_get(s.t, s.t->ops[1].args, i);
    CHECK_UINT(msim_axis_feature(&s, &a[0], "aten::add"), 1);
    CHECK_UINT(msim_axis_feature(&s, &a[0], "aten::t"), MSIM_NONE);
    CHECK_UINT(msim_axis_feature(&s, &a[1], "aten::add"), MSIM_NONE);
    CHECK_UINT(msim_axis_feature(&s, &a[2], "aten::add"), 2);
    CHECK_UINT(msim_axis_feature(&s, &a[2], "aten::_softmax"), MSIM_NONE);
    CHECK_UINT(msim_axis_feature(&s, &a[3], "aten::add"), MSIM_NONE);
    CHECK_UINT(msim_axis_feature(&s, &a[4], "aten::add"), MSIM_NONE);
    a[0].dtype = MSIM_DT_I64;
    CHECK_UINT(msim_axis_feature(&s, &a[0], "aten::add"), MSIM_NONE);
    a[1].layout = a[2].layout = MSIM_LAYOUT_TURNED;
    CHECK_UINT(msim_axis_feature(&s, &a[1], "aten::add"), MSIM_NONE);
    CHECK_UINT(msim_axis_feature(&s, &a[2], "aten::add"), MSIM_NONE);
    msim_axis_sizes_release(&s);
    msim_job_free(job);
}

static void test_axis__changed(void)
{
    const struct msim_axis a = {8, 24, false};

    CHECK_INT(msim_axis_changed(&a, 344, 0), 344);
    CHECK_INT(msim_axis_changed(&a, 344, 1), 43 * 24);
    CHECK_INT(msim_axis_changed(&a, 64, 2), 24 * 24);
    CHECK_INT(msim_axis_changed(&a, INT64_MAX / 2, 1), INT64_MAX);
    CHECK_INT(msim_axis_changed(&a, 13, 1), 39); /* of what data choose */
    CHECK_INT(msim_axis_changed(&(struct msim_axis){8, 1, false}, 5, 1), 1);
}

int main(void)
{
    RUN(test_axis__batch_by_name);
    RUN(test_axis__batch_of_several);
    RUN(test_axis__sizes);
    RUN(test_axis__attention);
    RUN(test_axis__looked_up);
    RUN(test_axis__chosen);
    RUN(test_axis__feature);
    RUN(test_axis__changed);
    return check_summary();
}
