/*
 * tests/unit/core/report/write/test_gnuplot.c - tests of gnuplot.c: a text is a
 * string on one line, whatever is in it.
 */
#include "core/report/write/chart.h"
#include "tests/check.h"

#include <stdlib.h>

static void check_string(const char *text, const char *want)
{
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);

    REQUIRE(out != NULL);
    msim_gnuplot_print(out, "set title %s\n", text);
    fclose(out);
    CHECK_STR(got, want);
    free(got);
}

static void test_gnuplot__texts_are_strings(void)
{
    check_string("x", "set title \"x\"\n");
    check_string("' ; system \"id\" #",
                 "set title \"\\0047 ; system \\0042id\\0042 #\"\n");
    check_string("`id` @a \\", "set title \"\\140id\\140 \\100a \\134\"\n");
    check_string("a\nMSIM_END\nsystem 'id'",
                 "set title \"a MSIM_END system \\0047id\\0047\"\n");
    check_string("a\r\xe2\x80\xa8", "set title \"a??\"\n");
    check_string("", "set title \"\"\n");
    /* XML of gnuplot's SVG is broken by the end of a CDATA section. */
    check_string("a]]>b]]>", "set title \"a]] >b]] >\"\n");
}

/* Labels of tics are formats to gnuplot. */
static void test_gnuplot__tics(void)
{
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);

    REQUIRE(out != NULL);
    msim_gnuplot_tic(out, "100%s'", 2);
    fclose(out);
    CHECK_STR(got, "\"100%%s\\0047\" 2");
    free(got);
}

static void in_hundreds(double at, char *text, size_t size)
{
    snprintf(text, size, "%g%%", at / 100);
}

static void check_axis(double low, double high, const char *want)
{
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);

    REQUIRE(out != NULL);
    msim_gnuplot_log_axis(out, 'y', low, high, in_hundreds);
    fclose(out);
    CHECK_STR(got, want);
    free(got);
}

/* At least three tics wherever a short axis lies, powers of ten on a long one;
 * the limits are those of the ends, 1.69 times as far apart as the values. */
static void test_gnuplot__log_axis(void)
{
    check_axis(300, 300,
               "set logscale y\nset yrange [230.769:390]\nset ytics "
               "(\"2.5%%\" 250, \"3%%\" 300, \"3.5%%\" 350)\n");
    check_axis(0.0130, 0.02,
               "set logscale y\nset yrange [0.01:0.026]\nset ytics "
               "(\"0.0001%%\" 0.01, \"0.00012%%\" 0.012, \"0.00015%%\" 0.015, "
               "\"0.00018%%\" 0.018, \"0.0002%%\" 0.02, \"0.00025%%\" "
               "0.025)\n");
    check_axis(
        2.6, 46.15,
        "set logscale y\nset yrange [2:59.995]\nset ytics (\"0.02%%\" 2, "
        "\"0.05%%\" 5, \"0.1%%\" 10, \"0.2%%\" 20, \"0.5%%\" 50)\n");
    check_axis(2.6, 30.7,
               "set logscale y\nset yrange [2:39.91]\nset ytics (\"0.02%%\" 2, "
               "\"0.03%%\" 3, \"0.05%%\" 5, \"0.07%%\" 7, \"0.1%%\" 10, "
               "\"0.15%%\" 15, \"0.2%%\" 20, \"0.3%%\" 30)\n");
    check_axis(10, 2001,
               "set logscale y\nset yrange [7.69231:2601.3]\nset ytics "
               "(\"0.1%%\" 10, \"1%%\" 100, \"10%%\" 1000)\n");
}

int main(void)
{
    RUN(test_gnuplot__texts_are_strings);
    RUN(test_gnuplot__tics);
    RUN(test_gnuplot__log_axis);
    return check_summary();
}
