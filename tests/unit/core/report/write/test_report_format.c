/*
 * tests/unit/core/report/write/test_report_format.c - figures and titles at
 * their limits.
 */
#include "core/report/write/report.h"
#include "tests/check.h"
#include "tests/unit/made_prediction.h"

#define LENGTH(list) (sizeof(list) / sizeof(*(list)))

typedef void (*format)(char cell[MSIM_CELL], double value);

static void test_report_format__limits(void)
{
    static const struct {
        format put;
        double value;
        const char *want;
    } ROWS[] = {
        {msim_format_time, 999.96, "1000.0 us"}, /* by the figure itself */
        {msim_format_time, -1000, "-1.000 ms"},
        {msim_format_time, 1e6, "1.000 s"},
        {msim_format_time, 999999.5, "1000.000 ms"},
        {msim_format_time, 9e20, "900000000000000.000 s"},
        {msim_format_time, 1e21, "1e+15 s"},
        {msim_format_share, 0.12345, "12.3 %"},
        {msim_format_share, -1, "-100.0 %"},
        {msim_format_share, NAN, "-"},
        {msim_format_calls, 3, "3"},
        {msim_format_calls, 3.004, "3"},
        {msim_format_calls, 2.996, "3"},
        {msim_format_calls, 3.006, "3.01"},
        {msim_format_calls, 0.5, "0.50"},
        {msim_format_calls, NAN, "-"},
        {msim_format_large, 999.994, "1000 "}, /* of what has no prefix */
        {msim_format_large, 999.996, "1.00 k"},
        {msim_format_large, 999994, "999.99 k"},
        {msim_format_large, 999996, "1.00 M"},
        {msim_format_large, 2e9, "2.00 G"},
        {msim_format_large, -5e15, "-5.00 P"},
        {msim_format_large, 7e18, "7.00 E"},
        {msim_format_large, NAN, "-"},
        {msim_format_memory, 0, "0 B"},
        {msim_format_memory, 999, "999 B"},
        {msim_format_memory, 1000, "0.98 KiB"},
        {msim_format_memory, 1024, "1.00 KiB"},
        {msim_format_memory, -2048.0 * 1024, "-2.00 MiB"},
        {msim_format_memory, 3.0 * (1ll << 40), "3.00 TiB"},
        {msim_format_memory, 4.0 * (1ll << 50), "4.00 PiB"},
        {msim_format_memory, 4096.0 * (1ll << 50), "4096.00 PiB"},
        {msim_format_memory, NAN, "-"},
    };
    char cell[MSIM_CELL];

    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        ROWS[i].put(cell, ROWS[i].value);
        CHECK_STR(cell, ROWS[i].want);
    }
    CHECK_STR(msim_unit_for(1e6)->name, "s");
    CHECK_STR(msim_unit_for(-999)->name, "us");
    CHECK_STR(msim_unit_for(NAN)->name, "us");
}

static void test_report_format__errors(void)
{
    static const struct {
        struct msim_figure f;
        bool elsewhere;
        const char *error, *figure;
    } ROWS[] = {
        {{90, 90, 90, 100},
         false,
         "-10.0 %",
         "     90.0 us   measured 100.0 us, error -10.0 %"},
        {{3000, 2000, 5000, 1500},
         true,
         "+100.0 %",
         "    3.000 ms   90 %: 2.000 to 5.000 ms   traced 1.500 ms, change "
         "+100.0 %"},
        {{5, 7, 6, NAN}, false, "-", "      5.0 us"},
        {{0, 0, 0, 0}, false, "-", "      0.0 us   measured 0.0 us, error -"},
    };
    char cell[MSIM_CELL], text[MSIM_FIGURE];

    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        msim_format_error(cell, &ROWS[i].f);
        CHECK_STR(cell, ROWS[i].error);
        msim_format_figure(text, &ROWS[i].f, ROWS[i].elsewhere);
        CHECK_STR(text, ROWS[i].figure);
    }
}

/* What an answer is compared with, and the interval if it has one. */
static void test_report_format__scenarios(void)
{
    const char *options[] = {"--platform", "h100", "--clock", "1200"};
    struct made m;
    char text[MSIM_FIGURE], out[64];

    made_fill(&m);
    m.p.period.us.predicted = 500;
    msim_format_scenario(text, &m.p);
    CHECK_STR(text, ""); /* no options */
    m.p.scenario = (struct msim_scenario_note){.options = options,
                                               .n_options = 4,
                                               .baseline_us = 1000,
                                               .ratio = 0.5,
                                               .ratio_low = 0.4,
                                               .ratio_high = 0.4};
    msim_format_scenario(text, &m.p);
    CHECK_STR(text, "without the change 1.000 ms -> predicted 500.0 us, x "
                    "0.500");
    m.p.scenario.traced = true;
    m.p.scenario.ratio_high = 0.7;
    msim_format_scenario(text, &m.p);
    CHECK_STR(text, "traced 1.000 ms -> predicted 500.0 us, x 0.500 (90 %: "
                    "0.400 to 0.700)");
    m.p.scenario.ratio = INFINITY;
    msim_format_scenario(text, &m.p);
    CHECK_STR(text, "");
    msim_format_options(out, sizeof(out), &m.p.scenario);
    CHECK_STR(out, "--platform h100 --clock 1200");
    m.p.scenario.n_options = 1;
    msim_format_options(out, sizeof(out), &m.p.scenario);
    CHECK_STR(out, "--platform");
    m.p.scenario.n_options = 4;
    msim_format_options(out, 8, &m.p.scenario); /* cut, and no more */
    CHECK_STR(out, "--platf");
    msim_format_options(out, 14, &m.p.scenario);
    CHECK_STR(out, "--platform h1");
    m.p.scenario.n_options = 0;
    msim_format_options(out, sizeof(out), &m.p.scenario);
    CHECK_STR(out, "");
}

/* Inputs, the platform, and the options that neither says. */
static void test_report_format__titles(void)
{
    static const struct {
        const char *inputs[4], *platform, *from, *clock;
        const char *options[5]; /* up to NULL */
        const char *want;
    } ROWS[] = {
        {{"a"}, "h100", NULL, NULL, {0}, "a on h100 (costs: model)"},
        {{"-"},
         NULL,
         NULL,
         NULL,
         {0},
         "standard input as traced (costs: model)"},
        {{NULL}, "h100", NULL, NULL, {0}, "trace on h100 (costs: model)"},
        {{"a", "b"},
         "h100",
         NULL,
         "1200 MHz",
         {0},
         "a and 1 more on h100 at 1200 MHz (costs: model)"},
        {{"a", "b", "c"},
         "h100",
         "a100",
         NULL,
         {0},
         "a and 2 more on h100 (costs: model from a100)"},
        {{"a"},
         "h100",
         NULL,
         NULL,
         {"--platform", "h100", "--x", "1"},
         "a on h100 (costs: model), --x 1"},
        {{"a"},
         "h100",
         NULL,
         NULL,
         {"--x", "1", "--y", "2"},
         "a on h100 (costs: model), --x 1 --y 2"},
        {{"a"},
         "h100",
         NULL,
         NULL,
         {"--costs", "1", "--clock", "2"},
         "a on h100 (costs: model)"},
        {{"a"},
         "h100",
         NULL,
         NULL,
         {"--power-cap", "1"},
         "a on h100 (costs: model)"},
        {{"a"},
         "h100",
         NULL,
         NULL,
         {"--source-platform", "1"},
         "a on h100 (costs: model)"},
        {{"a"},
         "h100",
         NULL,
         NULL,
         {"--x", "1", "--odd"},
         "a on h100 (costs: model), --x 1"},
    };

    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        struct made m;
        char text[256];

        made_fill(&m);
        m.p.inputs = ROWS[i].inputs;
        m.p.n_inputs = 0;
        while (ROWS[i].inputs[m.p.n_inputs])
            m.p.n_inputs++;
        m.p.platform = ROWS[i].platform;
        m.p.source_platform = ROWS[i].from;
        m.p.clock.text = ROWS[i].clock;
        m.p.scenario.options = ROWS[i].options;
        while (ROWS[i].options[m.p.scenario.n_options])
            m.p.scenario.n_options++;
        msim_format_title(text, sizeof(text), &m.p);
        CHECK_STR(text, ROWS[i].want);
    }
}

/* Of a kernel the head, of all else both ends; the columns that are shown. */
static void test_report_format__long_names(void)
{
    static const struct {
        const char *name;
        unsigned columns, shown;
        const char *want;
    } ROWS[] = {
        {"void abcdefghij<int>(float)", 20, 15, "abcdefghij<int>"},
        {"void abcdefghijklmnop(float)", 16, 16, "abcdefghijklmnop"},
        {"void abcdefghijklmnopq(float)", 16, 16, "abcdefghijklm..."},
        {"void \xc3\xa9"
         "bcdefghijklmnopq()",
         16, 16,
         "\xc3\xa9"
         "bcdefghi...nopq"},
        {"abcdefghijklmnopqr", 16, 16, "abcdefghi...opqr"},
        {"void \xff"
         "bcdefghijklmnopq()",
         16, 16, "?bcdefghi...nopq"},
        {"abcdefghijklmnop", 16, 16, "abcdefghijklmnop"},
        {"abcdefghijklmnopqrst", 18, 18, "abcdefghij...pqrst"},
    };
    char text[64];

    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        CHECK_UINT(
            msim_format_op(text, sizeof(text), ROWS[i].name, ROWS[i].columns),
            ROWS[i].shown);
        CHECK_STR(text, ROWS[i].want);
    }
}

int main(void)
{
    RUN(test_report_format__limits);
    RUN(test_report_format__errors);
    RUN(test_report_format__scenarios);
    RUN(test_report_format__titles);
    RUN(test_report_format__long_names);
    return check_summary();
}
