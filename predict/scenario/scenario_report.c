/*
 * predict/scenario/scenario_report.c - scenarios side by side.
 */
#include "core/base/csv.h"
#include "core/base/json.h"
#include "core/base/print.h"
#include "core/base/units.h"
#include "core/report/write/report.h"
#include "predict/scenario/scenario_internal.h"

#include <math.h>
#include <string.h>

/* Scenario `index`, or the base. */
static const struct msim_scenario_row *row_of(const struct msim_scenarios *s,
                                              uint32_t index)
{
    return index == MSIM_GRID_BASE ? &s->base : &s->rows[index];
}

/* Of an iteration in percent; a part of a job may take no time. */
static double share(double us, const struct msim_scenario_row *r)
{
    return r->iteration.predicted > 0 ? 100 * us / r->iteration.predicted : 0;
}

static void text_row(const struct msim_scenario_row *r, int width, FILE *out)
{
    char period[MSIM_CELL], iteration[MSIM_CELL], kernels[MSIM_CELL];
    char memory[MSIM_CELL], guards[MSIM_GUARD_WORDS];

    if (*r->reason) {
        msim_print(out, "%-*.*s no prediction: %s\n", width, width, r->name,
                   r->reason);
        return;
    }
    msim_format_time(period, r->period.predicted);
    msim_format_time(iteration, r->iteration.predicted);
    msim_format_time(kernels, r->kernels.predicted);
    msim_report_memory_cell(memory, &r->memory);
    msim_guard_words(r->marks, guards);
    msim_print(out,
               "%-*.*s %12s  x %5.3f [%5.3f-%5.3f]  %12s %12s %5.1f %5.1f "
               "%5.1f %9s%s%s\n",
               width, width, r->name, period, r->ratio.predicted, r->ratio.low,
               r->ratio.high, iteration, kernels,
               share(r->breakdown.compute, r),
               share(r->breakdown.communication, r),
               share(r->breakdown.host + r->breakdown.idle, r), memory,
               *guards ? "  " : "", guards);
}

/* ---- kernels by name ----------------------------------------------------- */

static const struct msim_kernel_row *
find_kernel(const struct msim_scenario_row *r,
            const struct msim_kernel_row *like)
{
    for (uint32_t i = 0; i < r->n_kernels_by; i++)
        if (!strcmp(r->kernels_by[i].name, like->name) &&
            !strcmp(r->kernels_by[i].kind, like->kind))
            return &r->kernels_by[i];
    return NULL;
}

static void text_kernel(const struct msim_kernel_row *was,
                        const struct msim_kernel_row *is, FILE *out)
{
    char a[MSIM_CELL], b[MSIM_CELL], name[80];

    msim_format_time(a, was ? was->us : 0);
    msim_format_time(b, is ? is->us : 0);
    msim_format_op(name, sizeof(name), was ? was->name : is->name, 66);
    msim_print(out, "  %9.4g %12s  %9.4g %12s  %s\n", was ? was->calls : 0, a,
               is ? is->calls : 0, b, name);
}

/* Operators that were made anew take their time, and have no kernels by name,
 * where the base has. */
static bool lost_names(const struct msim_scenario_row *base,
                       const struct msim_scenario_row *r)
{
    return base->n_kernels_by && !r->n_kernels_by && r->kernels.predicted > 0;
}

/* Kernels whose number or time is not the base's. */
static void text_kernels(const struct msim_scenario_row *base,
                         const struct msim_scenario_row *r, FILE *out)
{
    if (lost_names(base, r)) {
        msim_print(out,
                   "\n%s: its operators are made anew, which does not say "
                   "kernels by name\n",
                   r->name);
        return;
    }
    msim_print(out, "\n%s: kernels an iteration, in the base and changed\n",
               r->name);
    for (uint32_t i = 0; i < r->n_kernels_by; i++) {
        const struct msim_kernel_row *is = &r->kernels_by[i];
        const struct msim_kernel_row *was = find_kernel(base, is);

        if (!was || was->calls != is->calls || was->us != is->us)
            text_kernel(was, is, out);
    }
    for (uint32_t i = 0; i < base->n_kernels_by; i++)
        if (!find_kernel(r, &base->kernels_by[i]))
            text_kernel(&base->kernels_by[i], NULL, out);
}

/* What GPUs do in the base and in each scenario. */
static void text_usage(const struct msim_scenario_row *r, FILE *out)
{
    char usage[MSIM_USAGE_TEXT];

    msim_usage_text(r->usage, usage);
    if (!*r->reason)
        msim_print(out, "%-28.28s %s\n", r->name, *usage ? usage : "not known");
}

static void text_usages(const struct msim_scenarios *s, FILE *out)
{
    if (!s->base.settings.usage)
        return;
    fputs("\nGPU use on average\n", out);
    text_usage(&s->base, out);
    for (uint32_t i = 0; i < s->n; i++)
        text_usage(&s->rows[i], out);
}

static bool same_memory(const struct msim_scenario_row *a,
                        const struct msim_scenario_row *b)
{
    return a->memory.needed == b->memory.needed &&
           a->memory.reserved == b->memory.reserved &&
           a->memory.peak == b->memory.peak &&
           a->memory.capacity == b->memory.capacity;
}

static bool is_marked(const struct msim_scenario_row *r, char mark)
{
    return !*r->reason && msim_report_memory_mark(&r->memory) == mark;
}

static bool any_marked(const struct msim_scenarios *s, char mark)
{
    bool any = is_marked(&s->base, mark);

    for (uint32_t i = 0; i < s->n && !any; i++)
        any = is_marked(&s->rows[i], mark);
    return any;
}

static void explain(const struct msim_scenario_row *r, FILE *out)
{
    if (*r->reason || !(r->memory.needed > r->memory.capacity))
        return;
    msim_print(out, "\n%.60s ", r->name);
    msim_report_memory_text(&r->memory, "  ", out);
}

/* What does not fit, and what would make it fit. */
/* Whether a scenario is on a GPU other than the base's, and names no host. */
static bool any_other_gpu(const struct msim_scenarios *s)
{
    const struct msim_predict_settings *base = &s->base.settings;

    for (uint32_t i = 0; i < s->n; i++) {
        const struct msim_predict_settings *own = &s->rows[i].settings;

        if (base->platform && own->platform && own->host == base->host &&
            strcmp(own->platform, base->platform) != 0)
            return true;
    }
    return false;
}

static void explain_memory(const struct msim_scenarios *s, FILE *out)
{
    msim_report_memory_key(any_marked(s, '?') ? '?' : '\0', out);
    msim_report_memory_key(any_marked(s, '!') ? '!' : '\0', out);
    explain(&s->base, out);
    for (uint32_t i = 0; i < s->n; i++)
        if (!same_memory(&s->base, &s->rows[i]))
            explain(&s->rows[i], out);
}

void msim_scenarios_text(const struct msim_scenarios *s, FILE *out)
{
    static const char TITLES[] =
        "                                   period  of the base [90 %]       "
        "iteration      kernels  comp  comm  host  peak GiB";
    static const char UNITS[] =
        "                                                                    "
        "                          %     %     %";
    const int width = msim_scenario_grid_width(&s->grid);
    const int wider = width - MSIM_SCENARIO_WIDTH;
    char step[MSIM_STEP_TEXT];

    if (s->ranked) {
        msim_ranking_text(s, out);
        text_usages(s, out);
        return;
    }
    msim_print(out, "%*s%s\n%*s%s\n", wider, "", TITLES, wider, "", UNITS);
    text_row(&s->base, width, out);
    for (uint32_t i = 0; i < s->n; i++)
        text_row(&s->rows[i], width, out);
    fputs("\nhost: the host works or nothing does, and the GPU waits\n", out);
    if (any_other_gpu(s))
        fputs("another GPU stands beside the base's host; \"host\" names one\n",
              out);
    msim_report_step_text(&s->base.step, step);
    if (*step)
        msim_print(out, "measured jobs take %s\n", step);
    msim_guard_text(&s->marked, "predictions", false, out);
    text_usages(s, out);
    explain_memory(s, out);
    for (uint32_t i = 0; i < s->n && s->kernels; i++)
        if (!*s->rows[i].reason)
            text_kernels(&s->base, &s->rows[i], out);
}

/* ---- JSON ---------------------------------------------------------------- */

static void json_figure(struct msim_json *j, const char *key,
                        const struct msim_figure *f)
{
    msim_report_json_range(j, key, f->predicted, f->low, f->high);
}

static void json_kernels(struct msim_json *j, const struct msim_scenario_row *r)
{
    msim_json_open(j, "kernels", '[', true);
    for (uint32_t i = 0; i < r->n_kernels_by; i++) {
        const struct msim_kernel_row *k = &r->kernels_by[i];

        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "name", k->name);
        msim_json_text(j, "kind", k->kind);
        msim_json_number(j, "calls", k->calls);
        msim_json_number(j, "predicted_us", k->us);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void json_row(struct msim_json *j, const char *key,
                     const struct msim_scenarios *s, uint32_t index)
{
    const struct msim_scenario_row *r = row_of(s, index);

    msim_json_open(j, key, '{', true);
    msim_json_text(j, "name", r->name);
    msim_scenario_grid_json(&s->grid, index, j);
    msim_json_text(j, "reason", *r->reason ? r->reason : NULL);
    if (r->group)
        msim_ranking_json(j, s, r);
    if (!*r->reason) {
        json_figure(j, "period_us", &r->period);
        json_figure(j, "ratio", &r->ratio);
        json_figure(j, "iteration_us", &r->iteration);
        json_figure(j, "kernel_us", &r->kernels);
        msim_json_open(j, "communication_us", '{', false);
        msim_json_number(j, "transfer", r->transfer_us);
        msim_json_number(j, "wait", r->wait_us);
        msim_json_close(j);
        msim_report_json_breakdown(j, &r->breakdown);
        msim_report_json_step(j, &r->step);
        msim_report_json_memory(j, &r->memory);
        msim_guard_json(j, r->marks);
        if (s->base.settings.usage)
            msim_report_json_usage_means(j, "usage", r->usage);
        if (r->kernels_by)
            json_kernels(j, r);
    }
    msim_json_close(j);
}

enum msim_status msim_scenarios_json(const struct msim_scenarios *s, FILE *out)
{
    struct msim_json j;

    msim_json_document(&j, msim_sink_file, out, "mystique-sim/whatif/1");
    msim_guard_count_json(&j, &s->marked, "predictions");
    json_row(&j, "base", s, MSIM_GRID_BASE);
    msim_json_open(&j, "scenarios", '[', true);
    for (uint32_t i = 0; i < s->n; i++)
        json_row(&j, NULL, s, i);
    msim_json_close(&j);
    msim_report_json_import(&j, "import", s->files, s->n_files, false);
    return msim_json_end(&j);
}

/* ---- CSV ----------------------------------------------------------------- */

/* "batch 16 instead of 64 (7.16 GiB); ..." of changes that are enough. */
static void put_ways(const struct msim_memory_note *m, FILE *out)
{
    char text[2048] = "", needed[MSIM_CELL];
    size_t used = 0;

    for (uint32_t i = 0; i < m->n_ways && used < sizeof(text) / 2; i++) {
        if (!m->ways[i].is_enough)
            continue;
        msim_format_memory(needed, m->ways[i].needed);
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s (%s)",
                                 used ? "; " : "", m->ways[i].change, needed);
    }
    msim_csv_write(out, text);
}

static double recorded(const struct msim_scenario_row *r, bool reserved)
{
    const struct msim_recorded_list *l = &r->memory.recorded;
    struct msim_recorded_memory sum = msim_recorded_memory_sum(l);

    if (!l->n || (reserved && sum.reserved == MSIM_BYTES_UNKNOWN))
        return (double)NAN;
    return (double)(reserved ? sum.reserved : sum.allocated);
}

static void csv_row(const struct msim_scenarios *s, uint32_t index, FILE *out)
{
    const struct msim_scenario_row *r = row_of(s, index);
    const double figures[] = {r->period.predicted,
                              r->period.low,
                              r->period.high,
                              r->ratio.predicted,
                              r->ratio.low,
                              r->ratio.high,
                              r->iteration.predicted,
                              r->kernels.predicted,
                              r->transfer_us,
                              r->wait_us,
                              r->breakdown.compute,
                              r->breakdown.communication,
                              r->breakdown.memory_copy,
                              r->breakdown.host,
                              r->breakdown.idle,
                              r->memory.peak,
                              r->memory.low,
                              r->memory.high,
                              r->memory.reserved,
                              r->memory.needed,
                              r->memory.capacity,
                              recorded(r, false),
                              recorded(r, true)};

    char guards[MSIM_GUARD_WORDS];

    msim_csv_write(out, r->name);
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        msim_csv_add_number(out, *r->reason ? NAN : figures[i]);
    msim_csv_print(out, ",%s,",
                   *r->reason || !r->memory.fits ? "" : r->memory.fits);
    if (!*r->reason)
        put_ways(&r->memory, out);
    msim_csv_add(out, r->reason);
    msim_guard_words(*r->reason ? 0 : r->marks, guards);
    msim_csv_add(out, guards);
    for (int i = 0; i < MSIM_USAGES && s->base.settings.usage; i++)
        msim_csv_add_number(out, *r->reason ? NAN : r->usage[i]);
    if (s->ranked)
        msim_ranking_csv(s, r, out);
    msim_scenario_grid_csv(&s->grid, index, out);
    putc('\n', out);
}

void msim_scenarios_csv(const struct msim_scenarios *s, FILE *out)
{
    fputs("scenario,period_us,period_low_us,period_high_us,ratio,ratio_low,"
          "ratio_high,iteration_us,kernel_us,transfer_us,wait_us,compute_us,"
          "communication_us,memory_copy_us,host_us,idle_us,peak_bytes,"
          "peak_low_bytes,peak_high_bytes,reserved_bytes,needed_bytes,"
          "capacity_bytes,measured_bytes,measured_reserved_bytes,fits,would_"
          "fit,reason,guards",
          out);
    for (int i = 0; i < MSIM_USAGES && s->base.settings.usage; i++)
        msim_csv_print(out, ",%s", msim_usage_key((enum msim_usage)i));
    if (s->ranked)
        msim_ranking_csv_head(out);
    msim_scenario_grid_csv_head(&s->grid, out);
    putc('\n', out);
    csv_row(s, MSIM_GRID_BASE, out);
    for (uint32_t i = 0; i < s->n; i++)
        csv_row(s, i, out);
}
