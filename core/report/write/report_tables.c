/*
 * core/report/write/report_tables.c - the tables of the text report: operators,
 * what is not covered, ranks.
 *
 * A column without a value in any row is left out.
 */
#include "core/base/print.h"
#include "core/record/record.h"
#include "core/report/write/report_internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What a row of top kernels has beside its name (report_work.c). */
#define KERNEL_COLUMNS 56
#define NAME_USUAL     25 /* columns of an operator's name */
#define NAME_MIN       23 /* beside wide columns, as wide as the titles */
#define NAME_MAX       46 /* and at most */
#define TIME           11 /* columns of a time, with what is before it */
#define SHARE          9
#define INTERVAL       14
#define TOP_OPS        15
#define MOST_OPS       40 /* whose names the page may show */
#define TOP_MISSING    30
#define MAX_RANK_LINES 64
#define RANK_LINE      256
#define HIDDEN         5 /* column of a rank's hidden communication */

/* ---- operators ---------------------------------------------------------- */

const char *msim_page_op_name(const struct msim_op_row *op)
{
    return op->label ? op->label : op->name;
}

void msim_page_name(const struct msim_page *page, const char *name)
{
    unsigned used;
    const char *text =
        msim_short_name(page->names, name, page->name_columns, &used);

    msim_print(page->out, "  %s%*s", text,
               used < page->name_columns ? (int)(page->name_columns - used) : 0,
               "");
}

static void add_names(const struct msim_page *page,
                      const struct msim_op_row *ops, uint32_t n, uint32_t limit)
{
    for (uint32_t i = 0; i < n && i < limit; i++)
        msim_short_names_add(page->names, msim_page_op_name(&ops[i]));
}

void msim_page_add_ops(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;

    add_names(page, p->ops, p->n_ops, MOST_OPS);
    add_names(page, p->uncovered, p->n_uncovered, TOP_MISSING);
}

struct columns {
    bool measured;
    unsigned time, share;
    unsigned interval, limit; /* 0: no row has one */
    unsigned model;           /* columns of the longest model */
};

static double device_time(const struct msim_prediction *p)
{
    double total = 0;

    for (uint32_t i = 0; i < p->n_ops; i++)
        total += p->ops[i].us.predicted;
    return total;
}

/* "gemm", or "gemm (table)" where it is not from a law. */
static unsigned format_model(char cell[MSIM_CELL], const struct msim_op_row *op)
{
    const char *model = op->model ? op->model : "-";

    if (op->source && strcmp(op->source, model) != 0 &&
        strcmp(op->source, "law") != 0)
        return (unsigned)snprintf(cell, MSIM_CELL, "%.16s (%.12s)", model,
                                  op->source);
    return (unsigned)snprintf(cell, MSIM_CELL, "%.28s", model);
}

/* "-36 +51 %": how far the ends of an interval are from the middle. */
static void format_interval(char cell[MSIM_CELL], const struct msim_figure *f)
{
    if (f->low < f->high && f->predicted > 0)
        snprintf(cell, MSIM_CELL, "%+.0f %+.0f %%",
                 100 * (f->low / f->predicted - 1),
                 100 * (f->high / f->predicted - 1));
    else
        snprintf(cell, MSIM_CELL, "-");
}

/* "tensor 71 %": what limits the kernels, and their share of its peak. */
static void format_limit(char cell[MSIM_CELL], const struct msim_op_row *op)
{
    if (op->limit && !isnan(op->peak_share))
        snprintf(cell, MSIM_CELL, "%.12s %3.0f %%", op->limit,
                 100 * op->peak_share);
    else
        snprintf(cell, MSIM_CELL, "%.12s", op->limit ? op->limit : "-");
}

/* The columns that a row has beside its name. */
static unsigned beside_name(struct columns c)
{
    return 2 + 7 + c.time + c.share + c.interval + (c.measured ? 11 : 0) +
           (c.measured && !c.interval ? 10 : 0) + (c.limit ? 2 + c.limit : 0) +
           2 + c.model;
}

/* Let go of space in a column, as long as names lack it. */
static void squeeze(struct columns *c, unsigned *width, unsigned least)
{
    while (*width > least && beside_name(*c) + NAME_MIN > MSIM_PAGE_COLUMNS)
        (*width)--;
}

static unsigned wider(unsigned a, size_t b)
{
    return a > b ? a : (unsigned)b;
}

/* Which columns the first `limit` rows have values for. */
static struct columns columns_of(const struct msim_op_row *ops, uint32_t n,
                                 uint32_t limit)
{
    struct columns c = {.time = TIME, .share = SHARE, .model = 5};
    unsigned interval = 0;
    char cell[MSIM_CELL];

    for (uint32_t i = 0; i < n && i < limit; i++) {
        const struct msim_figure *f = &ops[i].us;

        c.model = wider(c.model, format_model(cell, &ops[i]));
        /* Under traced costs the prediction is the measured run. */
        c.measured |= fabs(f->predicted - f->measured) > 5e-4 * f->measured;
        format_interval(cell, f);
        interval = wider(interval, strlen(cell));
        if (f->low < f->high)
            c.interval = INTERVAL;
        format_limit(cell, &ops[i]);
        if (ops[i].limit)
            c.limit = wider(wider(c.limit, 12), strlen(cell));
    }
    squeeze(&c, &c.interval, interval + 2);
    squeeze(&c, &c.time, TIME - 1);
    squeeze(&c, &c.share, SHARE - 1);
    return c;
}

/* Narrower names read badly: a line is longer then. */
static unsigned room_beside(unsigned columns)
{
    unsigned room =
        columns < MSIM_PAGE_COLUMNS ? MSIM_PAGE_COLUMNS - columns : 0;

    return room < NAME_MIN ? NAME_MIN : room > NAME_MAX ? NAME_MAX : room;
}

static unsigned room_for_names(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;
    unsigned ops = beside_name(columns_of(p->ops, p->n_ops, TOP_OPS));
    unsigned missing =
        beside_name(columns_of(p->uncovered, p->n_uncovered, TOP_MISSING));
    unsigned most = ops > missing ? ops : missing;

    most = most > KERNEL_COLUMNS ? most : KERNEL_COLUMNS;
    return room_beside(most);
}

void msim_page_fit(struct msim_page *page)
{
    unsigned room = room_for_names(page);

    msim_short_names_fit(page->names, room);
    page->name_columns = wider(room < NAME_USUAL ? room : NAME_USUAL,
                               msim_short_names_widest(page->names));
}

/* A line of the table; all texts. */
struct row {
    char name[256];
    char calls[MSIM_CELL], time[MSIM_CELL], share[MSIM_CELL];
    char interval[MSIM_CELL], measured[MSIM_CELL], error[MSIM_CELL];
    char limit[MSIM_CELL], model[MSIM_CELL];
};

/* Its columns, those without a value left out. */
struct table {
    struct msim_column of[9];
    size_t n;
    char time[MSIM_CELL]; /* a heading */
};

static void add(struct table *t, size_t offset, const char *heading, int gap,
                int width)
{
    t->of[t->n++] = (struct msim_column){.heading = heading,
                                         .type = MSIM_COLUMN_CELL,
                                         .offset = offset,
                                         .gap = gap,
                                         .width = width};
}

static void make_table(struct table *t, const struct msim_page *page,
                       const char *title, const struct msim_unit *unit,
                       struct columns c)
{
    bool elsewhere = page->p->elsewhere;

    t->n = 0;
    snprintf(t->time, sizeof(t->time), "time/%s", unit->name);
    add(t, offsetof(struct row, name), title, 0, -(int)page->name_columns - 2);
    add(t, offsetof(struct row, calls), "calls", 0, 7);
    add(t, offsetof(struct row, time), t->time, 0, (int)c.time);
    add(t, offsetof(struct row, share), "share", 0, (int)c.share);
    if (c.interval)
        add(t, offsetof(struct row, interval), "90 %", 0, (int)c.interval);
    if (c.measured)
        add(t, offsetof(struct row, measured),
            elsewhere ? "traced" : "measured", 0, 11);
    if (c.measured && !c.interval)
        add(t, offsetof(struct row, error), elsewhere ? "change" : "error", 0,
            10);
    if (c.limit)
        add(t, offsetof(struct row, limit), "limited by", 2, -(int)c.limit);
    add(t, offsetof(struct row, model), "model", 2, 0);
}

static void print_op(const struct msim_page *page, const struct msim_op_row *op,
                     double total, const struct msim_unit *unit,
                     const struct table *t)
{
    unsigned used;
    struct row r;

    snprintf(r.name, sizeof(r.name), "  %s",
             msim_short_name(page->names, msim_page_op_name(op),
                             page->name_columns, &used));
    msim_format_calls(r.calls, op->calls);
    msim_format_in(r.time, unit, op->us.predicted);
    msim_format_share(r.share, total > 0 ? op->us.predicted / total : 0);
    format_interval(r.interval, &op->us);
    msim_format_in(r.measured, unit, op->us.measured);
    /* A collective's kernel ran while it waited for its peers, too. */
    if (op->communication)
        snprintf(r.error, sizeof(r.error), "with wait");
    else
        msim_format_error(r.error, &op->us);
    format_limit(r.limit, op);
    format_model(r.model, op);
    msim_record_text(page->out, t->of, t->n, &r);
}

static void print_sum(const struct msim_page *page, const char *label,
                      const struct msim_unit *unit, double us, double total,
                      struct columns columns)
{
    char time[MSIM_CELL], share[MSIM_CELL];

    msim_format_in(time, unit, us);
    msim_format_share(share, total > 0 ? us / total : 0);
    msim_print(page->out, "  %-*s%*s%*s\n", (int)page->name_columns + 7, label,
               (int)columns.time, time, (int)columns.share, share);
}

/* The first `limit` rows of a table, the sum of the others, and of all that
 * `total` holds. */
static void print_table(const struct msim_page *page, const char *title,
                        const struct msim_op_row *ops, uint32_t n,
                        uint32_t limit)
{
    double total = device_time(page->p), sum = 0, rest = 0;
    const struct msim_unit *unit = msim_unit_for(ops[0].us.predicted);
    struct columns columns = columns_of(ops, n, limit);
    struct table t;
    char label[64];

    make_table(&t, page, title, unit, columns);
    putc('\n', page->out);
    msim_record_text_head(page->out, t.of, t.n);
    for (uint32_t i = 0; i < n; i++) {
        sum += ops[i].us.predicted;
        if (i < limit)
            print_op(page, &ops[i], total, unit, &t);
        else
            rest += ops[i].us.predicted;
    }
    snprintf(label, sizeof(label), "%u more (--csv lists all)", n - limit);
    if (n > limit)
        print_sum(page, label, unit, rest, total, columns);
    if (n > 1)
        print_sum(page, "in all", unit, sum, total, columns);
}

void msim_page_ops(const struct msim_page *page)
{
    if (page->p->n_ops)
        print_table(page, "operators, by device time", page->p->ops,
                    page->p->n_ops, TOP_OPS);
    else
        msim_print_title(page->out, "no operator takes device time");
}

void msim_page_coverage(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;
    char ops[MSIM_CELL], time[MSIM_CELL];

    if (p->costs && strcmp(p->costs, "measured") == 0)
        return; /* measured times need neither laws nor tables */
    if (!isnan(p->coverage_ops) || !isnan(p->coverage_time)) {
        msim_format_share(ops, p->coverage_ops);
        msim_format_share(time, p->coverage_time);
        msim_print_title(page->out,
                         "covered by laws and tables: %s of operators, %s of "
                         "device time",
                         ops, time);
    }
    if (p->n_uncovered)
        print_table(page, "not covered by a law of their own", p->uncovered,
                    p->n_uncovered, TOP_MISSING);
}

/* ---- ranks -------------------------------------------------------------- */

/* "40 %": communication that runs beside compute, of all that there is. */
static void format_hidden(char cell[MSIM_CELL], const struct msim_rank_row *r)
{
    double hidden = r->overlapped_communication_us;
    double all = hidden + r->breakdown_us.communication;

    if (all > 0)
        snprintf(cell, MSIM_CELL, "%.0f %%", 100 * hidden / all);
    else
        snprintf(cell, MSIM_CELL, "-");
}

/* A rank's figures as they are printed, without its number. */
static void format_rank(char line[RANK_LINE], const struct msim_rank_row *r,
                        const struct msim_unit *u)
{
    static const int WIDTHS[] = {9, 9, 9, 9, 8, 7, 9, 8, 8, 9, 8};
    const double figures[] = {
        r->iteration_us.predicted,
        r->iteration_us.measured,
        r->kernel_us.predicted,
        r->transfer_us,
        r->wait_us,
        (double)NAN, /* the share of communication that compute hides */
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
        if (i == HIDDEN)
            format_hidden(cell, r);
        used += (size_t)snprintf(line + used, RANK_LINE - used, "%*.20s",
                                 WIDTHS[i], cell);
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
    msim_print(page->out, "%6s%s\n", name, line);
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
    msim_print(page->out,
               "\nranks, in %s\n"
               "  rank     time measured  kernels transfer    wait hidden"
               "  compute   comm.  copies     host    idle\n",
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
