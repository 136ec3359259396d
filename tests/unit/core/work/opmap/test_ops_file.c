/* core/work/opmap/ops_expr.c and core/work/opmap/ops_file.c: a user's own table
 * of operators. */
#include "core/work/opmap/ops_file.h"

#include "core/work/opmap/opmap.h"
#include "models/estimate/model.h"
#include "models/platform/platform.h"
#include "tests/unit/made_ops.h"

#include <math.h>
#include <unistd.h>

static struct build b;
static struct msim_work w[MSIM_OPMAP_MAX];
static uint32_t n;

/* ---- formulas ------------------------------------------------------------ */

/* Of a product of f16[8,4] and f16[4,2], with a list of two and a number. */
static double value(const char *text)
{
    struct msim_opmap_ctx c;
    struct msim_ops_expr e;
    char why[200];
    double v = -1;

    build_init(&b);
    build_op(&b, 0, "mylib::x", "f16[8,4] f16[4,2] (f32[10] f32[5]) 7",
             "f16[8,2]");
    c = (struct msim_opmap_ctx){.t = &b.t, .op = &b.t.ops[0]};
    if (CHECK_INT(msim_ops_expr_parse(&e, text, why, sizeof(why)), MSIM_OK) &&
        !msim_ops_expr_value(&e, &c, &v))
        v = -1;
    build_release(&b);
    return v;
}

static void test_ops_expr__values(void)
{
    CHECK_REL(value("1 + 2 * 3 - 4 / 2"), 5, 1e-12);
    CHECK_REL(value("(1 + 2) * 3"), 9, 1e-12);
    CHECK_REL(value("2 - -3"), 5, 1e-12);
    CHECK_REL(value("10 - 3 - 2"), 5, 1e-12);
    CHECK_REL(value("1.5e3"), 1500, 1e-12);
    CHECK_REL(value("min(3, 2) + max(3, 2)"), 5, 1e-12);
    CHECK_REL(value("bytes(in0)"), 64, 1e-12);
    CHECK_REL(value("elems(in1)"), 8, 1e-12);
    CHECK_REL(value("bytes(in)"), 64 + 16, 1e-12);
    CHECK_REL(value("elems(out)"), 16, 1e-12);
    CHECK_REL(value("bytes(list2)"), 60, 1e-12);
    CHECK_REL(value("dim(in0, 0) * 100 + dim(in0, -1)"), 804, 1e-12);
    CHECK_REL(value("arg(3)"), 7, 1e-12);
}

/* What an operator does not have, and what is no size. */
static void test_ops_expr__has_no_value(void)
{
    static const char *const NONE[] = {
        "bytes(in2)", "elems(out1)",  "dim(in0, 2)", "dim(in0, -3)", "arg(0)",
        "arg(9)",     "bytes(list0)", "1 / 0",       "0 / 0",        "1 - 2"};

    for (size_t i = 0; i < sizeof(NONE) / sizeof(NONE[0]); i++)
        if (!CHECK(value(NONE[i]) < 0))
            fprintf(stderr, "  of '%s'\n", NONE[i]);
}

static void test_ops_expr__refuses(void)
{
    static const char *const WRONG[] = {
        "",        "1 +",         "(1",     "1)",           "bytes",
        "bytes()", "bytes(in0",   "foo(1)", "dim(in, 0)",   "dim(in0)",
        "list",    "bytes(list)", "in0",    "min(1)",       "1 2",
        "arg(x)",  "1e999",       "*2",     "dim(list0, 0)"};
    char deep[2000] = "", why[200];
    struct msim_ops_expr e;

    for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++)
        if (!CHECK_INT(msim_ops_expr_parse(&e, WRONG[i], why, sizeof(why)),
                       MSIM_EFORMAT) ||
            !CHECK(strstr(why, "want ") != NULL))
            fprintf(stderr, "  of '%s'\n", WRONG[i]);
    memset(deep, '(', sizeof(deep) - 1);
    CHECK_INT(msim_ops_expr_parse(&e, deep, why, sizeof(why)), MSIM_EFORMAT);
    for (size_t i = 0; i + 2 < sizeof(deep); i += 2)
        memcpy(deep + i, "1+", 2);
    CHECK_INT(msim_ops_expr_parse(&e, deep, why, sizeof(why)), MSIM_EFORMAT);
    memset(deep, '-', sizeof(deep) - 1);
    CHECK_INT(msim_ops_expr_parse(&e, deep, why, sizeof(why)), MSIM_EFORMAT);
}

/* ---- tables --------------------------------------------------------------
 */

/* Work of one operator `name` of f16[8,1024] and f16[1024,2] by a table; below
 * it one of `child`, where that is not NULL. */
static enum msim_opmap_result mapped(const char *table, const char *name,
                                     const char *child)
{
    char path[] = "msim-test-ops-XXXXXX";
    int fd = mkstemp(path);
    struct msim_ops *ops = NULL;
    enum msim_opmap_result r;

    if (fd < 0 || write(fd, table, strlen(table)) != (ssize_t)strlen(table))
        abort();
    close(fd);
    build_init(&b);
    build_op(&b, 0, name, "f16[8,1024] f16[1024,2]", "f16[8,2]");
    if (child)
        build_op(&b, 1, child, "f16[8,1024] f16[1024,2]", "f16[8,2]");
    CHECK_INT(msim_ops_load(&ops, path, b.strings, NULL), MSIM_OK);
    memset(w, 0, sizeof(w));
    r = msim_opmap(&b.t, ops, 0, -1, MSIM_OPMAP_AS_TRACED, w, &n);
    w[0].user.origin = NULL; /* of the table, which goes */
    unlink(path);
    msim_ops_free(ops);
    build_release(&b);
    return r;
}

static void test_ops_file__sizes(void)
{
    CHECK_INT(mapped("operator,law,read,flops\n"
                     "my::*,norm,bytes(in0),5\n",
                     "my::norm", NULL),
              MSIM_OPMAP_WORKS);
    CHECK_INT(n, 1);
    CHECK_INT(w[0].family, MSIM_FAMILY_NORM);
    CHECK_INT(w[0].dtype, MSIM_DT_F16);
    CHECK_REL(w[0].bytes_read, 2 * 8192, 1e-12);
    CHECK_REL(w[0].bytes_written, 32, 1e-12); /* the result */
    CHECK_INT(w[0].u.vector.rows, 8);
    CHECK_INT(w[0].u.vector.cols, 1024);
    CHECK_REL(w[0].flops, 5, 1e-12);
    CHECK_REL(w[0].user.interval_factor, 1.5, 1e-12);

    CHECK_INT(mapped("operator,law,m,n,k,within,kernels\n"
                     "my::mm,gemm,\"dim(in0,0)\",\"dim(in1,1)\",1024,2,3\n",
                     "my::mm", NULL),
              MSIM_OPMAP_WORKS);
    CHECK_INT(w[0].u.gemm.m, 8);
    CHECK_INT(w[0].u.gemm.n, 2);
    CHECK_INT(w[0].u.gemm.k, 1024);
    CHECK_INT(w[0].u.gemm.batch, 1);
    CHECK_REL(w[0].flops, 2.0 * 8 * 2 * 1024, 1e-12);
    CHECK_INT(w[0].kernels, 3);
    CHECK_REL(w[0].user.interval_factor, 2, 1e-12);
}

/* Rules of the built-in table under other names, and what they need to know of
 * the operators below. */
static void test_ops_file__like(void)
{
    static const char TABLE[] = "operator,like\nmy::mm,aten::mm\n";

    CHECK_INT(mapped(TABLE, "my::mm", NULL), MSIM_OPMAP_WORKS);
    CHECK_INT(w[0].family, MSIM_FAMILY_GEMM);
    CHECK_INT(w[0].u.gemm.k, 1024);
    CHECK_REL(w[0].user.interval_factor, 1.25, 1e-12);
    /* what is like it, and called by it, does the work */
    CHECK_INT(mapped(TABLE, "my::mm", "aten::mm"), MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(mapped(TABLE, "my::other", NULL), MSIM_OPMAP_UNKNOWN);
    CHECK_INT(w[0].family, MSIM_FAMILY_BOUND);
}

static void test_ops_file__nothing_and_missing(void)
{
    CHECK_INT(mapped("operator,law\nmy::*,nothing\n", "my::plan", NULL),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(n, 0);
    /* a built-in operator can be taken out */
    CHECK_INT(mapped("operator,law\naten::mm,nothing\n", "aten::mm", NULL),
              MSIM_OPMAP_NO_KERNEL);
    /* a size that the operator does not have: a bound */
    CHECK_INT(mapped("operator,law,read\nmy::*,pointwise,bytes(in7)\n", "my::x",
                     NULL),
              MSIM_OPMAP_UNKNOWN);
    CHECK_INT(w[0].family, MSIM_FAMILY_BOUND);
}

/* The interval is wider by just the factor, and a time is what it says. */
static void test_ops_file__intervals(void)
{
    struct msim_platform *p = NULL;
    struct msim_estimate a, c;
    double was, by;

    REQUIRE(msim_platform_load(&p, MSIM_DATA, "a100", NULL) == MSIM_OK);
    CHECK_INT(
        mapped("operator,like,within\nmy::mm,aten::mm,3\n", "my::mm", NULL),
        MSIM_OPMAP_WORKS);
    CHECK_INT(msim_model_predict(p, &w[0], true, &c, NULL), MSIM_OK);
    w[0].user.interval_factor = 0;
    CHECK_INT(msim_model_predict(p, &w[0], true, &a, NULL), MSIM_OK);
    CHECK_REL(c.us, a.us, 1e-12);
    was = log(a.high_us / a.us);
    by = log(3);
    CHECK_REL(log(c.high_us / c.us), sqrt(was * was + by * by), 1e-9);
    was = log(a.us / a.low_us);
    CHECK_REL(log(c.us / c.low_us), sqrt(was * was + by * by), 1e-9);

    CHECK_INT(mapped("operator,law,us\nmy::mm,time,4 + 4\n", "my::mm", NULL),
              MSIM_OPMAP_WORKS);
    CHECK_INT(msim_model_predict(p, &w[0], true, &c, NULL), MSIM_OK);
    CHECK_REL(c.us, 8, 1e-12);
    CHECK_REL(c.low_us, 8 / 1.2, 1e-9);
    CHECK_REL(c.high_us, 8 * 1.2, 1e-9);
    CHECK_INT(c.source, MSIM_SOURCE_TABLE);
    msim_platform_free(p);
}

int main(void)
{
    RUN(test_ops_expr__values);
    RUN(test_ops_expr__has_no_value);
    RUN(test_ops_expr__refuses);
    RUN(test_ops_file__sizes);
    RUN(test_ops_file__like);
    RUN(test_ops_file__nothing_and_missing);
    RUN(test_ops_file__intervals);
    return check_summary();
}
