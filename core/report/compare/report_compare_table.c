/*
 * core/report/compare/report_compare_table.c - the tables of a comparison.
 */
#include "core/base/print.h"
#include "core/report/compare/report_compare_page.h"

#include <math.h>
#include <string.h>

#define NAME_MIN   20
#define NAME_MAX   34 /* columns of a name beside its figures */
#define NAME_MEANS 24 /* and beside means as well */
#define NAME_LINE  96 /* and on a line of its own */
#define NOTE       20 /* " (communication)" */
#define NAME_BYTES (4 * NAME_LINE + 1)
#define LABEL      192
#define CALLS      8 /* columns of a count */

/* ---- cells -------------------------------------------------------------- */

const struct msim_unit *msim_compare_unit(double us)
{
    return msim_unit_for(us / 10);
}

void msim_format_change(char cell[MSIM_CELL], const struct msim_unit *u,
                        double us)
{
    if (isnan(us))
        snprintf(cell, MSIM_CELL, "-");
    else
        snprintf(cell, MSIM_CELL, "%+.*f", u->decimals, us / u->us);
}

void msim_format_ratio(char cell[MSIM_CELL], const struct msim_change *c)
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

char msim_compare_mark(struct msim_compare_page *page,
                       const struct msim_change *c)
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
        if (strncmp(name, NAMESPACE, sizeof(NAMESPACE) - 1) == 0)
            name += sizeof(NAMESPACE) - 1;
        else
            out[used++] = *name++;
    }
    out[used] = '\0';
}

/* What follows a name: a collective's row is its transfer, without waiting for
 * peers; on the critical path rows of one name differ in their kind. */
static const char *note_of(const struct msim_compare_table *t, const char *kind)
{
    if (!kind)
        return "";
    if (strcmp(t->t->key, "critical_path") == 0)
        return kind;
    return strcmp(kind, "communication") == 0 ? "transfer" : "";
}

static unsigned format_name(char text[NAME_BYTES],
                            const struct msim_compare_table *t,
                            const struct msim_change *c)
{
    const char *note = note_of(t, c->kind);
    char whole[2048];
    unsigned used;
    size_t end;

    leave_out_namespaces(whole, sizeof(whole), shown_name(c));
    used = msim_format_op(text, NAME_BYTES - NOTE, whole, NAME_LINE - NOTE);
    if (!note[0])
        return used;
    end = strlen(text);
    return used +
           (unsigned)snprintf(text + end, NAME_BYTES - end, " (%.16s)", note);
}

/* ---- lines -------------------------------------------------------------- */

/* What stands in a line so far. */
struct line {
    char text[512];
};

#define SAY(l, ...) msim_text_append((l)->text, sizeof((l)->text), __VA_ARGS__)

static void put_line(const struct msim_compare_page *page, const struct line *l)
{
    msim_print(page->out, "%s\n", l->text);
}

/* A name too long for its column gets a line of its own. */
static void say_name(struct line *l, const struct msim_compare_page *page,
                     const struct msim_compare_table *t,
                     const struct msim_change *c)
{
    char text[NAME_BYTES];
    unsigned used = format_name(text, t, c), columns = t->name_columns;

    if (used > columns) {
        msim_print(page->out, "  %s\n", text);
        *text = '\0';
        used = 0;
    }
    SAY(l, "  %s%*s", text, (int)(columns - used), "");
}

/* ---- tables ------------------------------------------------------------- */

static double mean(const struct msim_change *c, int side)
{
    return c->calls[side] > 0 ? c->us[side].predicted / c->calls[side]
                              : (double)NAN;
}

/* The width and unit of a table, for its first `rows`. */
static void fit(struct msim_compare_table *t, uint32_t rows)
{
    unsigned limit = t->extra == MSIM_EXTRA_MEANS ? NAME_MEANS : NAME_MAX;
    double most = 0, most_mean = 0;
    char text[NAME_BYTES];

    t->name_columns = NAME_MIN;
    for (uint32_t i = 0; i < rows; i++) {
        const struct msim_change *c = &t->t->rows[i];
        unsigned used = format_name(text, t, c);

        if (used > t->name_columns)
            t->name_columns = used < limit ? used : limit;
        for (int side = 0; side < 2; side++) {
            most = fmax(most, c->us[side].predicted);
            most_mean = fmax(most_mean, mean(c, side));
        }
    }
    t->unit = msim_compare_unit(most);
    t->mean_unit = msim_compare_unit(most_mean);
}

void msim_compare_header(const struct msim_compare_page *page,
                         const struct msim_compare_table *t)
{
    char title[LABEL];
    struct line l = {""};

    snprintf(title, sizeof(title), "%s, %s", t->title, t->unit->name);
    SAY(&l, "%-*s", (int)t->name_columns + 2, title);
    if (t->extra != MSIM_EXTRA_NOTHING)
        SAY(&l, "%*s%*s", CALLS, "calls A", CALLS, "B");
    SAY(&l, "%10s%10s%10s ", "A", "B", "change");
    if (t->extra == MSIM_EXTRA_MEANS)
        SAY(&l, "%7s/%s%7s/%s", "A each", t->mean_unit->name, "B each",
            t->mean_unit->name);
    SAY(&l, "%8s", "B/A");
    if (t->extra == MSIM_EXTRA_CALLS)
        SAY(&l, "%9s", "share");
    msim_print_title(page->out, "%s", l.text);
}

static void say_calls(struct line *l, const struct msim_change *c)
{
    for (int side = 0; side < 2; side++) {
        char cell[MSIM_CELL];

        msim_format_calls(cell, c->name[side] ? c->calls[side] : (double)NAN);
        SAY(l, "%*s", CALLS, cell);
    }
}

static void say_times(struct line *l, struct msim_compare_page *page,
                      const struct msim_compare_table *t,
                      const struct msim_change *c)
{
    char cell[MSIM_CELL];

    for (int side = 0; side < 2; side++) {
        msim_format_in(cell, t->unit,
                       c->name[side] ? c->us[side].predicted : (double)NAN);
        SAY(l, "%10s", cell);
    }
    msim_format_change(cell, t->unit, c->difference);
    SAY(l, "%10s%c", cell, msim_compare_mark(page, c));
}

static void say_means(struct line *l, const struct msim_compare_table *t,
                      const struct msim_change *c)
{
    for (int side = 0; side < 2; side++) {
        char cell[MSIM_CELL];

        msim_format_in(cell, t->mean_unit, mean(c, side));
        SAY(l, "%10s", cell);
    }
}

static void say_tail(struct line *l, const struct msim_compare_table *t,
                     const struct msim_change *c)
{
    char ratio[MSIM_CELL], share[MSIM_CELL];

    msim_format_ratio(ratio, c);
    msim_format_share(share, msim_change_share(t->t, c));
    SAY(l, "%8s", ratio);
    if (t->extra == MSIM_EXTRA_CALLS)
        SAY(l, "%9s", share);
}

static void print_row(struct msim_compare_page *page,
                      const struct msim_compare_table *t,
                      const struct msim_change *c)
{
    struct line l = {""};

    say_name(&l, page, t, c);
    if (t->extra != MSIM_EXTRA_NOTHING)
        say_calls(&l, c);
    say_times(&l, page, t, c);
    if (t->extra == MSIM_EXTRA_MEANS)
        say_means(&l, t, c);
    say_tail(&l, t, c);
    put_line(page, &l);
}

/* A row that sums others; `calls` means nothing there. */
void msim_compare_sum(struct msim_compare_page *page,
                      const struct msim_compare_table *t, const char *label,
                      const struct msim_change *c)
{
    struct line l = {""};

    SAY(&l, "  %-*s", (int)t->name_columns, label);
    if (t->extra != MSIM_EXTRA_NOTHING)
        SAY(&l, "%*s", 2 * CALLS, "");
    say_times(&l, page, t, c);
    if (t->extra == MSIM_EXTRA_MEANS)
        SAY(&l, "%20s", "");
    say_tail(&l, t, c);
    put_line(page, &l);
}

static void print_rest(struct msim_compare_page *page,
                       const struct msim_compare_table *t, uint32_t first)
{
    struct msim_change rest = t->t->total;
    char label[64];

    for (int side = 0; side < 2; side++) {
        rest.us[side].predicted = 0;
        for (uint32_t i = first; i < t->t->n; i++)
            rest.us[side].predicted += t->t->rows[i].us[side].predicted;
    }
    rest.difference = rest.us[1].predicted - rest.us[0].predicted;
    snprintf(label, sizeof(label), "%u more (--csv)", t->t->n - first);
    msim_compare_sum(page, t, label, &rest);
}

bool msim_change_is_zero(const struct msim_change *c)
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

void msim_compare_table_print(struct msim_compare_page *page,
                              struct msim_compare_table t, uint32_t limit)
{
    uint32_t rows = t.t->n < limit ? t.t->n : limit;

    if (t.t->absent) {
        msim_print_title(page->out, "%s: none, %s", t.title, t.t->absent);
        return;
    }
    if (!t.t->n) {
        msim_print_title(page->out, "%s: none", t.title);
        return;
    }
    if (is_unchanged(t.t)) {
        msim_print_title(page->out, "%s: %u, all as they were", t.title,
                         t.t->n);
        return;
    }
    fit(&t, rows);
    msim_compare_header(page, &t);
    for (uint32_t i = 0; i < rows; i++)
        if (t.extra != MSIM_EXTRA_NOTHING ||
            !msim_change_is_zero(&t.t->rows[i]))
            print_row(page, &t, &t.t->rows[i]);
    if (rows < t.t->n)
        print_rest(page, &t, rows);
    if (t.total && t.t->n > 1)
        msim_compare_sum(page, &t, "in all", &t.t->total);
}
