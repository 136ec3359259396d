/* Formulas of an operator's arguments: their values, and where they end. */
#include "core/work/opmap/ops_file.h"
#include "tests/unit/made_ops.h"

static struct build b;

/* -1: it parses, and has no value there. */
static void check(const char *formula, const char *args, const char *outs,
                  double want)
{
    struct msim_opmap_ctx c = {.t = &b.t, .op = b.ops, .missing = MSIM_DT_F32};
    struct msim_ops_expr e;
    char why[200] = "";
    double v = -1;

    build_init(&b);
    build_op(&b, 0, "x", args, outs);
    if (!CHECK_INT(msim_ops_expr_parse(&e, formula, why, sizeof(why)), MSIM_OK))
        fprintf(stderr, "  %s\n", why);
    CHECK_INT(msim_ops_expr_value(&e, &c, &v), want >= 0);
    if (!CHECK_REL(v, want, 1e-12))
        fprintf(stderr, "  of %s\n", formula);
    build_release(&b);
}

static void test_ops_expr__numbers(void)
{
    static const struct {
        const char *formula;
        double want;
    } cases[] = {
        {"1", 1},          {".5", 0.5},
        {"1e3", 1000},     {" 2 + 3 * 4 ", 14},
        {"(2+3)*4", 20},   {"10 - 4 - 3", 3},
        {"24 / 4 / 3", 2}, {"24 / 4 * 3", 18},
        {"5 + -2", 3},     {"- 2 + 5", 3},
        {"--5", 5},        {"2 * -3 + 7", 1},
        {"\t7", 7},        {"min(3, 2)", 2},
        {"max(3, 2)", 3},  {"min(1 + 2, max(4, 5)) * 2", 6},
        {"0", 0},          {"2 - 3", -1},
        {"1 / 0", -1},     {"0 / 0", -1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check(cases[i].formula, "f32[3]", NULL, cases[i].want);
}

/* in0: 3 x 5 of 4 bytes; in1: 7 of 2; a list of 2 x 11 and 13; results of 17
 * and 19. */
static void test_ops_expr__arguments(void)
{
    static const struct {
        const char *formula;
        double want;
    } cases[] = {
        {"elems(in0)", 15},
        {"bytes(in0)", 60},
        {"bytes(in1)", 14},
        {"elems(in)", 22},
        {"bytes(in)", 74},
        {"elems(out0)", 17},
        {"bytes(out1)", 38},
        {"elems(out)", 36},
        {"elems(list2)", 35},
        {"bytes( list2 )", 140},
        {"dim(in0, 0)", 3},
        {"dim(in0, 1)", 5},
        {"dim(in0, -1)", 5},
        {"dim(in0, - 2)", 3},
        {"dim(out1,0)", 19},
        {"arg(3)", 23},
        {"arg(4)", 2.5},
        {"2 * elems(in0) + arg(3)", 53},
        /* what the operator does not have */
        {"dim(in0, 2)", -1},
        {"dim(in0, -3)", -1},
        {"elems(in2)", -1},
        {"elems(out2)", -1},
        {"elems(list0)", -1},
        {"arg(0)", -1},
        {"arg(9)", -1},
        {"dim(in5, 0)", -1},
        {"1 + arg(9)", -1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check(cases[i].formula, "f32[3,5] f16[7] (f32[2,11] f32[13]) 23 2.5",
              "f32[17] f16[19]", cases[i].want);
}

/* Without results the tensor of most bytes is the only one. */
static void test_ops_expr__results_that_are_not_recorded(void)
{
    static const char args[] = "f32[3] f16[9] f64[4] i64[4]";

    check("elems(out0)", args, NULL, 4);
    check("bytes(out)", args, NULL, 32);
    check("dim(out0, 0)", "f32[3] f32[5,1] f32[1]", NULL, 5);
    check("elems(out1)", args, NULL, -1);
    check("elems(out)", "3", NULL, -1);
    check("elems(in)", "3", NULL, -1);
}

static void test_ops_expr__refused(void)
{
    static const struct {
        const char *formula, *why;
    } cases[] = {
        {"", "'the end' at column 1 of '', want a number, a function (bytes, "
             "elems, dim, arg, min, max) or '('"},
        {"1 +", "'the end' at column 4 of '1 +', want a number, a function "
                "(bytes, elems, dim, arg, min, max) or '('"},
        {"1 2", "'2' at column 3 of '1 2', want an operator (+ - * /) or the "
                "end"},
        {"(1", "'the end' at column 3 of '(1', want ')'"},
        {"1)", "')' at column 2 of '1)', want an operator (+ - * /) or the "
               "end"},
        {"min 1", "'1' at column 5 of 'min 1', want '('"},
        {"min(1", "'the end' at column 6 of 'min(1', want ','"},
        {"min(1,2", "'the end' at column 8 of 'min(1,2', want ')'"},
        {"elems in0", "'in0' at column 7 of 'elems in0', want '('"},
        {"elems(x0)", "'x0)' at column 7 of 'elems(x0)', want a tensor: in0, "
                      "out0, list0, or in and out for all"},
        {"elems(list)", "')' at column 11 of 'elems(list)', want the place of "
                        "the list among the arguments, as list0"},
        {"dim(in, 0)", "', 0)' at column 7 of 'dim(in, 0)', want one tensor, "
                       "as in0 or out0"},
        {"dim(list0, 0)", "', 0)' at column 10 of 'dim(list0, 0)', want one "
                          "tensor, as in0 or out0"},
        {"dim(in0)", "')' at column 8 of 'dim(in0)', want ',' and which of "
                     "its sizes"},
        {"dim(in0, x)", "'x)' at column 10 of 'dim(in0, x)', want a whole "
                        "number"},
        {"arg(x)", "'x)' at column 5 of 'arg(x)', want a whole number"},
        {"elements(in0)", "'elements(in0)' at column 1 of 'elements(in0)', "
                          "want a number, a function (bytes, elems, dim, arg, "
                          "min, max) or '('"},
        {"1e999", "'1e999' at column 1 of '1e999', want a number"},
        {".", "'.' at column 1 of '.', want a number"},
    };
    struct msim_ops_expr e;
    char why[300];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_INT(msim_ops_expr_parse(&e, cases[i].formula, why, sizeof(why)),
                  MSIM_EFORMAT);
        CHECK_STR(why, cases[i].why);
        CHECK_INT(e.n, 0);
    }
}

/* 48 steps, and 32 factors inside each other; one more of either is too
 * many. A sum of n numbers has 2 n - 1 steps. */
static void test_ops_expr__limits(void)
{
    static const struct {
        int terms, open;
        bool good;
    } cases[] = {{24, 0, true}, {25, 0, false}, {1, 31, true}, {1, 32, false}};
    struct msim_ops_expr e;
    char text[200], why[300];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int n = 0;

        for (int k = 0; k < cases[i].open; k++)
            text[n++] = '(';
        for (int k = 0; k < cases[i].terms; k++)
            n += snprintf(text + n, sizeof(text) - (size_t)n, "%s1",
                          k ? "+" : "");
        for (int k = 0; k < cases[i].open; k++)
            text[n++] = ')';
        text[n] = '\0';
        CHECK_INT(msim_ops_expr_parse(&e, text, why, sizeof(why)) == MSIM_OK,
                  cases[i].good);
        CHECK_INT(e.n, cases[i].good ? 2 * cases[i].terms - 1 : 0);
        if (!cases[i].good)
            CHECK(strstr(why, cases[i].open ? "want fewer parentheses"
                                            : "want a shorter formula"));
    }
}

int main(void)
{
    RUN(test_ops_expr__numbers);
    RUN(test_ops_expr__arguments);
    RUN(test_ops_expr__results_that_are_not_recorded);
    RUN(test_ops_expr__refused);
    RUN(test_ops_expr__limits);
    return check_summary();
}
