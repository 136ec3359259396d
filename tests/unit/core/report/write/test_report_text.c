/*
 * tests/unit/core/report/write/test_report_text.c - figures and names as people
 * read them.
 */
#include "core/report/write/report.h"
#include "tests/check.h"
#include "tests/unit/made_prediction.h"

static void check_time(double us, const char *want)
{
    char cell[MSIM_CELL];

    msim_format_time(cell, us);
    CHECK_STR(cell, want);
}

static void test_report_format__times(void)
{
    check_time(0, "0.0 us");
    check_time(12.34, "12.3 us");
    check_time(999.94, "999.9 us");
    check_time(1000, "1.000 ms");
    check_time(347000.5, "347.000 ms");
    check_time(1.5e6, "1.500 s");
    check_time((double)NAN, "-");
    check_time(-5, "-5.0 us");
}

static void test_report_format__large(void)
{
    char cell[MSIM_CELL];

    msim_format_memory(cell, 512.0 * 1024 * 1024);
    CHECK_STR(cell, "512.00 MiB");
    msim_format_memory(cell, 1.5 * 1024 * 1024 * 1024);
    CHECK_STR(cell, "1.50 GiB");
    msim_format_memory(cell, 12);
    CHECK_STR(cell, "12 B");
    msim_format_large(cell, 12);
    CHECK_STR(cell, "12 ");
    msim_format_large(cell, 1.5e12);
    CHECK_STR(cell, "1.50 T");
    msim_format_large(cell, 3e22);
    CHECK_STR(cell, "30000.00 E");
}

static void test_report_format__figures(void)
{
    char text[MSIM_FIGURE];

    msim_format_figure(text, &(struct msim_figure){1000, 800, 1300, 990},
                       false);
    CHECK_STR(text, "    1.000 ms   90 %: 0.800 to 1.300 ms   measured "
                    "990.0 us, error +1.0 %");
    msim_format_figure(text, &(struct msim_figure){5, 5, 5, NAN}, false);
    CHECK_STR(text, "      5.0 us");
    msim_format_figure(text, &(struct msim_figure){5, NAN, NAN, 0}, false);
    CHECK_STR(text, "      5.0 us   measured 0.0 us, error -");
}

/* 20 columns: 12 of the head, the dots, 5 of the tail. */
static void test_report_format__names(void)
{
    char text[64];

    CHECK_UINT(msim_format_name(text, sizeof(text), "aten::mm", 20), 8);
    CHECK_STR(text, "aten::mm");
    CHECK_UINT(
        msim_format_name(text, sizeof(text), "abcdefghijklmnopqrstuvwxyz", 20),
        20);
    CHECK_STR(text, "abcdefghijkl...vwxyz");
    CHECK_UINT(msim_format_name(text, sizeof(text),
                                "\x1b[31m\xff\xc2\x9b\xc3\xa9", 20),
               8);
    CHECK_STR(text, "?[31m??\xc3\xa9");
}

/* A character that does not fit is left out whole. */
static void test_report_format__names_in_few_bytes(void)
{
    char text[6];

    msim_format_name(text, sizeof(text), "abcd\xc3\xa9", 20);
    CHECK_STR(text, "abcd");
}

static void check_op(const char *name, const char *want)
{
    char text[128];

    msim_format_op(text, sizeof(text), name, 100);
    CHECK_STR(text, want);
}

static void test_report_format__operators(void)
{
    check_op("aten::mm", "aten::mm");
    check_op("autograd::engine::evaluate_function: MmBackward0", "MmBackward0");
    check_op("autograd::engine::evaluate_function: ",
             "autograd::engine::evaluate_function: ");
    check_op("void at::native::(anonymous namespace)::cat<F<int (int)>, 4>(int "
             "const*, T)",
             "cat<F<int (int)>, 4>");
    check_op("void (anonymous namespace)::f(g)", "f");
    check_op("void ", "void ");
    check_op("void (*)(int)", "void (*)(int)");
    check_op("void f<(", "f<(");
}

/* Nobody can type the name of a kernel, and nothing explains a bound. */
static void test_report_text__explains_what_can_be_named(void)
{
    struct made m;
    char *text;

    made_fill(&m);
    m.ops[0].name = "LongerThanAnybodyWouldEverLikeToTypeIntoTheirTerminal"
                    "AndLongerStill";
    m.ops[1].source = "bound";
    m.ops[2].source = "table";
    text = made_text(&m.p, msim_report_text);
    CHECK(text && strstr(text, "--explain 'my::op'"));
    free(text);
}

static void test_report_text__says_it(void)
{
    struct made m;
    char *text;

    made_fill(&m);
    text = made_text(&m.p, msim_report_text);
    REQUIRE(text);
    CHECK(strncmp(text, "run/et on a100 (costs: model)\n", 30) == 0);
    CHECK(strstr(text, "compute            0.900 ms   90.0 %"));
    CHECK(strstr(text, "(70.0 us more behind compute)"));
    CHECK(strstr(text, "  in all             1.000 ms  100.0 %\n"));
    CHECK(strstr(text, "75.0 % of operators, 92.0 % of device time"));
    CHECK(strstr(text, "not covered by a law of their own"));
    CHECK(strstr(text, "\nranks, in ms\n"));
    CHECK(strstr(text, "\nwarning: one thing to know\n"));
    CHECK(strstr(text, "--explain 'aten::mm'"));
    /* Not a terminal: no clock, no characters beyond ASCII. */
    CHECK(!strstr(text, "took"));
    for (const char *s = text; *s; s++)
        REQUIRE((unsigned char)*s < 0x80);
    free(text);
}

static void test_report_text__nothing_known(void)
{
    struct msim_prediction p = {.version = "0", .costs = "measured"};
    char *text = made_text(&p, msim_report_text);

    REQUIRE(text);
    CHECK(strstr(text, "trace as traced (costs: measured)"));
    CHECK(strstr(text, "no operator takes device time"));
    CHECK(!strstr(text, "nan"));
    free(text);
}

/* What is beyond the table is summed, not dropped. */
static void test_report_text__many_operators(void)
{
    struct msim_op_row ops[40];
    struct made m;
    char *text;

    made_fill(&m);
    for (int i = 0; i < 40; i++)
        ops[i] = m.ops[0];
    m.p.ops = ops;
    m.p.n_ops = 40;
    text = made_text(&m.p, msim_report_text);
    REQUIRE(text);
    /* 25 of 40 rows of 800 us each: 20,000 us, 62.5 %. */
    CHECK(strstr(text, "25 more (--csv lists all)"));
    CHECK(strstr(text, "   20000.0   62.5 %"));
    free(text);
}

static void check_line(const char *text, const char *want)
{
    if (!CHECK(strstr(text, want)))
        fprintf(stderr, "    no line '%s'\n", want);
}

static void test_report_text__where(void)
{
    struct made m;
    char *text;

    made_fill(&m);
    m.ops[1].slack_us = 40;
    text = made_text(&m.p, msim_report_text);
    REQUIRE(text);
    check_line(text, "critical path, by owner");
    check_line(text, "  aten::mm                   host              750.0");
    check_line(text, "  launch                     latency           250.0");
    check_line(text, "  by class          host 75.0 %, latency 25.0 %\n");
    check_line(text, "  main thread, for  launch queue full 12.5 us\n");
    check_line(text, "  idle GPU, for     launch 2.5 us\n");
    check_line(text, "  last to arrive    rank 1 in 1 collectives (the others "
                     "wait 10.0 us)\n");
    check_line(text, "  time to spare     record_param_comms 40.0 us a call\n");
    check_line(text, "  recorded ids      launch 7 of 20\n");
    check_line(text, "  copied times      host work 15.0 us\n");
    free(text);
}

/* Nine owners, of which two are kernels of one operator: eight rows. */
static void test_report_text__merges_owners(void)
{
    struct msim_owner_row owners[9];
    char names[9][8];
    struct made m;
    char *text;

    made_fill(&m);
    for (int i = 0; i < 9; i++) {
        snprintf(names[i], sizeof(names[i]), "k%d", i);
        owners[i] = (struct msim_owner_row){.kind = "kernel",
                                            .name = names[i],
                                            .op = i < 2 ? "aten::cat" : NULL,
                                            .us = 100,
                                            .share = 0.1,
                                            .pieces = 1};
    }
    m.p.owners = owners;
    m.p.n_owners = 9;
    text = made_text(&m.p, msim_report_text);
    REQUIRE(text);
    check_line(text, "  aten::cat                  kernel            200.0");
    check_line(text, "  k8                         kernel            100.0");
    CHECK(!strstr(text, "--json lists all"));
    free(text);
}

/* Measured times need no law; and lines fit into a window. */
static void test_report_text__measured(void)
{
    static const char LONG[] = "cutlass::device_kernel<a::b::c::d::e::f::g::h::"
                               "i::j::k::l::m::n::o::p::Kernel>";
    struct made m;
    char *text;

    made_fill(&m);
    m.p.costs = "measured";
    m.ops[0].name = LONG;
    text = made_text(&m.p, msim_report_text);
    REQUIRE(text);
    CHECK(!strstr(text, "covered by laws"));
    for (const char *s = text, *end; (end = strchr(s, '\n')); s = end + 1)
        CHECK(end - s <= 100);
    free(text);
}

int main(void)
{
    RUN(test_report_format__times);
    RUN(test_report_format__large);
    RUN(test_report_format__figures);
    RUN(test_report_format__names);
    RUN(test_report_format__names_in_few_bytes);
    RUN(test_report_format__operators);
    RUN(test_report_text__explains_what_can_be_named);
    RUN(test_report_text__says_it);
    RUN(test_report_text__nothing_known);
    RUN(test_report_text__many_operators);
    RUN(test_report_text__where);
    RUN(test_report_text__merges_owners);
    RUN(test_report_text__measured);
    return check_summary();
}
