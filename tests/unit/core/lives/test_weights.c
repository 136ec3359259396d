/*
 * tests/unit/core/reshape/test_weights.c - which arguments of which operators
 * are weights, by shape and by memory: "w", and "." for data.
 */
#include "core/lives/lives.h"

#include "tests/unit/core/rewrite/trained_step.h"

/* ---- by shape -------------------------------------------------------------
 */

/* A Kineto trace of operators, their sizes as JSON. */
static struct msim_job *kineto(const char *const (*ops)[2], size_t n)
{
    static char text[16384];
    size_t len = (size_t)snprintf(text, sizeof(text), "{\"traceEvents\": [");
    struct msim_error err;

    for (size_t i = 0; i < n; i++) {
        len += (size_t)snprintf(
            text + len, sizeof(text) - len,
            "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"pid\":1,"
            "\"tid\":1,\"ts\":%zu,\"dur\":2,\"args\":{\"Input Dims\":%s,"
            "\"Input type\":[",
            i ? "," : "", ops[i][0], 10 * i, ops[i][1]);
        for (const char *c = ops[i][1] + 1; (c = strchr(c, '[')); c++)
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s",
                                    c == ops[i][1] + 1 ? "\"float\""
                                                       : ",\"float\"");
        len += (size_t)snprintf(text + len, sizeof(text) - len, "]}}");
    }
    snprintf(text + len, sizeof(text) - len, "]}");
    return load_text(text, false, &err);
}

/* Of each argument of operator `op`, and a blank behind. */
static void spell_weights(const struct msim_weights *w, uint32_t op,
                          struct spelled *to)
{
    uint32_t n = msim_args_count(w->t, w->t->ops[op].args);

    for (uint32_t i = 0; i < n; i++) {
        const struct msim_arg *a = msim_args_get(w->t, w->t->ops[op].args, i);

        spell(to, "%s", msim_weights_have(w, a, MSIM_NONE) ? "w" : ".");
    }
    spell(to, " ");
}

static void check_shapes(const char *const (*ops)[2], size_t n,
                         const char *want)
{
    struct msim_job *job = kineto(ops, n);
    struct spelled got = {"", 0};
    struct msim_weights w;

    REQUIRE(job != NULL);
    CHECK_INT(msim_weights_find(&w, job->ranks[0]), MSIM_OK);
    for (uint32_t i = 0; i < job->ranks[0]->n_ops; i++)
        spell_weights(&w, i, &got);
    if (!check_str(got.text, want, ops[0][0], __FILE__, __LINE__))
        fprintf(stderr, "of %s\n", ops[0][0]);
    msim_weights_release(&w);
    msim_job_free(job);
}

/* Six vectors of six sizes each. */
static void test_weights__by_name(void)
{
    static const char *const names[][2] = {
        {"aten::linear", ".ww... "},
        {"aten::conv1d", ".ww... "},
        {"aten::conv2d", ".ww... "},
        {"aten::conv3d", ".ww... "},
        {"aten::convolution", ".ww... "},
        {"aten::_convolution", ".ww... "},
        {"aten::conv_transpose2d", ".ww... "},
        {"aten::cudnn_convolution", ".w.... "},
        {"aten::miopen_convolution", ".w.... "},
        {"aten::mkldnn_convolution", ".ww... "},
        {"aten::batch_norm", ".wwww. "},
        {"aten::native_batch_norm", ".wwww. "},
        {"aten::layer_norm", "..ww.. "},
        {"aten::native_layer_norm", "..ww.. "},
        {"aten::group_norm", "..ww.. "},
        {"aten::native_group_norm", ".ww... "},
        {"aten::rms_norm", "..w... "},
        {"aten::_fused_rms_norm", "..w... "},
        {"aten::prelu", ".w.... "},
        {"aten::embedding", "w..... "},
        {"aten::embedding_bag", "w..... "},
        {"aten::_embedding_bag", "w..... "},
        {"torch::autograd::AccumulateGrad", "w..... "},
        {"aten::_foreach_add_", "wwwwww "},
        {"aten::_fused_adamw_", "wwwwww "},
        {"aten::_fused_sgd_", "wwwwww "},
        {"aten::_fused_rms", "...... "},
        {"aten::addmm", "w.w... "},
        {"aten::matmul", "...... "},
        {"aten::add", "...... "},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *const op[1][2] = {
            {names[i][0], "[[10],[11],[12],[13],[14],[15]]"}};

        check_shapes(op, 1, names[i][1]);
    }
}

/* Products: a bias, or data of more sizes with a matrix, says what they are. */
static void test_weights__products(void)
{
    static const char *const ops[][2] = {
        {"aten::addmm", "[[2,3],[2,5],[5,3]]"},
        {"aten::matmul", "[[2,7,5],[5,9]]"},
        {"aten::matmul", "[[7,6],[6,8]]"},
        {"aten::matmul", "[[2,7,4],[2,4,11]]"},
    };

    check_shapes(ops, 4, "... .w .. .. ");
}

/* What is shaped as a weight, or as its transpose, is one. */
static void test_weights__transposed(void)
{
    static const char *const ops[][2] = {
        {"aten::linear", "[[4,34],[12,34],[12]]"},
        {"aten::mm", "[[4,34],[34,12]]"},
        {"aten::mm", "[[12,34],[34,13]]"},
        {"aten::add", "[[12],[34,12,1]]"},
        {"aten::add", "[[34],[12,12]]"},
    };

    check_shapes(ops, 5, ".ww .w w. w. .. ");
}

/* Data in the place of data, with the shape of a weight. */
static void test_weights__doubtful(void)
{
    static const char *const ops[][2] = {
        {"aten::add", "[[12,34],[12,34]]"},
        {"aten::linear", "[[4,34],[12,34],[12]]"},
        {"aten::linear", "[[12,34],[9,34],[9]]"},
    };
    struct msim_job *job = kineto(ops, 3);
    const struct msim_arg *data = NULL;
    struct msim_weights w;
    uint32_t op = 0;

    REQUIRE(job != NULL);
    CHECK_INT(msim_weights_find(&w, job->ranks[0]), MSIM_OK);
    CHECK(msim_weights_doubtful(&w, &op, &data));
    CHECK_UINT(op, 2);
    CHECK(data == msim_args_get(job->ranks[0], job->ranks[0]->ops[2].args, 0));
    op = 3;
    CHECK(!msim_weights_doubtful(&w, &op, &data));
    msim_weights_release(&w);
    msim_job_free(job);
}

/* ---- by memory ------------------------------------------------------------
 */

/* A weight's copies, and theirs, are weights; so is what a weight is copied
 * from, but nothing of another size. All below an optimizer or AccumulateGrad
 * is one. The data of 3 has a weight's shape. A bias that is copied to each row
 * of a result (90) makes no weight of that. */
static const struct made_node NODES[] = {
    {5, 0, "aten::_to_copy", 0, -1, "80:8x16", "81:8x16"},
    {10, 0, "aten::linear", 0, 1, "3:8x16 1:8x16 2:8", "20:8x8"},
    {11, 0, "aten::to", 0, -1, "1:8x16", "30:8x16"},
    {12, 0, "aten::clone", 0, -1, "30:8x16", "31:8x16"},
    {13, 0, "aten::copy_", 0, -1, "40:8x16 31:8x16", "40:8x16"},
    {14, 0, "aten::to", 0, -1, "20:8x8", "21:8x8"},
    {15, 0, "aten::copy_", 0, -1, "41:4x4 2:8", "41:4x4"},
    {16, 0, "aten::relu", 0, 2, "1:8x16", "50:8x16"},
    {17, 0, "aten::mul", 0, 3, "3:8x16 40:8x16", "51:8x16"},
    {18, 0, "aten::addmm", 0, 4, "2:8 20:8x8 1:8x8", "90:8x8"},
    {19, 18, "aten::copy_", 0, -1, "90:8x8 2:8x8", "90:8x8"},
    {20, 0, "torch::autograd::AccumulateGrad", 1, -1, "60:8x16", ""},
    {21, 20, "aten::detach", 0, -1, "60:8x16", "61:8x16"},
    {25, 0, "aten::neg", 0, -1, "50:8x16", "52:8x16"},
    {30, 0, "Optimizer.step#Adam.step", 7, -1, "", ""},
    {31, 30, "aten::addcdiv_", 0, -1, "1:8x16 60:8x16 70:8x16 81:8x16", ""},
    {40, 0, "aten::neg", 0, -1, "70:8x16", "53:8x16"},
};

static void test_weights__by_memory(void)
{
    struct msim_job *job = made_nodes(NODES, sizeof(NODES) / sizeof(*NODES));
    struct spelled got = {"", 0};
    struct msim_weights w;
    const struct msim_trace *t;

    REQUIRE(job != NULL);
    t = job->ranks[0];
    CHECK_INT(msim_weights_find(&w, t), MSIM_OK);
    for (uint32_t op = 0; op < t->n_ops; op++) {
        const uint32_t blocks[2] = {t->ops[op].args, t->ops[op].outs};
        const uint32_t ids[2] = {t->ops[op].ids, t->ops[op].out_ids};

        for (int side = 0; side < 2; side++)
            for (uint32_t i = 0; blocks[side] != MSIM_NONE &&
                                 i < msim_args_count(t, blocks[side]);
                 i++)
                spell(&got, "%s",
                      msim_weights_have(&w, msim_args_get(t, blocks[side], i),
                                        ids[side] + i)
                          ? "w"
                          : ".");
        spell(&got, " ");
    }
    CHECK_STR(got.text,
              "ww .ww. ww ww www .. .w. w. .w. w.w. .w. w ww ..  wwww w. ");
    msim_weights_release(&w);
    msim_job_free(job);
}

int main(void)
{
    RUN(test_weights__by_name);
    RUN(test_weights__products);
    RUN(test_weights__transposed);
    RUN(test_weights__doubtful);
    RUN(test_weights__by_memory);
    return check_summary();
}
