/*
 * tests/unit/core/report/markdown/test_markdown.c - answers as Markdown: whole
 * texts of small round numbers.
 */
#include "core/report/compare/compare.h"
#include "core/report/markdown/markdown.h"
#include "tests/check.h"
#include "tests/unit/made_prediction.h"

/* ---- texts --------------------------------------------------------------- */

static void check_text(const char *text, const char *want)
{
    char *got = NULL;
    size_t size;
    FILE *out = open_memstream(&got, &size);

    REQUIRE(out != NULL);
    msim_markdown_print(out, "%s|%d", text, 3);
    fclose(out);
    CHECK_STR(got, want);
    free(got);
}

/* Words are as they are; what may mean something to Markdown is code. */
static void test_markdown__texts(void)
{
    check_text("az AZ 09 .,%+-()", "az AZ 09 .,%+-()|3");
    check_text("", "|3");
    check_text("aten::mm", "`aten::mm`|3");
    check_text("a_b", "`a_b`|3");
    check_text("*x*", "`*x*`|3");
    check_text("a`b|c", "`a'b\\|c`|3");
    check_text("a\nb\tc", "`a b c`|3");
    check_text("<b>&\x1b", "`<b>&?`|3");
}

/* ---- a prediction -------------------------------------------------------- */

static void check_prediction(const struct msim_prediction *p, const char *want)
{
    char *text = made_text(p, msim_markdown_prediction);

    CHECK_STR(text, want);
    free(text);
}

#define HEAD "### `run/et on a100 (costs: model)`\n\n"
#define FIGURES                                                                \
    "| | predicted | 90 % | measured |\n|---|---:|---:|---:|\n"                \
    "| period | 950.0 us | 900.0 us to 1.000 ms | - |\n"                       \
    "| iteration | 1.000 ms | 800.0 us to 1.300 ms | 1.000 ms |\n"             \
    "| kernels | 880.0 us | 720.0 us to 1.220 ms | - |\n"
#define BREAKDOWN                                                              \
    "\n| where an iteration goes | time | share |\n|---|---:|---:|\n"          \
    "| compute | 900.0 us | 90.0 % |\n"                                        \
    "| communication | 50.0 us | 5.0 % |\n"                                    \
    "| memory copy | 30.0 us | 3.0 % |\n"                                      \
    "| host | 15.0 us | 1.5 % |\n"                                             \
    "| idle | 5.0 us | 0.5 % |\n"
#define OPS                                                                    \
    "\n| operator | calls | time | of kernels | limited by | of its peak |\n"  \
    "|---|---:|---:|---:|---|---:|\n"

static void test_markdown__prediction(void)
{
    struct made m;

    made_fill(&m);
    m.p.period.us = (struct msim_figure){950, 900, 1000, NAN};
    m.ops[0].limit = "compute";
    m.ops[0].peak_share = 0.5;
    /* 800 of 880 us; a collective is no kernel's share. */
    check_prediction(
        &m.p, HEAD FIGURES BREAKDOWN OPS
        "| `aten::mm` | 4 | 800.0 us | 90.9 % | compute | 50.0 % |\n"
        "| `record_param_comms` | 1 | 120.0 us | - | - | - |\n"
        "| `my::op` | 1.50 | 80.0 us | 9.1 % | - | - |\n"
        "\n- warning: one thing to know\n");
    m.p.verdict = "The GPU bounds it.";
    m.p.n_warnings = m.p.n_ops = 0;
    check_prediction(&m.p, HEAD "The GPU bounds it.\n\n" FIGURES BREAKDOWN OPS);
}

/* Shares of nothing are none. */
static void test_markdown__nothing(void)
{
    struct made m;
    char *text;

    made_fill(&m);
    m.p.breakdown_us = (struct msim_breakdown){0};
    m.p.kernel_us.predicted = 0;
    text = made_text(&m.p, msim_markdown_prediction);
    REQUIRE(text != NULL);
    CHECK(strstr(text, "| compute | 0.0 us | - |\n"));
    CHECK(strstr(text, "| idle | 0.0 us | - |\n"));
    CHECK(strstr(text, "| `aten::mm` | 4 | 800.0 us | - | - | - |\n"));
    free(text);
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;

    for (; text && (text = strstr(text, what)); text += strlen(what))
        n++;
    return n;
}

/* Ten operators, and how many more there are. */
static void test_markdown__many(void)
{
    for (uint32_t n = 10; n < 13; n++) {
        struct msim_op_row ops[12];
        struct made m;
        char *text, want[64];

        made_fill(&m);
        for (uint32_t i = 0; i < 12; i++)
            ops[i] = m.ops[0];
        m.p.ops = ops;
        m.p.n_ops = n;
        text = made_text(&m.p, msim_markdown_prediction);
        CHECK_UINT(count(text, "| `aten::mm` |"), 10);
        snprintf(want, sizeof(want), "\n%u other operators are not shown.\n",
                 n - 10);
        CHECK_UINT(count(text, want), n > 10);
        CHECK_UINT(count(text, "not shown"), n > 10);
        free(text);
    }
}

/* ---- a comparison -------------------------------------------------------- */

static struct msim_change change(const char *name, double a, double b)
{
    return (struct msim_change){.name = {name, name},
                                .us = {{.predicted = a}, {.predicted = b}},
                                .difference = b - a};
}

static char *text_of(const struct msim_comparison *c)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!CHECK(out != NULL))
        return NULL;
    CHECK_INT(msim_markdown_comparison(c, out), MSIM_OK);
    fclose(out);
    return text;
}

/* Figures that neither side has are left out; tables, where they are none. */
static void test_markdown__comparison(void)
{
    struct msim_side a = {.input = "run/a"}, b = {.input = "b"};
    struct msim_change rows[] = {change("compute", 80, 50),
                                 change("host", 0, 5)};
    struct msim_change ops[] = {change("aten::mm", 80, 50), change(NULL, 0, 5)};
    const char *warnings[] = {"other GPUs"};
    struct msim_comparison c = {
        .side = {&a, &b},
        .period = change(NULL, NAN, NAN),
        .iteration = change(NULL, 80, 55),
        .measured = change(NULL, NAN, 60),
        .kernel = change(NULL, 70, NAN),
        .transfer = change(NULL, 0, 2),
        .wait = change(NULL, 4, 4),
        .breakdown = {.rows = rows, .n = 2},
        .ops = {.rows = ops, .n = 2},
        .warnings = warnings,
        .n_warnings = 1,
    };
    char *text;

    ops[1].name[1] = "new";
    text = text_of(&c);
    CHECK_STR(text,
              "### Changes\n\nA: `run/a`\n\nB: b\n\n"
              "| | A | B | difference | B / A |\n|---|---:|---:|---:|---:|\n"
              "| iteration | 80.0 us | 55.0 us | -25.0 us | 0.688 |\n"
              "| measured | - | 60.0 us | - | - |\n"
              "| kernels | 70.0 us | - | - | - |\n"
              "| transfers | 0.0 us | 2.0 us | +2.0 us | - |\n"
              "| waits for peers | 4.0 us | 4.0 us | 0.0 us | 1.000 |\n"
              "\n| where an iteration goes | A | B | difference | B / A |\n"
              "|---|---:|---:|---:|---:|\n"
              "| compute | 80.0 us | 50.0 us | -30.0 us | 0.625 |\n"
              "| host | 0.0 us | 5.0 us | +5.0 us | - |\n"
              "\n| operator | A | B | difference | B / A |\n"
              "|---|---:|---:|---:|---:|\n"
              "| `aten::mm` | 80.0 us | 50.0 us | -30.0 us | 0.625 |\n"
              "| new | 0.0 us | 5.0 us | +5.0 us | - |\n"
              "\n- warning: other GPUs\n");
    free(text);
    c.period = change(NULL, 90, 45);
    c.breakdown.n = 0;
    c.ops.absent = "a file has none";
    c.n_warnings = 0;
    text = text_of(&c);
    CHECK_UINT(count(text, "\n|---|"), 1);
    CHECK_UINT(count(text, "\n| period | 90.0 us | 45.0 us | -45.0 us | 0.500 "
                           "|\n"),
               1);
    CHECK_UINT(count(text, "warning"), 0);
    free(text);
}

/* Of operators ten; of classes all that there are. */
static void test_markdown__comparison_of_many(void)
{
    for (uint32_t n = 10; n < 13; n++) {
        struct msim_side a = {.input = "a"}, b = {.input = "b"};
        struct msim_change ops[12], rows[12];
        struct msim_comparison c = {.side = {&a, &b},
                                    .breakdown = {.rows = rows, .n = n},
                                    .ops = {.rows = ops, .n = n}};
        char *text, want[64];

        for (uint32_t i = 0; i < 12; i++) {
            ops[i] = change("op", 2, 1);
            rows[i] = change("part", 2, 1);
        }
        text = text_of(&c);
        CHECK_UINT(count(text, "| op | 2.0 us |"), 10);
        CHECK_UINT(count(text, "| part | 2.0 us |"), n);
        snprintf(want, sizeof(want), "\n%u other rows changed less.\n", n - 10);
        CHECK_UINT(count(text, want), n > 10);
        CHECK_UINT(count(text, "changed less"), n > 10);
        free(text);
    }
}

/* ---- scenarios ----------------------------------------------------------- */

/* Row 0 is the base. */
static struct msim_markdown_scenario row(const void *of, uint32_t i)
{
    return ((const struct msim_markdown_scenario *)of)[i];
}

static void check_scenarios(const struct msim_markdown_scenario *rows,
                            uint32_t n, const char *want)
{
    struct msim_guard_count marked = {.answers = n + 1};
    struct msim_scenario_table s = {.of = rows,
                                    .n = n,
                                    .time = "period",
                                    .work = "a GPU",
                                    .marked = &marked,
                                    .row = row};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    REQUIRE(out != NULL);
    for (uint32_t i = 0; i <= n; i++)
        if (rows[i].marks) {
            marked.marked++;
            marked.by[MSIM_GUARD_PEAK]++;
        }
    msim_markdown_scenarios(&s, out);
    fclose(out);
    CHECK_STR(text, want);
    free(text);
}

#define SCENARIOS                                                              \
    "| scenario | period | of the base | 90 % | a GPU | memory | fits | "      \
    "marked |\n|---|---:|---:|---:|---:|---:|---|---|\n"

static void test_markdown__scenarios(void)
{
    struct msim_markdown_scenario rows[] = {
        {.name = "base", .reason = "", .us = 1000, .work = "1.00 T"},
        {.name = "half",
         .reason = "",
         .us = 500,
         .ratio = 0.5,
         .low = 0.45,
         .high = 0.6,
         .work = "2.00 T",
         .memory = "1.00 GiB",
         .fits = "yes",
         .marks = MSIM_GUARD_BIT(PEAK)},
        {.name = "none", .reason = "no such stream"},
        {.name = "never", .reason = "no such GPU"},
    };

    check_scenarios(rows, 0,
                    SCENARIOS
                    "| as it is | 1.000 ms | 1 |  | 1.00 T |  |  |  |\n");
    rows[0].marks = MSIM_GUARD_BIT(PEAK);
    check_scenarios(
        rows, 3,
        SCENARIOS
        "| as it is | 1.000 ms | 1 |  | 1.00 T |  |  | peak |\n"
        "| half | 500.0 us | 0.500 | 0.450 to 0.600 | 2.00 T | 1.00 GiB | yes "
        "| peak |\n"
        "\n`2 of 4 predictions are marked: 2 peak (it takes less than its "
        "FLOPs or bytes do at the peak)`\n"
        "\n- none cannot be predicted: no such stream\n"
        "- never cannot be predicted: no such GPU\n");
}

int main(void)
{
    RUN(test_markdown__texts);
    RUN(test_markdown__prediction);
    RUN(test_markdown__nothing);
    RUN(test_markdown__many);
    RUN(test_markdown__comparison);
    RUN(test_markdown__comparison_of_many);
    RUN(test_markdown__scenarios);
    return check_summary();
}
