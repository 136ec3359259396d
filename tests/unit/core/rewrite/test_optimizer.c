/*
 * tests/unit/core/rewrite/test_optimizer.c - the optimizer's step of two layers
 * on the host, with states of 8 bits, and in backward.
 */
#include "tests/unit/core/rewrite/trained_step.h"

/*
 * Two gradients go down, two parameters come up. States, gradients and
 * parameters of the step are the host's; what forward reads is the GPU's.
 */
static void test_optimizer__offload(void)
{
    const struct msim_rewrite r = {.offload_states = true};
    struct made_changed m;

    REQUIRE(change_step(&m, &r));
    CHECK_UINT(count_ops(m.t, "aten::copy_"), 4);
    CHECK_UINT(life_in(&m, "aten::addcdiv_", 0, 1),
               life_in(&m, "aten::copy_", 1, 0));
    for (uint32_t k = 0; k < 4; k++)
        CHECK_UINT(m.lives.rows[life_in(&m, "aten::addcdiv_", 0, k)].device,
                   MSIM_DEV_HOST);
    CHECK_UINT(life_in(&m, "aten::copy_", 2, 0),
               life_in(&m, "aten::linear", 0, 1));
    CHECK_UINT(m.lives.rows[life_in(&m, "aten::linear", 0, 1)].device,
               MSIM_DEV_GPU);
    done_step(&m);
}

/* States are named by the step alone: 4,000 numbers are too few to change. */
static void test_optimizer__bits(void)
{
    const struct msim_rewrite r = {.optimizer_8bit = true};
    struct msim_job *job = made_step(N_MADE);
    struct msim_trace *out = NULL;
    struct msim_error err = {0};

    REQUIRE(job != NULL);
    CHECK_INT(msim_rewritten_new(&out, job->ranks[0], job->strings, &r, &err),
              MSIM_EUSAGE);
    CHECK(strstr(err.text, "4,096 numbers") != NULL);
    msim_job_free(job);
}

/* One step of lists, as an optimizer with foreach makes it: of five lists of
 * two, 8,000 numbers each; a third tensor counts steps. */
static const struct made_node LIST_STEP[] = {
    {10, 0, "aten::linear", 0, 1, "3:8000 1:8000", "20:8000"},
    {12, 0, "aten::linear", 0, 3, "20:8000 2:8000", "22:8000"},
    {20, 0, "autograd::engine::evaluate_function: L", 0, -1, "", ""},
    {21, 20, "LinearBackward", 1, 3, "", ""},
    {22, 21, "aten::linear_backward", 0, -1, "22:8000 20:8000 2:8000",
     "32:8000 33:8000"},
    {30, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {31, 30, "torch::autograd::AccumulateGrad", 1, -1, "33:8000", ""},
    {40, 0, "autograd::engine::evaluate_function: L", 0, -1, "", ""},
    {41, 40, "LinearBackward", 1, 1, "", ""},
    {42, 41, "aten::linear_backward", 0, -1, "32:8000 3:8000 1:8000",
     "35:8000"},
    {50, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {51, 50, "torch::autograd::AccumulateGrad", 1, -1, "35:8000", ""},
    {90, 0, "Optimizer.step#Adam.step", 7, -1, "", ""},
    {91, 90, "aten::_foreach_add_", 0, -1,
     "[1:8000 2:8000] [35:8000 33:8000] [4:8000 5:8000]", ""},
};
#define N_LIST (sizeof(LIST_STEP) / sizeof(*LIST_STEP))

static bool change_lists(struct made_changed *m, const struct msim_rewrite *r)
{
    struct msim_error err = {0};

    *m = (struct made_changed){.job = made_nodes(LIST_STEP, N_LIST)};
    if (!CHECK(m->job != NULL))
        return false;
    CHECK_INT(
        msim_rewritten_new(&m->t, m->job->ranks[0], m->job->strings, r, &err),
        MSIM_OK);
    CHECK_STR(err.text, "");
    return m->t && CHECK(msim_lives_find(&m->lives, m->t) == MSIM_OK);
}

static void test_optimizer__bits_of_lists(void)
{
    const struct msim_rewrite r = {.optimizer_8bit = true};
    struct made_changed m;

    REQUIRE(change_lists(&m, &r));
    CHECK_UINT(m.lives.rows[life_in(&m, "aten::_foreach_add_", 0, 4)].bytes,
               8000);
    CHECK_UINT(m.lives.rows[life_in(&m, "aten::_foreach_add_", 0, 0)].bytes,
               32000);
    CHECK_UINT(m.lives.rows[life_in(&m, "aten::_foreach_add_", 0, 2)].bytes,
               32000);
    done_step(&m);
}

/* From 4,096 numbers on a state has 8 bits. */
static void test_optimizer__bits_of_few(void)
{
    struct made_node nodes[N_LIST];
    const struct msim_rewrite r = {.optimizer_8bit = true};
    struct made_changed m;

    memcpy(nodes, LIST_STEP, sizeof(nodes));
    nodes[N_LIST - 1].in = "[1:8000 2:8000] [35:8000 33:8000] [4:4096 5:4095]";
    REQUIRE(change_nodes(&m, nodes, N_LIST, &r));
    CHECK_UINT(m.lives.rows[life_in(&m, "aten::_foreach_add_", 0, 4)].bytes,
               4096);
    CHECK_UINT(m.lives.rows[life_in(&m, "aten::_foreach_add_", 0, 5)].bytes,
               4 * 4095);
    done_step(&m);
}

/*
 * Each parameter behind its gradient: the second one's first, whose gradient
 * ends before that of the first is made.
 */
static void test_optimizer__in_backward(void)
{
    const struct msim_rewrite r = {.in_backward = true};
    struct made_changed m;
    const struct msim_arg *list;

    REQUIRE(change_lists(&m, &r));
    CHECK_UINT(count_ops(m.t, "aten::_foreach_add_"), 2);
    list = msim_args_get(
        m.t, m.t->ops[find_op(m.t, "aten::_foreach_add_", 0)].args, 1);
    CHECK_INT(list->kind, MSIM_ARG_LIST);
    CHECK_UINT(list->n, 1);
    CHECK_UINT(life_in(&m, "aten::_foreach_add_", 0, 0),
               life_in(&m, "aten::linear", 1, 1));
    CHECK_UINT(life_in(&m, "aten::_foreach_add_", 0, 1),
               life_out(&m, "aten::linear_backward", 0, 1));
    CHECK_UINT(life_in(&m, "aten::_foreach_add_", 1, 0),
               life_in(&m, "aten::linear", 0, 1));
    CHECK(find_op(m.t, "aten::_foreach_add_", 0) <
          find_op(m.t, "aten::linear_backward", 1));
    CHECK(find_op(m.t, "Optimizer.zero_grad#in_backward", 0) <
          find_op(m.t, "aten::linear_backward", 1));
    done_step(&m);
}

static void test_optimizer__reasons(void)
{
    static const struct {
        struct msim_rewrite r;
        const char *want;
    } cases[] = {
        {{.in_backward = true}, "in no list of the optimizer's step"},
        {{.in_backward = true, .accumulate = 2}, "several micro batches"},
        {{.in_backward = true, .world = 2}, "ranks reduce gradients"},
        {{.offload_states = true, .world = 2, .shard = MSIM_SHARD_ZERO1},
         "zero1"},
        {{.offload_states = true, .world = 2, .shard = MSIM_SHARD_ZERO2},
         "must be shared out"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct msim_job *job = made_step(N_MADE);
        struct msim_trace *out = NULL;
        struct msim_error err = {0};

        REQUIRE(job != NULL);
        CHECK_INT(msim_rewritten_new(&out, job->ranks[0], job->strings,
                                     &cases[i].r, &err),
                  MSIM_EUSAGE);
        CHECK(strstr(err.text, cases[i].want) != NULL);
        msim_job_free(job);
    }
}

int main(void)
{
    RUN(test_optimizer__offload);
    RUN(test_optimizer__bits);
    RUN(test_optimizer__bits_of_lists);
    RUN(test_optimizer__bits_of_few);
    RUN(test_optimizer__in_backward);
    RUN(test_optimizer__reasons);
    return check_summary();
}
