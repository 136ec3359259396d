/*
 * core/report/write/gnuplot.c - scripts for gnuplot: texts in them, and running
 * it.
 */
#include "core/report/write/chart.h"

#include "core/base/files.h"
#include "core/base/print.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Characters by number: in double quotes a backslash and a backquote have a
 * meaning; in single quotes none has, but a quote is to be doubled, and gnuplot
 * 5.4 reads two of those in a row, or one at the begin, as the end.
 */
static const char *by_number(char c)
{
    return c == '"'                 ? "\\0042"
           : c == '\''              ? "\\0047"
           : c == '@'               ? "\\100"
           : c == '\\'              ? "\\134"
           : c == '`'               ? "\\140"
           : c == '\n' || c == '\t' ? " "
                                    : NULL;
}

/* gnuplot's SVG has '>' as it is; XML wants no "]]>", which ends up apart. */
static void put_quoted(const struct msim_printer *p, const char *text, size_t n,
                       const char *(*instead)(char c))
{
    static const char END[] = "]]>";
    const char *at;

    p->bytes(p->ctx, "\"", 1);
    while ((at = memmem(text, n, END, strlen(END)))) {
        size_t before = (size_t)(at - text) + 2;

        msim_print_clean(p, text, before, instead);
        p->bytes(p->ctx, " ", 1);
        text += before;
        n -= before;
    }
    msim_print_clean(p, text, n, instead);
    p->bytes(p->ctx, "\"", 1);
}

static void put_string(const struct msim_printer *p, const char *text, size_t n)
{
    put_quoted(p, text, n, by_number);
}

void msim_gnuplot_print(FILE *script, const char *fmt, ...)
{
    const struct msim_printer p = {script, msim_print_to_file, put_string};
    va_list args;

    va_start(args, fmt);
    (void)msim_vprint(&p, fmt, args);
    va_end(args);
}

static const char *in_format(char c)
{
    return c == '%' ? "%%" : by_number(c);
}

static void put_format(const struct msim_printer *p, const char *text, size_t n)
{
    put_quoted(p, text, n, in_format);
}

void msim_gnuplot_tic(FILE *script, const char *text, double at)
{
    const struct msim_printer p = {script, msim_print_to_file, put_format};

    put_format(&p, text, strlen(text));
    fprintf(script, " %g", at);
}

void msim_gnuplot_block(FILE *script, const char *name, ...)
{
    const struct msim_printer p = {script, msim_print_to_file, put_string};
    va_list args;

    putc('$', script);
    va_start(args, name);
    (void)msim_vprint(&p, name, args);
    va_end(args);
    fputs(" << MSIM_END\n", script);
}

void msim_gnuplot_row(FILE *script, int digits, const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (isfinite(v[i]))
            fprintf(script, "%.*g", digits, v[i]);
        else
            fputs("NaN", script);
        putc(i + 1 < n ? ' ' : '\n', script);
    }
}

void msim_gnuplot_block_end(FILE *script, int columns)
{
    for (; columns > 0; columns--)
        fputs(columns > 1 ? "NaN " : "NaN\n", script);
    fputs("MSIM_END\n", script);
}

/* The tics of a power of ten, by how many times its low end an axis reaches. */
static const struct {
    double below;
    double at[16];
} TICS[] = {{3, {1, 1.2, 1.5, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9}},
            {20, {1, 1.5, 2, 3, 5, 7}},
            {338, {1, 2, 5}}, /* a factor of 200, and the ends */
            {INFINITY, {1}}};

void msim_gnuplot_log_axis(FILE *script, char axis, double low, double high,
                           void (*text)(double at, char *text, size_t size))
{
    const double *steps;
    bool any = false;
    size_t row = 0;
    char label[32];

    low /= 1.3;
    high *= 1.3;
    while (high / low >= TICS[row].below)
        row++;
    steps = TICS[row].at;
    fprintf(script,
            axis == 'x' ? "set logscale x\nset xrange [%.6g:%.6g]\nset xtics ("
                        : "set logscale y\nset yrange [%.6g:%.6g]\nset ytics (",
            low, high);
    for (double e = floor(log10(low)); e <= log10(high); e++)
        for (int i = 0; steps[i] > 0; i++) {
            double at = steps[i] * pow(10, e);

            if (at < low || at > high)
                continue;
            if (text)
                text(at, label, sizeof(label));
            else
                snprintf(label, sizeof(label), "%g", at);
            if (any)
                fputs(", ", script);
            msim_gnuplot_tic(script, label, at);
            any = true;
        }
    fputs(")\n", script);
}

/* Does it end as pictures do, white space aside? A program that cannot write
 * all of it may not say so. */
static bool is_whole(const char *picture, size_t n)
{
    static const char PNG[] = "\x89PNG", IEND[] = "IEND\xae\x42\x60\x82",
                      SVG[] = "</svg>";
    bool png = n > 4 && memcmp(picture, PNG, 4) == 0;
    const char *end = png ? IEND : SVG;
    size_t length = strlen(end);

    while (!png && n && isspace((unsigned char)picture[n - 1]))
        n--;
    return n >= length && memcmp(picture + n - length, end, length) == 0;
}

enum msim_status msim_gnuplot_run(FILE *script, char **picture, size_t *n,
                                  struct msim_error *err)
{
    /* Without -d the reader's own start-up file could change the chart. */
    char program[] = "gnuplot", defaults[] = "-d", input[] = "-";
    char *argv[] = {program, defaults, input, NULL};

    MSIM_TRY(msim_program_run(
        picture, n,
        &(struct msim_run_program){
            .argv = argv,
            .input = script,
            .advice = "charts need it, install it (Debian: apt install "
                      "gnuplot-nox)",
            .failed = "gnuplot could not draw the chart"},
        err));
    if (is_whole(*picture, *n))
        return MSIM_OK;
    free(*picture);
    *picture = NULL;
    return msim_fail(err, MSIM_EIO, NULL, MSIM_OFFSET_NONE,
                     "gnuplot's chart has no end, after %zu bytes", *n);
}

enum msim_status msim_gnuplot_draw(FILE *script, const char *path,
                                   struct msim_error *err)
{
    struct msim_error why = {0};
    enum msim_status status;
    char *picture;
    size_t n;

    MSIM_TRY(msim_files_read_spare(path, err));
    status = msim_gnuplot_run(script, &picture, &n, &why);
    if (status != MSIM_OK)
        return msim_fail(err, status, path, MSIM_OFFSET_NONE, "%s", why.text);
    status = msim_file_save(path, picture, n, NULL, err);
    free(picture);
    return status;
}
