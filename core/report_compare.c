/*
 * core/report_compare.c - a comparison for people.
 *
 * The verdict first, then the totals, then one table a question. All times of
 * one table share a unit. Lines stay within 100 columns.
 */
#include "core/compare.h"
#include "core/report_format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MIN   20
#define NAME_MAX   34 /* columns of a name beside its figures */
#define NAME_MEANS 24 /* and beside means as well */
#define NAME_LINE  96 /* and on a line of its own */
#define NAME_BYTES (4 * NAME_LINE + 1)
#define TOP        15
#define MAX_LINES  32
#define LABEL      192
#define RANK_LINE  256
#define CALLS      8 /* columns of a count */

struct page {
    const struct msim_comparison *c;
    FILE *out;
    bool doubtful; /* some difference was marked as within the intervals */
};

/* ---- cells ------------------------------------------------------------- */

/* Up to 9999.999, so that the smaller of two sides keeps its digits. */
static const struct msim_unit *unit_for(double us)
{
    return msim_unit_for(us / 10);
}

/* "+1.234", in the unit of its table. */
static void format_change(char cell[MSIM_CELL], const struct msim_unit *u,
                          double us)
{
    if (isnan(us))
        snprintf(cell, MSIM_CELL, "-");
    else
        snprintf(cell, MSIM_CELL, "%+.*f", u->decimals, us / u->us);
}

/* "x 1.03", "new" or "gone". */
static void format_ratio(char cell[MSIM_CELL], const struct msim_change *c)
{
    double ratio = msim_change_ratio(c);

    if (!c->name[0])
        snprintf(cell, MSIM_CELL, "new");
    else if (!c->name[1])
        snprintf(cell, MSIM_CELL, "gone");
    else if (isnan(ratio))
        snprintf(cell, MSIM_CELL, "-");
    else
        snprintf(cell, MSIM_CELL, ratio < 100 ? "x %.3f" : "x %.3g", ratio);
}

/* '~' marks a difference that the intervals leave room for. */
static char mark(struct page *page, const struct msim_change *c)
{
    if (c->beyond != MSIM_BEYOND_NO || c->difference == 0)
        return ' ';
    page->doubtful = true;
    return '~';
}

static const char *shown_name(const struct msim_change *c)
{
    const char *name = c->name[0] ? c->name[0] : c->name[1];

    if (strcmp(name, "memory_copy") == 0)
        return "memory copy";
    return strcmp(name, "bound") == 0 ? "unknown (bound)" : name;
}

/* Every kernel of PyTorch is in these namespaces. */
static void leave_out_namespaces(char *out, size_t size, const char *name)
{
    static const char NAMESPACE[] = "at::native::";
    size_t used = 0;

    while (*name && used + 1 < size) {
        if (strncmp(name, NAMESPACE, sizeof NAMESPACE - 1) == 0)
            name += sizeof NAMESPACE - 1;
        else
            out[used++] = *name++;
    }
    out[used] = '\0';
}

/* A collective's row is its time on the wire, without waiting for peers. */
static unsigned format_name(char text[NAME_BYTES], const struct msim_change *c)
{
    static const char TRANSFER[] = " (transfer)";
    bool transfer = c->kind && strcmp(c->kind, "communication") == 0;
    char whole[2048];
    unsigned used;

    leave_out_namespaces(whole, sizeof whole, shown_name(c));
    used = msim_format_op(text, NAME_BYTES - sizeof TRANSFER, whole,
                          NAME_LINE - sizeof TRANSFER);
    if (!transfer)
        return used;
    memcpy(text + strlen(text), TRANSFER, sizeof TRANSFER);
    return used + (unsigned)sizeof TRANSFER - 1;
}

/* Names that are too long for their column get a line of their own. */
static void print_name(const struct page *page, const struct msim_change *c,
                       unsigned columns)
{
    char text[NAME_BYTES];
    unsigned used = format_name(text, c);

    if (used <= columns)
        fprintf(page->out, "  %s%*s", text, (int)(columns - used), "");
    else
        fprintf(page->out, "  %s\n  %*s", text, (int)columns, "");
}

/* ---- tables ------------------------------------------------------------ */

/* What stands beside the times of a table. */
enum beside {
    BESIDE_NOTHING,
    BESIDE_CALLS, /* how often, and the share of the table's change */
    BESIDE_MEANS, /* how often, and how long each */
};

struct table {
    const char *title;
    const struct msim_changes *t;
    enum beside beside;
    bool total; /* rows sum to something */
    unsigned name_columns;
    const struct msim_unit *unit, *mean_unit;
};

static double mean(const struct msim_change *c, int side)
{
    return c->calls[side] > 0 ? c->us[side].predicted / c->calls[side]
                              : (double)NAN;
}

/* How wide and in which unit the table has to be for its first `rows`. */
static void fit(struct table *t, uint32_t rows)
{
    unsigned limit = t->beside == BESIDE_MEANS ? NAME_MEANS : NAME_MAX;
    double most = 0, most_mean = 0;
    char text[NAME_BYTES];

    t->name_columns = NAME_MIN;
    for (uint32_t i = 0; i < rows; i++) {
        const struct msim_change *c = &t->t->rows[i];
        unsigned used = format_name(text, c);

        if (used > t->name_columns)
            t->name_columns = used < limit ? used : limit;
        for (int side = 0; side < 2; side++) {
            most = fmax(most, c->us[side].predicted);
            most_mean = fmax(most_mean, mean(c, side));
        }
    }
    t->unit = unit_for(most);
    t->mean_unit = unit_for(most_mean);
}

static void print_header(const struct page *page, const struct table *t)
{
    char title[LABEL];

    snprintf(title, sizeof title, "%s, %s", t->title, t->unit->name);
    fprintf(page->out, "\n%-*s", (int)t->name_columns + 2, title);
    if (t->beside != BESIDE_NOTHING)
        fprintf(page->out, "%*s%*s", CALLS, "calls A", CALLS, "B");
    fprintf(page->out, "%10s%10s%10s ", "A", "B", "change");
    if (t->beside == BESIDE_MEANS)
        fprintf(page->out, "%7s/%s%7s/%s", "A each", t->mean_unit->name,
                "B each", t->mean_unit->name);
    fprintf(page->out, "%8s", "B/A");
    if (t->beside == BESIDE_CALLS)
        fprintf(page->out, "%9s", "share");
    fputc('\n', page->out);
}

static void print_calls(const struct page *page, const struct msim_change *c)
{
    for (int side = 0; side < 2; side++) {
        char cell[MSIM_CELL];

        msim_format_calls(cell, c->name[side] ? c->calls[side] : (double)NAN);
        fprintf(page->out, "%*s", CALLS, cell);
    }
}

static void print_times(struct page *page, const struct table *t,
                        const struct msim_change *c)
{
    char cell[MSIM_CELL];

    for (int side = 0; side < 2; side++) {
        msim_format_in(cell, t->unit,
                       c->name[side] ? c->us[side].predicted : (double)NAN);
        fprintf(page->out, "%10s", cell);
    }
    format_change(cell, t->unit, c->difference);
    fprintf(page->out, "%10s%c", cell, mark(page, c));
}

static void print_means(const struct page *page, const struct table *t,
                        const struct msim_change *c)
{
    for (int side = 0; side < 2; side++) {
        char cell[MSIM_CELL];

        msim_format_in(cell, t->mean_unit, mean(c, side));
        fprintf(page->out, "%10s", cell);
    }
}

static void print_tail(const struct page *page, const struct table *t,
                       const struct msim_change *c)
{
    char ratio[MSIM_CELL], share[MSIM_CELL];

    format_ratio(ratio, c);
    msim_format_share(share, msim_change_share(t->t, c));
    if (t->beside == BESIDE_CALLS)
        fprintf(page->out, "%8s%9s\n", ratio, share);
    else
        fprintf(page->out, "%8s\n", ratio);
}

static void print_row(struct page *page, const struct table *t,
                      const struct msim_change *c)
{
    print_name(page, c, t->name_columns);
    if (t->beside != BESIDE_NOTHING)
        print_calls(page, c);
    print_times(page, t, c);
    if (t->beside == BESIDE_MEANS)
        print_means(page, t, c);
    print_tail(page, t, c);
}

/* A row that sums others: `calls` says nothing there. */
static void print_sum(struct page *page, const struct table *t,
                      const char *label, const struct msim_change *c)
{
    fprintf(page->out, "  %-*s", (int)t->name_columns, label);
    if (t->beside != BESIDE_NOTHING)
        fprintf(page->out, "%*s", 2 * CALLS, "");
    print_times(page, t, c);
    if (t->beside == BESIDE_MEANS)
        fprintf(page->out, "%20s", "");
    print_tail(page, t, c);
}

static void print_rest(struct page *page, const struct table *t, uint32_t first)
{
    struct msim_change rest = t->t->total;
    char label[64];

    for (int side = 0; side < 2; side++) {
        rest.us[side].predicted = 0;
        for (uint32_t i = first; i < t->t->n; i++)
            rest.us[side].predicted += t->t->rows[i].us[side].predicted;
    }
    rest.difference = rest.us[1].predicted - rest.us[0].predicted;
    snprintf(label, sizeof label, "%u more (--csv)", t->t->n - first);
    print_sum(page, t, label, &rest);
}

static bool is_zero(const struct msim_change *c)
{
    return !(c->us[0].predicted > 0) && !(c->us[1].predicted > 0);
}

static bool is_unchanged(const struct msim_changes *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->rows[i].difference != 0 || !t->rows[i].name[0] ||
            !t->rows[i].name[1])
            return false;
    return true;
}

static void print_table(struct page *page, struct table t, uint32_t limit)
{
    uint32_t rows = t.t->n < limit ? t.t->n : limit;

    if (t.t->absent) {
        fprintf(page->out, "\n%s: none, %s\n", t.title, t.t->absent);
        return;
    }
    if (!t.t->n) {
        fprintf(page->out, "\n%s: none\n", t.title);
        return;
    }
    if (is_unchanged(t.t)) {
        fprintf(page->out, "\n%s: %u, all as they were\n", t.title, t.t->n);
        return;
    }
    fit(&t, rows);
    print_header(page, &t);
    for (uint32_t i = 0; i < rows; i++)
        if (t.beside != BESIDE_NOTHING || !is_zero(&t.t->rows[i]))
            print_row(page, &t, &t.t->rows[i]);
    if (rows < t.t->n)
        print_rest(page, &t, rows);
    if (t.total && t.t->n > 1)
        print_sum(page, &t, "in all", &t.t->total);
}

/* ---- the top ----------------------------------------------------------- */

static void print_side(const struct page *page, int side)
{
    const struct msim_side *s = page->c->side[side];
    char name[256], more[64] = "", rank[64] = "", what[64];

    msim_format_name(name, sizeof name, s->input[0] ? s->input : "trace", 60);
    if (strcmp(name, "-") == 0)
        snprintf(name, sizeof name, "standard input");
    if (s->platform)
        snprintf(more, sizeof more, " on %.32s", s->platform);
    if (s->ranks > 1)
        snprintf(rank, sizeof rank, "%u ranks, ", s->ranks);
    if (s->iterations.n == 1)
        msim_format_name(what, sizeof what, s->iterations.rows[0].name, 32);
    else
        snprintf(what, sizeof what, "mean of %u iterations", s->iterations.n);
    fprintf(page->out, "%c  %s%s\n   %s%s times, %s%s\n", 'A' + side, name,
            more, s->is_file ? "a prediction from " : "",
            s->costs ? s->costs : "unknown", rank, what);
}

static void print_verdict(const struct page *page)
{
    const struct msim_change *c = &page->c->iteration;
    char a[MSIM_CELL], b[MSIM_CELL];
    double percent = 100 * (msim_change_ratio(c) - 1);

    msim_format_time(a, c->us[0].predicted);
    msim_format_time(b, c->us[1].predicted);
    fputs("\nan iteration takes ", page->out);
    if (c->difference == 0)
        fprintf(page->out, "%s on both sides", a);
    else if (isfinite(percent))
        fprintf(page->out, "%.1f %% %s: %s in A, %s in B", fabs(percent),
                percent > 0 ? "longer" : "less", a, b);
    else
        fprintf(page->out, "%s in A, %s in B", a, b);
    if (c->beyond == MSIM_BEYOND_NO && c->difference != 0)
        fputs(";\ntheir 90 % intervals overlap", page->out);
    fputc('\n', page->out);
}

static void print_total(struct page *page, const struct table *t,
                        const char *label, const struct msim_change *c)
{
    if (!is_zero(c))
        print_sum(page, t, label, c);
}

static void print_totals(struct page *page)
{
    const struct msim_comparison *c = page->c;
    const struct msim_changes none = {0};
    struct table t = {.title = "an iteration",
                      .t = &none,
                      .name_columns = NAME_MAX,
                      .unit =
                          msim_unit_for(fmax(c->iteration.us[0].predicted,
                                             c->iteration.us[1].predicted))};

    print_header(page, &t);
    print_total(page, &t, "time", &c->iteration);
    print_total(page, &t, "time, as measured", &c->measured);
    print_total(page, &t, "kernels", &c->kernel);
    print_total(page, &t, "communication, on the wire", &c->transfer);
    print_total(page, &t, "communication, hidden by compute",
                &c->overlapped_communication);
    print_total(page, &t, "waiting for peers", &c->wait);
    print_total(page, &t, "waiting for ranks without a trace", &c->external);
}

/* ---- ranks ------------------------------------------------------------- */

static bool several_ranks(const struct msim_comparison *c)
{
    return c->side[0]->ranks > 1 || c->side[1]->ranks > 1;
}

/* A rank's figures as they are shown, without its number. */
static void format_rank(struct page *page, char line[RANK_LINE],
                        const struct msim_unit *u,
                        const struct msim_rank_change *r)
{
    const struct msim_change *more[] = {&r->kernel, &r->transfer, &r->wait};
    struct msim_change c = r->iteration;
    char a[MSIM_CELL], b[MSIM_CELL], change[MSIM_CELL], ratio[MSIM_CELL];
    size_t used;

    for (int side = 0; side < 2; side++) {
        if (r->on[side])
            continue;
        c.name[side] = NULL;
        c.us[side].predicted = (double)NAN;
    }
    msim_format_in(a, u, c.us[0].predicted);
    msim_format_in(b, u, c.us[1].predicted);
    format_change(change, u, c.difference);
    format_ratio(ratio, &c);
    used = (size_t)snprintf(line, RANK_LINE, "%11s%11s%11s%c%9s", a, b, change,
                            mark(page, &c), ratio);
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        format_change(change, u, more[i]->difference);
        used += (size_t)snprintf(line + used, RANK_LINE - used, "%11s", change);
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
    fprintf(page->out, "  %8s%s\n", name, line);
}

/* Neighbours whose figures look the same share a line. */
static void print_ranks(struct page *page)
{
    const struct msim_comparison *c = page->c;
    const struct msim_unit *u = unit_for(
        fmax(c->iteration.us[0].predicted, c->iteration.us[1].predicted));
    char line[RANK_LINE], next[RANK_LINE];
    uint32_t lines = 0;

    if (!c->n_ranks)
        return;
    fprintf(page->out, "\nranks, %-3s %11s%11s%11s %9s%11s%11s%11s\n", u->name,
            "A", "B", "change", "B/A", "+ kernels", "+ transfer", "+ wait");
    for (uint32_t i = 0, j; i < c->n_ranks; i = j) {
        format_rank(page, line, u, &c->ranks[i]);
        for (j = i + 1; j < c->n_ranks; j++) {
            format_rank(page, next, u, &c->ranks[j]);
            if (strcmp(line, next) != 0 ||
                c->ranks[j].rank != c->ranks[j - 1].rank + 1)
                break;
        }
        if (lines++ == MAX_LINES) {
            fprintf(page->out, "  %u more (--csv)\n", c->n_ranks - i);
            break;
        }
        print_rank_line(page, c->ranks[i].rank, c->ranks[j - 1].rank, line);
    }
}

/* ---- the whole --------------------------------------------------------- */

static void print_rank_note(const struct page *page)
{
    const struct msim_side *a = page->c->side[0], *b = page->c->side[1];

    if (!several_ranks(page->c) || a->rank < 0 || b->rank < 0)
        return;
    fprintf(page->out,
            "\nThe tables below are of the slowest rank: %" PRId64 " of A, "
            "%" PRId64 " of B.\n",
            a->rank, b->rank);
}

static void print_tables(struct page *page)
{
    const struct msim_comparison *c = page->c;

    print_table(page,
                (struct table){.title = "where it goes",
                               .t = &c->breakdown,
                               .beside = BESIDE_NOTHING,
                               .total = true},
                TOP);
    print_table(page,
                (struct table){.title = "kinds of work",
                               .t = &c->families,
                               .beside = BESIDE_CALLS,
                               .total = true},
                TOP);
    print_table(page,
                (struct table){.title = "topmost operators",
                               .t = &c->ops,
                               .beside = BESIDE_CALLS,
                               .total = true},
                TOP);
    print_table(page,
                (struct table){.title = "kernels and copies",
                               .t = &c->kernels,
                               .beside = BESIDE_MEANS,
                               .total = true},
                TOP);
    print_table(page,
                (struct table){.title = "streams",
                               .t = &c->streams,
                               .beside = BESIDE_CALLS,
                               .total = true},
                TOP);
}

static void print_iterations(struct page *page)
{
    if (page->c->iterations.n > 1 || page->c->iterations.absent)
        print_table(page,
                    (struct table){.title = "iterations",
                                   .t = &page->c->iterations,
                                   .beside = BESIDE_NOTHING},
                    MAX_LINES);
}

static void print_notes(const struct page *page)
{
    char text[2048];

    if (page->doubtful)
        fputs("\n~ no more than the 90 % intervals leave room for\n",
              page->out);
    for (uint32_t i = 0; i < page->c->n_warnings; i++) {
        msim_format_name(text, sizeof text, page->c->warnings[i], sizeof text);
        fprintf(page->out, "%swarning: %s\n", i ? "" : "\n", text);
    }
}

enum msim_status msim_report_compare_text(const struct msim_comparison *c,
                                          FILE *out)
{
    struct page page = {.c = c, .out = out};

    print_side(&page, 0);
    print_side(&page, 1);
    print_verdict(&page);
    print_totals(&page);
    print_iterations(&page);
    print_ranks(&page);
    print_rank_note(&page);
    print_tables(&page);
    print_notes(&page);
    return ferror(out) ? MSIM_EIO : MSIM_OK;
}
