/*
 * Which operators of a backward pass are for gradients of inputs, and which for
 * those of weights: by number of their nodes, 1 inputs, 2 weights, 3 both.
 */
#include "core/rewrite/split/split.h"

#include "tests/unit/core/rewrite/trained_step.h"

#define NODES 40

static void hold(const struct made_node *nodes, const char *want)
{
    struct spelled got = {"", 0};
    struct msim_error err = {0};
    struct msim_weave w;
    struct msim_job *job;
    uint8_t half[NODES];
    size_t n = 0;

    while (n < NODES && nodes[n].name)
        n++;
    job = made_nodes(nodes, n);
    REQUIRE(job != NULL);
    CHECK_INT(msim_weave_open(&w, job->ranks[0], job->strings, &err), MSIM_OK);
    CHECK_STR(err.text, "");
    CHECK_INT(msim_halves_find(&w, half), MSIM_OK);
    REQUIRE(job->ranks[0]->n_ops == n);
    for (uint32_t i = 0; i < n; i++)
        spell(&got, "%s%u:%d", i ? " " : "", job->ranks[0]->ops[i].et_id,
              half[i]);
    CHECK_STR(got.text, want);
    msim_weave_close(&w);
    msim_job_free(job);
}

#define FORWARD                                                                \
    {10, 0, "aten::mm", 0, 1, "3:4x5 1:5x6", "20:4x6"},                        \
        {11, 0, "aten::mm", 0, 2, "20:4x6 2:6x7", "22:4x7"},                   \
        {12, 0, "aten::mse_loss", 0, 3, "22:4x7", "24:1"},                     \
        {20, 0, "LossBackward", 1, 3, "", ""},                                 \
    {                                                                          \
        21, 20, "aten::mse_loss_backward", 0, -1, "24:1 22:4x7", "30:4x7"      \
    }
#define STEP                                                                   \
    {90, 0, "Optimizer.step#SGD.step", 7, -1, "", ""},                         \
        {91, 90, "aten::add_", 0, -1, "1:5x6 35:5x6", ""},                     \
    {                                                                          \
        92, 90, "aten::add_", 0, -1, "2:6x7 33:6x7", ""                        \
    }

/* Of the second layer the gradient of what it is given, and its weight's; the
 * first layer has nobody to give one to. */
static void test_halves__products(void)
{
    static const struct made_node PLAIN[NODES] = {
        FORWARD,
        {40, 0, "MmBackward", 1, 2, "", ""},
        {41, 40, "aten::mm", 0, -1, "30:4x7 2:6x7", "32:4x6"},
        {42, 40, "aten::mm", 0, -1, "20:4x6 30:4x7", "33:6x7"},
        {50, 0, "torch::autograd::AccumulateGrad", 1, -1, "33:6x7", ""},
        {51, 50, "aten::detach", 0, -1, "33:6x7", "33:6x7"},
        {60, 0, "MmBackward", 1, 1, "", ""},
        {61, 60, "aten::mm", 0, -1, "3:4x5 32:4x6", "35:5x6"},
        {70, 0, "torch::autograd::AccumulateGrad", 1, -1, "35:5x6", ""},
        {71, 70, "aten::detach", 0, -1, "35:5x6", "35:5x6"},
        STEP};

    hold(PLAIN, "10:3 11:3 12:3 20:1 21:1 40:3 41:1 42:2 50:2 51:2 60:2 61:2 "
                "70:2 71:2 90:3 91:3 92:3");
}

/* What a gradient of weights is cast from is for weights; what it is summed of
 * is not. */
static void test_halves__casts_and_sums(void)
{
    static const struct made_node CAST[NODES] = {
        FORWARD,
        {40, 0, "MmBackward", 1, 2, "", ""},
        {41, 40, "aten::mm", 0, -1, "30:4x7 2:6x7", "32:4x6"},
        {42, 40, "aten::mm", 0, -1, "20:4x6 30:4x7", "43:6x7"},
        {45, 0, "ToBackward", 1, -1, "", ""},
        {46, 45, "aten::_to_copy", 0, -1, "43:6x7", "33:6x7"},
        {50, 0, "torch::autograd::AccumulateGrad", 1, -1, "33:6x7", ""},
        {51, 50, "aten::detach", 0, -1, "33:6x7", "33:6x7"},
        {55, 0, "NegBackward", 1, -1, "", ""},
        {56, 55, "aten::neg", 0, -1, "32:4x6", "36:4x6"},
        {60, 0, "MmBackward", 1, 1, "", ""},
        {61, 60, "aten::mm", 0, -1, "3:4x5 36:4x6", "35:5x6"},
        {70, 0, "torch::autograd::AccumulateGrad", 1, -1, "35:5x6", ""},
        {71, 70, "aten::detach", 0, -1, "35:5x6", "35:5x6"},
        STEP};

    hold(CAST, "10:3 11:3 12:3 20:1 21:1 40:3 41:1 42:2 45:2 46:2 50:2 51:2 "
               "55:1 56:1 60:2 61:2 70:2 71:2 90:3 91:3 92:3");
}

/* One operator that makes both is for inputs, with all below it, and so is what
 * keeps what it made. */
static void test_halves__one_piece_of_work(void)
{
    static const struct made_node ONE[NODES] = {
        FORWARD,
        {40, 0, "LinearBackward", 1, 2, "", ""},
        {41, 40, "aten::linear_backward", 0, -1, "20:4x6 30:4x7 2:6x7",
         "32:4x6 33:6x7"},
        {42, 41, "aten::mm", 0, -1, "30:4x7 2:6x7", "32:4x6"},
        {43, 41, "aten::mm", 0, -1, "20:4x6 30:4x7", "33:6x7"},
        {50, 0, "torch::autograd::AccumulateGrad", 1, -1, "33:6x7", ""},
        {51, 50, "aten::detach", 0, -1, "33:6x7", "33:6x7"},
        {60, 0, "MmBackward", 1, 1, "", ""},
        {61, 60, "aten::mm", 0, -1, "3:4x5 32:4x6", "35:5x6"},
        {70, 0, "torch::autograd::AccumulateGrad", 1, -1, "35:5x6", ""},
        {71, 70, "aten::detach", 0, -1, "35:5x6", "35:5x6"},
        STEP};

    hold(ONE, "10:3 11:3 12:3 20:1 21:1 40:1 41:1 42:1 43:1 50:1 51:1 60:2 "
              "61:2 70:2 71:2 90:3 91:3 92:3");
}

/* A view is for whoever reads it: of a node that makes a weight's gradient
 * alone nothing is left for inputs. What nobody reads is no gradient. */
static void test_halves__views_and_dead_ends(void)
{
    static const struct made_node TURNED[NODES] = {
        FORWARD,
        {40, 0, "MmBackward", 1, 2, "", ""},
        {41, 40, "aten::t", 0, -1, "30:4x7", "30:7x4"},
        {42, 40, "aten::mm", 0, -1, "30:7x4 20:4x6", "33:7x6"},
        {45, 0, "MmBackward", 1, 2, "", ""},
        {46, 45, "aten::t", 0, -1, "2:6x7", "2:7x6"},
        {47, 45, "aten::mm", 0, -1, "30:4x7 2:7x6", "32:4x6"},
        {50, 0, "torch::autograd::AccumulateGrad", 1, -1, "33:7x6", ""},
        {51, 50, "aten::detach", 0, -1, "33:7x6", "33:7x6"},
        {55, 0, "aten::index_select", 0, -1, "32:4x6 37:9", "38:9x6"},
        {60, 0, "MmBackward", 1, 1, "", ""},
        {61, 60, "aten::mm", 0, -1, "3:5x4 32:4x6", "35:5x6"},
        {70, 0, "torch::autograd::AccumulateGrad", 1, -1, "35:5x6", ""},
        {71, 70, "aten::detach", 0, -1, "35:5x6", "35:5x6"},
        STEP};

    hold(TURNED, "10:3 11:3 12:3 20:1 21:1 40:2 41:2 42:2 45:1 46:1 47:1 50:2 "
                 "51:2 55:1 60:2 61:2 70:2 71:2 90:3 91:3 92:3");
}

int main(void)
{
    RUN(test_halves__products);
    RUN(test_halves__casts_and_sums);
    RUN(test_halves__one_piece_of_work);
    RUN(test_halves__views_and_dead_ends);
    return check_summary();
}
