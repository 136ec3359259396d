/*
 * tests/unit/core/report/write/test_gnuplot.c - tests of gnuplot.h: a text is a
 * string on one line, whatever is in it.
 */
#include "core/report/write/gnuplot.h"
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

int main(void)
{
    RUN(test_gnuplot__texts_are_strings);
    RUN(test_gnuplot__tics);
    return check_summary();
}
