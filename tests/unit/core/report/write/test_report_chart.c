/*
 * tests/unit/core/report/write/test_report_chart.c - the chart.
 */
#include "core/report/write/chart.h"
#include "tests/check.h"
#include "tests/unit/made_prediction.h"

#include <unistd.h>

static char folder[] = P_tmpdir "/msim-chart-XXXXXX";
static char svg[64], png[64];

/* The file's text up to a quarter of a megabyte, then removed. */
static const char *take(const char *path)
{
    static char text[1 << 18];
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

    text[n] = '\0';
    if (f)
        fclose(f);
    unlink(path);
    return text;
}

/* What comes of a script. */
static enum msim_status draw(const char *text, struct msim_error *err)
{
    FILE *script = tmpfile();
    char *picture = NULL;
    size_t n;
    enum msim_status status = MSIM_EIO;

    if (script) {
        fputs(text, script);
        status = msim_gnuplot_run(script, &picture, &n, err);
        CHECK((status == MSIM_OK) == (picture != NULL));
        free(picture);
        fclose(script);
    }
    return status;
}

static bool have_gnuplot(void)
{
    return draw("set terminal svg\nplot 1\n", NULL) == MSIM_OK;
}

#define NEED_GNUPLOT()                                                         \
    do {                                                                       \
        if (!have_gnuplot())                                                   \
            SKIP("no gnuplot");                                                \
    } while (0)

static void test_report_chart__svg(void)
{
    struct made m;
    const char *text;

    NEED_GNUPLOT();
    made_fill(&m);
    CHECK_INT(msim_report_chart(&m.p, svg, NULL), MSIM_OK);
    text = take(svg);
    CHECK(strstr(text, "</svg>"));
    CHECK(strstr(text, "run/et on a100 (costs: model)"));
    CHECK(strstr(text, "record_param_comms"));
    CHECK(strstr(text, "rank 1"));
}

static void test_report_chart__png(void)
{
    struct made m;

    NEED_GNUPLOT();
    made_fill(&m);
    CHECK_INT(msim_report_chart(&m.p, png, NULL), MSIM_OK);
    CHECK(memcmp(take(png), "\x89PNG\r\n\x1a\n", 8) == 0);
}

/* Nothing in a name is a command, a format or mark-up. */
static void test_report_chart__hostile_names(void)
{
    struct made m;
    const char *text;

    NEED_GNUPLOT();
    made_fill(&m);
    m.ops[0].name = "a'; system('x') #<b>";
    m.ops[1].name = "MSIM_END\nexit 1 %d %s";
    m.ops[2].name = "\"{/Bold x}_2^3@ `id` $x \xff";
    CHECK_INT(msim_report_chart(&m.p, svg, NULL), MSIM_OK);
    text = take(svg);
    CHECK(strstr(text, "a'; system('x') #&lt;b>"));
    CHECK(strstr(text, "MSIM_END?exit 1 %d %s"));
    CHECK(strstr(text, "{/Bold x}_2^3@ `id` $x ?"));
}

static void test_report_chart__nothing_to_draw(void)
{
    struct made m;

    NEED_GNUPLOT();
    made_fill(&m);
    m.p.n_ops = m.p.n_ranks_detail = 0;
    m.p.iteration_us = (struct msim_figure){0, 0, 0, NAN};
    memset(&m.p.breakdown_us, 0, sizeof(m.p.breakdown_us));
    CHECK_INT(msim_report_chart(&m.p, svg, NULL), MSIM_OK);
    CHECK(strstr(take(svg), "</svg>"));
}

static void test_report_chart__many_ranks(void)
{
    static struct msim_rank_row ranks[100];
    struct made m;
    const char *text;

    NEED_GNUPLOT();
    made_fill(&m);
    for (int i = 0; i < 100; i++) {
        ranks[i] = m.ranks[0];
        ranks[i].rank = i;
        ranks[i].iteration_us.predicted = i < 84 ? 1000 : 2000;
    }
    m.p.ranks_detail = ranks;
    m.p.n_ranks_detail = 100;
    CHECK_INT(msim_report_chart(&m.p, svg, NULL), MSIM_OK);
    text = take(svg);
    CHECK(strstr(text, "2 of 100 traced ranks"));
    CHECK(strstr(text, "rank 0 and 83 like it"));
    CHECK(strstr(text, "rank 84 and 15 like it"));
}

static void test_report_chart__says_what_to_install(void)
{
    struct msim_error err = {0};
    struct made m;
    char *path = strdup(getenv("PATH") ? getenv("PATH") : "");

    made_fill(&m);
    setenv("PATH", folder, 1);
    CHECK_INT(msim_report_chart(&m.p, svg, &err), MSIM_EIO);
    setenv("PATH", path, 1);
    CHECK(strstr(err.text, "cannot run 'gnuplot'"));
    CHECK(strstr(err.text, "apt install gnuplot-nox"));
    CHECK(access(svg, F_OK) != 0);
    free(path);
}

static void test_gnuplot__passes_on_complaints(void)
{
    struct msim_error err = {0};

    NEED_GNUPLOT();
    CHECK_INT(draw("set nonsense\n", &err), MSIM_EIO);
    CHECK(strstr(err.text, "gnuplot could not draw the chart: "));
}

/* A program that says it went well, after half a picture. */
static void test_gnuplot__looks_at_the_end(void)
{
    struct msim_error err = {0};

    NEED_GNUPLOT();
    CHECK_INT(draw("set print '-'\nprint '<svg></svg'\n", &err), MSIM_EIO);
    CHECK_STR(err.text, "gnuplot's chart has no end, after 11 bytes");
    CHECK_INT(draw("set print '-'\nprint '<svg></svg>'\n", NULL), MSIM_OK);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    snprintf(svg, sizeof(svg), "%s/c.svg", folder);
    snprintf(png, sizeof(png), "%s/c.png", folder);
    RUN(test_report_chart__svg);
    RUN(test_report_chart__png);
    RUN(test_report_chart__hostile_names);
    RUN(test_report_chart__nothing_to_draw);
    RUN(test_report_chart__many_ranks);
    RUN(test_report_chart__says_what_to_install);
    RUN(test_gnuplot__passes_on_complaints);
    RUN(test_gnuplot__looks_at_the_end);
    rmdir(folder);
    return check_summary();
}
