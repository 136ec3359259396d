/*
 * tests/unit/core/rewrite/test_rewrite.c - a step that computes activations
 * again, and one of several micro batches.
 */
#include "tests/unit/core/rewrite/trained_step.h"

/*
 * Two blocks of linear and relu. Backward of the second runs first, and the
 * second run of each block comes right before it:
 *
 *     linear0 relu0 linear1 relu1 loss | loss' [linear2 relu2] relu1' linear1'
 *                                      | [linear3 relu3] relu0' linear0'
 */
static void test_rewrite__recompute(void)
{
    const struct msim_rewrite r = {.recompute_every = 1};
    struct made_changed m;

    REQUIRE(change_step(&m, &r));
    CHECK_UINT(count_ops(m.t, "aten::linear"), 4);
    CHECK_UINT(count_ops(m.t, "aten::relu"), 4);
    CHECK_UINT(count_ops(m.t, "aten::addcdiv_"), 2);
    /* Backward reads what was computed again, the loss what was first. */
    CHECK_UINT(life_in(&m, "aten::mse_loss_backward", 0, 1),
               life_out(&m, "aten::relu", 1, 0));
    CHECK_UINT(life_in(&m, "aten::threshold_backward", 0, 1),
               life_out(&m, "aten::relu", 2, 0));
    CHECK_UINT(life_in(&m, "aten::threshold_backward", 1, 1),
               life_out(&m, "aten::relu", 3, 0));
    /* The second block's input is kept: the first run's. */
    CHECK_UINT(life_in(&m, "aten::linear", 2, 0),
               life_out(&m, "aten::relu", 0, 0));
    CHECK_UINT(life_in(&m, "aten::linear_backward", 0, 1),
               life_out(&m, "aten::relu", 0, 0));
    /* What forward made inside a block ends in forward. */
    CHECK_UINT(m.lives.rows[life_out(&m, "aten::linear", 0, 0)].last,
               find_op(m.t, "aten::relu", 0));
    CHECK(find_op(m.t, "aten::linear", 2) >
          find_op(m.t, "aten::mse_loss_backward", 0));
    CHECK(find_op(m.t, "aten::linear", 3) >
          find_op(m.t, "aten::linear_backward", 0));
    done_step(&m);
}

/*
 * Backward reads both results of relu. The first goes down behind the second
 * linear, which reads it last, the second behind the loss; the second comes up
 * before backward of the loss, the first before that of the second linear. A
 * loss of one number stays:
 *
 *     relu0 linear1 down0 relu1 loss down1 | up1 loss' relu1' up0 linear1' ...
 */
static void test_rewrite__offload_activations(void)
{
    const struct msim_rewrite r = {.offload_activations = true};
    struct made_changed m;

    REQUIRE(change_step(&m, &r));
    CHECK_UINT(count_ops(m.t, "aten::copy_"), 4);
    CHECK_UINT(life_in(&m, "aten::copy_", 0, 1),
               life_out(&m, "aten::relu", 0, 0));
    CHECK_UINT(m.lives.rows[life_in(&m, "aten::copy_", 0, 0)].device,
               MSIM_DEV_HOST);
    CHECK(find_op(m.t, "aten::copy_", 0) > find_op(m.t, "aten::linear", 1));
    CHECK(find_op(m.t, "aten::copy_", 0) < find_op(m.t, "aten::relu", 1));
    /* On the GPU it is over until it comes back, as other memory. */
    CHECK_UINT(m.lives.rows[life_out(&m, "aten::relu", 0, 0)].last,
               find_op(m.t, "aten::copy_", 0));
    CHECK_UINT(life_in(&m, "aten::copy_", 3, 1),
               life_in(&m, "aten::copy_", 0, 0));
    CHECK_UINT(life_in(&m, "aten::linear_backward", 0, 1),
               life_in(&m, "aten::copy_", 3, 0));
    CHECK_UINT(m.lives.rows[life_in(&m, "aten::copy_", 3, 0)].bytes, 16000);
    CHECK(find_op(m.t, "aten::copy_", 3) >
          find_op(m.t, "aten::threshold_backward", 0));
    CHECK_UINT(life_in(&m, "aten::mse_loss_backward", 0, 1),
               life_in(&m, "aten::copy_", 2, 0));
    /* Parameters and the step's input stay. */
    CHECK_UINT(life_in(&m, "aten::linear_backward", 0, 2),
               life_in(&m, "aten::linear", 1, 1));
    CHECK_UINT(life_in(&m, "aten::linear_backward", 1, 1),
               life_in(&m, "aten::linear", 0, 0));
    done_step(&m);
}

static void test_rewrite__recompute_some(void)
{
    const struct msim_rewrite every = {.recompute_every = 2};
    struct msim_rewrite ops = {.recompute_every = 1,
                               .recompute_ops = "aten::re*"};
    struct made_changed m;

    REQUIRE(change_step(&m, &every));
    CHECK_UINT(count_ops(m.t, "aten::linear"), 3);
    CHECK_UINT(life_in(&m, "aten::threshold_backward", 0, 1),
               life_out(&m, "aten::relu", 1, 0));
    CHECK_UINT(life_in(&m, "aten::threshold_backward", 1, 1),
               life_out(&m, "aten::relu", 2, 0));
    done_step(&m);
    /* relu alone: what linear made is kept for it. */
    REQUIRE(change_step(&m, &ops));
    CHECK_UINT(count_ops(m.t, "aten::linear"), 2);
    CHECK_UINT(count_ops(m.t, "aten::relu"), 4);
    CHECK_UINT(life_in(&m, "aten::relu", 3, 0),
               life_out(&m, "aten::linear", 0, 0));
    done_step(&m);
}

/* Three micro batches: one step of the optimizer, which reads the gradients of
 * the first, to which those of the others were added. */
static void test_rewrite__accumulate(void)
{
    const struct msim_rewrite r = {.accumulate = 3};
    struct made_changed m;

    REQUIRE(change_step(&m, &r));
    CHECK_UINT(count_ops(m.t, "aten::linear"), 6);
    CHECK_UINT(count_ops(m.t, "aten::linear_backward"), 6);
    CHECK_UINT(count_ops(m.t, "torch::autograd::AccumulateGrad"), 6);
    CHECK_UINT(count_ops(m.t, "aten::add_"), 4);
    CHECK_UINT(count_ops(m.t, "aten::detach"), 2);
    CHECK_UINT(count_ops(m.t, "aten::addcdiv_"), 2);
    CHECK_UINT(life_in(&m, "aten::addcdiv_", 1, 1),
               life_out(&m, "aten::linear_backward", 0, 1));
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_UINT(life_in(&m, "aten::add_", 2 * i, 0),
                   life_in(&m, "aten::addcdiv_", 1, 1));
        CHECK_UINT(life_in(&m, "aten::add_", 2 * i, 1),
                   life_out(&m, "aten::linear_backward", 2 + 2 * i, 1));
        CHECK_UINT(life_in(&m, "aten::add_", 2 * i + 1, 0),
                   life_in(&m, "aten::addcdiv_", 0, 1));
    }
    /* The first micro batch's activations are gone when the second begins. */
    CHECK(m.lives.rows[life_out(&m, "aten::relu", 0, 0)].last <
          find_op(m.t, "aten::linear", 2));
    done_step(&m);
}

static void test_rewrite__both(void)
{
    const struct msim_rewrite r = {.recompute_every = 1, .accumulate = 2};
    struct made_changed m;

    REQUIRE(change_step(&m, &r));
    CHECK_UINT(count_ops(m.t, "aten::linear"), 8);
    CHECK_UINT(count_ops(m.t, "aten::add_"), 2);
    done_step(&m);
}

/* What a trace cannot support has its reason. */
static void test_rewrite__reasons(void)
{
    static const struct {
        size_t nodes;
        struct msim_rewrite r;
        const char *want;
    } cases[] = {
        {5, {.accumulate = 2}, "no backward pass"},
        {N_MADE,
         {.recompute_every = 1, .recompute_ops = "aten::gelu*"},
         "no operator in the blocks of the trace matches \"aten::gelu*\""},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct msim_job *job = made_step(cases[i].nodes);
        struct msim_trace *out = NULL;
        struct msim_error err = {0};

        REQUIRE(job != NULL);
        CHECK_INT(msim_rewritten_new(&out, job->ranks[0], job->strings,
                                     &cases[i].r, &err),
                  MSIM_EUSAGE);
        CHECK(strstr(err.text, cases[i].want) != NULL);
        CHECK(out == NULL);
        msim_job_free(job);
    }
}

/* A stem, two blocks with a shortcut around each, and a mean: what is light
 * behind the last block is none of it, and the stem, which is how each block
 * begins, is no block. Views of weights stand below the second convolutions. */
static const struct made_node SHORTCUTS[] = {
    {10, 0, "aten::conv2d", 0, 1, "3:4000 9:4000", "20:4000"},
    {11, 0, "aten::conv2d", 0, 2, "20:4000 1:4000", "21:4000"},
    {12, 0, "aten::relu", 0, 3, "21:4000", "22:4000"},
    {13, 0, "aten::conv2d", 0, 4, "22:4000 2:4000", "23:4000"},
    {14, 13, "aten::t", 0, -1, "2:4000", "2:4000"},
    {15, 0, "aten::add", 0, 5, "23:4000 20:4000", "24:4000"},
    {16, 0, "aten::conv2d", 0, 6, "24:4000 5:4000", "25:4000"},
    {17, 0, "aten::relu", 0, 7, "25:4000", "26:4000"},
    {18, 0, "aten::conv2d", 0, 8, "26:4000 6:4000", "27:4000"},
    {19, 18, "aten::t", 0, -1, "6:4000", "6:4000"},
    {20, 0, "aten::add", 0, 9, "27:4000 24:4000", "28:4000"},
    {21, 0, "aten::mean", 0, 10, "28:4000", "29:1"},
    {30, 0, "autograd::engine::evaluate_function: C", 0, -1, "", ""},
    {31, 30, "ConvBackward", 1, 8, "", ""},
    {32, 31, "aten::conv_backward", 0, -1, "29:1 26:4000 6:4000", "30:4000"},
    {33, 0, "autograd::engine::evaluate_function: R", 0, -1, "", ""},
    {34, 33, "ReluBackward", 1, 7, "", ""},
    {35, 34, "aten::threshold_backward", 0, -1, "30:4000 26:4000", "31:4000"},
    {36, 0, "autograd::engine::evaluate_function: C", 0, -1, "", ""},
    {37, 36, "ConvBackward", 1, 4, "", ""},
    {38, 37, "aten::conv_backward", 0, -1, "31:4000 22:4000 2:4000",
     "32:4000 33:4000"},
    {39, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {40, 39, "torch::autograd::AccumulateGrad", 1, -1, "33:4000", ""},
    {50, 0, "Optimizer.step#SGD.step", 7, -1, "", ""},
    {51, 50, "aten::add_", 0, -1, "2:4000 33:4000", ""},
};

/* Backward needs the results of relu alone: one convolution and relu of each
 * block run again, no second convolution, no stem. */
static void test_rewrite__recompute_shortcuts(void)
{
    const struct msim_rewrite r = {.recompute_every = 1};
    struct msim_error err = {0};
    struct made_changed m = {
        .job = made_nodes(SHORTCUTS, sizeof(SHORTCUTS) / sizeof(*SHORTCUTS))};

    REQUIRE(m.job != NULL);
    CHECK_INT(
        msim_rewritten_new(&m.t, m.job->ranks[0], m.job->strings, &r, &err),
        MSIM_OK);
    CHECK_STR(err.text, "");
    REQUIRE(m.t && msim_lives_find(&m.lives, m.t) == MSIM_OK);
    CHECK_UINT(count_ops(m.t, "aten::conv2d"), 5 + 2);
    CHECK_UINT(count_ops(m.t, "aten::relu"), 2 + 2);
    CHECK_UINT(count_ops(m.t, "aten::mean"), 1);
    done_step(&m);
}

int main(void)
{
    RUN(test_rewrite__recompute);
    RUN(test_rewrite__recompute_shortcuts);
    RUN(test_rewrite__offload_activations);
    RUN(test_rewrite__recompute_some);
    RUN(test_rewrite__accumulate);
    RUN(test_rewrite__both);
    RUN(test_rewrite__reasons);
    return check_summary();
}
