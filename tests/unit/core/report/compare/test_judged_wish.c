/*
 * tests/unit/core/report/compare/test_judged_wish.c - what gnuplot is asked to
 * draw of judged predictions, and the limit of their mean error.
 */
#include "core/report/compare/compare.h"
#include "tests/unit/fake_gnuplot.h"

static char picture[] = P_tmpdir "/msim-judged-XXXXXX";

static void add(struct msim_judged_groups *g, const char *group,
                enum msim_judged_figure figure, double measured,
                double predicted)
{
    CHECK_INT(msim_judged_add(g, group, figure, measured, predicted,
                              predicted / 2, predicted * 2),
              MSIM_OK);
}

/* The script of a chart, which the caller frees. */
static char *drawn(const struct msim_judged_groups *g)
{
    const struct msim_judged_wish wish = {.chart = picture};
    struct msim_error err = {0};
    char *text = NULL;
    size_t n = 1 << 16;
    FILE *f;

    CHECK_INT(msim_judged_grant(g, &wish, &err), MSIM_OK);
    CHECK_STR(err.text, "");
    f = fopen(picture, "r");
    text = calloc(1, n);
    if (CHECK(f && text))
        (void)!fread(text, 1, n - 1, f);
    if (f)
        fclose(f);
    return text;
}

static bool has(const char *text, const char *part)
{
    if (text && strstr(text, part))
        return true;
    CHECK_STR(text, part);
    return false;
}

/* Times are in ms and drawn in s; the axes end a factor of 1.3 outside of all
 * bars. One panel of 104 - 40 + 40 + 420 + 60 = 584 pixels. */
static void test_judged_wish__steps(void)
{
    struct msim_judged_groups g = {0};
    char *text;

    add(&g, "a", MSIM_JUDGED_STEP, 1000, 1300);
    add(&g, "b", MSIM_JUDGED_STEP, 2600, 2000);
    add(&g, "a", MSIM_JUDGED_STEP, 5000, 0); /* not predicted */
    text = drawn(&g);
    has(text, "size 1000,584 ");
    has(text, "$jobs0 << MSIM_END\n1 1.3 0.65 2.6\nNaN NaN NaN NaN\nMSIM_END\n"
              "$jobs1 << MSIM_END\n2.6 2 1 4\nNaN NaN NaN NaN\nMSIM_END\n"
              "$jobs2 << MSIM_END\nNaN NaN NaN NaN\nMSIM_END\n");
    has(text, "set logscale x\nset xrange [0.5:5.2]\nset xtics (\"0.5\" 0.5, "
              "\"0.7\" 0.7, \"1\" 1, \"1.5\" 1.5, \"2\" 2, \"3\" 3, \"5\" "
              "5)\nset logscale y\nset yrange [0.5:5.2]\nset ytics (");
    has(text, "set lmargin at screen 0.09000\nset rmargin at screen 0.51000\n"
              "set tmargin at screen 0.82192\nset bmargin at screen 0.10274\n");
    has(text, "set title \"Optimizer steps\"\nset xlabel \"measured, s\"\nset "
              "ylabel \"predicted, s\"\nset key at screen 0.54000, screen "
              "0.82192 ");
    has(text, "plot x with lines lc rgb '#222222' lw 1 title 'equal', $jobs0 "
              "using 1:2:3:4 with yerrorbars pt 7 ps 0.7 lw 1.2 lc rgb "
              "\"#4477aa\" title \"a\", $jobs1 using 1:2:3:4 with yerrorbars "
              "pt 7 ps 0.7 lw 1.2 lc rgb \"#ee6677\" title \"b\"\n"
              "unset label\nunset multiplot\n");
    has(text, "\"Predicted against measured\" at screen 0.02000, screen "
              "0.95205 ");
    has(text, " it did.\" at screen 0.02000, screen 0.91438 left font "
              "\"sans-serif,12\"\n");
    free(text);
    msim_judged_release(&g);
}

/* A panel each; that of memory is in GiB as it is, 520 pixels further down. */
static void test_judged_wish__both(void)
{
    struct msim_judged_groups g = {0};
    char *text;

    add(&g, "a", MSIM_JUDGED_STEP, 1000, 1000);
    add(&g, "a", MSIM_JUDGED_MEMORY, 13, 10);
    text = drawn(&g);
    has(text, "size 1000,1104 ");
    has(text, "$jobs0 << MSIM_END\n1 1 0.5 2\n");
    has(text, "$jobs0 << MSIM_END\n13 10 5 20\n");
    has(text, "set xrange [0.384615:2.6]\n");
    has(text, "set xrange [3.84615:26]\n");
    has(text, "set tmargin at screen 0.90580\nset bmargin at screen 0.52536\n");
    has(text, "set tmargin at screen 0.43478\nset bmargin at screen 0.05435\n");
    has(text, "set title \"Peak memory of a GPU\"\nset xlabel \"measured, GiB\""
              "\nset ylabel \"predicted, GiB\"\n");
    free(text);
    msim_judged_release(&g);
}

/* Ten colours: the tenth is of the tenth group, or of all from there on. */
static void test_judged_wish__many_groups(void)
{
    struct msim_judged_groups g = {0};
    char *text, name[8];

    for (int i = 0; i < 11; i++) {
        snprintf(name, sizeof(name), "g%d", i);
        add(&g, name, MSIM_JUDGED_STEP, 1000, 1000 + i);
        if (i < 9)
            continue;
        text = drawn(&g);
        has(text, i == 9 ? "lc rgb \"#bbbbbb\" title \"g9\"\n"
                         : "lc rgb \"#bbbbbb\" title \"others\"\n");
        has(text, i == 9 ? "$jobs9 << MSIM_END\n1 1.009 0.5045 2.018\nNaN"
                         : "$jobs9 << MSIM_END\n1 1.009 0.5045 2.018\n1 1.01 "
                           "0.505 2.02\nNaN");
        has(text, "lc rgb \"#225555\" title \"g8\", ");
        CHECK(!strstr(text, "$jobs10"));
        free(text);
    }
    msim_judged_release(&g);
}

/* Errors of 12.5, 25 and -37.5 %: a mean of 25. Peaks do not count. */
static void test_judged_wish__limits(void)
{
    static const struct {
        double limit;
        enum msim_status status;
        const char *text;
    } ROWS[] = {
        {0, MSIM_OK, ""},
        {25, MSIM_OK, ""},
        {30, MSIM_OK, ""},
        {24.5, MSIM_ECHECK,
         "steps were predicted 25.0 % from what they took, the mean of 3 jobs, "
         "want at most 24.5 %"},
        {0.5, MSIM_ECHECK,
         "steps were predicted 25.0 % from what they took, the mean of 3 jobs, "
         "want at most 0.5 %"},
    };
    struct msim_judged_groups g = {0};
    struct msim_error err = {0};
    struct msim_judged_wish wish = {.limit = 5};

    add(&g, "a", MSIM_JUDGED_MEMORY, 10, 90);
    CHECK_INT(msim_judged_grant(&g, &wish, &err), MSIM_EFORMAT);
    CHECK_STR(err.text, "no job has a measured time of a step, which an error "
                        "could be held to");
    add(&g, "a", MSIM_JUDGED_STEP, 100, 112.5);
    add(&g, "b", MSIM_JUDGED_STEP, 100, 125);
    add(&g, "a", MSIM_JUDGED_STEP, 100, 62.5);
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        memset(&err, 0, sizeof(err));
        wish.limit = ROWS[i].limit;
        CHECK_INT(msim_judged_grant(&g, &wish, &err), ROWS[i].status);
        CHECK_STR(err.text, ROWS[i].text);
    }
    msim_judged_release(&g);
    memset(&err, 0, sizeof(err));
    wish.chart = picture;
    CHECK_INT(msim_judged_grant(&g, &wish, &err), MSIM_EFORMAT);
    CHECK_STR(err.text, "no job has a measured time or peak, which a chart "
                        "could show beside the predicted one");
}

int main(void)
{
    int fd = mkstemp(picture);

    if (fd < 0 || !fake_gnuplot_begin())
        return 1;
    close(fd);
    RUN(test_judged_wish__steps);
    RUN(test_judged_wish__both);
    RUN(test_judged_wish__many_groups);
    RUN(test_judged_wish__limits);
    CHECK(unlink(picture) == 0);
    fake_gnuplot_end();
    return check_summary();
}
