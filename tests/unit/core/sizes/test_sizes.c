/*
 * tests/unit/core/sizes/test_sizes.c - sizes of a model, by where they come
 * from: here as many tokens as the model is wide, and as many heads as samples.
 */
#include "core/sizes/sizes.h"

#include "core/reshape/reshape.h"

#include "tests/unit/core/rewrite/trained_step.h"

/* 2 samples of 4 tokens, width 8, 2 heads of 4, an MLP of 16, 100 words. */
static const struct made_node MODEL[] = {
    {1, 0, "aten::embedding", 0, -1, "1:100x8 2:2x4", "3:2x4x8"},
    {2, 0, "aten::native_layer_norm", 0, -1, "3:2x4x8",
     "4:2x4x8 5:2x4x1 6:2x4x1"},
    {3, 0, "aten::linear", 0, -1, "4:2x4x8 7:8x8 61:8", "10:2x4x8"},
    {4, 0, "aten::view", 0, -1, "10:2x4x8", "10:2x4x2x4"},
    {5, 0, "aten::linear", 0, -1, "4:2x4x8 8:8x8", "11:2x4x8"},
    {6, 0, "aten::view", 0, -1, "11:2x4x8", "11:2x4x2x4"},
    {7, 0, "aten::_flash_attention_forward", 0, -1,
     "10:2x4x2x4 11:2x4x2x4 11:2x4x2x4", "13:2x4x2x4"},
    {8, 0, "aten::view", 0, -1, "13:2x4x2x4", "13:8x8"},
    {9, 0, "aten::linear", 0, -1, "13:8x8 9:8x8", "14:8x8"},
    {10, 0, "aten::view", 0, -1, "14:8x8", "14:2x4x8"},
    {11, 0, "aten::add", 0, -1, "3:2x4x8 14:2x4x8", "15:2x4x8"},
    {12, 0, "aten::linear", 0, -1, "15:2x4x8 16:16x8", "17:2x4x16"},
    {13, 0, "aten::gelu", 0, -1, "17:2x4x16", "18:2x4x16"},
    {14, 0, "aten::linear", 0, -1, "18:2x4x16 19:8x16", "20:2x4x8"},
    {15, 0, "aten::linear", 0, -1, "20:2x4x8 1:100x8", "21:2x4x100"},
    {16, 0, "aten::view", 0, -1, "21:2x4x100", "21:8x100"},
    {17, 0, "aten::nll_loss_forward", 0, -1, "21:8x100 22:8", "23:1 24:1"},
    {18, 0, "LinearBackward", 1, -1, "", ""},
    {19, 18, "aten::mm", 0, -1, "25:16x8 26:8x8", "30:16x8"},
    {20, 0, "aten::add", 0, -1, "30:16x8 16:16x8", "31:16x8"},
    {21, 0, "aten::add", 0, -1, "7:8x8 27:8x8", "32:8x8"},
    {22, 0, "torch::autograd::AccumulateGrad", 1, -1, "31:16x8", ""},
    {23, 0, "torch::autograd::AccumulateGrad", 1, -1, "32:8x8", ""},
    {24, 0, "c10d::allreduce_", 0, -1, "[40:192]", "[40:192]"},
};
#define N_MODEL (sizeof(MODEL) / sizeof(*MODEL))

static const struct msim_arg *result(const struct msim_trace *t, uint32_t op)
{
    const struct msim_arg *a = msim_args_get(t, t->ops[op].outs, 0);

    return a && a->kind == MSIM_ARG_LIST ? a + 1 : a;
}

/* The first result of each operator. */
static void spell_results(const struct msim_trace *t, struct spelled *to)
{
    for (uint32_t i = 0; i < t->n_ops; i++) {
        const struct msim_arg *a = result(t, i);

        for (uint32_t k = 0; a && k < a->n; k++)
            spell(to, "%s%lld", k ? "x" : "",
                  (long long)msim_arg_dims(t, a)[k]);
        if (a)
            spell(to, " ");
    }
}

static void check_resized(const struct msim_model_size *sizes, uint32_t n,
                          const char *want)
{
    struct msim_job *job = made_nodes(MODEL, N_MODEL);
    struct spelled got = {"", 0};
    struct msim_error err = {0};
    struct msim_trace *view;

    REQUIRE(job != NULL);
    if (msim_model_resized_new(&view, job->ranks[0], sizes, n, &err) == MSIM_OK)
        spell_results(view, &got);
    else
        spell(&got, "%s", err.text);
    CHECK_STR(got.text, want);
    msim_resized_free(view);
    msim_job_free(job);
}

#define ONE(role, from, to)                                                    \
    &(const struct msim_model_size)                                            \
    {                                                                          \
        MSIM_SIZE_##role, from, to                                             \
    }

/* Tokens and heads stay; the size of a head and the MLP are twice as large. The
 * bucket is 32 x 16 + 16 x 16. */
static void test_sizes__width(void)
{
    check_resized(ONE(HIDDEN, 8, 16), 1,
                  "2x4x16 2x4x16 2x4x16 2x4x2x8 2x4x16 2x4x2x8 2x4x2x8 8x16 "
                  "8x16 2x4x16 2x4x16 2x4x32 2x4x32 2x4x16 2x4x100 8x100 1 "
                  "32x16 32x16 16x16 768 ");
}

/* The MLP says itself what it is. */
static void test_sizes__two_of_them(void)
{
    const struct msim_model_size both[] = {{MSIM_SIZE_HIDDEN, 0, 16},
                                           {MSIM_SIZE_FFN, 0, 5}};

    check_resized(both, 2,
                  "2x4x16 2x4x16 2x4x16 2x4x2x8 2x4x16 2x4x2x8 2x4x2x8 8x16 "
                  "8x16 2x4x16 2x4x16 2x4x5 2x4x5 2x4x16 2x4x100 8x100 1 "
                  "5x16 5x16 16x16 336 ");
}

static void test_sizes__heads(void)
{
    check_resized(ONE(HEADS, 0, 4), 1,
                  "2x4x8 2x4x8 2x4x8 2x4x4x2 2x4x8 2x4x4x2 2x4x4x2 8x8 8x8 "
                  "2x4x8 2x4x8 2x4x16 2x4x16 2x4x8 2x4x100 8x100 1 16x8 16x8 "
                  "8x8 192 ");
}

static void test_sizes__words(void)
{
    check_resized(ONE(VOCAB, 100, 64), 1,
                  "2x4x8 2x4x8 2x4x8 2x4x2x4 2x4x8 2x4x2x4 2x4x2x4 8x8 8x8 "
                  "2x4x8 2x4x8 2x4x16 2x4x16 2x4x8 2x4x64 8x64 1 16x8 16x8 "
                  "8x8 192 ");
}

static void test_sizes__as_they_are(void)
{
    check_resized(ONE(HIDDEN, 0, 8), 1,
                  "2x4x8 2x4x8 2x4x8 2x4x2x4 2x4x8 2x4x2x4 2x4x2x4 8x8 8x8 "
                  "2x4x8 2x4x8 2x4x16 2x4x16 2x4x8 2x4x100 8x100 1 16x8 16x8 "
                  "8x8 192 ");
}

static void test_sizes__refused(void)
{
    check_resized(ONE(HEADS, 0, 3), 1,
                  "heads do not divide the width: 2 heads of 4 in a width of 8 "
                  "would be of 4 * 2 / 3 each");
    check_resized(ONE(HIDDEN, 9, 16), 1,
                  "hidden: none of the trace is 9; it has 8");
    check_resized(ONE(HIDDEN, 0, 9), 1,
                  "heads do not divide the width: 2 heads of 4 in a width of 8 "
                  "would be of 4 * 9 / 8 each");
}

/* Going back, what all heads make is divided again, by a view of its own: 8 x 8
 * as samples, tokens, heads and their size, as going forward. */
static void test_sizes__divided_again(void)
{
    static const struct made_node more[] = {
        {25, 0, "aten::add", 0, -1, "14:8x8 52:8x8", "50:8x8"},
        {26, 0, "aten::mm", 0, -1, "50:8x8 9:8x8", "51:8x8"},
        {27, 0, "aten::view", 0, -1, "51:8x8", "51:2x4x2x4"},
    };
    struct made_node nodes[N_MODEL + 3];
    struct msim_error err = {0};
    const struct msim_arg *a;
    struct msim_trace *view;
    struct msim_job *job;

    memcpy(nodes, MODEL, sizeof(MODEL));
    memcpy(nodes + N_MODEL, more, sizeof(more));
    job = made_nodes(nodes, N_MODEL + 3);
    REQUIRE(job != NULL);
    REQUIRE(msim_model_resized_new(&view, job->ranks[0], ONE(HEADS, 0, 4), 1,
                                   &err) == MSIM_OK);
    a = result(view, view->n_ops - 1);
    CHECK_INT(msim_arg_dims(view, a)[2], 4);
    CHECK_INT(msim_arg_dims(view, a)[3], 2);
    msim_resized_free(view);
    msim_job_free(job);
}

/* A norm of the program's own records nothing that comes out: whether the layer
 * behind it reads the width is not known. */
static void test_sizes__hidden_result(void)
{
    struct made_node nodes[N_MODEL];
    struct msim_error err = {0};
    struct msim_trace *view;
    struct msim_job *job;

    memcpy(nodes, MODEL, sizeof(nodes));
    nodes[1].name = "FusedNorm";
    nodes[1].out = "";
    nodes[10].name = "aten::native_layer_norm";
    nodes[10].in = "14:2x4x8";
    job = made_nodes(nodes, N_MODEL);
    REQUIRE(job != NULL);
    CHECK_INT(msim_model_resized_new(&view, job->ranks[0], ONE(HIDDEN, 8, 16),
                                     1, &err),
              MSIM_EUSAGE);
    CHECK_STR(err.text, "'aten::linear' (operator 2) has a size of 8 that "
                        "nothing tells from hidden, or ties to it");
    msim_resized_free(view);
    msim_job_free(job);
}

/* As many tokens as the model is wide, and a reader that names them by another
 * number, as in a step where a layer was left out. Where the trace says which
 * tensors are turned, this one is not. */
static void test_sizes__another_number(void)
{
    static const struct made_node NODES[] = {
        {1, 0, "aten::embedding", 0, -1, "1:100x8 2:8", "3:8x8"},
        {2, 0, "aten::linear", 0, -1, "3:8x8 4:24x8", "5:8x24"},
        {3, 0, "aten::t", 0, -1, "4:24x8", "4:8x24"},
    };

    for (int turned = 0; turned < 2; turned++) {
        struct msim_job *job = made_nodes(NODES, 3);
        struct msim_error err = {0};
        struct msim_trace *t;
        struct msim_sizes s;

        REQUIRE(job != NULL);
        t = job->ranks[0];
        t->tensor_ids[t->ops[1].ids].tensor++;
        if (turned)
            t->args[t->blocks[t->ops[2].outs].first].layout =
                MSIM_LAYOUT_TURNED;
        CHECK_INT(msim_sizes_learn(&s, t, &err), MSIM_OK);
        for (uint32_t k = 0; k < 2; k++)
            CHECK_INT(msim_size_class_of(&s, t->ops[0].out_ids, k) ==
                          msim_size_class_of(&s, t->ops[1].ids, k),
                      turned);
        msim_sizes_release(&s);
        msim_job_free(job);
    }
}

/* Roles of a trace: size and name, in the order of classes. */
static void test_sizes__roles(void)
{
    struct msim_job *job = made_nodes(MODEL, N_MODEL);
    struct spelled got = {"", 0};
    struct msim_error err = {0};
    struct msim_sizes s;

    REQUIRE(job != NULL);
    CHECK_INT(msim_sizes_learn(&s, job->ranks[0], &err), MSIM_OK);
    for (uint32_t c = 0; c < s.n_classes; c++)
        if (s.classes[c].role)
            spell(&got, "%lld %s, ", (long long)s.classes[c].size,
                  msim_size_role_text((enum msim_size_role)s.classes[c].role));
    CHECK_STR(got.text, "100 vocab, 8 hidden, 2 batch, 4 sequence, 2 heads, "
                        "4 head size, 8 tokens, 16 ffn, ");
    msim_sizes_release(&s);
    msim_job_free(job);
}

/* Halves for two ranks: the width stays, and so does the size of a head. */
static void test_sizes__shared_out(void)
{
    struct msim_job *job = made_nodes(MODEL, N_MODEL);
    static const uint8_t ROLES[] = {MSIM_SIZE_HEADS, MSIM_SIZE_FFN,
                                    MSIM_SIZE_VOCAB};
    struct spelled got = {"", 0};
    struct msim_error err = {0};
    struct msim_trace *view;
    int64_t to[64] = {0};
    struct msim_sizes s;
    uint32_t n;

    REQUIRE(job != NULL);
    CHECK_INT(msim_sizes_learn(&s, job->ranks[0], &err), MSIM_OK);
    REQUIRE(s.n_classes <= 64);
    for (size_t i = 0; i < sizeof(ROLES); i++)
        CHECK_INT(msim_sizes_scale(&s, (enum msim_size_role)ROLES[i], 1, 2, to,
                                   &n, &err),
                  MSIM_OK);
    CHECK_INT(msim_sizes_solve(&s, to, &err), MSIM_OK);
    CHECK_INT(msim_resized_new(&view, &s, to), MSIM_OK);
    spell_results(view, &got);
    CHECK_STR(got.text,
              "2x4x8 2x4x8 2x4x4 2x4x1x4 2x4x4 2x4x1x4 2x4x1x4 8x4 8x8 2x4x8 "
              "2x4x8 2x4x8 2x4x8 2x4x8 2x4x50 8x50 1 8x8 8x8 4x8 96 ");
    msim_resized_free(view);
    msim_sizes_release(&s);
    msim_job_free(job);
}

int main(void)
{
    RUN(test_sizes__width);
    RUN(test_sizes__two_of_them);
    RUN(test_sizes__heads);
    RUN(test_sizes__words);
    RUN(test_sizes__as_they_are);
    RUN(test_sizes__refused);
    RUN(test_sizes__divided_again);
    RUN(test_sizes__hidden_result);
    RUN(test_sizes__another_number);
    RUN(test_sizes__roles);
    RUN(test_sizes__shared_out);
    return check_summary();
}
