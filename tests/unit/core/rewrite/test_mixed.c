/*
 * tests/unit/core/rewrite/test_mixed.c - casts of a step of two layers.
 */
#include "tests/unit/core/rewrite/trained_step.h"

/* The type of the k-th tensor of the n-th operator `name`. */
static int type_in(const struct made_changed *m, const char *name, uint32_t n,
                   uint32_t k)
{
    uint32_t op = find_op(m->t, name, n);

    return op == MSIM_NONE ? -1
                           : msim_args_get(m->t, m->t->ops[op].args, k)->dtype;
}

/*
 * Casts: the input and the first weight; the second weight; what the loss
 * reads; what it gives back; and two gradients, which become wide. 7 in all.
 */
static void test_mixed__autocast(void)
{
    const struct msim_rewrite r = {.autocast = MSIM_DT_BF16};
    struct made_changed m;

    REQUIRE(change_step(&m, &r));
    CHECK_UINT(count_ops(m.t, "aten::copy_"), 7);
    CHECK_INT(type_in(&m, "aten::linear", 0, 0), MSIM_DT_BF16);
    CHECK_INT(type_in(&m, "aten::linear", 0, 1), MSIM_DT_BF16);
    CHECK_INT(type_in(&m, "aten::relu", 0, 0), MSIM_DT_BF16);
    CHECK_INT(type_in(&m, "aten::mse_loss", 0, 0), MSIM_DT_F32);
    CHECK_INT(type_in(&m, "aten::threshold_backward", 0, 0), MSIM_DT_BF16);
    CHECK_INT(type_in(&m, "torch::autograd::AccumulateGrad", 0, 0),
              MSIM_DT_F32);
    CHECK_INT(type_in(&m, "aten::addcdiv_", 0, 1), MSIM_DT_F32);
    /* Activations take half, weights stay, their copies are read in backward.
     */
    CHECK_UINT(m.lives.rows[life_out(&m, "aten::relu", 0, 0)].bytes, 8000);
    CHECK_UINT(m.lives.rows[life_in(&m, "aten::addcdiv_", 0, 0)].bytes, 16000);
    CHECK_UINT(life_in(&m, "aten::linear_backward", 0, 2),
               life_in(&m, "aten::linear", 1, 1));
    CHECK(life_in(&m, "aten::linear", 1, 1) !=
          life_in(&m, "aten::addcdiv_", 1, 0));
    done_step(&m);
}

/* Every micro batch casts weights anew, and adds wide gradients. */
static void test_mixed__autocast_accumulates(void)
{
    const struct msim_rewrite r = {.autocast = MSIM_DT_F16, .accumulate = 2};
    struct made_changed m;

    REQUIRE(change_step(&m, &r));
    CHECK_UINT(count_ops(m.t, "aten::copy_"), 14);
    CHECK_INT(type_in(&m, "aten::add_", 0, 1), MSIM_DT_F32);
    done_step(&m);
}

/*
 * Weights come narrow from gathering: the input is cast, and shares are: before
 * each of four gatherings, and back after each of two reductions.
 */
static void test_mixed__fsdp(void)
{
    const struct msim_rewrite r = {
        .mixed = MSIM_DT_F16, .world = 4, .shard = MSIM_SHARD_FULL};
    struct made_changed m;

    REQUIRE(change_step(&m, &r));
    CHECK_UINT(count_ops(m.t, "aten::copy_"), 7);
    CHECK_INT(type_in(&m, "aten::mse_loss", 0, 0), MSIM_DT_F16);
    CHECK_INT(m.t->comms[0].dtype, MSIM_DT_F16);
    CHECK_UINT(m.t->comms[0].in_elems, 1000);
    CHECK_INT(type_in(&m, "aten::addcdiv_", 0, 0), MSIM_DT_F32);
    CHECK_INT(type_in(&m, "aten::addcdiv_", 0, 1), MSIM_DT_F32);
    CHECK_UINT(m.lives.rows[life_in(&m, "aten::addcdiv_", 0, 0)].bytes, 4000);
    done_step(&m);
}

/*
 * Batch normalisation in place of the first relu: no two layers are alike, so
 * that all are one unit, which is gathered and reduced once. It stays wide:
 * what it reads is cast, and its result is cast back; so are, in its backward,
 * the gradient and what that makes. With the input 7 in all. A first result
 * without elements is not cast: the second linear casts what it reads of the
 * other.
 */
static void test_mixed__fsdp_batch_norm(void)
{
    static const char *const outputs[] = {"21:4000", "25:0 21:4000"};
    const struct msim_rewrite r = {
        .mixed = MSIM_DT_F16, .world = 4, .shard = MSIM_SHARD_FULL};

    for (size_t i = 0; i < sizeof(outputs) / sizeof(*outputs); i++) {
        struct made_node nodes[N_MADE];
        struct made_changed m;

        memcpy(nodes, MADE_STEP, sizeof(nodes));
        nodes[1].name = "aten::batch_norm";
        nodes[1].out = outputs[i];
        REQUIRE(change_nodes(&m, nodes, N_MADE, &r));
        CHECK_UINT(count_ops(m.t, "c10d::_allgather_base_"), 1);
        CHECK_UINT(count_ops(m.t, "c10d::_reduce_scatter_base_"), 1);
        CHECK_UINT(count_ops(m.t, "aten::copy_"), 7);
        CHECK_INT(type_in(&m, "aten::batch_norm", 0, 0), MSIM_DT_F32);
        CHECK_INT(type_in(&m, "aten::linear", 1, 0), MSIM_DT_F16);
        CHECK_INT(type_in(&m, "aten::threshold_backward", 1, 0), MSIM_DT_F32);
        CHECK_INT(type_in(&m, "aten::linear_backward", 1, 0), MSIM_DT_F16);
        done_step(&m);
    }
}

/* Three layers, and backward of the last two: the gradient of the second
 * layer's weight is a product of rows of 24, which 8 bits cannot have. */
static const struct made_node PRODUCTS[] = {
    {10, 0, "aten::linear", 0, 1, "3:24x64 1:64x64", "20:24x64"},
    {11, 10, "aten::mm", 0, -1, "3:24x64 1:64x64", "20:24x64"},
    {12, 0, "aten::linear", 0, 2, "20:24x64 2:64x64", "21:24x64"},
    {13, 12, "aten::mm", 0, -1, "20:24x64 2:64x64", "21:24x64"},
    {14, 0, "aten::linear", 0, 3, "21:24x64 9:64x64", "22:24x64"},
    {15, 14, "aten::mm", 0, -1, "21:24x64 9:64x64", "22:24x64"},
    {20, 0, "autograd::engine::evaluate_function: M", 0, -1, "", ""},
    {21, 20, "MmBackward0", 1, 3, "", ""},
    {22, 21, "aten::mm", 0, -1, "22:24x64 9:64x64", "30:24x64"},
    {30, 0, "autograd::engine::evaluate_function: M", 0, -1, "", ""},
    {31, 30, "MmBackward0", 1, -1, "", ""}, /* of whom is not recorded */
    {32, 31, "aten::mm", 0, -1, "30:24x64 2:64x64", "31:24x64"},
    {33, 31, "aten::mm", 0, -1, "30:64x24 20:24x64", "32:64x64"},
    {35, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {36, 35, "torch::autograd::AccumulateGrad", 1, -1, "32:64x64", ""},
    {40, 0, "Optimizer.step#Adam.step", 7, -1, "", ""},
    {41, 40, "aten::addcdiv_", 0, -1, "2:64x64 32:64x64 4:64x64", ""},
};

/*
 * In 8 bits: both products of forward but the head's, and the input's gradient
 * of the second layer. Inputs, weights and the gradient are cast once, five of
 * them; the second weight, which forward read, is copied in the other order.
 * The head, its backward and the odd product stay.
 */
static void test_mixed__fp8(void)
{
    const struct msim_rewrite r = {.fp8 = true};
    struct made_changed m;

    REQUIRE(
        change_nodes(&m, PRODUCTS, sizeof(PRODUCTS) / sizeof(*PRODUCTS), &r));
    CHECK_UINT(count_ops(m.t, "aten::_scaled_mm"), 3);
    CHECK_UINT(count_ops(m.t, "aten::mm"), 3);
    CHECK_UINT(count_ops(m.t, "aten::to"), 5);
    CHECK_UINT(count_ops(m.t, "aten::clone"), 1);
    CHECK_UINT(count_ops(m.t, "aten::copy_"), 6);
    CHECK_INT(type_in(&m, "aten::copy_", 5, 1), MSIM_DT_F8);
    CHECK_INT(type_in(&m, "aten::_scaled_mm", 0, 0), MSIM_DT_F8);
    CHECK_INT(type_in(&m, "aten::_scaled_mm", 0, 1), MSIM_DT_F8);
    CHECK_UINT(m.lives.rows[life_in(&m, "aten::_scaled_mm", 0, 0)].bytes,
               24 * 64);
    /* Its result is where the product's was, in the recorded type. */
    CHECK_UINT(life_out(&m, "aten::_scaled_mm", 0, 0),
               life_in(&m, "aten::linear", 1, 0));
    CHECK_UINT(life_in(&m, "aten::mm", 1, 1),
               life_in(&m, "aten::linear", 2, 1));
    done_step(&m);
}

int main(void)
{
    RUN(test_mixed__autocast);
    RUN(test_mixed__autocast_accumulates);
    RUN(test_mixed__fsdp);
    RUN(test_mixed__fsdp_batch_norm);
    RUN(test_mixed__fp8);
    return check_summary();
}
