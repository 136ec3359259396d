/*
 * predict/whatif/sweep.c - one job on several GPUs.
 */
#include "predict/whatif/whatif.h"

#include "core/base/containers.h"
#include "core/base/csv.h"
#include "core/base/json.h"
#include "core/base/print.h"
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

/* ---- reports --------------------------------------------------------------
 */

static double share(double part, double of)
{
    return of > 0 ? 100 * part / of : 0;
}

/* What the user counts by: columns of those that are asked for. */
static void put_rates_head(const struct msim_rates *r, FILE *out)
{
    if (r->per_iteration > 0)
        msim_print(out, "  %9.16s/s", r->unit ? r->unit : "");
    if (r->usd_per_hour > 0)
        msim_print(out, "  %10s", "USD/1000");
    if (r->watts > 0)
        msim_print(out, "  %10s", "joules");
    fputc('\n', out);
}

static void put_rates(const struct msim_prediction *p, FILE *out)
{
    struct msim_rated r = msim_prediction_rated(p);
    char cell[MSIM_CELL];

    msim_format_large(cell, r.per_second.predicted);
    if (p->rates.per_iteration > 0)
        msim_print(out, "  %11s", cell);
    if (p->rates.usd_per_hour > 0)
        msim_print(out, "  %10.4g", 1e3 * r.cost_usd);
    if (p->rates.watts > 0)
        msim_print(out, "  %10.4g", r.joules);
    fputc('\n', out);
}

/* What the signs beside peaks mean, where there are any. */
static void put_key(const struct msim_sweep *w, FILE *out)
{
    bool large = false, edge = false;

    for (uint32_t i = 0; i < w->n; i++) {
        const struct msim_memory_note *m = &w->rows[i].prediction->memory;

        large |= msim_report_memory_mark(m) == '!';
        edge |= msim_report_memory_mark(m) == '?';
    }
    if (large)
        fputs("!: not expected to fit into the memory of the GPU\n", out);
    if (edge)
        fputs("?: not sure to fit into the memory of the GPU\n", out);
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
    char name[256], period[MSIM_CELL];

    msim_format_name(name, sizeof(name),
                     first->n_inputs ? first->inputs[0] : "", 72);
    msim_print(
        out,
        "%s on %u platforms, best first\n\n  %-16s %11s  %-17s %7s  %-15s "
        "%9s  %s",
        name, w->n, "platform", "period", "90 %", "x best", "90 %", "peak GiB",
        "compute  comm.  copy  host  idle  costs   ");
    put_rates_head(&first->rates, out);
    for (uint32_t i = 0; i < w->n; i++) {
        const struct msim_sweep_row *r = &w->rows[i];
        const struct msim_prediction *p = r->prediction;
        const struct msim_breakdown *b = &p->breakdown_us;
        const struct msim_unit *u = msim_unit_for(p->period.us.predicted);
        double sum =
            b->compute + b->communication + b->memory_copy + b->host + b->idle;
        char low[MSIM_CELL], high[MSIM_CELL], interval[2 * MSIM_CELL + 8];
        char ratios[MSIM_CELL], memory[MSIM_CELL];

        msim_report_memory_cell(memory, &p->memory);
        msim_format_time(period, p->period.us.predicted);
        msim_format_in(low, u, p->period.us.low);
        msim_format_in(high, u, p->period.us.high);
        snprintf(interval, sizeof(interval), "%s to %s", low, high);
        snprintf(ratios, sizeof(ratios), "%.2f to %.2f", r->ratio.low,
                 r->ratio.high);
        msim_print(out,
                   "  %-16.16s %11s  %-17s %7.2f  %-15s %9s %6.0f %% %4.0f %% "
                   "%3.0f %% "
                   "%3.0f %% %3.0f %%  %-8s",
                   p->platform ? p->platform : "as traced", period, interval,
                   r->ratio.predicted, i ? ratios : "-", memory,
                   share(b->compute, sum), share(b->communication, sum),
                   share(b->memory_copy, sum), share(b->host, sum),
                   share(b->idle, sum), p->costs);
        put_rates(p, out);
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
    fputs("platform,costs,period_us,low_us,high_us,ratio,ratio_low,ratio_high,"
          "compute_us,communication_us,memory_copy_us,host_us,idle_us,"
          "per_second,cost_usd,energy_joules,peak_bytes,needed_bytes,"
          "capacity_bytes,fits\n",
          out);
    for (uint32_t i = 0; i < w->n; i++) {
        const struct msim_sweep_row *r = &w->rows[i];
        const struct msim_prediction *p = r->prediction;
        struct msim_rated rated = msim_prediction_rated(p);
        const double values[] = {p->period.us.predicted,
                                 p->period.us.low,
                                 p->period.us.high,
                                 r->ratio.predicted,
                                 r->ratio.low,
                                 r->ratio.high,
                                 p->breakdown_us.compute,
                                 p->breakdown_us.communication,
                                 p->breakdown_us.memory_copy,
                                 p->breakdown_us.host,
                                 p->breakdown_us.idle,
                                 rated.per_second.predicted,
                                 rated.cost_usd,
                                 rated.joules,
                                 p->memory.peak,
                                 p->memory.needed,
                                 p->memory.capacity};

        msim_csv_write(out, p->platform ? p->platform : "");
        msim_csv_add(out, p->costs);
        for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++)
            msim_csv_add_number(out, values[k]);
        msim_csv_add(out, p->memory.fits ? p->memory.fits : "");
        fputc('\n', out);
    }
    return ferror(out) ? MSIM_EWRITE : MSIM_OK;
}
