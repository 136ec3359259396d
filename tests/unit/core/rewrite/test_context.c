/*
 * tests/unit/core/rewrite/test_context.c - every operator of a step whose
 * sequences ranks share.
 */
#include "tests/unit/core/rewrite/rewritten_text.h"

#define SDPA    "aten::scaled_dot_product_attention"
#define FLASH   "aten::_scaled_dot_product_flash_attention"
#define QKV     "20:1x2x16x4 20:1x2x16x4 20:1x2x16x4"
#define BEHIND  "autograd::engine::evaluate_function: A"
#define ADDS_UP "torch::autograd::AccumulateGrad"

/* Attention of two heads over 16 tokens between two layers. */
static const struct made_node STEP[] = {
    {9, 0, "aten::embedding", 0, 0, "6:50x8 7:16", "3:16x8"},
    {10, 0, "aten::linear", 0, 1, "3:16x8 1:8x8", "20:16x8"},
    {11, 10, "aten::mm", 0, -1, "3:16x8 1:8x8", "20:16x8"},
    {14, 0, SDPA, 0, 4, QKV, "21:1x2x16x4"},
    {15, 14, FLASH, 0, -1, QKV, "21:1x2x16x4 22:1x2x16"},
    {18, 0, "aten::linear", 0, 7, "21:16x8 2:8x8", "23:16x8"},
    {19, 18, "aten::mm", 0, -1, "21:16x8 2:8x8", "23:16x8"},
    {20, 0, "aten::add", 0, 8, "23:16x8 3:16x8", "24:16x8"},
    {30, 0, "autograd::engine::evaluate_function: M", 0, -1, "", ""},
    {31, 30, "MmBackward0", 1, 7, "", ""},
    {32, 31, "aten::mm", 0, -1, "24:8x16 21:16x8", "30:8x8"},
    {33, 31, "aten::mm", 0, -1, "24:16x8 2:8x8", "31:16x8"},
    {34, 0, BEHIND, 0, -1, "", ""},
    {35, 34, ADDS_UP, 1, -1, "30:8x8", ""},
    {36, 35, "aten::detach", 0, -1, "30:8x8", "30:8x8"},
    {40, 0, "autograd::engine::evaluate_function: S", 0, -1, "", ""},
    {41, 40, "FlashBackward0", 1, 4, "", ""},
    {42, 41, FLASH "_backward", 0, -1,
     "31:1x2x16x4 " QKV " 21:1x2x16x4 22:1x2x16",
     "32:1x2x16x4 33:1x2x16x4 34:1x2x16x4"},
    {50, 0, "autograd::engine::evaluate_function: M", 0, -1, "", ""},
    {51, 50, "MmBackward0", 1, 1, "", ""},
    {52, 51, "aten::mm", 0, -1, "32:8x16 3:16x8", "35:8x8"},
    {60, 0, BEHIND, 0, -1, "", ""},
    {61, 60, ADDS_UP, 1, -1, "35:8x8", ""},
    {62, 61, "aten::detach", 0, -1, "35:8x8", "35:8x8"},
    {80, 0, "Optimizer.step#Adam.step", 7, -1, "", ""},
    {81, 80, "aten::_foreach_addcdiv_", 0, -1,
     "[1:8x8 2:8x8] [35:8x8 30:8x8] [4:8x8 5:8x8]", ""},
};
#define N_STEP (sizeof(STEP) / sizeof(*STEP))

/* A fourth of the tokens, and attention with the pairs of a sequence that is
 * half as long: a fourth of all. Keys and values of 16 tokens are 2 x 128
 * numbers. */
static void test_context__four_ranks(void)
{
    const struct msim_rewrite r = {.parallel = {.cp = 4}};
    struct made_changed m;
    char *text;

    if (!change_nodes(&m, STEP, N_STEP, &r))
        return;
    text = rewritten_text(&m);
    CHECK_STR(text,
              "embedding a50x8 b4 > c4x8\n"
              "linear c4x8 d8x8 > e4x8 { mm c4x8 d8x8 > e4x8 }\n"
              "ContextParallelGather { empty > f64 empty > g256 "
              "record_param_comms f64 g256 [3 #0 64 256] { "
              "nccl:_all_gather_base } record_param_comms [12 #0 0 0] { "
              "nccl:wait } }\n"
              "scaled_dot_product_attention e1x2x8x4 e1x2x8x4 e1x2x8x4 > "
              "h1x2x8x4 { _scaled_dot_product_flash_attention e1x2x8x4 "
              "e1x2x8x4 e1x2x8x4 > h1x2x8x4 i1x2x8 }\n"
              "linear h4x8 j8x8 > k4x8 { mm h4x8 j8x8 > k4x8 }\n"
              "add k4x8 c4x8 > l4x8\n"
              ":M > { MmBackward0 > { mm l8x4 h4x8 > m8x8 mm l4x8 j8x8 > "
              "n4x8 } }\n"
              ":A > { AccumulateGrad m8x8 > { detach m8x8 > m8x8 mul m64 "
              "o64 > o64 } }\n"
              ":ContextParallelGather { empty > p64 empty > q256 "
              "record_param_comms p64 q256 [3 #1 64 256] { "
              "nccl:_all_gather_base } record_param_comms [12 #1 0 0] { "
              "nccl:wait } }\n"
              ":S > { FlashBackward0 > { "
              "_scaled_dot_product_flash_attention_backward n1x2x8x4 "
              "e1x2x8x4 e1x2x8x4 e1x2x8x4 h1x2x8x4 i1x2x8 > r1x2x8x4 "
              "s1x2x8x4 t1x2x8x4 } }\n"
              ":ContextParallelReduce { empty > u256 empty > v64 "
              "record_param_comms u256 v64 [8 #2 256 64] { "
              "nccl:_reduce_scatter_base } record_param_comms [12 #2 0 0] "
              "{ nccl:wait } }\n"
              ":M > { MmBackward0 > { mm r8x4 c4x8 > w8x8 } }\n"
              ":A > { AccumulateGrad w8x8 > { detach w8x8 > w8x8 mul w64 "
              "o64 > o64 c10d::allreduce_ o128 o128 [1 #1 128 128] } }\n"
              "record_param_comms [12 #1 0 0]\n"
              "copy_ m64 o64 > m64\n"
              "copy_ w64 o64 > w64\n"
              "Optimizer.step#Adam.step > { _foreach_addcdiv_ (2 d8x8 j8x8 "
              "(2 w8x8 m8x8 (2 x8x8 y8x8 > }\n");
    free(text);
    CHECK_UINT(m.t->world_size, 4);
    done_step(&m);
}

/* Recorded ranks count first, then those of a sequence, then its copies: all of
 * these have the same parameters. */
static void test_context__group(void)
{
    const struct msim_rewrite r = {
        .world = 2, .parallel = {.recorded = 2, .cp = 2, .dp = 2}};
    struct made_changed m;

    if (!change_nodes(&m, STEP, N_STEP, &r))
        return;
    CHECK_UINT(m.t->world_size, 8);
    CHECK_UINT(m.t->n_groups, 2);
    for (uint32_t i = 0; i < m.t->n_groups; i++) {
        const struct msim_group *g = &m.t->groups[i];
        const int32_t *ranks = &m.t->group_ranks[g->first];
        bool data = strcmp(msim_trace_text(m.t, g->name), "context") != 0;

        CHECK_UINT(g->count, data ? 4 : 2);
        CHECK_INT(ranks[1] - ranks[0], 2);
    }
    done_step(&m);
}

static void refuse_nodes(const struct made_node *nodes, size_t n, uint32_t cp,
                         const char *want)
{
    const struct msim_rewrite r = {.parallel = {.cp = cp}};
    struct msim_job *job = made_nodes(nodes, n);
    struct msim_error err = {0};
    struct msim_trace *out;

    REQUIRE(job != NULL);
    CHECK_INT(msim_rewritten_new(&out, job->ranks[0], job->strings, &r, &err),
              MSIM_EUSAGE);
    if (!CHECK(strstr(err.text, want) != NULL))
        fprintf(stderr, "%s\n", err.text);
    CHECK(out == NULL);
    msim_job_free(job);
}

/* The step, of which node `id` is another one. */
static void refuse_with(struct made_node node, uint32_t cp, const char *want)
{
    struct made_node nodes[N_STEP];

    memcpy(nodes, STEP, sizeof(STEP));
    for (size_t i = 0; i < N_STEP; i++)
        if (nodes[i].id == node.id)
            nodes[i] = node;
    refuse_nodes(nodes, N_STEP, cp, want);
}

static void test_context__refuses(void)
{
    refuse_nodes(STEP, N_STEP, 3,
                 "parallel.cp is 3: sequence of 16 times 1 / 3 is no whole");
    refuse_nodes(STEP, N_STEP, 32,
                 "parallel.cp is 32: sequence of 16 times 1 / 32 is no whole");
    refuse_nodes(MADE_STEP, N_MADE, 2,
                 "parallel.cp is 2: no operator of the trace says which of "
                 "its sizes is the sequence");
    refuse_with((struct made_node){62, 61, "aten::bmm", 0, -1,
                                   "8:2x4x4 9:2x4x4", "36:2x4x4"},
                2, "aten::bmm, has no size that is known to be tokens");
    refuse_with((struct made_node){61, 60, ADDS_UP, 1, -1, "31:16x8", ""}, 2,
                "has parameters with a size of 16, which is one of the");
    refuse_with(
        (struct made_node){15, 14, "aten::bmm", 0, -1, QKV, "21:1x2x16x4"}, 2,
        "attention of operator 3, aten::scaled_dot_product_attention, "
        "is in parts (aten::bmm)");
}

int main(void)
{
    RUN(test_context__four_ranks);
    RUN(test_context__group);
    RUN(test_context__refuses);
    return check_summary();
}
