/*
 * core/report/write/report_where.c - the parts of the text report that give
 * reasons: the critical path, what is waited for, how dependencies are known.
 */
#include "core/base/containers.h"
#include "core/base/print.h"
#include "core/record/record.h"
#include "core/report/write/report_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_COLUMNS 96
#define LABEL        18 /* columns of a label before a list */
#define TOP_OWNERS   8
#define TOP_FREE     4
#define TOP_RANKS    3
#define MOST_OWNERS  40 /* that may be among the top */
#define ITEM_BYTES   256

/* ---- lists -------------------------------------------------------------- */

/* Items behind a label, with commas between, broken into lines. */
struct list {
    const struct msim_page *page;
    const char *label;
    unsigned used; /* columns of the line so far; 0: nothing is written */
};

MSIM_PRINTF(2, 3)
static void list_item(struct list *l, const char *fmt, ...)
{
    char item[ITEM_BYTES];
    va_list ap;
    unsigned width;

    va_start(ap, fmt);
    vsnprintf(item, sizeof(item), fmt, ap);
    va_end(ap);
    width = (unsigned)strlen(item) + 2;
    if (l->used && l->used + width <= PAGE_COLUMNS) {
        msim_print(l->page->out, ", %s", item);
        l->used += width;
        return;
    }
    msim_print(l->page->out, l->used ? ",\n  %-*s%s" : "  %-*s%s", LABEL,
               l->used ? "" : l->label, item);
    l->used = LABEL + 2 + width;
}

static void list_end(struct list *l)
{
    if (l->used)
        fputc('\n', l->page->out);
}

/* ---- the critical path -------------------------------------------------- */

/* Rows of one operator (or, without one, of one name) and kind. */
struct chain_row {
    const char *kind, *name;
    double us, share;
    uint32_t first; /* of the owners that it is of */
};

static int same_together(const void *a, const void *b)
{
    const struct chain_row *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    order = order ? order : strcmp(x->kind, y->kind);
    return order ? order : MSIM_ORDER(x->first, y->first);
}

static bool is_same(const struct chain_row *x, const struct chain_row *y)
{
    return strcmp(x->name, y->name) == 0 && strcmp(x->kind, y->kind) == 0;
}

/* An operator with as many rows as kernels gets one row. */
static uint32_t merge_owners(const struct msim_prediction *p,
                             struct chain_row *rows)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->n_owners; i++) {
        const struct msim_owner_row *o = &p->owners[i];

        rows[i] = (struct chain_row){o->kind, o->op ? o->op : o->name, o->us,
                                     o->share, i};
    }
    qsort(rows, p->n_owners, sizeof(*rows), same_together);
    for (uint32_t i = 1; i < p->n_owners; i++) {
        if (!is_same(&rows[i], &rows[n])) {
            rows[++n] = rows[i];
            continue;
        }
        rows[n].us += rows[i].us;
        rows[n].share += rows[i].share;
    }
    return n + 1;
}

static int longest_first(const void *a, const void *b)
{
    const struct chain_row *x = a, *y = b;

    if (x->us != y->us)
        return MSIM_ORDER(y->us, x->us);
    return same_together(a, b);
}

static void print_chain_row(const struct msim_page *page, const char *name,
                            const struct chain_row *row,
                            const struct msim_unit *unit)
{
    char time[MSIM_CELL], share[MSIM_CELL];

    msim_format_in(time, unit, row->us);
    msim_format_share(share, row->share);
    msim_page_name(page, name);
    msim_print(page->out, "  %-14s%9s%9s\n", row->kind, time, share);
}

static void print_chain(const struct msim_page *page,
                        const struct chain_row *rows, uint32_t n)
{
    const struct msim_unit *unit = msim_unit_for(rows[0].us);
    struct chain_row rest = {.kind = ""}, all = {.kind = ""};
    char label[64];

    snprintf(label, sizeof(label), "time/%s", unit->name);
    msim_print(page->out, "\n%-*s  %-14s%9s%9s\n", (int)page->name_columns + 2,
               "critical path, by owner", "", label, "share");
    for (uint32_t i = 0; i < n; i++) {
        all.us += rows[i].us;
        all.share += rows[i].share;
        if (i < TOP_OWNERS) {
            print_chain_row(page, rows[i].name, &rows[i], unit);
            continue;
        }
        rest.us += rows[i].us;
        rest.share += rows[i].share;
    }
    snprintf(label, sizeof(label), "%u more (--json lists all)",
             n - TOP_OWNERS);
    if (n > TOP_OWNERS)
        print_chain_row(page, label, &rest, unit);
    print_chain_row(page, "in all", &all, unit);
}

/* The path by classes, in the words of the breakdown. */
static void print_classes(const struct msim_page *page)
{
    static const char *const CLASSES[][2] = {
        {"host", "host"},
        {"gap", "host"},
        {"call", "host"},
        {"kernel", "compute"},
        {"communication", "communication"},
        {"copy", "memory copy"},
        {"latency", "latency"},
        {"held", "held from outside"},
    };
    const size_t n = sizeof(CLASSES) / sizeof(CLASSES[0]);
    struct list list = {page, "by class", 0};

    for (size_t c = 0; c < n; c++) {
        double sum = 0;
        char share[MSIM_CELL];

        if (c && strcmp(CLASSES[c][1], CLASSES[c - 1][1]) == 0)
            continue;
        for (size_t k = c; k < n; k++)
            for (uint32_t i = 0; i < page->p->n_owners; i++)
                if (strcmp(CLASSES[k][1], CLASSES[c][1]) == 0 &&
                    strcmp(page->p->owners[i].kind, CLASSES[k][0]) == 0)
                    sum += page->p->owners[i].share;
        msim_format_share(share, sum);
        if (sum >= 5e-4)
            list_item(&list, "%s %s", CLASSES[c][1], share);
    }
    list_end(&list);
}

void msim_page_add_owners(const struct msim_page *page)
{
    for (uint32_t i = 0; i < page->p->n_owners && i < MOST_OWNERS; i++) {
        const struct msim_owner_row *o = &page->p->owners[i];

        msim_short_names_add(page->names, o->op ? o->op : o->name);
    }
}

void msim_page_path(const struct msim_page *page)
{
    struct chain_row *rows;
    uint32_t n;

    if (!page->p->n_owners)
        return;
    rows = calloc(page->p->n_owners, sizeof(*rows));
    if (!rows) /* the report goes on without a table */
        return;
    n = merge_owners(page->p, rows);
    qsort(rows, n, sizeof(*rows), longest_first);
    print_chain(page, rows, n);
    print_classes(page);
    free(rows);
}

/* ---- waiting ------------------------------------------------------------ */

static void print_waits(const struct msim_page *page, const char *label,
                        const struct msim_wait_list *waits)
{
    struct list list = {page, label, 0};
    char time[MSIM_CELL];

    for (uint32_t i = 0; i < waits->n; i++) {
        msim_format_time(time, waits->rows[i].us);
        list_item(&list, "%s %s", waits->rows[i].name, time);
    }
    list_end(&list);
}

static void print_stragglers(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;
    struct list list = {page, "last to arrive", 0};

    for (uint32_t i = 0; i < p->n_stragglers && i < TOP_RANKS; i++) {
        const struct msim_straggler_row *s = &p->stragglers[i];
        char time[MSIM_CELL], calls[MSIM_CELL];

        msim_format_time(time, s->wait_caused_us);
        msim_format_calls(calls, s->last_in);
        list_item(&list,
                  "rank %" PRId64 " in %s collectives (the others wait %s)",
                  s->rank, calls, time);
    }
    list_end(&list);
}

static int most_free_first(const void *a, const void *b)
{
    const struct msim_op_row *x = *(const struct msim_op_row *const *)a;
    const struct msim_op_row *y = *(const struct msim_op_row *const *)b;
    double d =
        fmin(y->slack_us, y->us.predicted) - fmin(x->slack_us, x->us.predicted);

    return d != 0 ? (d > 0 ? 1 : -1) : strcmp(x->name, y->name);
}

/* Operators that take much time, and by how much every call of them could take
 * longer. */
static void print_free(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;
    const struct msim_op_row **ops = calloc((size_t)p->n_ops + 1, sizeof(*ops));
    struct list list = {page, "time to spare", 0};
    char time[MSIM_CELL];
    uint32_t n = 0;
    unsigned used;

    for (uint32_t i = 0; ops && i < p->n_ops; i++)
        if (p->ops[i].slack_us > 0 &&
            p->ops[i].us.predicted >= 1e-3 * p->iteration_us.predicted)
            ops[n++] = &p->ops[i];
    if (n)
        qsort(ops, n, sizeof(*ops), most_free_first);
    for (uint32_t i = 0; i < n && i < TOP_FREE; i++) {
        msim_format_time(time, ops[i]->slack_us);
        list_item(&list, "%s %s a call",
                  msim_short_name(page->names, msim_page_op_name(ops[i]),
                                  page->name_columns, &used),
                  time);
    }
    list_end(&list);
    free(ops);
}

void msim_page_waits(const struct msim_page *page)
{
    const struct msim_wait_rows *w = &page->p->waits;

    if (!w->main_thread.n && !w->gpu_idle.n && !page->p->n_stragglers)
        return;
    msim_print_title(page->out, "waiting, in an iteration%s",
                     page->p->ranks > 1 ? " of the slowest rank" : "");
    print_waits(page, "main thread, for", &w->main_thread);
    print_waits(page, "idle GPU, for", &w->gpu_idle);
    print_stragglers(page);
    print_free(page);
}

/* ---- how it is known ---------------------------------------------------- */

/* Sources in the order in which they first come. */
static bool is_first(const struct msim_prediction *p, uint32_t row)
{
    for (uint32_t i = 0; i < row; i++)
        if (strcmp(p->edges[i].source, p->edges[row].source) == 0)
            return false;
    return true;
}

static void print_source(const struct msim_page *page, const char *source)
{
    const struct msim_prediction *p = page->p;
    struct list list = {page, source, 0};

    for (uint32_t i = 0; i < p->n_edges; i++)
        if (strcmp(p->edges[i].source, source) == 0)
            list_item(&list, "%s %u of %u", p->edges[i].kind,
                      p->edges[i].binding, p->edges[i].count);
    list_end(&list);
}

static void print_copied(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;
    struct list list = {page, "copied times", 0};
    char time[MSIM_CELL];

    for (uint32_t i = 0; i < p->n_copied; i++) {
        msim_format_time(time, p->copied[i].us);
        list_item(&list, "%s %s", p->copied[i].name, time);
    }
    list_end(&list);
}

void msim_page_known(const struct msim_page *page)
{
    const struct msim_prediction *p = page->p;

    if (!p->n_edges)
        return;
    msim_print_title(page->out,
                     "how dependencies are known: how many decide when "
                     "something starts, of all");
    for (uint32_t i = 0; i < p->n_edges; i++)
        if (is_first(p, i))
            print_source(page, p->edges[i].source);
    print_copied(page);
}
