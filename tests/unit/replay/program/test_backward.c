/*
 * tests/unit/replay/program/test_backward.c - programs of training steps: the
 * backward pass as one statement where autograd can do it, and as its operators
 * where not.
 */
#include "tests/unit/made_et.h"

#define SGD_                                                                   \
    "aten::_foreach_add_.List(Tensor(a!)[] self, Tensor[] other, *, Scalar "   \
    "alpha=1) -> ()"

/* A training step: y = x w, its sum, backward, w += gradient. */
static void forward(struct made_et *m)
{
    et_op(m, 100, ET_MM, "1:2x3 2:3x4", "7:2x4");
    et_loss(m, 110, "7:2x4 -");
}

static const char trained[] = "def step():\n"
                              "    begin_step()\n"
                              "    # forward\n"
                              "    x0 = aten.mm.default(X[0], X[1])\n"
                              "    x0 = aten.sum.default(x0)\n"
                              "    # backward\n"
                              "    x0.backward()\n"
                              "    del x0\n"
                              "    # optimizer\n"
                              "    with torch.no_grad():\n"
                              "        aten.add_.Tensor(X[1], G[0])\n";

static void check_trained(struct made_et *m)
{
    struct made_program x;

    REQUIRE(program_of(m, &x, NULL, false));
    CHECK_STR(x.text, trained);
    CHECK_INT(x.p->form, MSIM_FORM_AUTOGRAD);
    CHECK_UINT(x.p->n_gradients, 1);
    REQUIRE(x.p->outside.n == 2);
    CHECK_INT(msim_program_outside(x.p, 0)->role, MSIM_ROLE_INPUT);
    CHECK_INT(msim_program_outside(x.p, 1)->role, MSIM_ROLE_PARAMETER);
    program_done(&x);
}

/* AccumulateGrad keeps the tensor that it gets: that is the gradient. */
static void test_backward__gradient_is_stolen(void)
{
    struct made_et m = {0};

    forward(&m);
    et_node(&m, 120, 0, 1, ET_ENGINE "MmBackward0", "", "");
    et_node(&m, 121, 120, 1, ET_MM, "1:3x2/1/3 51:2x4/0/0", "12:3x4");
    et_accumulate(&m, 130, 1, "12:3x4");
    et_op(&m, 140, ET_ADD_, "2:3x4 12:3x4 =1", "2:3x4");
    check_trained(&m);
}

/* It copies what somebody else holds, too: the copy is the gradient. */
static void test_backward__gradient_is_copied(void)
{
    struct made_et m = {0};

    forward(&m);
    et_node(&m, 120, 0, 1, ET_ENGINE "MmBackward0", "", "");
    et_node(&m, 121, 120, 1, ET_MM, "1:3x2/1/3 51:2x4/0/0", "12:3x4");
    et_accumulate(&m, 130, 1, "12:3x4");
    et_node(&m, 132, 131, 1, "aten::clone(Tensor self) -> Tensor", "12:3x4",
            "13:3x4");
    et_op(&m, 140, ET_ADD_, "2:3x4 13:3x4 =1", "2:3x4");
    check_trained(&m);
}

/* Nobody set the gradients back: what is added to comes from outside. */
static void test_backward__gradient_of_an_earlier_step(void)
{
    struct made_et m = {0};
    struct made_program x;

    forward(&m);
    et_node(&m, 120, 0, 1, ET_ENGINE "MmBackward0", "", "");
    et_node(&m, 121, 120, 1, ET_MM, "1:3x2/1/3 51:2x4/0/0", "12:3x4");
    et_accumulate(&m, 130, 1, "12:3x4");
    et_node(&m, 132, 131, 1, ET_ADD_, "9:3x4 12:3x4 =1", "9:3x4");
    et_op(&m, 140, ET_ADD_, "2:3x4 9:3x4 =1", "2:3x4");
    REQUIRE(program_of(&m, &x, NULL, false));
    CHECK_INT(x.p->form, MSIM_FORM_DIRECT);
    CHECK_STR(x.p->why_direct, "gradients of an earlier step are added to");
    program_done(&x);
}

/* On a GPU backward has a thread of its own; its nodes still count on. */
static void test_backward__backward_on_another_thread(void)
{
    struct made_et m = {0};

    forward(&m);
    et_node(&m, 120, 0, 2, ET_ENGINE "MmBackward0", "", "");
    et_node(&m, 121, 120, 2, ET_MM, "1:3x2/1/3 51:2x4/0/0", "12:3x4");
    et_accumulate(&m, 130, 2, "12:3x4");
    et_op(&m, 140, ET_ADD_, "2:3x4 12:3x4 =1", "2:3x4");
    check_trained(&m);
}

/* Nothing is trained: whose look the gradient has, that was the parameter. */
static void test_backward__no_optimizer(void)
{
    struct made_et m = {0};
    struct made_program x;

    forward(&m);
    et_accumulate(&m, 130, 1, "12:3x4");
    REQUIRE(program_of(&m, &x, NULL, false));
    CHECK_STR(x.text, "def step():\n"
                      "    begin_step()\n"
                      "    # forward\n"
                      "    x0 = aten.mm.default(X[0], X[1])\n"
                      "    x0 = aten.sum.default(x0)\n"
                      "    # backward\n"
                      "    x0.backward()\n"
                      "    del x0\n");
    CHECK_INT(msim_program_outside(x.p, 0)->role, MSIM_ROLE_INPUT);
    CHECK_INT(msim_program_outside(x.p, 1)->role, MSIM_ROLE_PARAMETER);
    program_done(&x);
}

/* Gradients of two losses add up: both are of the same parameter, and the
 * optimizer reads what the second left. */
static void test_backward__two_backwards(void)
{
    struct made_et m = {0};

    forward(&m);
    et_accumulate(&m, 130, 1, "12:3x4");
    et_op(&m, 200, ET_MM, "1:2x3 2:3x4", "8:2x4");
    et_op(&m, 210, ET_SUM, "8:2x4 -", "60:");
    et_op(&m, 211, ET_ONES_LIKE, "60: - - - - =1", "61:");
    et_accumulate(&m, 230, 1, "13:3x4");
    et_node(&m, 232, 231, 1, ET_ADD_, "12:3x4 13:3x4 =1", "12:3x4");
    et_op(&m, 240, SGD_, "(2:3x4) (12:3x4) =1", "");
    CHECK_PROGRAM(&m, "def step():\n"
                      "    begin_step()\n"
                      "    # forward\n"
                      "    x0 = aten.mm.default(X[0], X[1])\n"
                      "    x0 = aten.sum.default(x0)\n"
                      "    # backward\n"
                      "    x0.backward()\n"
                      "    del x0\n"
                      "    # forward\n"
                      "    x0 = aten.mm.default(X[0], X[1])\n"
                      "    x0 = aten.sum.default(x0)\n"
                      "    # backward\n"
                      "    x0.backward()\n"
                      "    del x0\n"
                      "    # optimizer\n"
                      "    with torch.no_grad():\n"
                      "        aten._foreach_add_.List([X[1]], [G[1]])\n");
}

/* Two losses, each of a parameter of its own (a GAN): not every backward makes
 * a gradient of every parameter, so that one gradient is missing. */
static void test_backward__backwards_of_other_parameters(void)
{
    struct made_et m = {0};
    struct made_program x;

    forward(&m);
    et_accumulate(&m, 130, 1, "12:3x4");
    et_op(&m, 200, ET_MM, "1:2x3 3:3x5", "8:2x5");
    et_op(&m, 210, ET_SUM, "8:2x5 -", "60:");
    et_op(&m, 211, ET_ONES_LIKE, "60: - - - - =1", "61:");
    et_accumulate(&m, 230, 1, "13:3x5");
    et_op(&m, 240, SGD_, "(2:3x4 3:3x5) (12:3x4 13:3x5) =1", "");
    REQUIRE(program_of(&m, &x, NULL, false));
    CHECK_INT(x.p->form, MSIM_FORM_DIRECT);
    CHECK(x.p->why_direct != NULL);
    program_done(&x);
}

/* Two gradients, but only one tensor that forward reads and an optimizer
 * writes: backward is called operator by operator, and that is said. */
static void test_backward__parameters_do_not_fit(void)
{
    struct made_et m = {0};
    struct made_program x;

    forward(&m);
    et_node(&m, 120, 0, 1, ET_ENGINE "MmBackward0", "", "");
    et_node(&m, 121, 120, 1, ET_MM, "1:3x2/1/3 51:2x4/0/0", "12:3x4");
    et_accumulate(&m, 130, 1, "12:3x4");
    et_accumulate(&m, 132, 1, "51:7x7/0/0");
    et_op(&m, 140, ET_ADD_, "2:3x4 12:3x4 =1", "2:3x4");
    REQUIRE(program_of(&m, &x, NULL, false));
    CHECK_INT(x.p->form, MSIM_FORM_DIRECT);
    REQUIRE(x.p->why_direct != NULL);
    CHECK(strstr(x.p->why_direct, "the parameters cannot be told") != NULL);
    CHECK(strstr(x.text, "aten.ones_like.default(x0") != NULL);
    program_done(&x);
}

/* backward() without a loss (a gradient is handed in) cannot be called. */
static void test_backward__no_single_loss(void)
{
    struct made_et m = {0};
    struct made_program x;

    et_op(&m, 100, ET_MM, "1:2x3 2:3x4", "7:2x4");
    et_node(&m, 120, 0, 1, ET_ENGINE "MmBackward0", "", "");
    et_node(&m, 121, 120, 1, ET_MM, "1:3x2/1/3 9:2x4", "12:3x4");
    et_accumulate(&m, 130, 1, "12:3x4");
    REQUIRE(program_of(&m, &x, NULL, false));
    CHECK_INT(x.p->form, MSIM_FORM_DIRECT);
    CHECK_STR(x.p->why_direct, "backward does not begin at one loss");
    CHECK_STR(x.text, "@torch.no_grad()\n"
                      "def step():\n"
                      "    aten.mm.default(X[0], X[1])\n"
                      "    aten.mm.default(X[2], X[3])\n");
    program_done(&x);
}

/* --direct: ones and the operators of the engine are called one by one, and
 * what chose among others because gradients were recorded by its choice. */
static void test_backward__direct(void)
{
    struct msim_program_options o = {.step = MSIM_NONE, .direct = true};
    struct made_et m = {0};
    struct made_program x;

    m.seq = 3;
    et_op(&m, 100, ET_LINEAR, "1:2x3 2:4x3 -", "7:2x4");
    et_node(&m, 101, 100, 1, ET_T, "2:4x3", "3#2:3x4/1/3");
    et_node(&m, 102, 100, 1, ET_MM, "1:2x3 3#2:3x4/1/3", "7:2x4");
    et_loss(&m, 110, "7:2x4 -");
    et_node(&m, 120, 0, 1, ET_ENGINE "MmBackward0", "", "");
    et_node(&m, 121, 120, 1, ET_MM, "1:3x2/1/3 51:2x4/0/0", "12:3x4");
    et_accumulate(&m, 130, 1, "12:3x4");
    REQUIRE(program_of(&m, &x, &o, false));
    CHECK(x.p->why_direct == NULL);
    CHECK_STR(x.text, "@torch.no_grad()\n"
                      "def step():\n"
                      "    x0 = aten.t.default(X[0])\n"
                      "    x0 = aten.mm.default(X[1], x0)\n"
                      "    x0 = aten.sum.default(x0)\n"
                      "    aten.ones_like.default(x0, memory_format="
                      "torch.preserve_format)\n"
                      "    del x0\n"
                      "    aten.mm.default(X[2], X[3])\n");
    program_done(&x);
}

int main(void)
{
    RUN(test_backward__gradient_is_stolen);
    RUN(test_backward__gradient_is_copied);
    RUN(test_backward__gradient_of_an_earlier_step);
    RUN(test_backward__backward_on_another_thread);
    RUN(test_backward__no_optimizer);
    RUN(test_backward__two_backwards);
    RUN(test_backward__backwards_of_other_parameters);
    RUN(test_backward__parameters_do_not_fit);
    RUN(test_backward__no_single_loss);
    RUN(test_backward__direct);
    return check_summary();
}
