/*
 * tests/unit/core/rewrite/test_fp8.c - products of linear layers in 8 bits.
 */
#include "tests/unit/core/rewrite/trained_step.h"

/* Two layers and a head; backward of each has a product for its weight, and one
 * for what it was given but for the first. */
static struct made_node nodes[] = {
    {10, 0, "aten::addmm", 0, 1, "5:16 3:32x16 1:16x16", "20:32x16"},
    {11, 0, "aten::relu", 0, 2, "20:32x16", "21:32x16"},
    {12, 0, "aten::linear", 0, 3, "", ""},
    {13, 12, "aten::mm", 0, -1, "21:32x16 2:16x48", "22:32x48"},
    {14, 0, "aten::mm", 0, 4, "22:32x48 6:48x32", "23:32x32"},
    {15, 0, "aten::mse_loss", 0, 5, "23:32x32", "24:1"},
    {20, 0, "autograd::engine::evaluate_function: L", 0, -1, "", ""},
    {21, 20, "LossBackward", 1, 5, "", ""},
    {22, 21, "aten::mse_loss_backward", 0, -1, "24:1 23:32x32", "30:32x32"},
    {30, 0, "autograd::engine::evaluate_function: M", 0, -1, "", ""},
    {31, 30, "MmBackward", 1, 4, "", ""},
    {32, 31, "aten::mm", 0, -1, "22:48x32 30:32x32", "46:48x32"},
    {33, 31, "aten::mm", 0, -1, "30:32x32 6:32x48", "31:32x48"},
    {40, 0, "autograd::engine::evaluate_function: M", 0, -1, "", ""},
    {41, 40, "MmBackward", 1, 3, "", ""},
    {42, 41, "aten::mm", 0, -1, "21:16x32 31:32x48", "42:16x48"},
    {43, 41, "aten::mm", 0, -1, "31:32x48 2:48x16", "32:32x16"},
    {50, 0, "autograd::engine::evaluate_function: R", 0, -1, "", ""},
    {51, 50, "ReluBackward", 1, 2, "", ""},
    {52, 51, "aten::threshold_backward", 0, -1, "32:32x16 21:32x16",
     "33:32x16"},
    {60, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {61, 60, "AddmmBackward", 1, 1, "", ""},
    {62, 61, "aten::mm", 0, -1, "3:16x32 33:32x16", "41:16x16"},
    {70, 0, "autograd::engine::evaluate_function: A", 0, -1, "", ""},
    {71, 70, "torch::autograd::AccumulateGrad", 1, -1, "41:16x16", ""},
    {90, 0, "Optimizer.step#Adam.step", 7, -1, "", ""},
    {91, 90, "aten::mm", 0, -1, "1:16x16 41:16x16", "95:16x16"},
};
#define N_NODES (sizeof(nodes) / sizeof(*nodes))

static const struct msim_rewrite R = {.fp8 = true};

/* Copies in the order in which they are made, behind what they stand in. */
static void check_casts(const struct made_changed *m, const char *want)
{
    struct spelled got = {"", 0};

    for (uint32_t i = 0; i < m->t->n_ops; i++) {
        const struct msim_op *op = &m->t->ops[i];
        const char *in =
            op->parent == MSIM_NONE
                ? ""
                : msim_trace_text(m->t, m->t->ops[op->parent].name);
        struct spelled args;

        if (strcmp(msim_trace_text(m->t, op->name), "aten::copy_") != 0)
            continue;
        spell_args(m->t, op->args, &args);
        spell(&got, "%s%s %s", got.len ? ", " : "", in, args.text);
    }
    CHECK_STR(got.text, want);
}

/* Both matrices once, and later along their other dimension; the head, its
 * backward and the step stay. */
static void test_fp8__products(void)
{
    static const struct {
        bool again;
        int elems;
    } casts[] = {{false, 512}, {false, 256},  {false, 512}, {false, 768},
                 {true, 512},  {false, 1536}, {true, 1536}, {true, 768},
                 {true, 512},  {false, 512}};
    struct spelled want = {"", 0};
    struct made_changed m;

    REQUIRE(change_nodes(&m, nodes, N_NODES, &R));
    CHECK_UINT(count_ops(m.t, "aten::_scaled_mm"), 5);
    CHECK_UINT(count_ops(m.t, "aten::addmm"), 0);
    CHECK_UINT(count_ops(m.t, "aten::mm"), 4);
    CHECK_UINT(count_ops(m.t, "aten::empty"), 10);
    for (size_t i = 0; i < sizeof(casts) / sizeof(*casts); i++)
        spell(&want, "%s%s fp8[%d]@gpu %s[%d]@gpu", i ? ", " : "",
              casts[i].again ? "aten::clone" : "aten::to", casts[i].elems,
              casts[i].again ? "fp8" : "fp32", casts[i].elems);
    check_casts(&m, want.text);
    CHECK_ARGS(m.t, m.t->ops[find_op(m.t, "aten::_scaled_mm", 0)].args,
               "fp8[32,16]@gpu fp8[16,16]@gpu fp32[]@gpu fp32[]@gpu");
    CHECK_ARGS(m.t, m.t->ops[find_op(m.t, "aten::_scaled_mm", 0)].outs,
               "fp32[32,16]@gpu");
    CHECK_ARGS(m.t, m.t->ops[find_op(m.t, "aten::_scaled_mm", 2)].args,
               "fp8[16,32]@gpu fp8[32,48]@gpu fp32[]@gpu fp32[]@gpu");
    /* below the layer, where mm was */
    CHECK_UINT(m.t->ops[find_op(m.t, "aten::_scaled_mm", 1)].parent,
               find_op(m.t, "aten::linear", 0));
    /* it reads what was cast, and relu what it makes */
    for (uint32_t k = 0; k < 2; k++)
        CHECK_UINT(life_in(&m, "aten::_scaled_mm", 0, k),
                   life_in(&m, "aten::copy_", k, 0));
    CHECK_UINT(life_in(&m, "aten::relu", 0, 0),
               life_out(&m, "aten::_scaled_mm", 0, 0));
    /* a copy is of what was cast in forward, and other memory */
    CHECK_UINT(life_in(&m, "aten::copy_", 4, 1),
               life_in(&m, "aten::copy_", 2, 0));
    CHECK(life_in(&m, "aten::copy_", 4, 0) != life_in(&m, "aten::copy_", 4, 1));
    CHECK_UINT(life_in(&m, "aten::_scaled_mm", 2, 0),
               life_in(&m, "aten::copy_", 4, 0));
    CHECK(life_in(&m, "aten::_scaled_mm", 0, 2) !=
          life_in(&m, "aten::_scaled_mm", 0, 3));
    done_step(&m);
}

/* Rows that 16 does not divide: the second layer, of 40, stays. */
static void test_fp8__rows(void)
{
    struct made_changed m;

    nodes[3].in = "21:32x16 2:16x40";
    nodes[15].in = "21:16x32 31:32x40";
    nodes[16].in = "31:32x40 2:40x16";
    REQUIRE(change_nodes(&m, nodes, N_NODES, &R));
    CHECK_UINT(count_ops(m.t, "aten::_scaled_mm"), 2);
    CHECK_UINT(count_ops(m.t, "aten::mm"), 7);
    done_step(&m);
}

/* The head would fit, and is left out: nothing is to be done then. */
static void test_fp8__reasons(void)
{
    struct msim_error err = {0};
    struct msim_trace *out;
    struct msim_job *job;

    nodes[0].in = "5:17 3:32x16 1:16x17";
    nodes[22].in = "3:16x33 33:33x16";
    job = made_nodes(nodes, N_NODES);
    REQUIRE(job != NULL);
    CHECK_INT(msim_rewritten_new(&out, job->ranks[0], job->strings, &R, &err),
              MSIM_EUSAGE);
    CHECK_STR(err.text, "no product of a linear layer before the last one has "
                        "rows of a multiple of 16 elements, as 8 bits need "
                        "them");
    msim_job_free(job);
}

int main(void)
{
    RUN(test_fp8__products);
    RUN(test_fp8__rows);
    RUN(test_fp8__reasons);
    return check_summary();
}
