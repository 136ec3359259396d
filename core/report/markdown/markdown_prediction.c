/*
 * core/report/markdown/markdown_prediction.c - a prediction as Markdown.
 */
#include "core/report/markdown/markdown.h"
#include "core/report/write/report.h"

#include <math.h>

static void put_figure(const char *what, const struct msim_figure *f, FILE *out)
{
    char middle[MSIM_CELL], low[MSIM_CELL], high[MSIM_CELL], traced[MSIM_CELL];

    msim_format_time(middle, f->predicted);
    msim_format_time(low, f->low);
    msim_format_time(high, f->high);
    msim_format_time(traced, f->measured);
    msim_markdown_print(out, "| %s | %s | %s to %s | %s |\n", what, middle, low,
                        high, traced);
}

static void put_class(const char *what, double us, double all, FILE *out)
{
    char time[MSIM_CELL], share[MSIM_CELL];

    msim_format_time(time, us);
    msim_format_share(share, all > 0 ? us / all : NAN);
    msim_markdown_print(out, "| %s | %s | %s |\n", what, time, share);
}

static void put_breakdown(const struct msim_breakdown *b, FILE *out)
{
    double all =
        b->compute + b->communication + b->memory_copy + b->host + b->idle;

    fputs("\n| where an iteration goes | time | share |\n|---|---:|---:|\n",
          out);
    put_class("compute", b->compute, all, out);
    put_class("communication", b->communication, all, out);
    put_class("memory copy", b->memory_copy, all, out);
    put_class("host", b->host, all, out);
    put_class("idle", b->idle, all, out);
}

static void put_op(const struct msim_prediction *p,
                   const struct msim_op_row *op, FILE *out)
{
    char name[256], time[MSIM_CELL], share[MSIM_CELL], peak[MSIM_CELL];
    char calls[MSIM_CELL];

    msim_format_op(name, sizeof(name), op->name, 80);
    msim_format_calls(calls, op->calls);
    msim_format_time(time, op->us.predicted);
    msim_format_share(share, op->communication || !(p->kernel_us.predicted > 0)
                                 ? NAN
                                 : op->us.predicted / p->kernel_us.predicted);
    msim_format_share(peak, op->limit ? op->peak_share : NAN);
    msim_markdown_print(out, "| %s | %s | %s | %s | %s | %s |\n", name, calls,
                        time, share, op->limit ? op->limit : "-", peak);
}

static void put_ops(const struct msim_prediction *p, FILE *out)
{
    fputs("\n| operator | calls | time | of kernels | limited by | of its peak "
          "|\n|---|---:|---:|---:|---|---:|\n",
          out);
    for (uint32_t i = 0; i < p->n_ops && i < MSIM_MARKDOWN_ROWS; i++)
        put_op(p, &p->ops[i], out);
    if (p->n_ops > MSIM_MARKDOWN_ROWS)
        fprintf(out, "\n%u other operators are not shown.\n",
                p->n_ops - MSIM_MARKDOWN_ROWS);
}

enum msim_status msim_markdown_prediction(const struct msim_prediction *p,
                                          FILE *out)
{
    char title[512];

    msim_format_title(title, sizeof(title), p);
    msim_markdown_print(out, "### %s\n\n", title);
    if (p->verdict)
        msim_markdown_print(out, "%s\n\n", p->verdict);
    fputs("| | predicted | 90 % | measured |\n|---|---:|---:|---:|\n", out);
    put_figure("period", &p->period.us, out);
    put_figure("iteration", &p->iteration_us, out);
    put_figure("kernels", &p->kernel_us, out);
    put_breakdown(&p->breakdown_us, out);
    put_ops(p, out);
    for (uint32_t i = 0; i < p->n_warnings; i++)
        msim_markdown_print(out, i ? "- warning: %s\n" : "\n- warning: %s\n",
                            p->warnings[i]);
    return ferror(out) ? MSIM_EWRITE : MSIM_OK;
}
