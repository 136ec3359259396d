/*
 * core/report/compare/compare.c - the rows of two sides, paired.
 *
 * Both tables are sorted by (name, kind) and merged. Rows that share a key with
 * a row of their own side, which only a file can have, are paired in turn.
 */
#include "core/report/compare/compare.h"

#include "core/base/containers.h"
#include "core/base/quantile.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A median tells an odd iteration from three on; its word is worth a warning
 * where it is two points from the mean's. */
#define LEAST_ITERATIONS 3
#define MEANS_APART      0.02

const char *const MSIM_CLASS_NAMES[MSIM_CLASSES] = {
    "compute", "communication", "memory_copy", "host", "idle"};

/* ---- one change --------------------------------------------------------- */

static bool has_interval(const struct msim_figure *f)
{
    return f->low < f->high;
}

static enum msim_beyond beyond(const struct msim_change *c)
{
    const struct msim_figure *a = &c->us[0], *b = &c->us[1];

    if (!has_interval(a) && !has_interval(b))
        return MSIM_BEYOND_UNKNOWN;
    /* Without an interval low and high are the time itself. */
    if (isnan(a->low + a->high + b->low + b->high))
        return MSIM_BEYOND_UNKNOWN;
    return a->high < b->low || b->high < a->low ? MSIM_BEYOND_YES
                                                : MSIM_BEYOND_NO;
}

static void judge(struct msim_change *c)
{
    c->difference = c->us[1].predicted - c->us[0].predicted;
    c->beyond = beyond(c);
}

static struct msim_change change_of(const char *name, struct msim_figure a,
                                    struct msim_figure b)
{
    struct msim_change c = {.name = {name, name},
                            .calls = {(double)NAN, (double)NAN},
                            .us = {a, b}};

    judge(&c);
    return c;
}

/* Of times that have no interval. */
static struct msim_change change_plain(const char *name, double a, double b)
{
    return change_of(name, (struct msim_figure){a, a, a, (double)NAN},
                     (struct msim_figure){b, b, b, (double)NAN});
}

double msim_change_ratio(const struct msim_change *c)
{
    double a = c->us[0].predicted;

    return a > 0 ? c->us[1].predicted / a : (double)NAN;
}

double msim_change_share(const struct msim_changes *t,
                         const struct msim_change *c)
{
    double all = t->total.difference;
    double size = t->total.us[0].predicted + t->total.us[1].predicted;

    /* Differences that cancel out leave no total to have a share of. */
    return fabs(all) > 1e-9 * size ? c->difference / all : (double)NAN;
}

/* ---- tables ------------------------------------------------------------- */

static int order(const struct msim_side_row *a, const struct msim_side_row *b)
{
    int by_name = strcmp(a->name, b->name);

    return by_name ? by_name
                   : strcmp(a->kind ? a->kind : "", b->kind ? b->kind : "");
}

static bool row_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_side_row *rows = ctx;

    return order(&rows[a], &rows[b]) < 0;
}

/* Largest difference first; unknown ones last. */
static bool change_before(const void *ctx, uint32_t i, uint32_t j)
{
    const struct msim_change *rows = ctx;
    double a = fabs(rows[i].difference), b = fabs(rows[j].difference);

    if (isnan(a) || isnan(b))
        return !isnan(a) && isnan(b);
    return a > b;
}

/* The numbers of a side's rows by name; NULL: out of memory. */
static uint32_t *sorted(const struct msim_side_rows *r)
{
    uint32_t *index = malloc(2 * ((size_t)r->n + 1) * sizeof(*index));

    for (uint32_t i = 0; index && i < r->n; i++)
        index[i] = i;
    if (index)
        msim_sort_index(index, index + r->n + 1, r->n, row_before, r->rows);
    return index;
}

static void add_change(struct msim_changes *t, const struct msim_side_row *a,
                       const struct msim_side_row *b)
{
    struct msim_change *c = &t->rows[t->n++];
    const struct msim_side_row *row[2] = {a, b};

    memset(c, 0, sizeof(*c));
    for (int side = 0; side < 2; side++) {
        if (!row[side])
            continue;
        c->name[side] = row[side]->name;
        c->kind = row[side]->kind;
        c->calls[side] = row[side]->calls;
        c->us[side] = row[side]->us;
    }
    judge(c);
}

static void merge(struct msim_changes *t,
                  const struct msim_side_rows *const r[2],
                  uint32_t *const index[2])
{
    uint32_t at[2] = {0, 0};

    while (at[0] < r[0]->n || at[1] < r[1]->n) {
        const struct msim_side_row *a =
            at[0] < r[0]->n ? &r[0]->rows[index[0][at[0]]] : NULL;
        const struct msim_side_row *b =
            at[1] < r[1]->n ? &r[1]->rows[index[1][at[1]]] : NULL;
        int by = !a ? 1 : !b ? -1 : order(a, b);

        add_change(t, by <= 0 ? a : NULL, by >= 0 ? b : NULL);
        at[0] += by <= 0;
        at[1] += by >= 0;
    }
}

/* The sum of the rows; without an interval, as intervals do not add up. */
static void sum(struct msim_changes *t)
{
    double a = 0, b = 0;

    for (uint32_t i = 0; i < t->n; i++) {
        a += t->rows[i].us[0].predicted;
        b += t->rows[i].us[1].predicted;
    }
    t->total = change_plain("total", a, b);
}

static enum msim_status room(struct msim_comparison *c, struct msim_changes *t,
                             size_t n)
{
    if (n >= UINT32_MAX)
        return MSIM_ELIMIT;
    t->rows = msim_arena_alloc(&c->arena, (n + 1) * sizeof(*t->rows));
    return t->rows ? MSIM_OK : MSIM_ENOMEM;
}

static enum msim_status pair(struct msim_comparison *c, struct msim_changes *t,
                             const struct msim_side_rows *a,
                             const struct msim_side_rows *b)
{
    const struct msim_side_rows *const r[2] = {a, b};
    uint32_t *index[2] = {NULL, NULL};
    enum msim_status status;

    t->absent = a->absent ? a->absent : b->absent;
    if (t->absent)
        return MSIM_OK;
    MSIM_TRY(room(c, t, (size_t)a->n + b->n));
    index[0] = sorted(a);
    index[1] = sorted(b);
    status = index[0] && index[1] ? MSIM_OK : MSIM_ENOMEM;
    if (status == MSIM_OK) {
        merge(t, r, index);
        status = msim_sort_rows(t->rows, t->n, sizeof(*t->rows), change_before,
                                t->rows);
        sum(t);
    }
    free(index[0]);
    free(index[1]);
    return status;
}

/* ---- iterations --------------------------------------------------------- */

/* The row of that name; `index` is from sorted(). */
static const struct msim_side_row *find(const struct msim_side_rows *r,
                                        const uint32_t *index, const char *name)
{
    uint32_t low = 0, high = r->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (strcmp(r->rows[index[middle]].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == r->n || strcmp(r->rows[index[low]].name, name) != 0)
        return NULL;
    return &r->rows[index[low]];
}

/*
 * Iterations in the order in which they ran. They pair by number if any number
 * is on both sides; else two runs of as many iterations pair them in turn, and
 * in runs of different length none belong together.
 */
static void merge_iterations(struct msim_changes *t,
                             const struct msim_side_rows *a,
                             const struct msim_side_rows *b,
                             uint32_t *const index[2])
{
    bool named = false;

    for (uint32_t i = 0; i < a->n && !named; i++)
        named = find(b, index[1], a->rows[i].name) != NULL;
    if (!named && a->n != b->n) {
        t->absent = "the sides share no iteration, and have not equally many";
        return;
    }
    for (uint32_t i = 0; i < a->n; i++)
        add_change(t, &a->rows[i],
                   named ? find(b, index[1], a->rows[i].name) : &b->rows[i]);
    for (uint32_t i = 0; named && i < b->n; i++)
        if (!find(a, index[0], b->rows[i].name))
            add_change(t, NULL, &b->rows[i]);
    sum(t);
}

static enum msim_status pair_iterations(struct msim_comparison *c)
{
    const struct msim_side_rows *a = &c->side[0]->iterations;
    const struct msim_side_rows *b = &c->side[1]->iterations;
    uint32_t *index[2] = {NULL, NULL};
    enum msim_status status = room(c, &c->iterations, (size_t)a->n + b->n);

    if (status == MSIM_OK) {
        index[0] = sorted(a);
        index[1] = sorted(b);
        status = index[0] && index[1] ? MSIM_OK : MSIM_ENOMEM;
    }
    if (status == MSIM_OK)
        merge_iterations(&c->iterations, a, b, index);
    free(index[0]);
    free(index[1]);
    return status;
}

/* ---- breakdown and ranks ------------------------------------------------ */

static void pair_classes(struct msim_change *rows,
                         const struct msim_breakdown *a,
                         const struct msim_breakdown *b)
{
    const double of[2][MSIM_CLASSES] = {
        {a->compute, a->communication, a->memory_copy, a->host, a->idle},
        {b->compute, b->communication, b->memory_copy, b->host, b->idle},
    };

    for (int i = 0; i < MSIM_CLASSES; i++)
        rows[i] = change_plain(MSIM_CLASS_NAMES[i], of[0][i], of[1][i]);
}

static enum msim_status pair_breakdown(struct msim_comparison *c)
{
    struct msim_changes *t = &c->breakdown;

    MSIM_TRY(room(c, t, MSIM_CLASSES));
    pair_classes(t->rows, &c->side[0]->breakdown_us, &c->side[1]->breakdown_us);
    t->n = MSIM_CLASSES;
    sum(t);
    return MSIM_OK;
}

static void pair_rank(struct msim_rank_change *r, const struct msim_rank_row *a,
                      const struct msim_rank_row *b)
{
    static const struct msim_rank_row NONE; /* 0, as in any table */

    r->on[0] = a != NULL;
    r->on[1] = b != NULL;
    r->rank = a ? a->rank : b->rank;
    a = a ? a : &NONE;
    b = b ? b : &NONE;
    r->iteration = change_of("iteration", a->iteration_us, b->iteration_us);
    r->kernel = change_of("kernels", a->kernel_us, b->kernel_us);
    r->transfer = change_plain("transfer", a->transfer_us, b->transfer_us);
    r->wait = change_plain("wait", a->wait_us, b->wait_us);
    pair_classes(r->breakdown, &a->breakdown_us, &b->breakdown_us);
}

static bool rank_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_rank_row *rows = ctx;

    return rows[a].rank < rows[b].rank;
}

/* Ranks of a trace come by number; a file may have any order. */
static enum msim_status sort_ranks(struct msim_comparison *c, int side,
                                   struct msim_rank_row **out)
{
    const struct msim_side *s = c->side[side];
    size_t bytes = s->n_ranks_detail * sizeof **out;

    *out = msim_arena_alloc(&c->arena, bytes + 1);
    if (!*out)
        return MSIM_ENOMEM;
    memcpy(*out, s->ranks_detail, bytes);
    return msim_sort_rows(*out, s->n_ranks_detail, sizeof **out, rank_before,
                          *out);
}

static enum msim_status pair_ranks(struct msim_comparison *c)
{
    const uint32_t n[2] = {c->side[0]->n_ranks_detail,
                           c->side[1]->n_ranks_detail};
    struct msim_rank_row *rows[2];
    uint32_t at[2] = {0, 0};

    if (n[0] < 2 && n[1] < 2)
        return MSIM_OK;
    c->ranks =
        msim_arena_alloc(&c->arena, ((size_t)n[0] + n[1]) * sizeof(*c->ranks));
    if (!c->ranks)
        return MSIM_ENOMEM;
    MSIM_TRY(sort_ranks(c, 0, &rows[0]));
    MSIM_TRY(sort_ranks(c, 1, &rows[1]));
    while (at[0] < n[0] || at[1] < n[1]) {
        const struct msim_rank_row *a = at[0] < n[0] ? &rows[0][at[0]] : NULL;
        const struct msim_rank_row *b = at[1] < n[1] ? &rows[1][at[1]] : NULL;

        if (a && b && a->rank != b->rank)
            *(a->rank < b->rank ? &b : &a) = NULL;
        pair_rank(&c->ranks[c->n_ranks++], a, b);
        at[0] += a != NULL;
        at[1] += b != NULL;
    }
    return MSIM_OK;
}

/* ---- warnings ----------------------------------------------------------- */

MSIM_PRINTF(2, 3)
static enum msim_status warn(struct msim_comparison *c, const char *fmt, ...)
{
    char text[2048];
    size_t size;
    char *copy;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    size = strlen(text) + 1;
    copy = msim_arena_alloc(&c->arena, size);
    if (!copy)
        return MSIM_ENOMEM;
    c->warnings[c->n_warnings++] = memcpy(copy, text, size);
    return MSIM_OK;
}

static bool differ(const char *a, const char *b)
{
    return a && b && strcmp(a, b) != 0;
}

static bool both_say(const struct msim_side *a, const struct msim_side *b,
                     uint32_t i)
{
    return i < a->n_warnings && i < b->n_warnings &&
           strcmp(a->warnings[i], b->warnings[i]) == 0;
}

/* The warnings of both sides; once where they are the same. */
static enum msim_status warn_of_sides(struct msim_comparison *c)
{
    const struct msim_side *a = c->side[0], *b = c->side[1];

    for (uint32_t i = 0; i < a->n_warnings; i++)
        MSIM_TRY(warn(c, "%s: %s", both_say(a, b, i) ? "A and B" : "A",
                      a->warnings[i]));
    for (uint32_t i = 0; i < b->n_warnings; i++)
        if (!both_say(a, b, i))
            MSIM_TRY(warn(c, "B: %s", b->warnings[i]));
    return MSIM_OK;
}

/* The iteration furthest from the median of its side, as a ratio of it. */
struct odd_iteration {
    const char *name;
    double median, times;
};

static double away(double times)
{
    return times > 0 ? fabs(log(times)) : 0;
}

/* `odd->median` is NAN where the side has too few to tell. */
static enum msim_status find_odd(struct msim_comparison *c,
                                 const struct msim_side_rows *t,
                                 struct odd_iteration *odd)
{
    double *us = msim_arena_alloc(&c->arena, (t->n + 1) * sizeof(*us));

    if (!us)
        return MSIM_ENOMEM;
    *odd = (struct odd_iteration){NULL, (double)NAN, 1};
    if (t->n < LEAST_ITERATIONS)
        return MSIM_OK;
    for (uint32_t i = 0; i < t->n; i++)
        us[i] = t->rows[i].us.predicted;
    odd->median = msim_median_mean(us, t->n);
    for (uint32_t i = 0; i < t->n; i++) {
        double times = t->rows[i].us.predicted / odd->median;

        if (away(times) > away(odd->times))
            odd->name = t->rows[i].name, odd->times = times;
    }
    return MSIM_OK;
}

/* A mean over few iterations is moved by one: do the medians say the same? */
static enum msim_status warn_of_odd(struct msim_comparison *c)
{
    double mean = msim_change_ratio(&c->iteration), median;
    struct odd_iteration odd[2];
    int side;

    for (int i = 0; i < 2; i++)
        MSIM_TRY(find_odd(c, &c->side[i]->iterations, &odd[i]));
    median = odd[1].median / odd[0].median;
    side = away(odd[1].times) > away(odd[0].times);
    if (!(fabs(median - mean) > MEANS_APART) || !odd[side].name)
        return MSIM_OK;
    MSIM_TRY(warn(c,
                  "the change of an iteration is %+.1f %% by the means, %+.1f "
                  "%% by the medians: %s in %c takes %.2f times the median; "
                  "--iteration takes one",
                  100 * (mean - 1), 100 * (median - 1), odd[side].name,
                  'A' + side, odd[side].times));
    c->odd = c->warnings[c->n_warnings - 1];
    return MSIM_OK;
}

/* And what the differences between the sides make doubtful. */
static enum msim_status warn_all(struct msim_comparison *c)
{
    const struct msim_side *a = c->side[0], *b = c->side[1];
    size_t n = (size_t)a->n_warnings + b->n_warnings + 3;

    c->warnings = msim_arena_alloc(&c->arena, n * sizeof(*c->warnings));
    if (!c->warnings)
        return MSIM_ENOMEM;
    MSIM_TRY(warn_of_sides(c));
    if (differ(a->costs, b->costs))
        MSIM_TRY(warn(c,
                      "A stands on %s times and B on %s times: what the "
                      "models miss shows up as a change",
                      a->costs, b->costs));
    if (a->ranks != b->ranks)
        MSIM_TRY(warn(c, "A has %u ranks and B has %u", a->ranks, b->ranks));
    return warn_of_odd(c);
}

/* ---- all of it ---------------------------------------------------------- */

static struct msim_figure only_measured(const struct msim_side *s)
{
    double us = s->iteration_us.measured;

    return (struct msim_figure){us, us, us, us};
}

static void pair_figures(struct msim_comparison *c)
{
    const struct msim_side *a = c->side[0], *b = c->side[1];

    c->iteration = change_of("iteration", a->iteration_us, b->iteration_us);
    c->period = change_of("period", a->period_us, b->period_us);
    c->measured = change_of("measured", only_measured(a), only_measured(b));
    c->kernel = change_of("kernels", a->kernel_us, b->kernel_us);
    c->transfer = change_plain("transfer", a->transfer_us, b->transfer_us);
    c->wait = change_plain("wait", a->wait_us, b->wait_us);
    c->external =
        change_plain("external wait", a->external_wait_us, b->external_wait_us);
    c->overlapped_communication =
        change_plain("overlapped communication", a->overlapped_communication_us,
                     b->overlapped_communication_us);
    c->overlapped_copy = change_plain(
        "overlapped copies", a->overlapped_copy_us, b->overlapped_copy_us);
}

static void name_tables(struct msim_comparison *c)
{
    c->breakdown.key = "breakdown_us";
    c->breakdown.of = "each instant of the slowest rank's iteration";
    c->iterations.key = "iterations";
    c->iterations.of = "iterations";
    c->main_waits.key = "main_thread_waits";
    c->main_waits.of = "waits of the main thread, by what ended them";
    c->gpu_idle.key = "gpu_idle";
    c->gpu_idle.of = "time in which nothing ran on the GPU, by what ended it";
    c->families.key = "families";
    c->families.of = "kernels and transfers of collectives, by kind of work";
    c->ops.key = "ops";
    c->ops.of = "kernels and transfers of collectives, by topmost operator";
    c->kernels.key = "kernels";
    c->kernels.of = "kernels, transfers of collectives and copies, by name";
    c->host_ops.key = "host_ops";
    c->host_ops.of = "work of the host's threads, by topmost operator, call, "
                     "and between operators";
    c->owners.key = "critical_path";
    c->owners.of = "owners of the critical path";
    c->streams.key = "streams";
    c->streams.of = "kernels, transfers of collectives and copies, by stream";
}

static enum msim_status compare(struct msim_comparison *c)
{
    const struct msim_side *a = c->side[0], *b = c->side[1];

    name_tables(c);
    pair_figures(c);
    MSIM_TRY(pair_breakdown(c));
    MSIM_TRY(pair_iterations(c));
    MSIM_TRY(pair(c, &c->main_waits, &a->main_waits, &b->main_waits));
    MSIM_TRY(pair(c, &c->gpu_idle, &a->gpu_idle, &b->gpu_idle));
    MSIM_TRY(pair(c, &c->families, &a->families, &b->families));
    MSIM_TRY(pair(c, &c->ops, &a->ops, &b->ops));
    MSIM_TRY(pair(c, &c->kernels, &a->kernels, &b->kernels));
    MSIM_TRY(pair(c, &c->streams, &a->streams, &b->streams));
    MSIM_TRY(pair(c, &c->host_ops, &a->host_ops, &b->host_ops));
    MSIM_TRY(pair(c, &c->owners, &a->owners, &b->owners));
    MSIM_TRY(pair_ranks(c));
    return warn_all(c);
}

enum msim_status msim_compare(struct msim_comparison **out,
                              const struct msim_side *a,
                              const struct msim_side *b)
{
    struct msim_comparison *c = calloc(1, sizeof(*c));
    enum msim_status status;

    *out = NULL;
    if (!c)
        return MSIM_ENOMEM;
    msim_arena_init(&c->arena);
    c->side[0] = a;
    c->side[1] = b;
    status = compare(c);
    if (status != MSIM_OK) {
        msim_comparison_free(c);
        return status;
    }
    *out = c;
    return MSIM_OK;
}

void msim_comparison_free(struct msim_comparison *c)
{
    if (!c)
        return;
    msim_arena_release(&c->arena);
    free(c);
}
