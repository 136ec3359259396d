/*
 * tests/unit/core/rewrite/test_experts.c - experts of a step, on two ranks:
 * what each has of them, where rows are exchanged, and what of memory is of
 * experts.
 */
#include "core/rewrite/split/experts.h"

#include "core/rewrite/rewrite.h"
#include "tests/unit/core/rewrite/trained_step.h"

/* 8 tokens of width 6 go to 2 of 4 experts each: 16 rows, 4 an expert. Weights
 * are 1 and 2, their states 5 and 6; 7 is no expert's, and nor is its state. */
static const struct made_node STEP[] = {
    {10, 0, "aten::mm", 0, 1, "3:8x6 7:6x6", "19:8x6"},
    {11, 0, "aten::index_select", 0, 2, "19:8x6 4:16", "20:16x6"},
    {12, 0, "aten::bmm", 0, 3, "20:4x4x6 1:4x6x5", "21:4x4x5"},
    {13, 0, "aten::relu", 0, 4, "21:4x4x5", "22:4x4x5"},
    {14, 0, "aten::bmm", 0, 5, "22:4x4x5 2:4x5x6", "23:4x4x6"},
    {15, 0, "aten::view", 0, 6, "23:4x4x6", "23:16x6"},
    {16, 0, "aten::mse_loss", 0, 7, "23:16x6", "24:1"},
    {20, 0, "LossBackward", 1, 7, "", ""},
    {21, 20, "aten::mse_loss_backward", 0, -1, "24:1 23:16x6", "30:16x6"},
    {30, 0, "BmmBackward", 1, 5, "", ""},
    {31, 30, "aten::bmm", 0, -1, "22:4x5x4 30:4x4x6", "32:4x5x6"},
    {32, 30, "aten::bmm", 0, -1, "30:4x4x6 2:4x6x5", "33:4x4x5"},
    {33, 0, "torch::autograd::AccumulateGrad", 1, -1, "32:4x5x6", ""},
    {34, 0, "ReluBackward", 1, 4, "", ""},
    {35, 34, "aten::threshold_backward", 0, -1, "33:4x4x5 22:4x4x5",
     "34:4x4x5"},
    {40, 0, "BmmBackward", 1, 3, "", ""},
    {41, 40, "aten::bmm", 0, -1, "20:4x6x4 34:4x4x5", "35:4x6x5"},
    {42, 40, "aten::bmm", 0, -1, "34:4x4x5 1:4x5x6", "36:4x4x6"},
    {43, 0, "torch::autograd::AccumulateGrad", 1, -1, "35:4x6x5", ""},
    {44, 0, "IndexSelectBackward", 1, 2, "", ""},
    {45, 44, "aten::index_add_", 0, -1, "37:8x6 4:16 36:16x6", "37:8x6"},
    {46, 0, "MmBackward", 1, 1, "", ""},
    {47, 46, "aten::mm", 0, -1, "3:6x8 37:8x6", "38:6x6"},
    {48, 0, "torch::autograd::AccumulateGrad", 1, -1, "38:6x6", ""},
    {90, 0, "Optimizer.step#Adam.step", 7, -1, "", ""},
    {91, 90, "aten::_fused_adam_", 0, -1,
     "[1:4x6x5 7:6x6 2:4x5x6] [35:4x6x5 38:6x6 32:4x5x6] "
     "[5:4x6x5 8:6x6 6:4x5x6]",
     ""},
};
#define N_STEP (sizeof(STEP) / sizeof(*STEP))

/* Products of experts by their first matrices, and exchanges by how many
 * numbers. */
static void spell_steps(const struct msim_trace *t, struct spelled *to)
{
    for (uint32_t i = 0; i < t->n_ops; i++) {
        const struct msim_op *op = &t->ops[i];

        if (op->comm != MSIM_NONE &&
            t->comms[op->comm].collective == MSIM_COLL_ALL_TO_ALL)
            spell(to, "%llu of %u, ",
                  (unsigned long long)t->comms[op->comm].in_elems,
                  t->groups[t->comms[op->comm].group].size);
        else if (msim_is_batched_product(t, i)) {
            const struct msim_arg *a = msim_args_get(t, op->args, 0);

            for (uint32_t k = 0; k < a->n; k++)
                spell(to, "%s%lld", k ? "x" : "",
                      (long long)msim_arg_dims(t, a)[k]);
            spell(to, ", ");
        }
    }
}

static struct msim_trace *spread(struct msim_job *job, uint32_t ranks,
                                 uint32_t dp, const char *want)
{
    const struct msim_experts_how how = {
        .ranks = ranks, .dp = dp, .cp = 1, .shares = 1};
    struct spelled got = {"", 0};
    struct msim_error err = {0};
    struct msim_trace *out;

    if (msim_experts_spread_new(&out, job->ranks[0], job->strings, &how,
                                &err) == MSIM_OK)
        spell_steps(out, &got);
    else
        spell(&got, "%s", err.text);
    CHECK_STR(got.text, want);
    return out;
}

/* Half the experts with twice the rows each; 96 numbers go to them before the
 * first product and come back behind the last, both ways. */
static void test_experts__spread(void)
{
    struct msim_job *job = made_nodes(STEP, N_STEP);
    struct msim_trace *out;

    REQUIRE(job != NULL);
    job->ranks[0]->world_size = 1;
    out = spread(job, 2, 2,
                 "96 of 2, 2x8x6, 2x8x5, 96 of 2, 96 of 2, 2x5x8, 2x8x6, "
                 "2x6x8, 2x8x5, 96 of 2, ");
    CHECK_UINT(msim_experts_data_group(out), MSIM_NONE);
    msim_trace_free(out);
    out = spread(job, 2, 4,
                 "96 of 2, 2x8x6, 2x8x5, 96 of 2, 96 of 2, 2x5x8, 2x8x6, "
                 "2x6x8, 2x8x5, 96 of 2, ");
    if (CHECK(msim_experts_data_group(out) != MSIM_NONE))
        CHECK_UINT(out->groups[msim_experts_data_group(out)].size, 2);
    msim_trace_free(out);
    CHECK(!spread(job, 3, 3,
                  "parallel.ep is 3: operator 2, aten::bmm, has 4 experts, "
                  "which times 1 / 3 is no whole number"));
    CHECK(!spread(job, 2, 3,
                  "parallel.ep is 2: dp x cp is 3 x 1, which 2 ranks with "
                  "different experts do not divide"));
    msim_job_free(job);
}

/* There and back is what was there. */
static void test_experts__join(void)
{
    struct msim_job *job = made_nodes(STEP, N_STEP);
    struct spelled got = {"", 0};
    struct msim_error err = {0};
    struct msim_trace *out, *back;
    uint32_t ranks;

    REQUIRE(job != NULL);
    job->ranks[0]->world_size = 1;
    CHECK_INT(msim_experts_recorded_ranks(&ranks, job->ranks[0]), MSIM_OK);
    CHECK_UINT(ranks, 0);
    out = spread(job, 4, 4,
                 "96 of 4, 1x16x6, 1x16x5, 96 of 4, 96 of 4, 1x5x16, 1x16x6, "
                 "1x6x16, 1x16x5, 96 of 4, ");
    REQUIRE(out != NULL);
    CHECK_INT(msim_experts_recorded_ranks(&ranks, out), MSIM_OK);
    CHECK_UINT(ranks, 4);
    CHECK_INT(msim_experts_joined_new(&back, out, job->strings, 2, &err),
              MSIM_EUSAGE);
    CHECK(strstr(err.text, "multiplies by the weights of one expert, which no "
                           "size says; want ranks with several") != NULL);
    err = (struct msim_error){0};
    msim_trace_free(out);
    out = spread(job, 2, 2,
                 "96 of 2, 2x8x6, 2x8x5, 96 of 2, 96 of 2, 2x5x8, 2x8x6, "
                 "2x6x8, 2x8x5, 96 of 2, ");
    REQUIRE(out != NULL);
    CHECK_INT(msim_experts_recorded_ranks(&ranks, out), MSIM_OK);
    CHECK_UINT(ranks, 2);
    CHECK_INT(msim_experts_joined_new(&back, out, job->strings, 2, &err),
              MSIM_OK);
    CHECK_STR(err.text, "");
    REQUIRE(back != NULL);
    spell_steps(back, &got);
    CHECK_STR(got.text, "4x4x6, 4x4x5, 4x5x4, 4x4x6, 4x6x4, 4x4x5, ");
    CHECK_UINT(back->groups[msim_experts_data_group(back)].size, 2);
    msim_trace_free(back);
    msim_trace_free(out);
    msim_job_free(job);
}

/* Parameters, gradients and states by their place in lists; storages are those
 * of the nodes. */
static void test_experts__memory(void)
{
    struct msim_job *job = made_nodes(STEP, N_STEP);
    struct spelled got = {"", 0};
    struct msim_error err = {0};
    const struct msim_trace *t;
    struct msim_weave w;
    uint8_t *expert, said[64] = {0};

    REQUIRE(job != NULL);
    t = job->ranks[0];
    CHECK_INT(msim_weave_open(&w, t, job->strings, &err), MSIM_OK);
    CHECK_INT(msim_expert_lives_find(&expert, &w), MSIM_OK);
    for (uint32_t i = 0; i < t->n_tensor_ids; i++)
        if (w.d.lives.of[i] != MSIM_NONE && expert[w.d.lives.of[i]])
            said[t->tensor_ids[i].storage] = 1;
    for (uint32_t i = 0; i < 64; i++)
        if (said[i])
            spell(&got, "%u ", i);
    CHECK_STR(got.text, "1 2 5 6 32 35 ");
    free(expert);
    msim_weave_close(&w);
    msim_job_free(job);
}

/* Rows of all experts in one matrix, and how many are whose beside it. */
static void test_experts__grouped(void)
{
    struct made_node nodes[N_STEP];
    struct msim_job *job;
    struct msim_expert_sizes x;
    struct msim_sizes s;
    struct spelled got = {"", 0};
    struct msim_error err = {0};

    memcpy(nodes, STEP, sizeof(STEP));
    nodes[2] = (struct made_node){
        12, 0, "aten::_grouped_mm", 0, 3, "20:16x6 1:4x6x5 9:4", "21:16x5"};
    nodes[3].in = "21:16x5";
    nodes[3].out = "22:16x5";
    nodes[4] = (struct made_node){
        14, 0, "aten::_grouped_mm", 0, 5, "22:16x5 2:4x5x6 9:4", "23:16x6"};
    nodes[5].in = "23:16x6";
    nodes[10] = (struct made_node){
        31, 30, "aten::_grouped_mm", 0, -1, "22:16x5 30:16x6 9:4", "32:4x5x6"};
    nodes[11] = (struct made_node){
        32, 30, "aten::_grouped_mm", 0, -1, "30:16x6 2:4x6x5 9:4", "33:16x5"};
    nodes[14].in = "33:16x5 22:16x5";
    nodes[14].out = "34:16x5";
    nodes[16] = (struct made_node){
        41, 40, "aten::_grouped_mm", 0, -1, "20:16x6 34:16x5 9:4", "35:4x6x5"};
    nodes[17] = (struct made_node){
        42, 40, "aten::_grouped_mm", 0, -1, "34:16x5 1:4x5x6 9:4", "36:16x6"};
    job = made_nodes(nodes, N_STEP);
    REQUIRE(job != NULL);
    job->ranks[0]->world_size = 1;
    msim_trace_free(spread(job, 2, 2,
                           "96 of 2, 16x6, 16x5, 96 of 2, 96 of 2, 16x5, "
                           "16x6, 16x6, 16x5, 96 of 2, "));
    CHECK_INT(msim_sizes_learn(&s, job->ranks[0], &err), MSIM_OK);
    CHECK_INT(msim_expert_sizes_find(&x, &s), MSIM_OK);
    for (uint32_t c = 0; c < s.n_classes; c++)
        if (x.of[c])
            spell(&got, "%lld:%d ", (long long)s.classes[c].size, x.of[c]);
    CHECK(strstr(got.text, "4:1 ") != NULL && strstr(got.text, "16:3 "));
    CHECK(strstr(got.text, " 5:4 ") != NULL); /* inside */
    CHECK(strstr(got.text, " 6:5 ") != NULL && !strstr(got.text, " 6:4 "));
    msim_expert_sizes_release(&x);
    msim_sizes_release(&s);
    msim_job_free(job);
}

/* 5 is between two products, 6 is what rows come with and go with, in both
 * passes; where nobody gathers, ranks do not share. */
static void test_experts__inside(void)
{
    struct msim_job *job = made_nodes(STEP, N_STEP);
    struct msim_expert_sizes x;
    struct msim_sizes s;
    struct msim_error err = {0};
    uint32_t inside = 0, width = 0;
    bool split = true;

    REQUIRE(job != NULL);
    CHECK_INT(msim_sizes_learn(&s, job->ranks[0], &err), MSIM_OK);
    CHECK_INT(msim_expert_sizes_find(&x, &s), MSIM_OK);
    for (uint32_t c = 0; c < s.n_classes; c++) {
        if (x.of[c] == MSIM_EXPERT_INSIDE)
            inside += (uint32_t)CHECK_INT(s.classes[c].size, 5);
        if (x.of[c] == MSIM_EXPERT_WIDTH)
            width += (uint32_t)CHECK_INT(s.classes[c].size, 6);
    }
    CHECK(inside > 0 && width > 0);
    CHECK_INT(msim_expert_sizes_are_split(&split, &x, 0), MSIM_OK);
    CHECK(!split);
    msim_expert_sizes_release(&x);
    msim_sizes_release(&s);
    msim_job_free(job);
}

/* As Megatron-Core: as tp, where ranks with different experts are copies. */
static void test_experts__shared_as(void)
{
    static const struct {
        struct msim_split how;
        uint32_t shares;
    } CASES[] = {{{.tp = 0}, 1},
                 {{.tp = 4}, 4},
                 {{.tp = 4, .ep = 2, .dp = 2}, 4},
                 {{.tp = 4, .ep = 2, .cp = 2}, 4},
                 {{.tp = 4, .ep = 4, .dp = 2, .cp = 2}, 4},
                 {{.tp = 4, .ep = 4, .dp = 2}, 1},
                 {{.tp = 4, .etp = 1}, 1},
                 {{.tp = 4, .ep = 4, .dp = 2, .etp = 4}, 4}};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++)
        CHECK_UINT(msim_split_expert_shares(&CASES[i].how), CASES[i].shares);
}

/* Sizes that say nothing, and such as are another's. */
static void test_experts__refused(void)
{
    struct made_node nodes[N_STEP];
    struct msim_job *job;

    memcpy(nodes, STEP, sizeof(nodes));
    nodes[24].name = "step";
    job = made_nodes(nodes, N_STEP); /* nothing updates the weights */
    REQUIRE(job != NULL);
    job->ranks[0]->world_size = 1;
    CHECK(!spread(job, 2, 2,
                  "parallel.ep is 2: no operator of the trace multiplies by "
                  "weights of several experts at once (aten::bmm, "
                  "aten::_grouped_mm); want a model that has some"));
    msim_job_free(job);
    memcpy(nodes, STEP, sizeof(nodes));
    nodes[2].in = "20:4x1x6 1:4x6x5";
    nodes[2].out = "21:4x1x5";
    job = made_nodes(nodes, N_STEP);
    REQUIRE(job != NULL);
    job->ranks[0]->world_size = 1;
    CHECK(!spread(job, 2, 2,
                  "parallel.ep is 2: operator 2, aten::bmm, gives one row to "
                  "each expert, a size that says nothing"));
    job->ranks[0]->world_size = 4;
    msim_job_free(job);
    job = made_nodes(STEP, N_STEP);
    REQUIRE(job != NULL);
    job->ranks[0]->world_size = 4;
    CHECK(!spread(job, 2, 2,
                  "parallel.ep is 2: the trace is of a job of 4 ranks already, "
                  "of which 1 are tensor parallel; want the trace of one that "
                  "is trained alone, or of tensor parallel ranks alone"));
    msim_job_free(job);
}

int main(void)
{
    RUN(test_experts__spread);
    RUN(test_experts__join);
    RUN(test_experts__memory);
    RUN(test_experts__grouped);
    RUN(test_experts__inside);
    RUN(test_experts__shared_as);
    RUN(test_experts__refused);
    return check_summary();
}
