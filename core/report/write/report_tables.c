/*
 * core/report/write/report_tables.c - the tables of the text report: operators,
 * what is not covered, ranks.
 *
 * A column without a value in any row is left out.
 */
#include "core/report/write/report_page.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define NAME_MIN       27 /* columns of an operator's name */
#define NAME_COLUMNS   46 /* and at most */
#define NAME_BYTES     (4 * NAME_COLUMNS + 1)
#define TOP_OPS        15
#define TOP_MISSING    30
#define MAX_RANK_LINES 64
#define RANK_LINE      256

/* ---- operators ---------------------------------------------------------- */

/* Name in its column, padded by characters and not by bytes. */
static void print_name(const struct msim_page *page, const char *name)
{
    char text[NAME_BYTES];
    unsigned used =
        msim_format_op(text, sizeof(text), name, page->name_columns);

    fprintf(page->out, "  %s%*s", text, (int)(page->name_columns - used), "");
}

/* Room for the names of the first `limit` rows. */
static void fit_names(struct msim_page *page, const struct msim_op_row *ops,
                      uint32_t n, uint32_t limit)
{
    char text[NAME_BYTES];

    for (uint32_t i = 0; i < n && i < limit; i++) {
        unsigned used =
            msim_format_op(text, sizeof(text), ops[i].name, NAME_COLUMNS);

        if (used > page->name_columns)
            page->name_columns = used;
    }
}

void msim_page_fit(struct msim_page *page)
{
    page->name_columns = NAME_MIN;
    fit_names(page, page->p->ops, page->p->n_ops, TOP_OPS);
    fit_names(page, page->p->uncovered, page->p->n_uncovered, TOP_MISSING);
}

struct columns {
    bool interval, measured;
};

static double device_time(const struct msim_prediction *p)
{
    double total = 0;

    for (uint32_t i = 0; i < p->n_ops; i++)
        total += p->ops[i].us.predicted;
    return total;
}

/* Which columns have values. */
static struct columns columns_of(const struct msim_op_row *ops, uint32_t n)
{
    struct columns c = {false, false};

    for (uint32_t i = 0; i < n; i++) {
        const struct msim_figure *f = &ops[i].us;

        c.interval |= f->low < f->high;
        /* Under traced costs the prediction is the measured run. */
        c.measured |= fabs(f->predicted - f->measured) > 5e-4 * f->measured;
    }
    return c;
}

/* "gemm", or "gemm (table)" where the source adds something. */
static void format_model(char cell[MSIM_CELL], const struct msim_op_row *op)
{
    const char *model = op->model ? op->model : "-";

    if (op->source && strcmp(op->source, model) != 0)
        snprintf(cell, MSIM_CELL, "%.16s (%.12s)", model, op->source);
    else
        snprintf(cell, MSIM_CELL, "%.28s", model);
}

static void print_op(const struct msim_page *page, const struct msim_op_row *op,
                     double total, const struct msim_unit *unit,
                     struct columns columns)
{
    char calls[MSIM_CELL], one[MSIM_CELL], two[MSIM_CELL];

    msim_format_calls(calls, op->calls);
    msim_format_in(one, unit, op->us.predicted);
    msim_format_share(two, total > 0 ? op->us.predicted / total : 0);
    print_name(page, op->name);
    fprintf(page->out, "%8s%11s%9s", calls, one, two);
    if (columns.interval) {
        msim_format_in(one, unit, op->us.low);
        msim_format_in(two, unit, op->us.high);
        fprintf(page->out, "%11s -%10s", one, two);
    }
    if (columns.measured) {
        msim_format_in(one, unit, op->us.measured);
        msim_format_error(two, &op->us);
        fprintf(page->out, "%11s%10s", one, two);
    }
    format_model(one, op);
    fprintf(page->out, "  %s\n", one);
}

static void print_ops_header(const struct msim_page *page, const char *title,
                             const struct msim_unit *unit,
                             struct columns columns)
{
    char label[MSIM_CELL];

    snprintf(label, sizeof(label), "time/%s", unit->name);
    fprintf(page->out, "\n%-*s%8s%11s%9s", (int)page->name_columns + 2, title,
            "calls", label, "share");
    if (columns.interval)
        fprintf(page->out, "%23s", "90 % interval");
    if (columns.measured)
        fprintf(page->out, "%11s%10s", "measured", "error");
    fputs("  model\n", page->out);
}

/* The first `limit` rows of a table, and the sum of the others. */
static void print_table(const struct msim_page *page, const char *title,
                        const struct msim_op_row *ops, uint32_t n,
                        uint32_t limit)
{
    double total = device_time(page->p), rest = 0;
    const struct msim_unit *unit = msim_unit_for(ops[0].us.predicted);
    struct columns columns = columns_of(ops, n);
    char time[MSIM_CELL], share[MSIM_CELL], label[64];

    print_ops_header(page, title, unit, columns);
    for (uint32_t i = 0; i < n && i < limit; i++)
        print_op(page, &ops[i], total, unit, columns);
    if (n <= limit)
        return;
    for (uint32_t i = limit; i < n; i++)
        rest += ops[i].us.predicted;
    snprintf(label, sizeof(label), "%u more (--csv lists all)", n - limit);
    fprintf(page->out, "  %-*s", (int)page->name_columns, label);
    msim_format_in(time, unit, rest);
    msim_format_share(share, total > 0 ? rest / total : 0);
    fprintf(page->out, "%8s%11s%9s\n", "", time, share);
}

void msim_page_ops(const struct msim_page *page)
{
    if (page->p->n_ops)
        print_table(page, "operators, by device time", page->p->ops,
                    page->p->n_ops, TOP_OPS);
    else
        fputs("\nno operator takes device time\n", page->out);
}

void msim_page_coverage(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;
    char ops[MSIM_CELL], time[MSIM_CELL];

    if (!isnan(p->coverage_ops) || !isnan(p->coverage_time)) {
        msim_format_share(ops, p->coverage_ops);
        msim_format_share(time, p->coverage_time);
        fprintf(page->out,
                "\ncovered by laws and tables: %s of operators, %s of device "
                "time\n",
                ops, time);
    }
    if (p->n_uncovered)
        print_table(page, "not covered, only bounded", p->uncovered,
                    p->n_uncovered, TOP_MISSING);
}

/* ---- ranks -------------------------------------------------------------- */

/* A rank's figures as they are printed, without its number. */
static void format_rank(char line[RANK_LINE], const struct msim_rank_row *r,
                        const struct msim_unit *u)
{
    const double figures[] = {
        r->iteration_us.predicted,
        r->iteration_us.measured,
        r->kernel_us.predicted,
        r->transfer_us,
        r->wait_us,
        r->breakdown_us.compute,
        r->breakdown_us.communication,
        r->breakdown_us.memory_copy,
        r->breakdown_us.host,
        r->breakdown_us.idle,
    };
    size_t used = 0;

    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        char cell[MSIM_CELL];

        msim_format_in(cell, u, figures[i]);
        used +=
            (size_t)snprintf(line + used, RANK_LINE - used, "%10.20s", cell);
    }
}

static void print_rank_line(const struct msim_page *page, int64_t first,
                            int64_t last, const char *line)
{
    char name[48] = "-";

    if (first >= 0 && first == last)
        snprintf(name, sizeof(name), "%" PRId64, first);
    else if (first >= 0)
        snprintf(name, sizeof(name), "%" PRId64 "-%" PRId64, first, last);
    fprintf(page->out, "%9s%s\n", name, line);
}

/* Neighbours with the same printed figures share a line. */
void msim_page_ranks(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;
    const struct msim_unit *u = msim_unit_for(p->iteration_us.predicted);
    char line[RANK_LINE], next[RANK_LINE];
    uint32_t lines = 0;

    if (p->n_ranks_detail < 2)
        return;
    fprintf(page->out,
            "\nranks, in %s\n     rank iteration  measured   kernels  transfer"
            "      wait   compute     comm.    copies      host      idle\n",
            u->name);
    for (uint32_t i = 0, j; i < p->n_ranks_detail; i = j) {
        format_rank(line, &p->ranks_detail[i], u);
        for (j = i + 1; j < p->n_ranks_detail; j++) {
            format_rank(next, &p->ranks_detail[j], u);
            if (strcmp(line, next) != 0 ||
                p->ranks_detail[j].rank != p->ranks_detail[j - 1].rank + 1)
                break;
        }
        if (lines++ == MAX_RANK_LINES) {
            fprintf(page->out, "  %u more (--json lists all)\n",
                    p->n_ranks_detail - i);
            break;
        }
        print_rank_line(page, p->ranks_detail[i].rank,
                        p->ranks_detail[j - 1].rank, line);
    }
}
