/*
 * tests/unit/replay/program/test_make_program.c - from small traces to what is
 * called, on which result. The text of step() says both: X[i] is the i-th
 * tensor from outside, G[i] the i-th gradient, in the order in which they are
 * first read (made).
 */
#include "core/trace/trace_steps.h"

#include "tests/unit/made_et.h"

#define DROPOUT "aten::dropout(Tensor input, float p, bool train) -> Tensor"

/* ---- which result a tensor is ------------------------------------------- */

static void test_program__results_and_outside(void)
{
    struct made_et m = {0};

    et_op(&m, 100, ET_MM, "1:2x3 2:3x4", "7:2x4");
    et_op(&m, 110, ET_MM, "7:2x4 3:4x4", "8:2x4");
    et_op(&m, 120, ET_ADD, "8:2x4 7:2x4 =1", "9:2x4");
    CHECK_PROGRAM(&m, "@torch.no_grad()\n"
                      "def step():\n"
                      "    x0 = aten.mm.default(X[0], X[1])\n"
                      "    x1 = aten.mm.default(x0, X[2])\n"
                      "    aten.add.Tensor(x1, x0)\n"
                      "    del x0, x1\n");
}

/* Storage 7 is freed and given to another result: 130 reads the second, whose
 * look differs in nothing from the first's. */
static void test_program__storage_is_used_again(void)
{
    struct made_et m = {0};

    et_op(&m, 100, ET_RELU, "1:2x4", "7:2x4");
    et_op(&m, 110, ET_RELU, "7:2x4", "8:2x4");
    et_op(&m, 120, ET_TANH, "8:2x4", "17#7:2x4");
    et_op(&m, 130, ET_ADD, "17#7:2x4 8:2x4 =1", "9:2x4");
    CHECK_PROGRAM(&m, "@torch.no_grad()\n"
                      "def step():\n"
                      "    x0 = aten.relu.default(X[0])\n"
                      "    x0 = aten.relu.default(x0)\n"
                      "    x1 = aten.tanh.default(x0)\n"
                      "    aten.add.Tensor(x1, x0)\n"
                      "    del x0, x1\n");
}

/* The same with the tensor's id used again, too. */
static void test_program__tensor_is_used_again(void)
{
    struct made_et m = {0};

    et_op(&m, 100, ET_RELU, "1:2x4", "7:2x4");
    et_op(&m, 110, ET_RELU, "7:2x4", "8:2x4");
    et_op(&m, 120, ET_TANH, "8:2x4", "7:2x4");
    et_op(&m, 130, ET_ADD, "7:2x4 8:2x4 =1", "9:2x4");
    CHECK_PROGRAM(&m, "@torch.no_grad()\n"
                      "def step():\n"
                      "    x0 = aten.relu.default(X[0])\n"
                      "    x0 = aten.relu.default(x0)\n"
                      "    x1 = aten.tanh.default(x0)\n"
                      "    aten.add.Tensor(x1, x0)\n"
                      "    del x0, x1\n");
}

/* Halves of one storage differ in their offset alone, and x.t() in its sizes;
 * tensors of other ids that look the same (a saved one) are the same. */
static void test_program__views(void)
{
    struct made_et m = {0};

    et_op(&m, 100,
          "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, "
          "int dim=0) -> Tensor(a)[]",
          "1:4x3 =2 =0", "(7#1:2x3 8#1:2x3@6)");
    et_op(&m, 110, ET_T, "8#1:2x3@6", "9#1:3x2@6/1/3");
    et_op(&m, 120, ET_MM, "19#1:2x3 29#1:3x2@6/1/3", "5:2x2");
    CHECK_PROGRAM(&m, "@torch.no_grad()\n"
                      "def step():\n"
                      "    x0, x1 = aten.split.Tensor(X[0], 2)\n"
                      "    x1 = aten.t.default(x1)\n"
                      "    aten.mm.default(x0, x1)\n"
                      "    del x0, x1\n");
}

/* x and x.detach() differ in their ids alone: each is the one that it was. */
static void test_program__same_look_other_id(void)
{
    struct made_et m = {0};

    et_op(&m, 100, ET_RELU, "1:2x4", "7:2x4");
    et_op(&m, 110, "aten::detach(Tensor(a) self) -> Tensor(a)", "7:2x4",
          "8#7:2x4");
    et_op(&m, 120, ET_ADD, "7:2x4 8#7:2x4 =1", "9:2x4");
    CHECK_PROGRAM(&m, "@torch.no_grad()\n"
                      "def step():\n"
                      "    x0 = aten.relu.default(X[0])\n"
                      "    x1 = aten.detach.default(x0)\n"
                      "    aten.add.Tensor(x0, x1)\n"
                      "    del x0, x1\n");
}

/* Written in place, a result keeps the name that it has: nothing is assigned.
 * Where it looks another way afterwards (t_), it gets one. */
static void test_program__in_place(void)
{
    struct made_et m = {0};

    et_op(&m, 100, ET_RELU, "1:2x4", "7:2x4");
    et_op(&m, 110, ET_ADD_, "7:2x4 2:2x4 =1", "7:2x4");
    et_op(&m, 120, "aten::t_(Tensor(a!) self) -> Tensor(a!)", "7:2x4",
          "7:4x2/1/4");
    et_op(&m, 130, ET_RELU, "7:4x2/1/4", "8:4x2");
    CHECK_PROGRAM(&m, "@torch.no_grad()\n"
                      "def step():\n"
                      "    x0 = aten.relu.default(X[0])\n"
                      "    aten.add_.Tensor(x0, X[1])\n"
                      "    x0 = aten.t_.default(x0)\n"
                      "    aten.relu.default(x0)\n"
                      "    del x0\n");
}

/* Tensors without elements share a storage: their ids tell them. */
static void test_program__without_elements(void)
{
    struct made_et m = {0};

    et_op(&m, 100, ET_RELU, "1#251:0", "2#251:0");
    et_op(&m, 110, ET_TANH, "2#251:0", "3#251:0");
    et_op(&m, 120, ET_ADD, "2#251:0 4#251:0 =1", "5#251:0");
    CHECK_PROGRAM(&m, "@torch.no_grad()\n"
                      "def step():\n"
                      "    x0 = aten.relu.default(X[0])\n"
                      "    aten.tanh.default(x0)\n"
                      "    aten.add.Tensor(x0, X[1])\n"
                      "    del x0\n");
}

/* ---- operators that are opened ------------------------------------------ */

/* dropout is made of others, and 130 reads the mask from its inside. */
static void test_program__opens_what_is_read(void)
{
    struct made_et m = {0};

    et_op(&m, 100, DROPOUT, "1:2x4 =0.5 =true", "9:2x4");
    et_node(&m, 101, 100, 1, ET_RELU, "1:2x4", "8:2x4");
    et_node(&m, 102, 100, 1, ET_MUL, "1:2x4 8:2x4", "9:2x4");
    et_op(&m, 130, ET_MUL, "9:2x4 8:2x4", "10:2x4");
    CHECK_PROGRAM(&m, "@torch.no_grad()\n"
                      "def step():\n"
                      "    x0 = aten.relu.default(X[0])\n"
                      "    x1 = aten.mul.Tensor(X[0], x0)\n"
                      "    aten.mul.Tensor(x1, x0)\n"
                      "    del x0, x1\n");
}

/* Nobody looks inside: the outermost is called. */
static void test_program__keeps_the_outermost(void)
{
    struct made_et m = {0};

    et_op(&m, 100, DROPOUT, "1:2x4 =0.5 =true", "9:2x4");
    et_node(&m, 101, 100, 1, ET_RELU, "1:2x4", "8:2x4");
    et_node(&m, 102, 100, 1, ET_MUL, "1:2x4 8:2x4", "9:2x4");
    et_op(&m, 130, ET_RELU, "9:2x4", "10:2x4");
    CHECK_PROGRAM(&m, "@torch.no_grad()\n"
                      "def step():\n"
                      "    x0 = aten.dropout.default(X[0], 0.5, True)\n"
                      "    aten.relu.default(x0)\n"
                      "    del x0\n");
}

/* An operator with a kernel of its own cannot be opened: what it hides comes
 * from outside, and a note says so. */
static void test_program__cannot_open(void)
{
    struct made_et m = {0};
    struct made_program x;

    et_op(&m, 100, ET_MM, "1:2x4 2:4x4", "9:2x4");
    et_node(&m, 101, 100, 1, ET_RELU, "1:2x4", "8:2x4");
    et_op(&m, 130, ET_MUL, "9:2x4 8:2x4", "10:2x4");
    REQUIRE(program_of(&m, &x, NULL, false));
    CHECK_STR(x.text, "@torch.no_grad()\n"
                      "def step():\n"
                      "    x0 = aten.mm.default(X[0], X[1])\n"
                      "    aten.mul.Tensor(x0, X[2])\n"
                      "    del x0\n");
    CHECK_UINT(x.p->n_opened, 0);
    REQUIRE(x.p->notes.n == 1);
    CHECK_STR(((char **)x.p->notes.data)[0],
              "node 130 'aten::mul' reads a tensor that 'aten::relu' (node "
              "101) makes inside: it comes from outside here");
    program_done(&x);
}

/* Autocast calls an operator, casts and calls it once more: the inner one. */
static void test_program__autocast(void)
{
    struct made_et m = {0};

    et_op(&m, 100, ET_MM, "1:2x4 2:4x4", "9:2x4h");
    et_node(&m, 101, 100, 1,
            "aten::to.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
            "1:2x4 =5", "8:2x4h");
    et_node(&m, 102, 100, 1, ET_MM, "8:2x4h 2:4x4", "9:2x4h");
    et_op(&m, 130, ET_RELU, "9:2x4h", "10:2x4h");
    CHECK_PROGRAM(&m, "@torch.no_grad()\n"
                      "def step():\n"
                      "    x0 = aten.to.dtype(X[0], torch.float16)\n"
                      "    x0 = aten.mm.default(x0, X[1])\n"
                      "    aten.relu.default(x0)\n"
                      "    del x0\n");
}

/* What an OpenMP worker does while 100 runs is part of 100, although it is on a
 * thread of its own; what it does afterwards is not. */
static void test_program__worker_threads(void)
{
    struct made_et m = {0};

    et_op(&m, 100, ET_MM, "1:2x4 2:4x4", "9:2x4");
    et_node(&m, 101, 100, 1, ET_RELU, "1:2x4", "7:2x4");
    et_node(&m, 102, 0, 2, ET_RELU, "1:2x4", "8:2x4");
    et_node(&m, 103, 100, 1, ET_RELU, "1:2x4", "7:2x4");
    et_node(&m, 110, 0, 2, ET_TANH, "9:2x4", "11:2x4");
    CHECK_PROGRAM(&m, "@torch.no_grad()\n"
                      "def step():\n"
                      "    x0 = aten.mm.default(X[0], X[1])\n"
                      "    aten.tanh.default(x0)\n"
                      "    del x0\n");
}

/* ---- numbers ------------------------------------------------------------ */

/* x * 0.9 and x * 2 show a tensor of one number each: 1 of its type. A counter
 * that is read twice and written comes from outside. */
static void test_program__wrapped_numbers(void)
{
    struct made_et m = {0};

    et_op(&m, 100, ET_MUL, "1:2x4 2:d", "7:2x4");
    et_op(&m, 110, ET_MUL, "7:2x4 3:l", "8:2x4");
    et_op(&m, 120, ET_ADD_, "4:l 5:l =1", "4:l");
    et_op(&m, 130, ET_MUL, "8:2x4 4:l", "9:2x4");
    CHECK_PROGRAM(&m, "@torch.no_grad()\n"
                      "def step():\n"
                      "    x0 = aten.mul.Tensor(X[0], 1.0)\n"
                      "    x0 = aten.mul.Tensor(x0, 1)\n"
                      "    aten.add_.Tensor(X[1], 1)\n"
                      "    aten.mul.Tensor(x0, X[1])\n"
                      "    del x0\n");
}

/* The number's storage is that of a result that is gone: it is no result. */
static void test_program__number_in_a_used_storage(void)
{
    struct made_et m = {0};

    et_op(&m, 100, "aten::sum(Tensor self) -> Tensor", "1:2x4d", "7:d");
    et_op(&m, 110, ET_MUL, "1:2x4d 7:d", "8:2x4d");
    et_op(&m, 120, ET_MUL, "8:2x4d 9:d", "10:2x4d");
    CHECK_PROGRAM(&m, "@torch.no_grad()\n"
                      "def step():\n"
                      "    x0 = aten.sum.default(X[0])\n"
                      "    x0 = aten.mul.Tensor(X[0], x0)\n"
                      "    aten.mul.Tensor(x0, 1.0)\n"
                      "    del x0\n");
}

/* Where a trace has values of whole numbers, they are known. */
static void test_program__number_with_a_value(void)
{
    struct made_et m = {0};

    m.ranges = "{\\\"1\\\":[3,3]}";
    et_op(&m, 100, ET_MUL, "1:2x4 2:l", "7:2x4");
    CHECK_PROGRAM(&m, "@torch.no_grad()\n"
                      "def step():\n"
                      "    aten.mul.Tensor(X[0], 3)\n");
}

/* ---- steps -------------------------------------------------------------- */

static void test_program__steps(void)
{
    struct msim_program_options o = {.step = 0};
    struct made_et m = {0};
    struct made_program x;
    const struct msim_trace *t;

    et_node(&m, 100, 0, 1, "ProfilerStep#4", "", "");
    et_node(&m, 110, 100, 1, ET_RELU, "1:2x4", "7:2x4");
    et_node(&m, 200, 0, 1, "ProfilerStep#5", "", "");
    et_node(&m, 210, 200, 1, ET_TANH, "1:2x4", "7:2x4");
    et_node(&m, 300, 0, 1, "ProfilerStep#6", "", "");
    REQUIRE(program_of(&m, &x, &o, false));
    CHECK_STR(x.text, "@torch.no_grad()\n"
                      "def step():\n"
                      "    aten.relu.default(X[0])\n");
    t = x.job->ranks[0];
    REQUIRE(t->n_steps == 2); /* #6 has nothing in it */
    CHECK_UINT(t->steps[1].node_from, 200);
    CHECK_UINT(t->steps[1].node_to, 300);
    CHECK_INT(msim_step_settled(t, &o.step), MSIM_OK);
    CHECK_UINT(o.step, 1);
    program_done(&x);
}

/* A step with nothing to call: refused by name. */
static void test_program__empty_step(void)
{
    struct msim_program_options o = {.step = 1};
    struct made_et m = {0};
    struct made_program x;

    et_node(&m, 100, 0, 1, "ProfilerStep#4", "", "");
    et_node(&m, 110, 100, 1, ET_RELU, "1:2x4", "7:2x4");
    et_node(&m, 200, 0, 1, "ProfilerStep#5", "", "");
    et_node(&m, 210, 200, 1, "my::own", "", "");
    REQUIRE(!program_of(&m, &x, &o, false));
    CHECK_INT(x.status, MSIM_EFORMAT);
    CHECK(strstr(x.err.text, "found no operator with a signature") != NULL);
    CHECK(x.p == NULL);
    program_done(&x);
}

/* ---- what tensors from outside are -------------------------------------- */

/* Two looks at one storage become views of one piece of memory: elements 0 to 3
 * and 2 to 9 of it. */
static void test_program__shared_storage(void)
{
    struct made_et m = {0};
    struct made_program x;
    const struct msim_outside *o;

    et_op(&m, 100, ET_ADD, "1#9:4 2#9:8@2 =1", "7:8");
    REQUIRE(program_of(&m, &x, NULL, false));
    REQUIRE(x.p->outside.n == 3);
    o = msim_program_outside(x.p, 2);
    CHECK_INT(o->role, MSIM_ROLE_MEMORY);
    CHECK_INT(o->elements, 10);
    CHECK_UINT(msim_program_outside(x.p, 0)->base, 2);
    CHECK_UINT(msim_program_outside(x.p, 1)->base, 2);
    CHECK_INT(msim_program_outside(x.p, 1)->offset, 2);
    CHECK_UINT(o->base, MSIM_NONE);
    program_done(&x);
}

/* An index points at the rows of its table, offsets divide its indices, and
 * what a norm reads as its weight has to be above 0. */
static void test_program__roles(void)
{
    struct made_et m = {0};
    struct made_program x;

    et_op(&m, 100, "aten::embedding(Tensor weight, Tensor indices) -> Tensor",
          "1:50x8 2:4x6l", "7:4x6x8");
    et_op(&m, 110,
          "aten::_embedding_bag(Tensor weight, Tensor indices, Tensor "
          "offsets) -> Tensor",
          "3:20x8 4:12l 5:3l", "8:3x8");
    et_op(&m, 120,
          "aten::layer_norm(Tensor input, Tensor weight, Tensor bias) "
          "-> Tensor",
          "8:3x8 6:8 9:8", "10:3x8");
    et_op(&m, 130, ET_ADD_, "11:3x8 10:3x8 =1", "11:3x8");
    REQUIRE(program_of(&m, &x, NULL, false));
    REQUIRE(x.p->outside.n == 8);
    CHECK_INT(msim_program_outside(x.p, 1)->role, MSIM_ROLE_INDEX);
    CHECK_INT(msim_program_outside(x.p, 1)->high, 49);
    CHECK_INT(msim_program_outside(x.p, 3)->role, MSIM_ROLE_INDEX);
    CHECK_INT(msim_program_outside(x.p, 3)->high, 19);
    CHECK_INT(msim_program_outside(x.p, 4)->role, MSIM_ROLE_OFFSETS);
    CHECK_INT(msim_program_outside(x.p, 4)->high, 12);
    CHECK(msim_program_outside(x.p, 5)->positive);
    CHECK(!msim_program_outside(x.p, 6)->positive);
    CHECK_INT(msim_program_outside(x.p, 7)->role, MSIM_ROLE_STATE);
    program_done(&x);
}

/* ---- what is left out --------------------------------------------------- */

static void test_program__left_out(void)
{
    struct made_et m = {0};
    struct made_program x;

    et_op(&m, 100, ET_RELU, "1:2x4", "7:2x4");
    et_op(&m, 110, "triton_poi_fused_0", "7:2x4", "8:2x4");
    et_op(&m, 120, "my::hidden", "7:2x4", "9:2x4");
    et_op(&m, 130, "just a label", "", "");
    et_op(&m, 140, "my::broken(Tensor", "7:2x4", "9:2x4");
    et_op(&m, 150, "x'y::z(Tensor a) -> Tensor", "7:2x4", "9:2x4");
    /* A mark of the profiler is no work that could be missed. */
    et_op(&m, 160, "profiler::_record_function_exit(Tensor _0) -> ()", "7:2x4",
          "");
    REQUIRE(program_of(&m, &x, NULL, false));
    REQUIRE(x.p->left_out.n == 4);
    CHECK(strstr(msim_program_left_out(x.p, 0)->reason, "generated code"));
    CHECK(strstr(msim_program_left_out(x.p, 1)->reason, "no signature"));
    CHECK(strstr(msim_program_left_out(x.p, 2)->reason, "no signature"));
    CHECK(strstr(msim_program_left_out(x.p, 3)->reason, "no signature"));
    CHECK_UINT(x.p->statements.n, 1);
    program_done(&x);
}

/* ---- what is refused ---------------------------------------------------- */

static void check_refused(const char *tensor, bool refused)
{
    struct made_et m = {0};
    struct made_program x;

    et_op(&m, 100, ET_RELU, "1:2x4", "7:2x4");
    et_op(&m, 110, ET_RELU, "7:2x4", tensor);
    CHECK_INT(program_of(&m, &x, NULL, true), !refused);
    if (refused) {
        CHECK_INT(x.status, MSIM_EFORMAT);
        CHECK(strstr(x.err.text, "node 110 'aten::relu': its tensor of sizes "
                                 "[") != NULL);
    }
    program_done(&x);
}

/* 2^46 bytes of fp32 are 2^44 elements, wherever they lie; sizes that overflow
 * 64 bits are more, also beside one of 0, and nothing lies before its memory.
 */
static void test_program__tensors_that_nobody_holds(void)
{
    check_refused("8:17592186044416", false); /* 2^44 */
    check_refused("8:17592186044417", true);
    check_refused("8:4194304x4194304", false);
    check_refused("8:4194304x4194305", true);
    check_refused("8:4294967296x4294967296x4294967296", true);
    check_refused("8:4294967296x0x4294967296", true);
    check_refused("8:9223372036854775807", true);
    check_refused("8:2@17592186044414", false);
    check_refused("8:2@17592186044415", true);
    check_refused("8:2@9223372036854775807", true);
    check_refused("8:2@-1", true);
    check_refused("8:2/17592186044415", false);
    check_refused("8:2/17592186044416", true);
    check_refused("8:1024x1024x1024x1024/0/0/0/1", false); /* one row */
    check_refused("8:65536x65536x65536/0/0/0", true);
    check_refused("8:70368744177664b/0", false); /* 2^46, all of them one */
    check_refused("8:70368744177665b/0", true);
}

/* What a signature asks for is there, unless it may be left out or stands for a
 * gradient that nobody wants. */
static void check_absent(const char *schema, const char *args, bool refused)
{
    struct made_et m = {0};
    struct made_program x;

    et_op(&m, 100, schema, args, "8:2");
    CHECK_INT(program_of(&m, &x, NULL, true), !refused);
    if (refused)
        CHECK(strstr(x.err.text, "node 100 'my::f': its tensor 'y' was never "
                                 "made") != NULL);
    program_done(&x);
}

static void test_program__tensors_that_nobody_made(void)
{
    check_absent("my::f(Tensor x, Tensor y) -> Tensor", "7:2 8:2", false);
    check_absent("my::f(Tensor x, Tensor y) -> Tensor", "7:2 -", true);
    check_absent("my::f(Tensor x, Tensor y) -> Tensor", "7:2 !", true);
    check_absent("my::f(Tensor x, Tensor(a!) y) -> Tensor", "7:2 -", true);
    check_absent("my::f(Tensor x, Tensor? y) -> Tensor", "7:2 -", false);
    check_absent("my::f(Tensor x, Tensor[] y) -> Tensor", "7:2 (-)", false);
    check_absent("my::f(Tensor x, int y) -> Tensor", "7:2 -", false);
    check_absent("my::f_backward(Tensor x, Tensor y) -> Tensor", "7:2 -",
                 false);
}

static void test_program__needs_an_et(void)
{
    struct msim_trace t = {0};
    struct msim_program_options o = {.step = MSIM_NONE};
    struct msim_error err = {0};
    struct msim_program *p;

    CHECK_INT(msim_program_new(&p, &t, &o, &err), MSIM_EFORMAT);
    CHECK(p == NULL && strstr(err.text, "found no execution trace") != NULL);
}

int main(void)
{
    RUN(test_program__results_and_outside);
    RUN(test_program__storage_is_used_again);
    RUN(test_program__tensor_is_used_again);
    RUN(test_program__views);
    RUN(test_program__same_look_other_id);
    RUN(test_program__in_place);
    RUN(test_program__without_elements);
    RUN(test_program__opens_what_is_read);
    RUN(test_program__keeps_the_outermost);
    RUN(test_program__cannot_open);
    RUN(test_program__autocast);
    RUN(test_program__worker_threads);
    RUN(test_program__wrapped_numbers);
    RUN(test_program__number_in_a_used_storage);
    RUN(test_program__number_with_a_value);
    RUN(test_program__steps);
    RUN(test_program__empty_step);
    RUN(test_program__shared_storage);
    RUN(test_program__roles);
    RUN(test_program__left_out);
    RUN(test_program__tensors_that_nobody_holds);
    RUN(test_program__tensors_that_nobody_made);
    RUN(test_program__needs_an_et);
    return check_summary();
}
