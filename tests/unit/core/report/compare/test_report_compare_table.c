/*
 * tests/unit/core/report/compare/test_report_compare_table.c - tables of a
 * comparison, line by line.
 */
#include "core/report/compare/report_compare_page.h"
#include "tests/unit/written_text.h"

#define LENGTH(list) (sizeof(list) / sizeof(*(list)))

/* A row of `calls` that takes `a` us, then `b`; NULL: it is not on that side.
 */
static struct msim_change change(const char *a_name, const char *b_name,
                                 double calls, double a, double b)
{
    return (struct msim_change){.name = {a_name, b_name},
                                .calls = {calls, 2 * calls},
                                .us = {{.predicted = a}, {.predicted = b}},
                                .difference = b - a};
}

static void check_table(struct msim_changes *t, enum msim_extra extra,
                        uint32_t limit, bool doubtful, const char *want)
{
    struct written w = written_begin();
    struct msim_compare_page page = {.out = w.out};

    t->total = change("", "", 0, 0, 0);
    for (uint32_t i = 0; i < t->n; i++)
        for (int side = 0; side < 2; side++)
            t->total.us[side].predicted += t->rows[i].us[side].predicted;
    t->total.difference = t->total.us[1].predicted - t->total.us[0].predicted;
    msim_compare_table_print(
        &page,
        (struct msim_compare_table){
            .title = "things", .t = t, .extra = extra, .total = true},
        limit);
    CHECK(page.doubtful == doubtful);
    WRITTEN(&w, want);
}

/* 400 us to 300 and a new one of 60: in us, since a tenth of the most is below
 * a millisecond. Rows of nothing are left out where calls are not counted. */
static void test_report_compare_table__times(void)
{
    struct msim_change rows[] = {change("gemm", "gemm", 2, 400, 300),
                                 change(NULL, "bound", 1, 0, 60),
                                 change("memory_copy", NULL, 0.5, 1, 0),
                                 change("none", "none", 0, 0, 0)};
    struct msim_changes t = {.key = "ops", .rows = rows, .n = 4};

    rows[0].beyond = MSIM_BEYOND_NO; /* within the intervals */
    check_table(&t, MSIM_EXTRA_NOTHING, 9, true,
                "\nthings, us                     A         B    change      "
                "B/A\n"
                "  gemm                     400.0     300.0    -100.0~ x "
                "0.750\n"
                "  unknown (bound)              -      60.0     +60.0      "
                "new\n"
                "  memory copy                1.0         -      -1.0     "
                "gone\n"
                "  in all                   401.0     360.0     -41.0  x "
                "0.898\n");
    rows[0].beyond = MSIM_BEYOND_YES;
    check_table(&t, MSIM_EXTRA_CALLS, 1, false,
                "\nthings, us             calls A       B         A         B  "
                "  change      B/A    share\n"
                "  gemm                       2       4     400.0     300.0  "
                "  -100.0  x 0.750  243.9 %\n"
                "  3 more (--csv)                             1.0      60.0    "
                " +59.0 x 60.000 -143.9 %\n"
                "  in all                                   401.0     360.0    "
                " -41.0  x 0.898  100.0 %\n");
}

/* Means are 200 and 75 us, in a unit of their own. */
static void test_report_compare_table__means(void)
{
    struct msim_change rows[] = {change("gemm", "gemm", 100, 20e3, 15e3),
                                 change("gone", NULL, 0, 5, 0)};
    struct msim_changes t = {.key = "ops", .rows = rows, .n = 2};

    check_table(&t, MSIM_EXTRA_MEANS, 9, false,
                "\nthings, ms             calls A       B         A         B  "
                "  change  A each/us B each/us     B/A\n"
                "  gemm                     100     200    20.000    15.000   "
                " -5.000      200.0      75.0 x 0.750\n"
                "  gone                       0       -     0.005         -   "
                " -0.005          -         -    gone\n"
                "  in all                                  20.005    15.000   "
                " -5.005                      x 0.750\n");
}

/* Of 30 ms each: in ms, too. */
static void test_report_compare_table__long_means(void)
{
    struct msim_change row = change("a", "a", 1, 30e3, 40e3);
    struct msim_changes t = {.key = "ops", .rows = &row, .n = 1};

    check_table(&t, MSIM_EXTRA_MEANS, 9, false,
                "\nthings, ms             calls A       B         A         B  "
                "  change  A each/ms B each/ms     B/A\n"
                "  a                          1       2    30.000    40.000  "
                " +10.000     30.000    20.000 x 1.333\n");
}

static void test_report_compare_table__nothing(void)
{
    struct msim_change rows[] = {change("a", "a", 1, 5, 5),
                                 change("b", "b", 1, 7, 7)};
    struct msim_changes t = {.key = "ops", .rows = rows, .n = 2};

    check_table(&t, MSIM_EXTRA_CALLS, 9, false,
                "\nthings: 2, all as they were\n");
    t.n = 0;
    check_table(&t, MSIM_EXTRA_CALLS, 9, false, "\nthings: none\n");
    t.absent = "a file has none";
    check_table(&t, MSIM_EXTRA_CALLS, 9, false,
                "\nthings: none, a file has none\n");
    /* One that is not on a side is a change, though it takes nothing. */
    t = (struct msim_changes){.key = "ops", .rows = rows, .n = 1};
    rows[0] = change(NULL, "a", 1, 0, 0);
    check_table(&t, MSIM_EXTRA_CALLS, 9, false,
                "\nthings, us             calls A       B         A         B  "
                "  change      B/A    share\n"
                "  a                          -       2         -       0.0  "
                "    +0.0      new        -\n");
    rows[0] = change("a", NULL, 1, 0, 0);
    check_table(&t, MSIM_EXTRA_CALLS, 9, false,
                "\nthings, us             calls A       B         A         B  "
                "  change      B/A    share\n"
                "  a                          1       -       0.0         -   "
                "   +0.0     gone        -\n");
}

/* Names without PyTorch's namespaces, and with what tells them apart; one too
 * long for its column has a line of its own. */
static void test_report_compare_table__names(void)
{
    static const struct {
        const char *key, *name, *kind, *line;
    } ROWS[] = {
        {"ops", "void at::native::f<at::native::g>(int)", "kernel",
         "  f<g>                       1.0"},
        {"ops", "all_reduce", "communication",
         "  all_reduce (transfer)       1.0"},
        {"critical_path", "f", "host", "  f (host)                   1.0"},
        {"ops", "0123456789012345678901234567890123", NULL,
         "  0123456789012345678901234567890123       1.0"},
        {"ops", "01234567890123456789012345678901234", NULL,
         "  01234567890123456789012345678901234\n"
         "                                           1.0"},
    };

    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        struct msim_change row = change(ROWS[i].name, ROWS[i].name, 1, 1, 2);
        struct msim_changes t = {.key = ROWS[i].key, .rows = &row, .n = 1};
        struct written w = written_begin();
        struct msim_compare_page page = {.out = w.out};
        char *text, *line;

        row.kind = ROWS[i].kind;
        msim_compare_table_print(
            &page, (struct msim_compare_table){.title = "things", .t = &t}, 9);
        text = written_end(&w);
        line = strchr(text + 1, '\n');
        if (CHECK(line != NULL)) {
            line[1 + strlen(ROWS[i].line)] = '\0';
            CHECK_STR(line + 1, ROWS[i].line);
        }
        free(text);
    }
}

static void test_report_compare_table__cells(void)
{
    struct msim_change c = change("a", "a", 1, 10, 999.96);
    struct msim_compare_page page = {.doubtful = false};
    char cell[MSIM_CELL];

    msim_format_ratio(cell, &c);
    CHECK_STR(cell, "x 99.996");
    c.us[1].predicted = 1000;
    msim_format_ratio(cell, &c);
    CHECK_STR(cell, "x 100");
    c.us[0].predicted = 0;
    msim_format_ratio(cell, &c);
    CHECK_STR(cell, "-");
    msim_format_change(cell, msim_compare_unit(1), NAN);
    CHECK_STR(cell, "-");
    CHECK_STR(msim_compare_unit(9999)->name, "us");
    CHECK_STR(msim_compare_unit(10000)->name, "ms");
    CHECK_STR(msim_compare_unit(1e7)->name, "s");
    c.beyond = MSIM_BEYOND_UNKNOWN;
    CHECK_INT(msim_compare_mark(&page, &c), ' ');
    c.beyond = MSIM_BEYOND_NO;
    c.difference = 0;
    CHECK_INT(msim_compare_mark(&page, &c), ' ');
    CHECK(!page.doubtful);
    c.difference = -1;
    CHECK_INT(msim_compare_mark(&page, &c), '~');
    CHECK(page.doubtful);
    CHECK(!msim_change_is_zero(&c));
    c.us[1].predicted = 0;
    CHECK(msim_change_is_zero(&c));
    c.us[0].predicted = 0.5;
    CHECK(!msim_change_is_zero(&c));
}

int main(void)
{
    RUN(test_report_compare_table__times);
    RUN(test_report_compare_table__means);
    RUN(test_report_compare_table__long_means);
    RUN(test_report_compare_table__nothing);
    RUN(test_report_compare_table__names);
    RUN(test_report_compare_table__cells);
    return check_summary();
}
