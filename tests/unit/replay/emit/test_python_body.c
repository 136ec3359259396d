/*
 * tests/unit/replay/emit/test_python_body.c - the text of step(): names given,
 * let go and used again, loops, calls. What is let go when, follows from the
 * last reader of each result.
 */
#include "tests/unit/made_et.h"

MSIM_PRINTF(5, 6)
static void op(struct made_et *m, unsigned id, const char *schema,
               unsigned result, const char *fmt, ...)
{
    char in[256], out[32];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(in, sizeof(in), fmt, ap);
    va_end(ap);
    snprintf(out, sizeof(out), "%u:4x4", result);
    et_op(m, id, schema, in, out);
}

/* One statement with `schema`, written as `want`. */
static void check_call(const char *schema, const char *in, const char *want)
{
    struct made_et m = {0};
    char line[1024];

    et_op(&m, 100, schema, in, "");
    snprintf(line, sizeof(line), "    %s\n", want);
    et_check_text(&m, false, line);
}

/* ---- names -------------------------------------------------------------- */

/* 7 is read until 130, 8 until 120: the result of 120 takes the name of 8. A
 * result that nobody reads has none. */
static void test_body__names_are_used_again(void)
{
    struct made_et m = {0};

    op(&m, 100, ET_RELU, 7, "1:4x4");
    op(&m, 110, ET_RELU, 8, "7:4x4");
    op(&m, 120, ET_TANH, 9, "8:4x4");
    op(&m, 130, ET_ADD, 10, "9:4x4 7:4x4 =1");
    op(&m, 140, ET_RELU, 11, "10:4x4");
    op(&m, 150, ET_RELU, 12, "10:4x4");
    et_check_text(&m, false,
                  "    x0 = aten.relu.default(X[0])\n"
                  "    x1 = aten.relu.default(x0)\n"
                  "    x1 = aten.tanh.default(x1)\n"
                  "    x0 = aten.add.Tensor(x1, x0)\n"
                  "    del x1\n"
                  "    aten.relu.default(x0)\n"
                  "    aten.relu.default(x0)\n"
                  "    del x0\n");
}

/* The last reader returns nothing that anybody reads: what it read is deleted
 * behind it. */
static void test_body__deletes(void)
{
    struct made_et m = {0};

    op(&m, 100, ET_RELU, 7, "1:4x4");
    op(&m, 110, ET_RELU, 8, "1:4x4");
    op(&m, 120, ET_ADD_, 1, "1:4x4 7:4x4 =1");
    op(&m, 130, ET_ADD_, 1, "1:4x4 8:4x4 =1");
    et_check_text(&m, false,
                  "    x0 = aten.relu.default(X[0])\n"
                  "    x1 = aten.relu.default(X[0])\n"
                  "    aten.add_.Tensor(X[0], x0)\n"
                  "    del x0\n"
                  "    aten.add_.Tensor(X[0], x1)\n"
                  "    del x1\n");
}

#define TWO  "my::two(Tensor x) -> (Tensor, Tensor)"
#define LIST "my::list(Tensor x) -> Tensor[]"

/* Several results: the first alone by its place; one that nobody reads gets a
 * name that goes at once. */
static void test_body__several_results(void)
{
    struct made_et m = {0};

    et_op(&m, 100, TWO, "1:4x4", "7:4x4 8:4x4");
    op(&m, 110, ET_RELU, 9, "7:4x4");
    et_op(&m, 120, TWO, "1:4x4", "17:4x4 18:4x4");
    op(&m, 130, ET_RELU, 19, "18:4x4");
    et_op(&m, 140, TWO, "1:4x4", "27:4x4 28:4x4");
    et_check_text(&m, false,
                  "    x0 = torch.ops.my.two.default(X[0])[0]\n"
                  "    aten.relu.default(x0)\n"
                  "    del x0\n"
                  "    x0, x1 = torch.ops.my.two.default(X[0])\n"
                  "    del x0\n"
                  "    aten.relu.default(x1)\n"
                  "    del x1\n"
                  "    torch.ops.my.two.default(X[0])\n");
}

/* Lists of results: short ones are taken apart, also one of one, and one beside
 * another result; numbers in between are no results. */
static void test_body__lists_of_results(void)
{
    struct made_et m = {0};

    et_op(&m, 100, LIST, "1:4x4", "(7:4x4)");
    op(&m, 110, ET_RELU, 8, "7:4x4");
    et_op(&m, 120, LIST, "1:4x4", "(17:4x4 18:4x4)");
    op(&m, 130, ET_ADD, 19, "17:4x4 18:4x4 =1");
    et_op(&m, 140, "my::mix(Tensor x) -> (int, Tensor[], Tensor)", "1:4x4",
          "=5 (27:4x4) 28:4x4");
    op(&m, 150, ET_ADD, 29, "27:4x4 28:4x4 =1");
    et_check_text(&m, false,
                  "    x0, = torch.ops.my.list.default(X[0])\n"
                  "    aten.relu.default(x0)\n"
                  "    del x0\n"
                  "    x0, x1 = torch.ops.my.list.default(X[0])\n"
                  "    aten.add.Tensor(x0, x1)\n"
                  "    del x0, x1\n"
                  "    _, (x0,), x1 = torch.ops.my.mix.default(X[0])\n"
                  "    aten.add.Tensor(x0, x1)\n"
                  "    del x0, x1\n");
}

/* More than eight results of a list stay a list; all of them, handed on, are
 * the list. */
static void test_body__long_lists_stay(void)
{
    struct made_et m = {0};
    char list[256] = "(", all[300];
    size_t n = 1;

    for (int i = 0; i < 9; i++)
        n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%d:4x4",
                              i ? " " : "", 10 + i);
    snprintf(list + n, sizeof(list) - n, ")");
    et_op(&m, 100, LIST, "1:4x4", list);
    op(&m, 110, ET_ADD, 30, "10:4x4 18:4x4 =1");
    snprintf(all, sizeof(all), "%s", list);
    et_op(&m, 120, "my::take(Tensor[] x) -> Tensor", all, "31:4x4");
    et_check_text(&m, false,
                  "    x0 = torch.ops.my.list.default(X[0])\n"
                  "    aten.add.Tensor(x0[0], x0[8])\n"
                  "    torch.ops.my.take.default(x0)\n"
                  "    del x0\n");
}

/* ---- loops -------------------------------------------------------------- */

/* x = tanh(relu(x w)): x has one name from before the loop to its end. */
static void layers(struct made_et *m, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        op(m, 1000 + 10 * i, ET_MM, 200 + 3 * i, "%u:4x4 %u:4x4",
           i ? 199 + 3 * i : 1, 100 + i);
        op(m, 1001 + 10 * i, ET_RELU, 201 + 3 * i, "%u:4x4", 200 + 3 * i);
        op(m, 1002 + 10 * i, ET_TANH, 202 + 3 * i, "%u:4x4", 201 + 3 * i);
    }
}

/* What comes in from outside is copied to the name; what an operator made has
 * it from the beginning, and keeps it to the end of the loop. */
static void test_body__carried(void)
{
    struct made_et m = {0};

    layers(&m, 4);
    op(&m, 2000, ET_RELU, 999, "211:4x4");
    et_check_text(&m, true,
                  "    x0 = X[0]\n"
                  "    for i in range(4):\n"
                  "        x1 = aten.mm.default(x0, X[1 + i])\n"
                  "        x1 = aten.relu.default(x1)\n"
                  "        x1 = aten.tanh.default(x1)\n"
                  "        x0 = x1\n"
                  "    del x0\n"
                  "    aten.relu.default(x1)\n"
                  "    del x1\n");
    op(&m, 900, ET_RELU, 1, "90:4x4");
    layers(&m, 4);
    op(&m, 2000, ET_RELU, 999, "211:4x4");
    et_check_text(&m, true,
                  "    x0 = aten.relu.default(X[0])\n"
                  "    for i in range(4):\n"
                  "        x1 = aten.mm.default(x0, X[1 + i])\n"
                  "        x1 = aten.relu.default(x1)\n"
                  "        x0 = aten.tanh.default(x1)\n"
                  "        del x1\n"
                  "    aten.relu.default(x0)\n"
                  "    del x0\n");
}

/* Two operands are what the run before made, of two things in the first. */
static void test_body__carried_twice(void)
{
    struct made_et m = {0};

    for (unsigned i = 0; i < 4; i++) {
        op(&m, 1000 + 10 * i, ET_RELU, 200 + 2 * i, "%u:4x4",
           i ? 199 + 2 * i : 1);
        op(&m, 1001 + 10 * i, ET_MUL, 201 + 2 * i, "%u:4x4 %u:4x4", 200 + 2 * i,
           i ? 199 + 2 * i : 2);
    }
    et_check_text(&m, true,
                  "    x0 = X[0]\n"
                  "    x1 = X[1]\n"
                  "    for i in range(4):\n"
                  "        x2 = aten.relu.default(x0)\n"
                  "        x2 = aten.mul.Tensor(x2, x1)\n"
                  "        x0 = x2\n"
                  "        x1 = x2\n"
                  "    del x0, x1, x2\n");
}

/* A second loop reads what every run of the first made, the last one first: all
 * are kept in a list. */
static void test_body__kept(void)
{
    struct made_et m = {0};

    layers(&m, 4);
    for (unsigned i = 0; i < 4; i++) {
        op(&m, 2000 + 10 * i, ET_MUL, 300 + 2 * i, "%u:4x4 %u:4x4",
           i ? 299 + 2 * i : 211, 210 - 3 * i);
        op(&m, 2001 + 10 * i, ET_RELU, 301 + 2 * i, "%u:4x4", 300 + 2 * i);
    }
    et_check_text(&m, true,
                  "    k1 = []\n"
                  "    x0 = X[0]\n"
                  "    for i in range(4):\n"
                  "        x1 = aten.mm.default(x0, X[1 + i])\n"
                  "        x1 = aten.relu.default(x1)\n"
                  "        k1.append(x1)\n"
                  "        x1 = aten.tanh.default(x1)\n"
                  "        x0 = x1\n"
                  "    del x0\n"
                  "    for i in range(4):\n"
                  "        x0 = aten.mul.Tensor(x1, k1[3 - i])\n"
                  "        x1 = aten.relu.default(x0)\n"
                  "        del x0\n"
                  "    del x1, k1\n");
}

/* One result of a run other than the last: from the list, too. */
static void test_body__one_run_is_read(void)
{
    struct made_et m = {0};

    layers(&m, 4);
    op(&m, 2000, ET_RELU, 999, "204:4x4");
    et_check_text(&m, true,
                  "    k1 = []\n"
                  "    x0 = X[0]\n"
                  "    for i in range(4):\n"
                  "        x1 = aten.mm.default(x0, X[1 + i])\n"
                  "        x1 = aten.relu.default(x1)\n"
                  "        k1.append(x1)\n"
                  "        x1 = aten.tanh.default(x1)\n"
                  "        x0 = x1\n"
                  "    del x0, x1\n"
                  "    aten.relu.default(k1[1])\n"
                  "    del k1\n");
}

/* A list that a run returned is kept as one: its fourth result of run 1. */
static void test_body__kept_lists(void)
{
    struct made_et m = {0};

    for (unsigned i = 0; i < 4; i++) {
        char in[32], out[256] = "(";
        size_t n = 1;

        for (unsigned k = 0; k < 9; k++)
            n += (size_t)snprintf(out + n, sizeof(out) - n, "%s%u:4x4",
                                  k ? " " : "", 200 + 20 * i + k);
        snprintf(out + n, sizeof(out) - n, ")");
        snprintf(in, sizeof(in), "%u:4x4", i ? 191 + 20 * i : 1);
        et_op(&m, 1000 + 10 * i, LIST, in, out);
        op(&m, 1001 + 10 * i, ET_RELU, 210 + 20 * i, "%u:4x4", 208 + 20 * i);
        op(&m, 1002 + 10 * i, ET_TANH, 211 + 20 * i, "%u:4x4", 210 + 20 * i);
    }
    op(&m, 2000, ET_ADD, 999, "223:4x4 263:4x4 =1");
    et_check_text(&m, true,
                  "    k0 = []\n"
                  "    x0 = X[0]\n"
                  "    for i in range(4):\n"
                  "        x1 = torch.ops.my.list.default(x0)\n"
                  "        k0.append(x1)\n"
                  "        x2 = aten.relu.default(x1[8])\n"
                  "        x2 = aten.tanh.default(x2)\n"
                  "        x0 = x2\n"
                  "    del x0, x2\n"
                  "    aten.add.Tensor(k0[1][3], x1[3])\n"
                  "    del x1, k0\n");
}

/* Numbers that vary by run stand in the line. */
static void test_body__numbers_by_run(void)
{
    struct made_et m = {0};

    for (unsigned i = 0; i < 5; i++)
        op(&m, 1000 + i, "aten::repeat(Tensor self, SymInt[] n) -> Tensor",
           200 + i, "%u:4x4 (=%u =4)", i ? 199 + i : 1, i + 1);
    et_check_text(
        &m, true,
        "    x0 = X[0]\n"
        "    for i in range(5):\n"
        "        x1 = aten.repeat.default(x0, ([1, 4], [2, 4], [3, 4], "
        "[4, 4], [5, 4])[i])\n"
        "        x0 = x1\n"
        "    del x0, x1\n");
}

/* Numbers that PyTorch wrapped, too. */
static void test_body__wrapped_numbers_by_run(void)
{
    struct made_et m = {0};

    for (unsigned i = 0; i < 6; i++)
        op(&m, 1000 + i, ET_MUL, 200 + i, i % 2 ? "%u:4x4 2:d" : "%u:4x4 3:l",
           i ? 199 + i : 1);
    et_check_text(&m, true,
                  "    x0 = X[0]\n"
                  "    for i in range(6):\n"
                  "        x1 = aten.mul.Tensor(x0, (1, 1.0, 1, 1.0, 1, 1.0, "
                  ")[i])\n"
                  "        x0 = x1\n"
                  "    del x0, x1\n");
}

/* Tensors in no even order: by a list in the data file. */
static void test_body__tensors_by_list(void)
{
    struct made_et m = {0};
    struct made_program x;
    const int64_t *numbers;

    for (unsigned i = 0; i < 4; i++) {
        op(&m, 1000 + 10 * i, ET_MM, 200 + 3 * i, "%u:4x4 %u:4x4",
           i ? 199 + 3 * i : 1, 100 + i);
        op(&m, 1001 + 10 * i, ET_RELU, 201 + 3 * i, "%u:4x4", 200 + 3 * i);
        op(&m, 1002 + 10 * i, ET_MUL, 202 + 3 * i, "%u:4x4 2:4x4", 201 + 3 * i);
    }
    REQUIRE(program_of(&m, &x, NULL, true));
    CHECK(strstr(x.text, "x1 = aten.mm.default(x0, X[L[0][i]])\n") != NULL);
    REQUIRE(x.body.lists.n == 1 && x.body.numbers.n == 4);
    numbers = x.body.numbers.data;
    CHECK(numbers[0] == 1 && numbers[1] == 3 && numbers[2] == 4 &&
          numbers[3] == 5);
    program_done(&x);
}

/* ---- lists of tensors --------------------------------------------------- */

#define TAKE "my::take(Tensor?[] x) -> ()"

/* Rows of tensors from outside are slices; too short ones, and those with a
 * hole, are not. */
static void test_body__slices(void)
{
    struct made_et m = {0};

    et_op(&m, 100, TAKE, "(1:4 2:4 3:4 4:4)", "");
    et_op(&m, 110, TAKE, "(1:4 2:4 3:4)", "");
    et_op(&m, 120, TAKE, "(1:4 ! 2:4 - 3:4)", "");
    et_op(&m, 130, TAKE, "(4:4 3:4 2:4 1:4)", "");
    et_op(&m, 140, TAKE, "()", "");
    et_check_text(
        &m, false,
        "    torch.ops.my.take.default(X[0:4])\n"
        "    torch.ops.my.take.default([X[0], X[1], X[2]])\n"
        "    torch.ops.my.take.default([X[0], None, X[1], None, X[2]])\n"
        "    torch.ops.my.take.default([X[3], X[2], X[1], X[0]])\n"
        "    torch.ops.my.take.default([])\n");
}

/* Every second one is a slice with a step; eight in no order are picked. */
static void test_body__slices_with_steps(void)
{
    struct made_et m = {0};

    et_op(&m, 100, TAKE, "(1:4 2:4 3:4 4:4 5:4 6:4 7:4 8:4)", "");
    et_op(&m, 110, TAKE, "(1:4 3:4 5:4 7:4)", "");
    et_op(&m, 120, TAKE, "(8:4 7:4 6:4 5:4 4:4 3:4 2:4 1:4)", "");
    et_check_text(&m, false,
                  "    torch.ops.my.take.default(X[0:8])\n"
                  "    torch.ops.my.take.default(X[0:7:2])\n"
                  "    torch.ops.my.take.default([X[j] for j in L[0]])\n");
}

/* ---- calls -------------------------------------------------------------- */

/* What the signature gives anyway is left out, from the end; by-name ones each.
 */
static void test_body__defaults(void)
{
    static const char op3[] = "my::op(Tensor x, int a=1, float b=1., bool "
                              "c=False, *, int[2] d=0, Tensor? e=None, int[] "
                              "f=[]) -> ()";

    check_call(op3, "1:4 =1 =1.0 =false (=0 =0) - ()",
               "torch.ops.my.op.default(X[0])");
    check_call(op3, "1:4 =2 =1.0 =false (=0 =0) - ()",
               "torch.ops.my.op.default(X[0], 2)");
    check_call(op3, "1:4 =1 =1.5 =false (=0 =1) - ()",
               "torch.ops.my.op.default(X[0], 1, 1.5, d=[0, 1])");
    check_call(op3, "1:4 =1 =1.0 =true (=0 =0) 2:4 (=7)",
               "torch.ops.my.op.default(X[0], 1, 1.0, True, e=X[1], f=[7])");
}

/* 1 and 1.0 make other operators run: types stay. */
static void test_body__numbers_keep_their_type(void)
{
    static const char add[] = "my::op(Tensor x, Scalar a=1) -> ()";

    check_call(add, "1:4 =1", "torch.ops.my.op.default(X[0])");
    check_call(add, "1:4 =1.0", "torch.ops.my.op.default(X[0], 1.0)");
    check_call(add, "1:4 =-3", "torch.ops.my.op.default(X[0], -3)");
    check_call(add, "1:4 =0.1", "torch.ops.my.op.default(X[0], 0.1)");
    check_call(add, "1:4 =1e20", "torch.ops.my.op.default(X[0], 1e+20)");
    check_call("my::op(Tensor x, float eps) -> ()", "1:4 =0.0",
               "torch.ops.my.op.default(X[0], 1e-08)");
    check_call("my::op(Tensor x, float p) -> ()", "1:4 =0.0",
               "torch.ops.my.op.default(X[0], 0.0)");
}

/* Words of the enumerations, and what a trace cannot hold. */
static void test_body__words(void)
{
    check_call("my::op(ScalarType? a, Layout? b, MemoryFormat? c) -> ()",
               "=15 =0 =2",
               "torch.ops.my.op.default(torch.bfloat16, torch.strided, "
               "torch.channels_last)");
    check_call("my::op(Tensor x, *, Generator? generator=None) -> ()", "1:4 -",
               "torch.ops.my.op.default(X[0])");
    check_call("aten::gelu(Tensor x, *, str approximate='none') -> ()",
               "1:4 'tanh", "aten.gelu.default(X[0], approximate='tanh')");
}

/* An overload may be a word of Python's own. */
static void test_body__keywords(void)
{
    check_call("aten::random_.from(Tensor(a!) self, int from, int? to) -> "
               "Tensor(a!)",
               "1:4 =2 =9", "getattr(aten.random_, 'from')(X[0], 2, 9)");
    check_call("my::is(Tensor x) -> ()", "1:4",
               "getattr(torch.ops.my, 'is').default(X[0])");
    check_call("my::in.not(Tensor x) -> ()", "1:4",
               "getattr(getattr(torch.ops.my, 'in'), 'not')(X[0])");
}

/* The device of the trace is that of the run, but what was on the CPU of a run
 * with a GPU stays there. */
static void test_body__devices(void)
{
    static const char empty[] = "my::op(Tensor x, Device? device=None) -> ()";
    struct made_et m = {0};

    check_call(empty, "1:4 'cpu", "torch.ops.my.op.default(X[0], DEV)");
    m.device = "cuda:0";
    et_op(&m, 100, empty, "1:4 'cuda:0", "");
    et_op(&m, 110, empty, "1:4 'cpu", "");
    et_check_text(&m, false,
                  "    torch.ops.my.op.default(X[0], DEV)\n"
                  "    torch.ops.my.op.default(X[0], 'cpu')\n");
}

/* ---- long lines --------------------------------------------------------- */

/* Is every line short, or without a comma inside brackets to break it at? */
static void test_body__breaks_inside_brackets(void)
{
    struct made_et m = {0};
    char in[1500];
    size_t n = (size_t)snprintf(in, sizeof(in), "'%s (", "a,b");
    struct made_program x;

    for (int i = 0; i < 60; i++)
        n += (size_t)snprintf(in + n, sizeof(in) - n, "%s=%d", i ? " " : "",
                              1000 + i);
    snprintf(in + n, sizeof(in) - n, ")");
    et_op(&m, 100, "aten::einsum(str s, int[] x) -> ()", in, "");
    REQUIRE(program_of(&m, &x, NULL, false));
    CHECK(!strncmp(strstr(x.text, "aten"),
                   "aten.einsum.default('a,b', [1000, 1001, 1002, 1003, 1004, ",
                   52));
    for (const char *p = x.text, *end; *p; p = end + 1) {
        end = strchr(p, '\n');
        CHECK(end - p <= 96);
        /* A broken line ends in a comma; the rest is indented once more. */
        if (end[-1] == ',')
            CHECK(!strncmp(end + 1, "        1", 9));
    }
    program_done(&x);
}

/* The names of many results are broken inside the brackets around them. */
static void test_body__many_results(void)
{
    struct made_et m = {0};
    struct made_program x;
    char schema[1024], out[512];
    size_t n = (size_t)snprintf(schema, sizeof(schema), "my::op() -> (");
    size_t k = 0;

    for (int i = 0; i < 40; i++) {
        n += (size_t)snprintf(schema + n, sizeof(schema) - n, "%sTensor",
                              i ? ", " : "");
        k += (size_t)snprintf(out + k, sizeof(out) - k, "%s%d:4", i ? " " : "",
                              10 + i);
    }
    snprintf(schema + n, sizeof(schema) - n, ")");
    et_op(&m, 100, schema, "", out);
    et_op(&m, 110, ET_RELU, "49:4", "90:4");
    REQUIRE(program_of(&m, &x, NULL, false));
    CHECK(strstr(x.text, "    (x0, x1, ") != NULL);
    CHECK(strstr(x.text, ",\n        x") != NULL);
    CHECK(strstr(x.text,
                 "x39) = torch.ops.my.op.default()\n    del x0, x1, ") != NULL);
    CHECK(strstr(x.text, "    aten.relu.default(x39)\n    del x39\n") != NULL);
    program_done(&x);
}

int main(void)
{
    RUN(test_body__names_are_used_again);
    RUN(test_body__deletes);
    RUN(test_body__several_results);
    RUN(test_body__lists_of_results);
    RUN(test_body__long_lists_stay);
    RUN(test_body__carried);
    RUN(test_body__carried_twice);
    RUN(test_body__kept);
    RUN(test_body__one_run_is_read);
    RUN(test_body__kept_lists);
    RUN(test_body__numbers_by_run);
    RUN(test_body__wrapped_numbers_by_run);
    RUN(test_body__tensors_by_list);
    RUN(test_body__slices);
    RUN(test_body__slices_with_steps);
    RUN(test_body__defaults);
    RUN(test_body__numbers_keep_their_type);
    RUN(test_body__words);
    RUN(test_body__keywords);
    RUN(test_body__devices);
    RUN(test_body__breaks_inside_brackets);
    RUN(test_body__many_results);
    return check_summary();
}
