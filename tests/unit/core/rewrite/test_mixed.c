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

int main(void)
{
    RUN(test_mixed__autocast);
    RUN(test_mixed__autocast_accumulates);
    RUN(test_mixed__fsdp);
    return check_summary();
}
