/*
 * tests/unit/core/rewrite/test_joined.c - one of several tensor parallel ranks,
 * as one of fewer that have larger shares.
 */
#include "core/rewrite/split/split.h"

#include "tests/unit/core/rewrite/trained_step.h"

#define SUMMED "record_param_comms"

/* 2 samples of 4 tokens, width 16; of this rank 2 heads of 4, 10 of an MLP's
 * inside, 50 words. What it has a part of is summed over ranks. */
static const struct made_node MODEL[] = {
    {1, 0, "aten::embedding", 0, -1, "1:50x16 2:2x4", "3:2x4x16"},
    {2, 0, SUMMED, 0, -1, "3:2x4x16", ""},
    {3, 0, "aten::native_layer_norm", 0, -1, "3:2x4x16",
     "4:2x4x16 5:2x4x1 6:2x4x1"},
    {4, 0, "aten::linear", 0, -1, "4:2x4x16 7:8x16", "10:2x4x8"},
    {5, 0, "aten::view", 0, -1, "10:2x4x8", "10:2x4x2x4"},
    {6, 0, "aten::linear", 0, -1, "4:2x4x16 8:8x16", "11:2x4x8"},
    {7, 0, "aten::view", 0, -1, "11:2x4x8", "11:2x4x2x4"},
    {8, 0, "aten::_flash_attention_forward", 0, -1,
     "10:2x4x2x4 11:2x4x2x4 11:2x4x2x4", "13:2x4x2x4"},
    {9, 0, "aten::view", 0, -1, "13:2x4x2x4", "13:8x8"},
    {10, 0, "aten::linear", 0, -1, "13:8x8 9:16x8", "14:8x16"},
    {11, 0, SUMMED, 0, -1, "14:8x16", ""},
    {12, 0, "aten::view", 0, -1, "14:8x16", "14:2x4x16"},
    {13, 0, "aten::add", 0, -1, "3:2x4x16 14:2x4x16", "15:2x4x16"},
    {14, 0, "aten::linear", 0, -1, "15:2x4x16 16:10x16", "17:2x4x10"},
    {15, 0, "aten::gelu", 0, -1, "17:2x4x10", "18:2x4x10"},
    {16, 0, "aten::linear", 0, -1, "18:2x4x10 19:16x10", "20:2x4x16"},
    {17, 0, SUMMED, 0, -1, "20:2x4x16", ""},
    {18, 0, "aten::linear", 0, -1, "20:2x4x16 1:50x16", "21:2x4x50"},
    {19, 0, "aten::view", 0, -1, "21:2x4x50", "21:8x50"},
    {20, 0, "aten::nll_loss_forward", 0, -1, "21:8x50 22:8", "23:1 24:1"},
    {21, 0, "## process_group:init ##", 0, -1, "", ""},
};
#define N_MODEL (sizeof(MODEL) / sizeof(*MODEL))

/* The model's job as rank 6 of 8, in groups of `size`: 4 to 7 of all, or 6 and
 * 7. The first `n` nodes. */
static struct msim_job *made_rank(size_t n, uint32_t size)
{
    struct msim_job *job = made_nodes(MODEL, n);
    struct msim_trace *t = job ? job->ranks[0] : NULL;

    if (!t)
        return job;
    free(t->groups);
    free(t->group_ranks);
    free(t->comms);
    t->n_comms = 0;
    t->rank = 6;
    t->world_size = 8;
    t->groups = calloc(3, sizeof(*t->groups));
    t->group_ranks = calloc(8, sizeof(*t->group_ranks));
    t->comms = calloc(N_MODEL, sizeof(*t->comms));
    if (!t->groups || !t->group_ranks || !t->comms)
        abort();
    t->groups[0] = (struct msim_group){.size = 8}; /* all, not listed */
    t->groups[1] = (struct msim_group){.size = size, .count = size};
    t->groups[2] = (struct msim_group){.size = 4, .first = size, .count = 4};
    for (uint32_t i = 0; i < size; i++)
        t->group_ranks[i] = (int32_t)(8 - size + i);
    for (uint32_t i = 0; i < 4; i++) /* data parallel */
        t->group_ranks[size + i] = (int32_t)(2 * i);
    t->n_groups = t->cap_groups = 3;
    t->n_group_ranks = t->cap_group_ranks = size + 4;
    t->cap_comms = N_MODEL;
    for (uint32_t i = 0; i < t->n_ops; i++)
        if (!strcmp(msim_trace_text(t, t->ops[i].name), SUMMED)) {
            t->ops[i].comm = t->n_comms;
            t->comms[t->n_comms++] =
                (struct msim_comm){.op = i,
                                   .group = 1,
                                   .in_elems = 128,
                                   .out_elems = 128,
                                   .collective = MSIM_COLL_ALL_REDUCE,
                                   .peer = -1};
        }
    return job;
}

static struct msim_trace *joined(struct msim_job *job, uint32_t ratio,
                                 const char *why)
{
    struct msim_error err = {0};
    struct msim_trace *out = NULL;

    CHECK_INT(msim_joined_new(&out, job->ranks[0], job->strings, ratio, &err),
              *why ? MSIM_EUSAGE : MSIM_OK);
    CHECK_STR(err.text, why);
    return out;
}

/* What each operator is given first and second, without the sums. */
static void check_sizes(const struct msim_trace *t, const char *want)
{
    struct spelled got = {"", 0};

    for (uint32_t i = 0; i < t->n_ops; i++) {
        if (!strcmp(msim_trace_text(t, t->ops[i].name), SUMMED))
            continue;
        for (uint32_t k = 0; k < 2; k++) {
            const struct msim_arg *a = msim_args_get(t, t->ops[i].args, k);

            for (uint32_t d = 0; a && d < a->n; d++)
                spell(&got, "%s%" PRId64, d ? "x" : " ",
                      msim_arg_dims(t, a)[d]);
        }
    }
    CHECK_STR(got.text, want);
}

/* Twice the heads, the inside of the MLP and the words. */
#define TWICE                                                                  \
    " 100x16 2x4 2x4x16 2x4x16 16x16 2x4x16 2x4x16 16x16 2x4x16 2x4x4x4 "      \
    "2x4x4x4 2x4x4x4 8x16 16x16 8x16 2x4x16 2x4x16 2x4x16 20x16 2x4x20 "       \
    "2x4x20 16x20 2x4x16 100x16 2x4x100 8x100 8"

static void check_ranks(const struct msim_trace *t, uint32_t g, uint32_t size,
                        const char *want)
{
    struct spelled got = {"", 0};

    CHECK_UINT(t->groups[g].size, size);
    for (uint32_t i = 0; i < t->groups[g].count; i++)
        spell(&got, "%s%d", i ? " " : "",
              t->group_ranks[t->groups[g].first + i]);
    CHECK_STR(got.text, want);
}

/* One rank remains, which sums nothing; the list of groups is another. */
static void test_joined__alone(void)
{
    struct msim_job *job = made_rank(N_MODEL, 2);
    struct msim_trace *t;

    REQUIRE(job != NULL);
    t = joined(job, 2, "");
    REQUIRE(t != NULL);
    CHECK_UINT(count_ops(t, SUMMED), 0);
    CHECK_UINT(count_ops(t, "## process_group:init ##"), 0);
    CHECK_UINT(t->n_ops, 17);
    check_sizes(t, TWICE);
    CHECK_INT(t->rank, 3);
    CHECK_UINT(t->world_size, 4);
    check_ranks(t, 0, 4, "");
    check_ranks(t, 1, 1, "3");
    check_ranks(t, 2, 4, "0 1 2 3");
    msim_trace_free(t);
    msim_job_free(job);
}

/* Two of four remain, and sum what they summed. */
static void test_joined__fewer(void)
{
    struct msim_job *job = made_rank(N_MODEL, 4);
    struct msim_trace *t;

    REQUIRE(job != NULL);
    t = joined(job, 2, "");
    REQUIRE(t != NULL);
    CHECK_UINT(count_ops(t, SUMMED), 3);
    check_sizes(t, TWICE);
    CHECK_INT(t->rank, 3);
    CHECK_UINT(t->world_size, 4);
    check_ranks(t, 0, 4, "");
    check_ranks(t, 1, 2, "2 3");
    CHECK_UINT(t->n_comms, 3);
    for (uint32_t i = 0; i < t->n_comms; i++) {
        CHECK_UINT(t->comms[i].in_elems, 128);
        CHECK_UINT(t->comms[i].group, 1);
    }
    msim_trace_free(t);
    msim_job_free(job);
}

#define LESS "parallel.tp is less than recorded: "

static void test_joined__reasons(void)
{
    struct msim_job *job = made_rank(13, 2);

    REQUIRE(job != NULL);
    joined(job, 2,
           LESS "operators of the trace say of 1 sizes that they are heads, of "
                "0 the inside of an MLP, of 1 the vocabulary; want all three, "
                "which may be shares");
    job->ranks[0]->comms[1].collective = MSIM_COLL_SEND;
    joined(job, 2,
           LESS "the trace is of one stage of a pipeline (it sends and "
                "receives), which has some of the layers; want one of all");
    msim_job_free(job);
}

int main(void)
{
    RUN(test_joined__alone);
    RUN(test_joined__fewer);
    RUN(test_joined__reasons);
    return check_summary();
}
