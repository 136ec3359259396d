/*
 * core/report/compare/report_compare.c - a comparison for people.
 *
 * The result comes first, then the totals, then one table for each question.
 * All times of one table share a unit. Lines stay within 100 columns.
 */
#include "core/base/print.h"
#include "core/report/compare/report_compare_page.h"
#include "core/report/write/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX  34 /* columns of a total's label */
#define TOP       15
#define TOP_PATH  8
#define MAX_LINES 32
#define RANK_LINE 256

/* A change is of one row where that has half of it, and worth a cause from one
 * part in a hundred on. */
#define CAUSE_SHARE     0.5
#define LEAST_EXPLAINED 0.01

/* ---- the top ------------------------------------------------------------ */

static void print_side(const struct msim_compare_page *page, int side)
{
    const struct msim_side *s = page->c->side[side];
    char name[256], more[64] = "", rank[64] = "", what[64];
    char step[MSIM_STEP_TEXT];

    msim_format_name(name, sizeof(name), s->input[0] ? s->input : "trace", 60);
    if (strcmp(name, "-") == 0)
        snprintf(name, sizeof(name), "standard input");
    if (s->platform)
        snprintf(more, sizeof(more), " on %.32s", s->platform);
    if (s->ranks > 1)
        snprintf(rank, sizeof(rank), "%u ranks, ", s->ranks);
    if (s->iterations.n == 1)
        msim_format_name(what, sizeof(what), s->iterations.rows[0].name, 32);
    else
        snprintf(what, sizeof(what), "mean of %u iterations", s->iterations.n);
    msim_print(page->out, "%c  %s%s\n   %s%s times, %s%s\n", 'A' + side, name,
               more, s->is_file ? "a prediction from " : "",
               s->costs ? s->costs : "unknown", rank, what);
    if (s->options)
        msim_print(page->out, "   %s\n", s->options);
    msim_report_step_text(&s->step, step);
    if (*step)
        msim_print(page->out, "   measured jobs take %s\n", step);
}

/* Is A what B's own ratio is to? Saved predictions hold it. */
static bool is_baseline(const struct msim_side *a, const struct msim_side *b)
{
    return b->options && !a->options &&
           fabs(a->period_us.predicted / b->baseline_us - 1) < 1e-6;
}

static void print_ratio(const struct msim_compare_page *page,
                        const struct msim_side *b)
{
    fprintf(page->out, ";\nthe period of B is x %.3f that of A", b->ratio);
    if (b->ratio_high > b->ratio_low)
        fprintf(page->out, " (90 %%: %.3f to %.3f)", b->ratio_low,
                b->ratio_high);
}

static void print_more(const struct msim_compare_page *page, double percent)
{
    msim_print(page->out, "%.1f %% %s", fabs(percent),
               percent > 0 ? "longer" : "less");
}

/* The change of the period, which --fail-above judges, where both sides have
 * one. */
static const struct msim_change *judged(const struct msim_comparison *of)
{
    return isfinite(msim_change_ratio(&of->period)) ? &of->period
                                                    : &of->iteration;
}

/* Beside the period the iteration, where that changed otherwise. */
static void print_verdict(const struct msim_compare_page *page)
{
    const struct msim_comparison *of = page->c;
    double iteration = 100 * (msim_change_ratio(&of->iteration) - 1);
    double period = 100 * (msim_change_ratio(&of->period) - 1);
    const struct msim_change *c = judged(of);
    bool has_period = c == &of->period;
    double percent = has_period ? period : iteration;
    char a[MSIM_CELL], b[MSIM_CELL];

    msim_format_time(a, c->us[0].predicted);
    msim_format_time(b, c->us[1].predicted);
    msim_print(page->out, "\n%s takes ",
               has_period ? "a period" : "an iteration");
    if (c->difference == 0) {
        msim_print(page->out, "%s on both sides", a);
    } else if (isfinite(percent)) {
        print_more(page, percent);
        msim_print(page->out, ": %s in A, %s in B", a, b);
    } else {
        msim_print(page->out, "%s in A, %s in B", a, b);
    }
    if (has_period && fabs(iteration - period) >= 0.05) {
        fputs(";\nan iteration takes ", page->out);
        print_more(page, iteration);
    }
    if (is_baseline(of->side[0], of->side[1]))
        print_ratio(page, of->side[1]);
    else if (c->beyond == MSIM_BEYOND_NO && c->difference != 0)
        fputs(";\ntheir 90 % intervals overlap, which hold errors that both "
              "may share",
              page->out);
    fputc('\n', page->out);
    if (of->odd)
        msim_print(page->out, "one iteration decides it: %s\n", of->odd);
}

/* The row that has most of a table's change; NULL: none has half of it. */
static const struct msim_change *most_of(const struct msim_changes *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (msim_change_share(t, &t->rows[i]) >= CAUSE_SHARE)
            return &t->rows[i];
    return NULL;
}

static const char *name_of(const struct msim_change *c)
{
    return c->name[0] ? c->name[0] : c->name[1];
}

/* Where most of the change is: a class of the iteration's time, and of compute
 * the operator. */
static void print_cause(const struct msim_compare_page *page)
{
    const struct msim_comparison *of = page->c;
    const struct msim_change *class = most_of(&of->breakdown), *op = NULL;
    char us[MSIM_CELL], name[64];

    if (!class || fabs(msim_change_ratio(&of->iteration) - 1) < LEAST_EXPLAINED)
        return;
    if (fabs(class->difference) < CAUSE_SHARE * fabs(judged(of)->difference))
        return; /* the period changed by something else */
    if (strcmp(name_of(class), MSIM_CLASS_NAMES[0]) == 0)
        op = most_of(&of->ops);
    msim_format_time(us, fabs(class->difference));
    msim_print(page->out, "most of it is %s: %s %s an iteration",
               name_of(class), us, class->difference > 0 ? "more" : "less");
    if (op) {
        msim_format_name(name, sizeof(name), name_of(op), 48);
        msim_print(page->out, ", most in %s", name);
    }
    fputc('\n', page->out);
}

static void print_total(struct msim_compare_page *page,
                        const struct msim_compare_table *t, const char *label,
                        const struct msim_change *c)
{
    if (!msim_change_is_zero(c))
        msim_compare_sum(page, t, label, c);
}

static void print_totals(struct msim_compare_page *page)
{
    const struct msim_comparison *c = page->c;
    const struct msim_changes none = {0};
    struct msim_compare_table t = {
        .title = "an iteration",
        .t = &none,
        .name_columns = NAME_MAX,
        .unit = msim_unit_for(
            fmax(c->iteration.us[0].predicted, c->iteration.us[1].predicted))};

    msim_compare_header(page, &t);
    print_total(page, &t, "time", &c->iteration);
    print_total(page, &t, "period", &c->period);
    print_total(page, &t, "time, as measured", &c->measured);
    print_total(page, &t, "kernels", &c->kernel);
    print_total(page, &t, "communication, on the wire", &c->transfer);
    print_total(page, &t, "communication, hidden by compute",
                &c->overlapped_communication);
    print_total(page, &t, "waiting for peers", &c->wait);
    print_total(page, &t, "waiting for ranks without a trace", &c->external);
}

/* ---- ranks -------------------------------------------------------------- */

static bool several_ranks(const struct msim_comparison *c)
{
    return c->side[0]->ranks > 1 || c->side[1]->ranks > 1;
}

/* A rank's figures as they are printed, without its number. */
static void format_rank(struct msim_compare_page *page, char line[RANK_LINE],
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
    msim_format_change(change, u, c.difference);
    msim_format_ratio(ratio, &c);
    used = (size_t)snprintf(line, RANK_LINE, "%11s%11s%11s%c%9s", a, b, change,
                            msim_compare_mark(page, &c), ratio);
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
        msim_format_change(change, u, more[i]->difference);
        used += (size_t)snprintf(line + used, RANK_LINE - used, "%11s", change);
    }
}

static void print_rank_line(const struct msim_compare_page *page, int64_t first,
                            int64_t last, const char *line)
{
    char name[48] = "-";

    if (first >= 0 && first == last)
        snprintf(name, sizeof(name), "%" PRId64, first);
    else if (first >= 0)
        snprintf(name, sizeof(name), "%" PRId64 "-%" PRId64, first, last);
    msim_print(page->out, "  %8s%s\n", name, line);
}

/* Neighbours with the same printed figures share a line. */
static void print_ranks(struct msim_compare_page *page)
{
    const struct msim_comparison *c = page->c;
    const struct msim_unit *u = msim_compare_unit(
        fmax(c->iteration.us[0].predicted, c->iteration.us[1].predicted));
    char line[RANK_LINE], next[RANK_LINE];
    uint32_t lines = 0;

    if (!c->n_ranks)
        return;
    msim_print(page->out, "\nranks, %-3s %11s%11s%11s %9s%11s%11s%11s\n",
               u->name, "A", "B", "change", "B/A", "+ kernels", "+ transfer",
               "+ wait");
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

/* ---- the whole ---------------------------------------------------------- */

static void print_rank_note(const struct msim_compare_page *page)
{
    const struct msim_side *a = page->c->side[0], *b = page->c->side[1];

    if (!several_ranks(page->c) || a->rank < 0 || b->rank < 0)
        return;
    fprintf(page->out,
            "\nThe tables below are of the slowest rank: %" PRId64 " of A, "
            "%" PRId64 " of B.\n",
            a->rank, b->rank);
}

static void print_table(struct msim_compare_page *page, const char *title,
                        const struct msim_changes *t, enum msim_extra extra,
                        uint32_t limit)
{
    msim_compare_table_print(
        page,
        (struct msim_compare_table){
            .title = title, .t = t, .extra = extra, .total = true},
        limit);
}

static void print_tables(struct msim_compare_page *page)
{
    const struct msim_comparison *c = page->c;

    print_table(page, "where it goes", &c->breakdown, MSIM_EXTRA_NOTHING, TOP);
    print_table(page, "critical path, by owner", &c->owners, MSIM_EXTRA_NOTHING,
                TOP_PATH);
    print_table(page, "work of the host", &c->host_ops, MSIM_EXTRA_CALLS,
                TOP_PATH);
    print_table(page, "the main thread waits for", &c->main_waits,
                MSIM_EXTRA_NOTHING, TOP);
    print_table(page, "the GPU is idle until", &c->gpu_idle, MSIM_EXTRA_NOTHING,
                TOP);
    print_table(page, "kinds of work", &c->families, MSIM_EXTRA_CALLS, TOP);
    print_table(page, "topmost operators", &c->ops, MSIM_EXTRA_CALLS, TOP);
    print_table(page, "kernels and copies", &c->kernels, MSIM_EXTRA_MEANS, TOP);
    print_table(page, "streams", &c->streams, MSIM_EXTRA_CALLS, TOP);
}

static void print_iterations(struct msim_compare_page *page)
{
    if (page->c->iterations.n > 1 || page->c->iterations.absent)
        msim_compare_table_print(
            page,
            (struct msim_compare_table){.title = "iterations",
                                        .t = &page->c->iterations,
                                        .extra = MSIM_EXTRA_NOTHING},
            MAX_LINES);
}

static void print_notes(const struct msim_compare_page *page)
{
    if (page->doubtful)
        fputs("\n~ no more than the 90 % intervals leave room for\n",
              page->out);
    msim_report_warnings(page->c->warnings, page->c->n_warnings, page->out);
}

enum msim_status msim_report_compare_text(const struct msim_comparison *c,
                                          FILE *out)
{
    struct msim_compare_page page = {.c = c, .out = out};

    print_side(&page, 0);
    print_side(&page, 1);
    print_verdict(&page);
    print_cause(&page);
    print_totals(&page);
    print_iterations(&page);
    print_ranks(&page);
    print_rank_note(&page);
    print_tables(&page);
    print_notes(&page);
    return ferror(out) ? MSIM_EWRITE : MSIM_OK;
}
