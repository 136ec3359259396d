/*
 * tests/unit/core/report/write/test_chart.c - the pieces of a chart, as gnuplot
 * reads them: fractions of 1000 pixels from the left, and of a height of 400
 * from below.
 */
#include "core/report/write/chart.h"
#include "tests/unit/written_text.h"

static struct msim_chart chart(const struct written *w, bool png)
{
    return (struct msim_chart){.out = w->out, .height = 400, .png = png};
}

static bool is_png(const char *path)
{
    struct msim_error err = {0};
    struct msim_chart c;

    if (!CHECK_INT(msim_chart_open(&c, path, &err), MSIM_OK))
        return false;
    CHECK_INT(c.height, 0);
    fclose(c.out);
    return c.png;
}

static void test_chart__suffixes(void)
{
    CHECK(is_png("a.png"));
    CHECK(!is_png(".png")); /* a name that is hidden */
    CHECK(!is_png("png"));
    CHECK(!is_png("a.svg"));
    CHECK(!is_png("a.png.svg"));
    CHECK(!is_png(""));
}

static void test_chart__terminals(void)
{
    for (int png = 0; png < 2; png++) {
        struct written w = written_begin();
        struct msim_chart c = chart(&w, png);
        char *text;

        msim_chart_begin(&c);
        text = written_end(&w);
        CHECK((strstr(text, "terminal svg noenhanced size 1000,400 ") !=
               NULL) == !png);
        CHECK((strstr(text, "pngcairo noenhanced size 1000,400 ") != NULL) ==
              png);
        CHECK((strstr(text, "terminal png noenhanced size 1000,400 ") !=
               NULL) == png);
        CHECK(strstr(text, "set multiplot\n") != NULL);
        free(text);
    }
}

static void test_chart__texts(void)
{
    struct written w = written_begin();
    struct msim_chart c = chart(&w, false);

    msim_gnuplot_block(w.out, "rows%d", 2);
    msim_gnuplot_row(w.out, 3, (const double[]){1.2345, NAN, INFINITY}, 3);
    msim_gnuplot_block_end(w.out, 2);
    msim_gnuplot_block_end(w.out, 0);
    msim_chart_text(&c, 100, 15, "a 'b'");
    c.png = true;
    msim_chart_text(&c, 400, 16, "x"); /* 16 pixels are 12 points */
    msim_chart_row(&c, 3, "aten::mm", "5 us");
    msim_chart_row(&c, 4, "0123456789abcdefghijABCDEFGHIJ0123456789", "");
    msim_chart_beyond(&c, 7, 200);
    msim_chart_marks(&c, 4);
    WRITTEN(&w,
            "$rows2 << MSIM_END\n1.23 NaN NaN\nNaN NaN\nMSIM_END\nMSIM_END\n"
            "set label \"a \\0047b\\0047\" at screen 0.02000, screen 0.75000 "
            "left font \"sans-serif,15\"\n"
            "set label \"x\" at screen 0.02000, screen 0.00000 left font "
            "\"Sans,12\"\n"
            "set label \"aten::mm\" at graph -0.015, first 3 right\n"
            "set label \"5 us\" at graph 1.015, first 3 left\n"
            /* 38 columns: 24, the dots, 11 */
            "set label \"0123456789abcdefghijABCD...J0123456789\" at graph "
            "-0.015, first 4 right\n"
            "set label \"\" at graph 1.015, first 4 left\n"
            "set arrow from first 194, first 7 to first 200, first 7 head "
            "filled size screen 0.010,25 front ls 1\n"
            "$rows using 4:1:5:6 with xerrorbars ls 1, $rows using 7:1 with "
            "points ls 2\nunset label\nunset object\nunset arrow\n");
}

/* A swatch of 18 pixels, 6 to its text of 8 each, 16 to the next. */
static void test_chart__keys(void)
{
    struct msim_figure known = {.high = 1, .measured = 2},
                       none = {.high = NAN, .measured = NAN};
    struct written w = written_begin();
    struct msim_chart c = chart(&w, false);
    struct msim_chart_key key = msim_chart_key_begin(62);

    CHECK_INT(key.x, 20);
    CHECK_INT(key.y, 100);
    msim_chart_key_color(&c, &key, "#112233", "abc");
    CHECK_INT(key.x, 20 + 18 + 6 + 3 * 8 + 16);
    msim_chart_key_marks(&c, &key, &none);
    CHECK_INT(key.x, 84);
    msim_chart_key_marks(&c, &key, &known);
    CHECK_INT(key.x, 84 + 2 * (18 + 6 + 16) + 8 * (13 + 8));
    WRITTEN(&w,
            "set object rectangle from screen 0.02000, screen 0.73500 to "
            "screen 0.03800, screen 0.76500 fc rgb \"#112233\" fillstyle solid "
            "1 noborder\n"
            "set label \"abc\" at screen 0.04400, screen 0.75000 left font "
            "\"sans-serif,12\"\n"
            "set arrow from screen 0.08400, screen 0.75000 to screen 0.10200, "
            "screen 0.75000 heads size screen 0.003,90 ls 1\n"
            "set label \"90 % interval\" at screen 0.10800, screen 0.75000 "
            "left font \"sans-serif,12\"\n"
            "set label '' at screen 0.23700, screen 0.75000 point ls 2\n"
            "set label \"measured\" at screen 0.25200, screen 0.75000 left "
            "font \"sans-serif,12\"\n");
}

#define MARGINS(l, r, t, b)                                                    \
    "set lmargin at screen " l "\nset rmargin at screen " r                    \
    "\nset tmargin at screen " t "\nset bmargin at screen " b "\n"

/* Rows of 24 pixels below a heading of 56; nothing is one unit long. */
static void test_chart__panels(void)
{
    static const struct {
        double longest;
        const char *range;
    } ROWS[] = {{2500, "2.5]\nset xlabel \"ms\"\n"},
                {0, "1]\nset xlabel \"us\"\n"},
                {0.25, "0.25]\nset xlabel \"us\"\n"}};

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct written w = written_begin();
        struct msim_chart c = chart(&w, false);
        char want[512];

        msim_chart_panel(&c, 44, 5, "head", ROWS[i].longest);
        snprintf(want, sizeof(want), "%s%s",
                 "set label \"head\" at screen 0.02000, screen 0.86000 left "
                 "font \"sans-serif,15\"\n" MARGINS(
                     "0.30000", "0.85000", "0.75000",
                     "0.45000") "set yrange [5.5:0.5]\nset xrange [0:",
                 ROWS[i].range);
        WRITTEN(&w, want);
    }
}

static void test_chart__areas(void)
{
    static const struct {
        double end, most;
        const char *y, *x;
    } ROWS[] = {{1500, 7, "[0:7]", "[0:1.5]\nset xlabel \"ms, clock\"\n"},
                {0, 0, "[0:1]", "[0:1]\nset xlabel \"us, clock\"\n"},
                {0.5, 0.5, "[0:0.5]", "[0:0.5]\nset xlabel \"us, clock\"\n"}};

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct written w = written_begin();
        struct msim_chart c = chart(&w, false);
        char want[640];

        msim_chart_area(&c, 44, 200, "head", ROWS[i].end, "clock", ROWS[i].most,
                        "GiB");
        snprintf(want, sizeof(want), "%sset yrange %s\nset xrange %s%s",
                 "set label \"head\" at screen 0.02000, screen 0.86000 left "
                 "font \"sans-serif,15\"\n" MARGINS("0.08000", "0.97000",
                                                    "0.75000", "0.25000"),
                 ROWS[i].y, ROWS[i].x,
                 "set ytics nomirror out scale 0.5 tc rgb '#333333'\n"
                 "set ylabel \"GiB\"\n");
        WRITTEN(&w, want);
    }
}

int main(void)
{
    RUN(test_chart__suffixes);
    RUN(test_chart__terminals);
    RUN(test_chart__texts);
    RUN(test_chart__keys);
    RUN(test_chart__panels);
    RUN(test_chart__areas);
    return check_summary();
}
