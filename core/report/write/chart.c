/*
 * core/report/write/chart.c - the pieces of a chart, as gnuplot commands.
 */
#include "core/report/write/chart.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define MARGIN       20
#define LEFT         300 /* of the plots: names stand before it */
#define RIGHT        850 /* and figures after it */
#define AREA_LEFT    80
#define AREA_RIGHT   970
#define SWATCH       18
#define NAME_COLUMNS 38
#define NAME_BYTES   (4 * NAME_COLUMNS + 1)

static double across(int pixels)
{
    return (double)pixels / MSIM_CHART_WIDTH;
}

static double up(const struct msim_chart *c, int pixels)
{
    return 1 - (double)pixels / c->height;
}

static bool is_png(const char *path)
{
    size_t n = strlen(path);

    return n > 4 && strcmp(path + n - 4, ".png") == 0;
}

enum msim_status msim_chart_open(struct msim_chart *c, const char *path,
                                 struct msim_error *err)
{
    *c = (struct msim_chart){.png = is_png(path), .out = tmpfile()};
    return c->out
               ? MSIM_OK
               : msim_fail(err, MSIM_EWRITE, path, MSIM_OFFSET_NONE,
                           "cannot use a temporary file: %s", strerror(errno));
}

enum msim_status msim_chart_close(struct msim_chart *c, const char *path,
                                  struct msim_error *err)
{
    enum msim_status status = msim_gnuplot_draw(c->out, path, err);

    fclose(c->out);
    return status;
}

#define PLAIN                                                                  \
    "set encoding utf8\nset border 3 lc rgb '#888888'\n"                       \
    "set tics nomirror tc rgb '#333333'\nset grid lc rgb '#dddddd'\n"

void msim_chart_plain(const struct msim_chart *c)
{
    fprintf(c->out,
            c->png ? "set terminal png noenhanced size %d,%d\n" PLAIN
                   : "set terminal svg noenhanced size %d,%d font "
                     "'sans-serif,14' background '#ffffff'\n" PLAIN,
            MSIM_CHART_WIDTH, c->height);
}

void msim_chart_begin(const struct msim_chart *c)
{
    /* pngcairo draws better text; a gnuplot without cairo has png. */
    if (c->png)
        fprintf(c->out,
                "if (strstrt(GPVAL_TERMINALS, 'pngcairo')) { set terminal "
                "pngcairo noenhanced size %d,%d font 'Sans,9' } else { set "
                "terminal png noenhanced size %d,%d }\n",
                MSIM_CHART_WIDTH, c->height, MSIM_CHART_WIDTH, c->height);
    else
        fprintf(c->out,
                "set terminal svg noenhanced size %d,%d font 'sans-serif,12' "
                "background '#ffffff'\n",
                MSIM_CHART_WIDTH, c->height);
    fputs("set encoding utf8\n"
          "set datafile missing 'NaN'\n"
          "unset key\n"
          "unset ytics\n"
          "set border 1 lc rgb '#666666'\n"
          "set xtics nomirror out scale 0.5 tc rgb '#333333'\n"
          "set grid xtics lc rgb '#e4e4e4' lt 1\n"
          "set grid back\n"
          "set xlabel offset 0,0.4\n"
          "set style line 1 lc rgb '#222222' lw 1.2 pt 0\n"
          "set style line 2 lc rgb '#000000' pt 12 ps 0.9 lw 1.4\n"
          "set multiplot\n",
          c->out);
}

static void put_text(const struct msim_chart *c, int x, int y, int size,
                     const char *text)
{
    char font[32];

    /* The PNG terminal counts in points, of which three are four pixels. */
    if (c->png)
        snprintf(font, sizeof(font), "Sans,%d", size * 3 / 4);
    else
        snprintf(font, sizeof(font), "sans-serif,%d", size);
    msim_gnuplot_print(c->out,
                       "set label %s at screen %.5f, screen %.5f left font "
                       "%s\n",
                       text, across(x), up(c, y), font);
}

void msim_chart_text(const struct msim_chart *c, int y, int size,
                     const char *text)
{
    put_text(c, MARGIN, y, size, text);
}

void msim_chart_row(const struct msim_chart *c, uint32_t row, const char *name,
                    const char *figure)
{
    char text[NAME_BYTES];

    msim_format_op(text, sizeof(text), name, NAME_COLUMNS);
    msim_gnuplot_print(c->out,
                       "set label %s at graph -0.015, first %u right\n"
                       "set label %s at graph 1.015, first %u left\n",
                       text, row, figure, row);
}

/* ---- the key: gnuplot's own does not fit beside names ------------------- */

struct msim_chart_key msim_chart_key_begin(int top)
{
    return (struct msim_chart_key){MARGIN, top + 38};
}

static void put_key_text(const struct msim_chart *c, struct msim_chart_key *key,
                         const char *text)
{
    put_text(c, key->x + SWATCH + 6, key->y, 12, text);
    key->x += SWATCH + 6 + 8 * (int)strlen(text) + 16;
}

void msim_chart_key_color(const struct msim_chart *c,
                          struct msim_chart_key *key, const char *color,
                          const char *text)
{
    msim_gnuplot_print(
        c->out,
        "set object rectangle from screen %.5f, screen %.5f to screen "
        "%.5f, screen %.5f fc rgb %s fillstyle solid 1 noborder\n",
        across(key->x), up(c, key->y + 6), across(key->x + SWATCH),
        up(c, key->y - 6), color);
    put_key_text(c, key, text);
}

void msim_chart_key_marks(const struct msim_chart *c,
                          struct msim_chart_key *key,
                          const struct msim_figure *known)
{
    if (!isnan(known->high)) {
        fprintf(c->out,
                "set arrow from screen %.5f, screen %.5f to screen %.5f, "
                "screen %.5f heads size screen 0.003,90 ls 1\n",
                across(key->x), up(c, key->y), across(key->x + SWATCH),
                up(c, key->y));
        put_key_text(c, key, "90 % interval");
    }
    if (!isnan(known->measured)) {
        fprintf(c->out, "set label '' at screen %.5f, screen %.5f point ls 2\n",
                across(key->x + SWATCH / 2), up(c, key->y));
        put_key_text(c, key, "measured");
    }
}

/* ---- panels ------------------------------------------------------------- */

void msim_chart_axis(const struct msim_chart *c, int top, uint32_t rows,
                     const char *heading, double longest, const char *label)
{
    int first = top + MSIM_CHART_TOP;

    msim_chart_text(c, top + 12, 15, heading);
    msim_gnuplot_print(
        c->out,
        "set lmargin at screen %.5f\nset rmargin at screen %.5f\n"
        "set tmargin at screen %.5f\nset bmargin at screen %.5f\n"
        "set yrange [%.1f:0.5]\nset xrange [0:%.9g]\nset xlabel %s\n",
        across(LEFT), across(RIGHT), up(c, first),
        up(c, first + (int)rows * MSIM_CHART_ROW), rows + 0.5,
        longest > 0 ? longest : 1, label);
}

void msim_chart_panel(const struct msim_chart *c, int top, uint32_t rows,
                      const char *heading, double longest)
{
    const struct msim_unit *unit = msim_unit_for(longest);

    msim_chart_axis(c, top, rows, heading, longest / unit->us, unit->name);
}

void msim_chart_area(const struct msim_chart *c, int top, int height,
                     const char *heading, double end, const char *of,
                     double most, const char *unit)
{
    const struct msim_unit *time = msim_unit_for(end);
    int first = top + MSIM_CHART_TOP;
    char label[64];

    snprintf(label, sizeof(label), "%s, %s", time->name, of);
    msim_chart_text(c, top + 12, 15, heading);
    msim_gnuplot_print(
        c->out,
        "set lmargin at screen %.5f\nset rmargin at screen %.5f\n"
        "set tmargin at screen %.5f\nset bmargin at screen %.5f\n"
        "set yrange [0:%.9g]\nset xrange [0:%.9g]\n"
        "set xlabel %s\n"
        "set ytics nomirror out scale 0.5 tc rgb '#333333'\n"
        "set ylabel %s\n",
        across(AREA_LEFT), across(AREA_RIGHT), up(c, first),
        up(c, first + height), most > 0 ? most : 1,
        end > 0 ? end / time->us : 1, label, unit);
}

void msim_chart_beyond(const struct msim_chart *c, uint32_t row, double edge)
{
    fprintf(c->out,
            "set arrow from first %.9g, first %u to first %.9g, first %u head "
            "filled size screen 0.010,25 front ls 1\n",
            0.97 * edge, row, edge, row);
}

void msim_chart_marks(const struct msim_chart *c, int column)
{
    fprintf(c->out,
            "$rows using %d:1:%d:%d with xerrorbars ls 1, "
            "$rows using %d:1 with points ls 2\n"
            "unset label\nunset object\nunset arrow\n",
            column, column + 1, column + 2, column + 3);
}
