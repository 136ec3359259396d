/*
 * core/report/markdown/markdown_comparison.c - a comparison as Markdown.
 */
#include "core/report/compare/compare.h"
#include "core/report/markdown/markdown.h"
#include "core/report/write/report.h"

#include <math.h>

static void put_change(const char *what, const struct msim_change *c, FILE *out)
{
    char a[MSIM_CELL], b[MSIM_CELL], more[MSIM_CELL], ratio[MSIM_CELL] = "-";
    double r = msim_change_ratio(c);

    msim_format_time(a, c->us[0].predicted);
    msim_format_time(b, c->us[1].predicted);
    msim_format_time(more, c->difference);
    if (isfinite(r))
        snprintf(ratio, sizeof(ratio), "%.3f", r);
    msim_markdown_print(out, "| %s | %s | %s | %s%s | %s |\n", what, a, b,
                        c->difference > 0 ? "+" : "", more, ratio);
}

static void put_known(const char *what, const struct msim_change *c, FILE *out)
{
    if (!isnan(c->us[0].predicted) || !isnan(c->us[1].predicted))
        put_change(what, c, out);
}

static void put_table(const char *what, const struct msim_changes *t,
                      uint32_t most, FILE *out)
{
    char name[256];

    if (t->absent || !t->n)
        return;
    msim_markdown_print(
        out,
        "\n| %s | A | B | difference | B / A |\n|---|---:|---:|---:|---:|\n",
        what);
    for (uint32_t i = 0; i < t->n && i < most; i++) {
        const struct msim_change *c = &t->rows[i];

        msim_format_op(name, sizeof(name), c->name[0] ? c->name[0] : c->name[1],
                       80);
        put_change(name, c, out);
    }
    if (t->n > most)
        fprintf(out, "\n%u other rows changed less.\n", t->n - most);
}

enum msim_status msim_markdown_comparison(const struct msim_comparison *c,
                                          FILE *out)
{
    msim_markdown_print(out, "### Changes\n\nA: %s\n\nB: %s\n\n",
                        c->side[0]->input, c->side[1]->input);
    fputs("| | A | B | difference | B / A |\n|---|---:|---:|---:|---:|\n", out);
    put_known("period", &c->period, out);
    put_known("iteration", &c->iteration, out);
    put_known("measured", &c->measured, out);
    put_known("kernels", &c->kernel, out);
    put_known("transfers", &c->transfer, out);
    put_known("waits for peers", &c->wait, out);
    put_table("where an iteration goes", &c->breakdown, UINT32_MAX, out);
    put_table("operator", &c->ops, MSIM_MARKDOWN_ROWS, out);
    if (c->n_warnings)
        fputc('\n', out);
    for (uint32_t i = 0; i < c->n_warnings; i++)
        msim_markdown_print(out, "- warning: %s\n", c->warnings[i]);
    return ferror(out) ? MSIM_EWRITE : MSIM_OK;
}
