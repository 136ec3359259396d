/*
 * core/report/write/report_chart.c - a prediction as one picture: where an
 * iteration goes, rank by rank, and which operators take the device's time,
 * with intervals and, where they are known, measured times; and how memory goes
 * up and down.
 */
#include "core/base/containers.h"
#include "core/report/write/chart.h"
#include "core/report/write/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPS       15
#define MAX_RANKS     16
#define MOST_COLUMNS  10 /* of a block of data */
#define COLOR_COMPUTE "#4477aa"
#define COLOR_COMM    "#228833"
#define COLOR_COPY    "#ccbb44"
#define COLOR_HOST    "#aa3377"
#define COLOR_IDLE    "#d0d0d0"
#define COLOR_BOUND   "#ee8866"

/* What is drawn of a prediction. */
struct picture {
    struct msim_chart chart;
    const struct msim_prediction *p;
    const struct msim_rank_row *ranks[MAX_RANKS];
    uint32_t alike[MAX_RANKS];  /* ranks of the job that a row shows */
    struct msim_rank_row whole; /* drawn where no rank is detailed */
    uint32_t n_ranks, n_ops;
};

/* How far the rows of a panel reach, and which marks they have. */
struct extent {
    double longest;
    struct msim_figure known;
};

static const struct extent NOTHING = {0, {NAN, NAN, NAN, NAN}};

static void extend(struct extent *e, const struct msim_figure *f)
{
    double bar = fmax(f->predicted, isnan(f->measured) ? 0 : f->measured);
    /* A wide interval must not squeeze the bars: it may run out of the plot. */
    double high = isnan(f->high) ? 0 : fmin(f->high, 2 * bar);

    e->longest = fmax(e->longest, 1.04 * fmax(bar, high));
    if (f->low < f->high)
        e->known.high = fmax(e->known.high, f->high);
    e->known.measured = fmax(e->known.measured, f->measured);
}

/* A row of data: `row`, the `n` ends of bars, and predicted, low, high and
 * measured. */
static void put_row(const struct picture *pic, uint32_t row, const double *ends,
                    size_t n, const struct msim_figure *f,
                    const struct msim_unit *unit)
{
    bool interval = f->low < f->high;
    double v[MOST_COLUMNS] = {row};

    for (size_t k = 0; k < n; k++)
        v[1 + k] = ends[k] / unit->us;
    v[n + 1] = f->predicted / unit->us;
    v[n + 2] = interval ? f->low / unit->us : (double)NAN;
    v[n + 3] = interval ? f->high / unit->us : (double)NAN;
    v[n + 4] = f->measured / unit->us;
    msim_gnuplot_row(pic->chart.out, 9, v, n + 5);
}

/* An interval that runs out of the plot does not end at its edge. */
static void put_beyond(const struct picture *pic, uint32_t row,
                       const struct msim_figure *f, const struct extent *e)
{
    if (f->low < f->high && f->high > e->longest)
        msim_chart_beyond(&pic->chart, row,
                          e->longest / msim_unit_for(e->longest)->us);
}

/* ---- totals ------------------------------------------------------------- */

static void put_total(const struct picture *pic, int y, const char *label,
                      const struct msim_figure *f)
{
    char text[MSIM_FIGURE], line[MSIM_FIGURE + 32];

    msim_format_figure(text, f, pic->p->elsewhere);
    snprintf(line, sizeof(line), "%s  %s", label, text + strspn(text, " "));
    msim_chart_text(&pic->chart, y, 13, line);
}

static void put_totals(const struct picture *pic)
{
    char title[512];

    msim_format_title(title, sizeof(title), pic->p);
    msim_chart_text(&pic->chart, 24, 16, title);
    put_total(pic, 50, "iteration", &pic->p->iteration_us);
    put_total(pic, 70, "kernels", &pic->p->kernel_us);
}

/* ---- where an iteration goes -------------------------------------------- */

static int slower_first(const void *a, const void *b)
{
    const struct msim_rank_row *x = *(const struct msim_rank_row *const *)a;
    const struct msim_rank_row *y = *(const struct msim_rank_row *const *)b;
    double d = y->iteration_us.predicted - x->iteration_us.predicted;

    if (d != 0)
        return d > 0 ? 1 : -1;
    return MSIM_ORDER(x, y);
}

static int lower_rank_first(const void *a, const void *b)
{
    const struct msim_rank_row *x = *(const struct msim_rank_row *const *)a;
    const struct msim_rank_row *y = *(const struct msim_rank_row *const *)b;

    return MSIM_ORDER(x->rank, y->rank);
}

/* Would two ranks look the same? Within a tenth of a per cent of the time. */
static bool looks_like(const struct msim_rank_row *a,
                       const struct msim_rank_row *b)
{
    const struct msim_breakdown *x = &a->breakdown_us, *y = &b->breakdown_us;
    double near = 1e-3 * a->iteration_us.predicted;

    return fabs(a->iteration_us.predicted - b->iteration_us.predicted) < near &&
           fabs(x->compute - y->compute) < near &&
           fabs(x->communication - y->communication) < near &&
           fabs(x->memory_copy - y->memory_copy) < near &&
           fabs(x->host - y->host) < near;
}

/* Of ranks that look the same the first; sorted by time, those are near. */
static void keep_different(struct picture *pic,
                           const struct msim_rank_row *const *all, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t ranks = all[i]->stands_for ? all[i]->stands_for : 1, k = 0;

        while (k < pic->n_ranks && !looks_like(pic->ranks[k], all[i]))
            k++;
        if (k == MAX_RANKS)
            continue;
        if (k == pic->n_ranks) {
            pic->ranks[pic->n_ranks++] = all[i];
            pic->alike[k] = 0;
        }
        pic->alike[k] += ranks;
    }
}

/* All ranks; of too many ranks the slowest, which the others wait for. */
static enum msim_status choose_ranks(struct picture *pic)
{
    const struct msim_prediction *p = pic->p;
    uint32_t n = p->n_ranks_detail;
    const struct msim_rank_row **all;

    if (n < 2) {
        pic->whole = (struct msim_rank_row){.rank = -1,
                                            .iteration_us = p->iteration_us,
                                            .breakdown_us = p->breakdown_us};
        pic->ranks[0] = &pic->whole;
        pic->alike[0] = 1;
        pic->n_ranks = 1;
        return MSIM_OK;
    }
    all = malloc(n * sizeof(*all));
    if (!all)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        all[i] = &p->ranks_detail[i];
    qsort(all, n, sizeof(*all), slower_first);
    if (n <= MAX_RANKS)
        qsort(all, n, sizeof(*all), lower_rank_first);
    keep_different(pic, all, n);
    free(all);
    return MSIM_OK;
}

/* Columns: row, the five ends of the classes, and the figure. */
static void put_rank_data(const struct picture *pic,
                          const struct msim_unit *unit)
{
    FILE *out = pic->chart.out;

    msim_gnuplot_block(out, "rows");
    for (uint32_t i = 0; i < pic->n_ranks; i++) {
        const struct msim_breakdown *b = &pic->ranks[i]->breakdown_us;
        double ends[] = {b->compute, b->communication, b->memory_copy, b->host,
                         b->idle};
        const size_t n = sizeof(ends) / sizeof(ends[0]);

        for (size_t k = 1; k < n; k++)
            ends[k] += ends[k - 1];
        put_row(pic, i + 1, ends, n, &pic->ranks[i]->iteration_us, unit);
    }
    msim_gnuplot_block_end(out, 0);
}

static void put_rank_rows(const struct picture *pic)
{
    for (uint32_t i = 0; i < pic->n_ranks; i++) {
        const struct msim_rank_row *r = pic->ranks[i];
        char name[64] = "iteration", figure[MSIM_CELL];

        if (r->rank >= 0)
            snprintf(name, sizeof(name), "rank %lld", (long long)r->rank);
        if (pic->alike[i] > 1)
            snprintf(name + strlen(name), sizeof(name) - strlen(name),
                     " and %u like it", pic->alike[i] - 1);
        msim_format_time(figure, r->iteration_us.predicted);
        msim_chart_row(&pic->chart, i + 1, name, figure);
    }
}

/* One plot a class: its boxes run from the class before to its own end. */
static void put_rank_bars(const struct picture *pic, int top,
                          const struct msim_figure *known)
{
    static const char *const CLASSES[][2] = {{"compute", COLOR_COMPUTE},
                                             {"communication", COLOR_COMM},
                                             {"memory copy", COLOR_COPY},
                                             {"host", COLOR_HOST},
                                             {"idle", COLOR_IDLE}};
    const size_t n = sizeof(CLASSES) / sizeof(CLASSES[0]);
    struct msim_chart_key key = msim_chart_key_begin(top);

    for (size_t k = 0; k < n; k++)
        msim_chart_key_color(&pic->chart, &key, CLASSES[k][1], CLASSES[k][0]);
    msim_chart_key_marks(&pic->chart, &key, known);
    fputs("plot ", pic->chart.out);
    for (size_t k = 0; k < n; k++)
        msim_gnuplot_print(
            pic->chart.out,
            "$rows using (%d*$%zu):1:(%d*$%zu):%zu:($1-0.36):($1+0.36) "
            "with boxxyerror fill solid 1 noborder lc rgb %s, ",
            k > 0, k + 1, k > 0, k + 1, k + 2, CLASSES[k][1]);
    msim_chart_marks(&pic->chart, 7);
}

static void put_breakdown(const struct picture *pic, int top)
{
    struct extent e = NOTHING;
    char heading[160] = "Where an iteration goes";

    for (uint32_t i = 0; i < pic->n_ranks; i++)
        extend(&e, &pic->ranks[i]->iteration_us);
    if (pic->n_ranks > 1 && pic->n_ranks < pic->p->n_ranks_detail)
        snprintf(heading, sizeof(heading),
                 "Where an iteration goes: %u of %u traced ranks, the others "
                 "look like them or are faster",
                 pic->n_ranks, pic->p->n_ranks_detail);
    put_rank_data(pic, msim_unit_for(e.longest));
    msim_chart_panel(&pic->chart, top, pic->n_ranks, heading, e.longest);
    put_rank_rows(pic);
    for (uint32_t i = 0; i < pic->n_ranks; i++)
        put_beyond(pic, i + 1, &pic->ranks[i]->iteration_us, &e);
    put_rank_bars(pic, top, &e.known);
}

/* ---- operators ---------------------------------------------------------- */

enum bar_kind { BAR_COMPUTE, BAR_COMM, BAR_OPEN, BAR_KINDS };

static enum bar_kind kind_of(const struct msim_op_row *op)
{
    if (op->open)
        return BAR_OPEN;
    return op->communication ? BAR_COMM : BAR_COMPUTE;
}

/* Columns: row, one column a kind of bar, and the figure. */
static void put_op_data(const struct picture *pic, const struct msim_unit *unit)
{
    FILE *out = pic->chart.out;

    msim_gnuplot_block(out, "rows");
    for (uint32_t i = 0; i < pic->n_ops; i++) {
        const struct msim_op_row *op = &pic->p->ops[i];
        double ends[BAR_KINDS] = {NAN, NAN, NAN};

        ends[kind_of(op)] = op->us.predicted;
        put_row(pic, i + 1, ends, BAR_KINDS, &op->us, unit);
    }
    msim_gnuplot_block_end(out, 0);
}

static void put_op_rows(const struct picture *pic)
{
    double total = 0;

    for (uint32_t i = 0; i < pic->p->n_ops; i++)
        total += pic->p->ops[i].us.predicted;
    for (uint32_t i = 0; i < pic->n_ops; i++) {
        const struct msim_op_row *op = &pic->p->ops[i];
        char time[MSIM_CELL], share[MSIM_CELL], figure[2 * MSIM_CELL + 4];

        msim_format_time(time, op->us.predicted);
        msim_format_share(share, total > 0 ? op->us.predicted / total : 0);
        snprintf(figure, sizeof(figure), "%s, %s", time, share);
        msim_chart_row(&pic->chart, i + 1, op->label ? op->label : op->name,
                       figure);
    }
}

static void put_op_bars(const struct picture *pic, int top,
                        const struct msim_figure *known)
{
    static const char *const KINDS[][2] = {{"compute", COLOR_COMPUTE},
                                           {"communication", COLOR_COMM},
                                           {"no law of its own", COLOR_BOUND}};
    struct msim_chart_key key = msim_chart_key_begin(top);
    bool used[BAR_KINDS] = {false};

    for (uint32_t i = 0; i < pic->n_ops; i++)
        used[kind_of(&pic->p->ops[i])] = true;
    for (int k = 0; k < BAR_KINDS; k++)
        if (used[k])
            msim_chart_key_color(&pic->chart, &key, KINDS[k][1], KINDS[k][0]);
    msim_chart_key_marks(&pic->chart, &key, known);
    fputs("plot ", pic->chart.out);
    for (int k = 0; k < BAR_KINDS; k++)
        if (used[k])
            msim_gnuplot_print(
                pic->chart.out,
                "$rows using (0):1:(0):%d:($1-0.36):($1+0.36) with "
                "boxxyerror fill solid 1 noborder lc rgb %s, ",
                k + 2, KINDS[k][1]);
    msim_chart_marks(&pic->chart, 5);
}

static void put_ops(const struct picture *pic, int top)
{
    struct extent e = NOTHING;
    char heading[96] = "Device time by operator";

    for (uint32_t i = 0; i < pic->n_ops; i++)
        extend(&e, &pic->p->ops[i].us);
    if (pic->n_ops < pic->p->n_ops)
        snprintf(heading, sizeof(heading),
                 "Device time by operator: the first %u of %u", pic->n_ops,
                 pic->p->n_ops);
    put_op_data(pic, msim_unit_for(e.longest));
    msim_chart_panel(&pic->chart, top, pic->n_ops, heading, e.longest);
    put_op_rows(pic);
    for (uint32_t i = 0; i < pic->n_ops; i++)
        put_beyond(pic, i + 1, &pic->p->ops[i].us, &e);
    put_op_bars(pic, top, &e.known);
}

/* ---- the whole ---------------------------------------------------------- */

static int panel_height(uint32_t rows)
{
    return MSIM_CHART_TOP + (int)rows * MSIM_CHART_ROW + MSIM_CHART_AXIS;
}

static void put_script(struct picture *pic)
{
    const struct msim_memory_note *memory = &pic->p->memory;
    int second = MSIM_CHART_HEAD + panel_height(pic->n_ranks);
    int third = second + (pic->n_ops ? panel_height(pic->n_ops) : 0);

    int fourth = third + msim_chart_memory_height(memory);

    pic->chart.height = fourth + msim_chart_usage_height(pic->p);
    msim_chart_begin(&pic->chart);
    put_totals(pic);
    put_breakdown(pic, MSIM_CHART_HEAD);
    if (pic->n_ops)
        put_ops(pic, second);
    if (memory->n_points)
        msim_chart_memory(&pic->chart, memory, third);
    if (pic->p->n_usage)
        msim_chart_usage(&pic->chart, pic->p, fourth);
    fputs("unset multiplot\n", pic->chart.out);
}

enum msim_status msim_report_chart(const struct msim_prediction *p,
                                   const char *path, struct msim_error *err)
{
    struct picture pic = {.p = p};

    pic.n_ops = p->n_ops < MAX_OPS ? p->n_ops : MAX_OPS;
    MSIM_TRY(choose_ranks(&pic));
    MSIM_TRY(msim_chart_open(&pic.chart, path, err));
    put_script(&pic);
    return msim_chart_close(&pic.chart, path, err);
}
