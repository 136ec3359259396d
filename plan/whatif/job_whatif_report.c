/*
 * plan/whatif/job_whatif_report.c - scenarios of a described job, side by side.
 */
#include "core/base/csv.h"
#include "core/base/json.h"
#include "core/base/print.h"
#include "core/base/units.h"
#include "core/report/markdown/markdown.h"
#include "core/report/write/report.h"
#include "plan/whatif/job_whatif.h"

#include <math.h>

/* Scenario `index`, or the base. */
static const struct msim_job_scenario *row_of(const struct msim_job_whatif *w,
                                              uint32_t index)
{
    return index == MSIM_GRID_BASE ? &w->base : &w->rows[index];
}

/* As a traced job's: each instant is the first of these. */
static struct msim_breakdown breakdown_of(const struct msim_job_scenario *r)
{
    const struct msim_step_parts *p = &r->step.parts;

    return (struct msim_breakdown){.compute = p->compute + p->optimizer,
                                   .communication =
                                       p->tp + p->cp + p->ep + p->gradients,
                                   .memory_copy = p->copies,
                                   .host = p->host,
                                   .idle = p->bubble};
}

/* ---- text ---------------------------------------------------------------- */

static void text_row(const struct msim_job_scenario *r, int width, FILE *out)
{
    char step[MSIM_CELL], guards[MSIM_GUARD_WORDS], text[256] = "no prediction";
    struct msim_breakdown b = breakdown_of(r);
    double share = 100 / r->step.us;

    msim_format_time(step, r->step.us);
    msim_guard_words(*r->reason ? 0 : r->marks, guards);
    if (!*r->reason)
        snprintf(
            text, sizeof(text),
            "%12s  x %5.3f [%5.3f-%5.3f] %10.0f %5.1f %5.1f %5.1f %5.1f %5.1f "
            "%8.1f  %s",
            step, r->ratio, r->ratio_low, r->ratio_high, r->tokens_per_second,
            b.compute * share, b.communication * share, b.memory_copy * share,
            b.host * share, b.idle * share, r->memory.at.most / MSIM_GIB,
            msim_fits_text(r->memory.fits));
    msim_print(out, "%-*.*s %s%s%s%s\n", width, width, r->name, text,
               *r->reason ? ": "
               : *guards  ? "  "
                          : "",
               r->reason, guards);
}

/* The base as its graph is, by itself; empty: nobody asked. */
static void graph_text(const struct msim_job_whatif *w, char text[512])
{
    char step[MSIM_CELL];

    *text = '\0';
    msim_format_time(step, w->graph.us);
    if (w->simulated && !w->graph.known)
        snprintf(text, 512, "not simulated: %s", w->graph.why);
    else if (w->simulated)
        snprintf(text, 512,
                 "simulated: the graph of the base takes %s and holds %.1f GiB "
                 "by itself, without what measured jobs teach",
                 step, w->graph.peak / MSIM_GIB);
}

#define LEGEND                                                                 \
    "\ncomp: with the optimizer's step; comm, copy: what compute does not "    \
    "hide; host: the host works and the\nGPU waits; idle: pipeline stages "    \
    "wait for one another. fits edge: the GPU's memory lies inside the\n"      \
    "interval of the peak\n"

void msim_job_whatif_text(const struct msim_job_whatif *w, FILE *out)
{
    static const char TITLES[] =
        "                                     step  of the base [90 %]      "
        "tokens/s  comp  comm  copy  host  idle  peak GiB  fits";
    static const char UNITS[] =
        "                                                                   "
        "             %     %     %     %     %";
    const int width = msim_scenario_grid_width(&w->grid);
    const int wider = width - MSIM_SCENARIO_WIDTH;
    char graph[512];

    msim_print(out, "%s on %s%s%s\n\n%*s%s\n%*s%s\n", w->model.name,
               w->platform, *w->assumed ? "; assumed " : "", w->assumed, wider,
               "", TITLES, wider, "", UNITS);
    text_row(&w->base, width, out);
    for (uint32_t i = 0; i < w->n; i++)
        text_row(&w->rows[i], width, out);
    graph_text(w, graph);
    msim_print(out, *graph ? "\n%s\n" LEGEND : "%s" LEGEND, graph);
    msim_guard_text(&w->marked, "predictions", false, out);
}

/* ---- JSON ---------------------------------------------------------------- */

static void json_breakdown(struct msim_json *j,
                           const struct msim_job_scenario *r)
{
    struct msim_breakdown b = breakdown_of(r);
    const struct msim_step_parts *p = &r->step.parts;

    msim_report_json_breakdown(j, &b);
    msim_json_open(j, "parts_us", '{', false);
    msim_json_number(j, "layers", p->compute);
    msim_json_number(j, "host", p->host);
    msim_json_number(j, "tensor_parallel", p->tp);
    msim_json_number(j, "context_parallel", p->cp);
    msim_json_number(j, "expert_parallel", p->ep);
    msim_json_number(j, "copies", p->copies);
    msim_json_number(j, "bubble", p->bubble);
    msim_json_number(j, "gradients", p->gradients);
    msim_json_number(j, "optimizer", p->optimizer);
    msim_json_close(j);
    msim_json_open(j, "exchange_us", '{', false);
    msim_json_number(j, "in_flight", r->step.exchange.in_flight);
    msim_json_number(j, "waits", p->gradients);
    msim_json_number(j, "waits_low", r->step.exchange.waits_low);
    msim_json_number(j, "waits_high", r->step.exchange.waits_high);
    msim_json_close(j);
}

static void json_row(struct msim_json *j, const char *key,
                     const struct msim_job_whatif *w, uint32_t index)
{
    const struct msim_job_scenario *r = row_of(w, index);

    msim_json_open(j, key, '{', true);
    msim_json_text(j, "name", r->name);
    msim_scenario_grid_json(&w->grid, index, j);
    msim_json_text(j, "reason", *r->reason ? r->reason : NULL);
    if (!*r->reason) {
        msim_report_json_range(j, "period_us", r->step.us, r->step.low_us,
                               r->step.high_us);
        msim_report_json_range(j, "ratio", r->ratio, r->ratio_low,
                               r->ratio_high);
        msim_guard_json(j, r->marks);
        json_breakdown(j, r);
        msim_json_number(j, "tokens_per_second", r->tokens_per_second);
        msim_json_open(j, "memory_bytes", '{', false);
        msim_json_number(j, "peak", r->memory.at.most);
        msim_json_number(j, "low", r->memory.low);
        msim_json_number(j, "high", r->memory.high);
        msim_json_number(j, "cuda_context", r->memory.beside.context);
        msim_json_number(j, "nccl_buffers", r->memory.beside.nccl);
        msim_json_number(j, "capacity", r->capacity);
        msim_json_text(j, "fits", msim_fits_text(r->memory.fits));
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void json_graph(struct msim_json *j, const struct msim_job_whatif *w)
{
    if (!w->simulated)
        return;
    msim_json_open(j, "simulated", '{', false);
    msim_json_number(j, "step_us", w->graph.us);
    msim_json_number(j, "peak_bytes", w->graph.peak);
    msim_json_unsigned(j, "graphs", w->graph.graphs);
    msim_json_text(j, "why_not", w->graph.known ? NULL : w->graph.why);
    msim_json_close(j);
}

enum msim_status msim_job_whatif_json(const struct msim_job_whatif *w,
                                      FILE *out)
{
    struct msim_json j;

    msim_json_document(&j, msim_sink_file, out, "mystique-sim/whatif/1");
    msim_json_text(&j, "model", w->model.name);
    msim_json_text(&j, "platform", w->platform);
    msim_json_text(&j, "assumed", w->assumed);
    msim_guard_count_json(&j, &w->marked, "predictions");
    json_row(&j, "base", w, MSIM_GRID_BASE);
    json_graph(&j, w);
    msim_json_open(&j, "scenarios", '[', true);
    for (uint32_t i = 0; i < w->n; i++)
        json_row(&j, NULL, w, i);
    msim_json_close(&j);
    return msim_json_end(&j);
}

/* ---- CSV ----------------------------------------------------------------- */

static void csv_row(const struct msim_job_whatif *w, uint32_t index, FILE *out)
{
    const struct msim_job_scenario *r = row_of(w, index);
    struct msim_breakdown b = breakdown_of(r);
    const double figures[] = {
        r->step.us,    r->step.low_us, r->step.high_us, r->ratio,
        r->ratio_low,  r->ratio_high,  b.compute,       b.communication,
        b.memory_copy, b.host,         b.idle,          r->memory.at.most,
        r->memory.low, r->memory.high, r->capacity,     r->tokens_per_second};

    char guards[MSIM_GUARD_WORDS];

    msim_csv_write(out, r->name);
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        msim_csv_add_number(out, *r->reason ? NAN : figures[i]);
    msim_guard_words(r->marks, guards);
    msim_csv_print(out, ",%s,%s,%s",
                   *r->reason ? "" : msim_fits_text(r->memory.fits), r->reason,
                   guards);
    msim_scenario_grid_csv(&w->grid, index, out);
    putc('\n', out);
}

void msim_job_whatif_csv(const struct msim_job_whatif *w, FILE *out)
{
    fputs("scenario,period_us,period_low_us,period_high_us,ratio,ratio_low,"
          "ratio_high,compute_us,communication_us,memory_copy_us,host_us,"
          "idle_us,peak_bytes,peak_low_bytes,peak_high_bytes,capacity_bytes,"
          "tokens_per_second,fits,reason,guards",
          out);
    msim_scenario_grid_csv_head(&w->grid, out);
    putc('\n', out);
    csv_row(w, MSIM_GRID_BASE, out);
    for (uint32_t i = 0; i < w->n; i++)
        csv_row(w, i, out);
}

/* ---- Markdown ------------------------------------------------------------ */

static struct msim_markdown_scenario markdown_row(const void *of, uint32_t i)
{
    const struct msim_job_whatif *w = of;
    const struct msim_job_scenario *r = i ? &w->rows[i - 1] : &w->base;
    struct msim_markdown_scenario row = {.name = r->name,
                                         .reason = r->reason,
                                         .us = r->step.us,
                                         .ratio = r->ratio,
                                         .low = r->ratio_low,
                                         .high = r->ratio_high,
                                         .marks = r->marks};

    if (*r->reason)
        return row;
    row.fits = msim_fits_text(r->memory.fits);
    snprintf(row.work, sizeof(row.work), "%.0f", r->tokens_per_second);
    snprintf(row.memory, sizeof(row.memory), "%.1f GiB",
             r->memory.at.most / MSIM_GIB);
    return row;
}

void msim_job_whatif_markdown(const struct msim_job_whatif *w, FILE *out)
{
    if (*w->assumed)
        msim_markdown_print(out, "%s on %s; assumed %s\n\n", w->model.name,
                            w->platform, w->assumed);
    else
        msim_markdown_print(out, "%s on %s\n\n", w->model.name, w->platform);
    msim_markdown_scenarios(
        &(struct msim_scenario_table){.of = w,
                                      .n = w->n,
                                      .time = "step",
                                      .work = "tokens a second",
                                      .marked = &w->marked,
                                      .row = markdown_row},
        out);
}
