/*
 * predict/whatif/sweep.c - one job on several GPUs.
 */
#include "predict/whatif/whatif.h"

#include "core/base/containers.h"
#include "core/base/json.h"
#include "core/base/print.h"
#include "core/record/record.h"
#include "core/report/write/report.h"
#include "predict/pipeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ----------------------------------------------------------------
 */

static enum msim_status bad_list(const char *list, const char *what,
                                 struct msim_error *err)
{
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "option '--platform' is '%s', which has %s; want NAME or "
                     "NAME,NAME,...",
                     list, what);
}

/* The settings of one platform. */
static struct msim_predict_settings
settings_of(const struct msim_predict_settings *s, const char *name)
{
    struct msim_predict_settings own = *s;

    own.platform = name;
    return own;
}

static bool is_there(const struct msim_sweep *w, const char *name)
{
    for (uint32_t i = 0; i < w->n; i++)
        if (strcmp(msim_platform_name(w->rows[i].to.platform), name) == 0)
            return true;
    return false;
}

/* Load every platform that is named, before any trace. */
static enum msim_status load_targets(struct msim_sweep *w, const char *list,
                                     const struct msim_predict_settings *s,
                                     struct msim_error *err)
{
    size_t n = 1;

    for (const char *c = list; *c; c++)
        n += *c == ',';
    w->names = strdup(list);
    w->rows = calloc(n, sizeof(*w->rows));
    if (!w->names || !w->rows)
        return MSIM_ENOMEM;
    for (char *name = w->names, *end; name; name = end) {
        struct msim_predict_settings own;

        end = strchr(name, ',');
        if (end)
            *end++ = '\0';
        if (!*name)
            return bad_list(list, "an empty name", err);
        if (is_there(w, name))
            return bad_list(list, "a name twice", err);
        own = settings_of(s, name);
        w->rows[w->n].index = w->n;
        MSIM_TRY(msim_target_load(&w->rows[w->n++].to, &own, err));
    }
    return MSIM_OK;
}

/* ---- predictions ----------------------------------------------------------
 */

/* The graph goes when its prediction is made: it is the larger part. */
static enum msim_status predict(struct msim_sweep *w, struct msim_sweep_row *r,
                                const struct msim_predict_settings *s,
                                struct msim_error *err)
{
    struct msim_prediction_run run;
    enum msim_status status;

    MSIM_TRY(msim_target_settle(&r->to, s, &w->in, err));
    status = msim_whatif_predict(&run, s, &w->in, &r->to, err);
    if (status == MSIM_OK)
        status = msim_ratio_parts_find(
            &r->parts,
            &(struct msim_ratio_side){.outcome = &run.outcome,
                                      .costs = run.costs,
                                      .iteration = run.iteration},
            run.prediction->period.us.predicted, err);
    if (status == MSIM_OK) {
        if (!msim_target_replays(&r->to))
            msim_run_drop_measured(run.prediction,
                                   run.graph->iterations[0] >= 0);
        r->prediction = run.prediction;
        run.prediction = NULL;
    }
    msim_prediction_run_release(&run);
    return status;
}

static double period_of(const struct msim_sweep_row *r)
{
    return r->prediction->period.us.predicted;
}

/* 0: it is expected to fit, or nothing is known; 1: it is not; 2: it does
 * not. */
static int misfit(const struct msim_sweep_row *r)
{
    const struct msim_memory_note *m = &r->prediction->memory;

    return (msim_report_memory_mark(m) == '!') +
           (m->fits && strcmp(m->fits, "no") == 0);
}

/* What does not fit is no choice, however fast it were. */
static int best_first(const void *a, const void *b)
{
    double x = period_of(a), y = period_of(b);

    if (misfit(a) != misfit(b))
        return misfit(a) - misfit(b);
    if (x < y || x > y)
        return MSIM_ORDER(x, y);
    return strcmp(((const struct msim_sweep_row *)a)->prediction->platform,
                  ((const struct msim_sweep_row *)b)->prediction->platform);
}

static void set_ratio(struct msim_sweep_row *r,
                      const struct msim_sweep_row *best)
{
    if (r == best)
        r->ratio = (struct msim_figure){1, 1, 1, (double)NAN};
    else
        r->ratio =
            msim_ratio_of_gpus(&best->parts, &r->parts,
                               msim_target_is_one_host(&r->to, &best->to));
}

enum msim_status msim_sweep_run(struct msim_sweep *w, const char *list,
                                const struct msim_predict_settings *s,
                                struct msim_error *err)
{
    memset(w, 0, sizeof(*w));
    MSIM_TRY(load_targets(w, list, s, err));
    MSIM_TRY(msim_inputs_load(&w->in, s, err));
    for (uint32_t i = 0; i < w->n; i++) {
        struct msim_predict_settings own =
            settings_of(s, msim_platform_name(w->rows[i].to.platform));

        /* which GPU is asked: all stand beside one host, that of the first */
        own.host_gpu = msim_platform_name(w->rows[0].to.platform);
        MSIM_TRY(predict(w, &w->rows[i], &own, err));
    }
    qsort(w->rows, w->n, sizeof(*w->rows), best_first);
    for (uint32_t i = 0; i < w->n; i++)
        set_ratio(&w->rows[i], &w->rows[0]);
    return MSIM_OK;
}

void msim_sweep_release(struct msim_sweep *w)
{
    for (uint32_t i = 0; i < w->n; i++) {
        msim_prediction_free(w->rows[i].prediction);
        msim_target_release(&w->rows[i].to);
    }
    msim_inputs_release(&w->in);
    free(w->rows);
    free(w->names);
    memset(w, 0, sizeof(*w));
}

/* ---- columns --------------------------------------------------------------
 */

/* A line of the table; `share` is `us` in percent. */
struct line {
    const char *platform, *shown, *costs, *fits;
    struct msim_figure period, ratio;
    struct msim_breakdown us, share;
    double per_second, cost_usd, joules, peak, needed, capacity;
    char period_cell[MSIM_CELL], interval[2 * MSIM_CELL + 8];
    char ratios[2 * MSIM_CELL], memory[MSIM_CELL], rate[MSIM_CELL];
};

#define SHARE(member, name, columns)                                           \
    MSIM_COLUMN(struct line, share.member, NULL, .heading = (name), .gap = 1,  \
                .width = (columns), .after = " %")

static const struct msim_column COLUMNS[] = {
    MSIM_COLUMN(struct line, platform, "platform", .type = MSIM_COLUMN_TEXT),
    MSIM_COLUMN(struct line, costs, "costs", .type = MSIM_COLUMN_TEXT),
    MSIM_COLUMN(struct line, period.predicted, "period_us"),
    MSIM_COLUMN(struct line, period.low, "low_us"),
    MSIM_COLUMN(struct line, period.high, "high_us"),
    MSIM_COLUMN(struct line, shown, NULL, .heading = "platform",
                .type = MSIM_COLUMN_TEXT, .gap = 2, .width = -16, .most = 16),
    MSIM_COLUMN(struct line, period_cell, NULL, .heading = "period",
                .type = MSIM_COLUMN_CELL, .gap = 1, .width = 11),
    MSIM_COLUMN(struct line, interval, NULL, .heading = "90 %",
                .type = MSIM_COLUMN_CELL, .gap = 2, .width = -17),
    MSIM_COLUMN(struct line, ratio.predicted, "ratio", .heading = "x best",
                .gap = 1, .width = 7, .decimals = 2),
    MSIM_COLUMN(struct line, ratio.low, "ratio_low"),
    MSIM_COLUMN(struct line, ratio.high, "ratio_high"),
    MSIM_COLUMN(struct line, ratios, NULL, .heading = "90 %",
                .type = MSIM_COLUMN_CELL, .gap = 2, .width = -15),
    MSIM_COLUMN(struct line, memory, NULL, .heading = "peak GiB",
                .type = MSIM_COLUMN_CELL, .gap = 1, .width = 9),
    MSIM_COLUMN(struct line, us.compute, "compute_us"),
    MSIM_COLUMN(struct line, us.communication, "communication_us"),
    MSIM_COLUMN(struct line, us.memory_copy, "memory_copy_us"),
    MSIM_COLUMN(struct line, us.host, "host_us"),
    MSIM_COLUMN(struct line, us.idle, "idle_us"),
    SHARE(compute, "compute", 8),
    SHARE(communication, "comm.", 6),
    SHARE(memory_copy, "copy", 5),
    SHARE(host, "host", 5),
    SHARE(idle, "idle", 5),
    MSIM_COLUMN(struct line, costs, NULL, .heading = "costs",
                .type = MSIM_COLUMN_TEXT, .gap = 2, .width = -8),
    MSIM_COLUMN(struct line, per_second, "per_second"),
    MSIM_COLUMN(struct line, cost_usd, "cost_usd"),
    MSIM_COLUMN(struct line, joules, "energy_joules"),
    MSIM_COLUMN(struct line, peak, "peak_bytes"),
    MSIM_COLUMN(struct line, needed, "needed_bytes"),
    MSIM_COLUMN(struct line, capacity, "capacity_bytes"),
    MSIM_COLUMN(struct line, fits, "fits", .type = MSIM_COLUMN_TEXT)};

/* What the user counts by; those that are asked for, in text. */
static const struct msim_column RATES[] = {
    MSIM_COLUMN(struct line, rate, NULL, .type = MSIM_COLUMN_CELL, .gap = 2,
                .width = 11),
    MSIM_COLUMN(struct line, cost_usd, NULL, .heading = "USD/1000", .gap = 2,
                .width = 10, .style = 'g', .decimals = 4, .unit = 1e3),
    MSIM_COLUMN(struct line, joules, NULL, .heading = "joules", .gap = 2,
                .width = 10, .style = 'g', .decimals = 4)};

#define N_COLUMNS (sizeof(COLUMNS) / sizeof(*COLUMNS))
#define N_RATES   (sizeof(RATES) / sizeof(*RATES))

struct table {
    struct msim_column columns[N_COLUMNS + N_RATES];
    size_t n;
    char unit[32];
};

static void make_table(struct table *t, const struct msim_rates *r)
{
    bool asked[N_RATES] = {r->per_iteration > 0, r->usd_per_hour > 0,
                           r->watts > 0};

    memcpy(t->columns, COLUMNS, sizeof(COLUMNS));
    t->n = N_COLUMNS;
    snprintf(t->unit, sizeof(t->unit), "%.16s/s", r->unit ? r->unit : "");
    for (size_t i = 0; i < N_RATES; i++) {
        if (!asked[i])
            continue;
        t->columns[t->n] = RATES[i];
        if (!RATES[i].heading)
            t->columns[t->n].heading = t->unit;
        t->n++;
    }
}

static double percent(double part, double of)
{
    return of > 0 ? 100 * part / of : 0;
}

static struct msim_breakdown shares_of(const struct msim_breakdown *us)
{
    double sum =
        us->compute + us->communication + us->memory_copy + us->host + us->idle;

    return (struct msim_breakdown){.compute = percent(us->compute, sum),
                                   .communication =
                                       percent(us->communication, sum),
                                   .memory_copy = percent(us->memory_copy, sum),
                                   .host = percent(us->host, sum),
                                   .idle = percent(us->idle, sum)};
}

static struct line line_of(const struct msim_sweep *w, uint32_t i)
{
    const struct msim_sweep_row *r = &w->rows[i];
    const struct msim_prediction *p = r->prediction;
    const struct msim_unit *u = msim_unit_for(p->period.us.predicted);
    struct msim_rated rated = msim_prediction_rated(p);
    struct line l = {.platform = p->platform,
                     .shown = p->platform ? p->platform : "as traced",
                     .costs = p->costs,
                     .fits = p->memory.fits,
                     .period = p->period.us,
                     .ratio = r->ratio,
                     .us = p->breakdown_us,
                     .share = shares_of(&p->breakdown_us),
                     .per_second = rated.per_second.predicted,
                     .cost_usd = rated.cost_usd,
                     .joules = rated.joules,
                     .peak = p->memory.peak,
                     .needed = p->memory.needed,
                     .capacity = p->memory.capacity,
                     .ratios = "-"};
    char low[MSIM_CELL], high[MSIM_CELL];

    msim_format_time(l.period_cell, p->period.us.predicted);
    msim_format_in(low, u, p->period.us.low);
    msim_format_in(high, u, p->period.us.high);
    snprintf(l.interval, sizeof(l.interval), "%s to %s", low, high);
    if (i)
        snprintf(l.ratios, sizeof(l.ratios), "%.2f to %.2f", r->ratio.low,
                 r->ratio.high);
    msim_report_memory_cell(l.memory, &p->memory);
    msim_format_large(l.rate, rated.per_second.predicted);
    return l;
}

/* ---- reports --------------------------------------------------------------
 */

/* What the signs beside peaks mean, where there are any. */
static void put_key(const struct msim_sweep *w, FILE *out)
{
    bool large = false, edge = false;

    for (uint32_t i = 0; i < w->n; i++) {
        const struct msim_memory_note *m = &w->rows[i].prediction->memory;

        large |= msim_report_memory_mark(m) == '!';
        edge |= msim_report_memory_mark(m) == '?';
    }
    msim_report_memory_key(large ? '!' : '\0', out);
    msim_report_memory_key(edge ? '?' : '\0', out);
}

/* The host of all, where it follows from the GPU that was named first. */
static void put_host(const struct msim_sweep *w, FILE *out)
{
    const struct msim_sweep_row *first = w->rows;

    while (first->index)
        first++;
    if (first->prediction->host_speed > 0)
        msim_print(out,
                   "host: one for all, '%s' x %.2f, for hosts as old as %s\n",
                   first->prediction->host, first->prediction->host_speed,
                   first->prediction->platform);
}

enum msim_status msim_sweep_text(const struct msim_sweep *w, FILE *out)
{
    const struct msim_prediction *first = w->rows[0].prediction;
    struct table t;
    char name[256];

    msim_format_name(name, sizeof(name),
                     first->n_inputs ? first->inputs[0] : "", 72);
    msim_print(out, "%s on %u platforms, best first\n\n", name, w->n);
    make_table(&t, &first->rates);
    msim_record_text_head(out, t.columns, t.n);
    for (uint32_t i = 0; i < w->n; i++) {
        struct line l = line_of(w, i);

        msim_record_text(out, t.columns, t.n, &l);
    }
    put_key(w, out);
    put_host(w, out);
    return ferror(out) ? MSIM_EWRITE : MSIM_OK;
}

static enum msim_status write_ratios(const struct msim_sweep *w, FILE *out)
{
    struct msim_json j;

    msim_json_begin(&j, msim_sink_file, out);
    msim_json_open(&j, NULL, '[', false);
    for (uint32_t i = 0; i < w->n; i++) {
        const struct msim_figure *f = &w->rows[i].ratio;

        msim_json_open(&j, NULL, '{', false);
        msim_json_number(&j, "ratio", f->predicted);
        msim_json_number(&j, "low", f->low);
        msim_json_number(&j, "high", f->high);
        msim_json_close(&j);
    }
    return msim_json_end(&j);
}

enum msim_status msim_sweep_json(const struct msim_sweep *w, FILE *out)
{
    fputs("{\"schema\": \"mystique-sim/predictions/1\",\n\"ratios_to_best\": ",
          out);
    MSIM_TRY(write_ratios(w, out));
    fputs(",\"platforms\": [\n", out);
    for (uint32_t i = 0; i < w->n; i++) {
        if (i)
            fputs(",\n", out);
        MSIM_TRY(msim_report_json(w->rows[i].prediction, out));
    }
    fputs("]}\n", out);
    return ferror(out) ? MSIM_EWRITE : MSIM_OK;
}

enum msim_status msim_sweep_csv(const struct msim_sweep *w, FILE *out)
{
    msim_record_csv_head(out, MSIM_COLUMNS(COLUMNS));
    for (uint32_t i = 0; i < w->n; i++) {
        struct line l = line_of(w, i);

        putc('\n', out);
        msim_record_csv(out, MSIM_COLUMNS(COLUMNS), &l);
    }
    putc('\n', out);
    return ferror(out) ? MSIM_EWRITE : MSIM_OK;
}
