/*
 * core/report_text.c - the report for people.
 *
 * What was asked first, then how long it takes, then why. Figures of one
 * table share a unit, so that they can be compared at a glance. Bars use block
 * characters only where the output is a terminal that shows them.
 */
#include "core/report.h"
#include "core/report_format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_MIN        27 /* columns of an operator's name */
#define NAME_COLUMNS    46 /* and at most */
#define NAME_BYTES      (4 * NAME_COLUMNS + 1)
#define EXAMPLE_COLUMNS 64
#define LINE_BYTES      2048
#define BAR_CELLS       24
#define TOP_OPS         15
#define TOP_MISSING     30
#define MAX_RANK_LINES  64

/* Where a report goes, and what can be shown there. */
struct page {
    const struct msim_prediction *p;
    FILE *out;
    bool terminal, blocks;
    unsigned name_columns; /* for the longest of the names shown */
};

static bool locale_is_utf8(void)
{
    static const char *const NAMES[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        const char *value = getenv(NAMES[i]);

        if (value && value[0])
            return strstr(value, "UTF-8") || strstr(value, "utf8");
    }
    return false;
}

/* ---- totals ------------------------------------------------------------- */

static void print_figure(const struct page *page, const char *label,
                         const struct msim_figure *f)
{
    char text[MSIM_FIGURE];

    msim_format_figure(text, f);
    fprintf(page->out, "  %-15s  %s\n", label, text);
}

static void print_communication(const struct page *page)
{
    const struct msim_prediction *p = page->p;
    char transfer[MSIM_CELL], wait[MSIM_CELL], exposed[MSIM_CELL];

    if (!(p->transfer_us > 0) && !(p->wait_us > 0))
        return;
    msim_format_time(transfer, p->transfer_us);
    msim_format_time(wait, p->wait_us);
    msim_format_time(exposed, p->breakdown_us.communication);
    fprintf(page->out,
            "  %-15s  %12s   on the wire; %s waiting for peers; %s exposed\n",
            "communication", transfer, wait, exposed);
    if (p->external_wait_us > 0) {
        msim_format_time(wait, p->external_wait_us);
        fprintf(page->out, "  %-15s  %12s   for ranks without a trace\n",
                "external wait", wait);
    }
}

static void print_flops(const struct page *page)
{
    const struct msim_prediction *p = page->p;
    char flops[MSIM_CELL], mfu[MSIM_CELL];

    if (!(p->flops > 0))
        return;
    msim_format_large(flops, p->flops);
    msim_format_share(mfu, p->mfu);
    fprintf(page->out, "  %-15s  %8sFLOP", "arithmetic", flops);
    if (!isnan(p->mfu))
        fprintf(page->out, "   %s of the platform's peak (MFU)", mfu);
    fputc('\n', page->out);
}

static void print_memory(const struct page *page)
{
    char bytes[MSIM_CELL];

    if (!(page->p->memory_peak_bytes > 0))
        return;
    msim_format_large(bytes, page->p->memory_peak_bytes);
    fprintf(page->out, "  %-15s  %11sB   at the peak\n", "memory", bytes);
}

/* What the mean stands for, where there are several. */
static void print_iterations(const struct page *page)
{
    const struct msim_prediction *p = page->p;
    double low = INFINITY, high = -INFINITY;
    char from[MSIM_CELL], to[MSIM_CELL], first[64], last[64];

    if (p->n_iterations < 2)
        return;
    for (uint32_t i = 0; i < p->n_iterations; i++) {
        low = fmin(low, p->iterations[i].us.predicted);
        high = fmax(high, p->iterations[i].us.predicted);
    }
    msim_format_time(from, low);
    msim_format_time(to, high);
    msim_format_name(first, sizeof first, p->iterations[0].name, 32);
    msim_format_name(last, sizeof last, p->iterations[p->n_iterations - 1].name,
                     32);
    fprintf(page->out, "  mean of %u iterations, %s to %s: %s to %s\n",
            p->n_iterations, first, last, from, to);
}

static void print_totals(const struct page *page)
{
    char title[512];

    msim_format_title(title, sizeof title, page->p);
    fprintf(page->out, "%s\n\n", title);
    print_figure(page, "iteration", &page->p->iteration_us);
    print_figure(page, "kernels", &page->p->kernel_us);
    print_communication(page);
    print_flops(page);
    print_memory(page);
    print_iterations(page);
}

/* ---- where the time goes ------------------------------------------------- */

/* `share` (0 to 1) of BAR_CELLS, in eighths of a block where those show. */
static void print_bar(const struct page *page, double share)
{
    static const char *const EIGHTHS[] = {
        "",
        "\xe2\x96\x8f",
        "\xe2\x96\x8e",
        "\xe2\x96\x8d",
        "\xe2\x96\x8c",
        "\xe2\x96\x8b",
        "\xe2\x96\x8a",
        "\xe2\x96\x89",
    };
    double clamped = fmin(fmax(share, 0), 1);
    int eighths = (int)lround(clamped * BAR_CELLS * 8);
    int full = page->blocks ? eighths / 8 : (eighths + 7) / 8;

    if (eighths)
        fputs("  ", page->out);
    for (int i = 0; i < full; i++)
        fputs(page->blocks ? "\xe2\x96\x88" : "#", page->out);
    if (page->blocks)
        fputs(EIGHTHS[eighths % 8], page->out);
}

struct class_row {
    const char *name;
    double us;
    double overlapped; /* beside it, hidden behind compute; 0: none */
};

static void print_class(const struct page *page, const struct class_row *c,
                        double total, const struct msim_unit *unit)
{
    char time[MSIM_CELL], share[MSIM_CELL], hidden[MSIM_CELL];
    double part = total > 0 ? c->us / total : 0;

    msim_format_in(time, unit, c->us);
    msim_format_share(share, part);
    msim_format_time(hidden, c->overlapped);
    fprintf(page->out, "  %-15s%9s %-2s%9s", c->name, time, unit->name, share);
    print_bar(page, part);
    if (c->overlapped > 0)
        fprintf(page->out, "  (%s more behind compute)", hidden);
    fputc('\n', page->out);
}

static void print_breakdown(const struct page *page)
{
    const struct msim_prediction *p = page->p;
    const struct msim_breakdown *b = &p->breakdown_us;
    const struct class_row rows[] = {
        {"compute", b->compute, 0},
        {"communication", b->communication, p->overlapped_communication_us},
        {"memory copy", b->memory_copy, p->overlapped_copy_us},
        {"host", b->host, 0},
        {"idle", b->idle, 0},
    };
    double total = 0;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        total += rows[i].us;
    fprintf(page->out, "\nwhere %s goes\n",
            p->ranks > 1 ? "the slowest rank's iteration" : "an iteration");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        print_class(page, &rows[i], total, msim_unit_for(total));
}

/* ---- operators ----------------------------------------------------------- */

/* Name in its column, padded by characters and not by bytes. */
static void print_name(const struct page *page, const char *name)
{
    char text[NAME_BYTES];
    unsigned used = msim_format_op(text, sizeof text, name, page->name_columns);

    fprintf(page->out, "  %s%*s", text, (int)(page->name_columns - used), "");
}

/* Room for the names of the first `limit` rows. */
static void fit_names(struct page *page, const struct msim_op_row *ops,
                      uint32_t n, uint32_t limit)
{
    char text[NAME_BYTES];

    for (uint32_t i = 0; i < n && i < limit; i++) {
        unsigned used =
            msim_format_op(text, sizeof text, ops[i].name, NAME_COLUMNS);

        if (used > page->name_columns)
            page->name_columns = used;
    }
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

/* Which columns say something. */
static struct columns columns_of(const struct msim_op_row *ops, uint32_t n)
{
    struct columns c = {false, false};

    for (uint32_t i = 0; i < n; i++) {
        const struct msim_figure *f = &ops[i].us;

        c.interval |= f->low < f->high;
        /* A replay of the traced run is what was measured. */
        c.measured |= fabs(f->predicted - f->measured) > 5e-4 * f->measured;
    }
    return c;
}

/* "gemm", or "gemm (table)" where that says more. */
static void format_model(char cell[MSIM_CELL], const struct msim_op_row *op)
{
    const char *model = op->model ? op->model : "-";

    if (op->source && strcmp(op->source, model) != 0)
        snprintf(cell, MSIM_CELL, "%.16s (%.12s)", model, op->source);
    else
        snprintf(cell, MSIM_CELL, "%.28s", model);
}

static void print_op(const struct page *page, const struct msim_op_row *op,
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

static void print_ops_header(const struct page *page, const char *title,
                             const struct msim_unit *unit,
                             struct columns columns)
{
    char label[MSIM_CELL];

    snprintf(label, sizeof label, "time/%s", unit->name);
    fprintf(page->out, "\n%-*s%8s%11s%9s", (int)page->name_columns + 2, title,
            "calls", label, "share");
    if (columns.interval)
        fprintf(page->out, "%23s", "90 % interval");
    if (columns.measured)
        fprintf(page->out, "%11s%10s", "measured", "error");
    fputs("  model\n", page->out);
}

/* The first `limit` rows of a table, and what the others come to. */
static void print_table(const struct page *page, const char *title,
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
    snprintf(label, sizeof label, "%u more (--csv lists all)", n - limit);
    fprintf(page->out, "  %-*s", (int)page->name_columns, label);
    msim_format_in(time, unit, rest);
    msim_format_share(share, total > 0 ? rest / total : 0);
    fprintf(page->out, "%8s%11s%9s\n", "", time, share);
}

static void print_ops(const struct page *page)
{
    if (page->p->n_ops)
        print_table(page, "operators, by device time", page->p->ops,
                    page->p->n_ops, TOP_OPS);
    else
        fputs("\nno operator takes device time\n", page->out);
}

static void print_coverage(const struct page *page)
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

#define RANK_LINE 256

/* A rank's figures as they are shown, without its number. */
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

    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        char cell[MSIM_CELL];

        msim_format_in(cell, u, figures[i]);
        used +=
            (size_t)snprintf(line + used, RANK_LINE - used, "%10.20s", cell);
    }
}

static void print_rank_line(const struct page *page, int64_t first,
                            int64_t last, const char *line)
{
    char name[48] = "-";

    if (first >= 0 && first == last)
        snprintf(name, sizeof name, "%" PRId64, first);
    else if (first >= 0)
        snprintf(name, sizeof name, "%" PRId64 "-%" PRId64, first, last);
    fprintf(page->out, "%9s%s\n", name, line);
}

/* Neighbours whose figures look the same share a line. */
static void print_ranks(const struct page *page)
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

/* ---- the end --------------------------------------------------------------
 */

/* An operator that a law stands for and whose name can be typed, or NULL. */
static const char *explainable(const struct msim_prediction *p)
{
    char text[EXAMPLE_COLUMNS + 1];

    for (uint32_t i = 0; i < p->n_ops; i++) {
        const struct msim_op_row *op = &p->ops[i];

        if (!op->source || (strcmp(op->source, "law") != 0 &&
                            strcmp(op->source, "table") != 0))
            continue;
        msim_format_name(text, sizeof text, op->name, EXAMPLE_COLUMNS);
        if (strcmp(text, op->name) == 0)
            return op->name;
    }
    return NULL;
}

static void print_notes(const struct page *page)
{
    const struct msim_prediction *p = page->p;
    const char *example;
    char text[LINE_BYTES];

    for (uint32_t i = 0; i < p->n_warnings; i++) {
        msim_format_name(text, sizeof text, p->warnings[i], LINE_BYTES);
        fprintf(page->out, "%swarning: %s\n", i ? "" : "\n", text);
    }
    fputs("\nnext: --timeline run.json.gz shows the run in ui.perfetto.dev, "
          "--chart run.svg draws it",
          page->out);
    example = explainable(p);
    if (example)
        fprintf(page->out,
                ",\n      --explain '%s' says where its time comes from",
                example);
    fputc('\n', page->out);
    /* A clock would make two runs differ: not in files and pipes. */
    if (page->terminal && !isnan(p->seconds))
        fprintf(page->out, "(took %.1f s)\n", p->seconds);
}

enum msim_status msim_report_text(const struct msim_prediction *p, FILE *out)
{
    int fd = fileno(out);
    struct page page = {.p = p, .out = out, .name_columns = NAME_MIN};

    page.terminal = fd >= 0 && isatty(fd);
    page.blocks = page.terminal && locale_is_utf8();
    fit_names(&page, p->ops, p->n_ops, TOP_OPS);
    fit_names(&page, p->uncovered, p->n_uncovered, TOP_MISSING);
    print_totals(&page);
    print_breakdown(&page);
    print_ops(&page);
    print_coverage(&page);
    print_ranks(&page);
    print_notes(&page);
    return ferror(out) ? MSIM_EIO : MSIM_OK;
}
