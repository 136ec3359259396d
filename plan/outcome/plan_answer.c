/*
 * plan/outcome/plan_answer.c - the first section of the report: question and
 * answer.
 */
#include "plan/outcome/plan_report_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- the question -------------------------------------------------------- */

static void put_limits(const struct msim_spec *spec, FILE *out)
{
    const char *before = " Limits: ";
    char text[32];

    if (isfinite(spec->most_days)) {
        msim_html_print(out, "%s%.4g days", before, spec->most_days);
        before = ", ";
    }
    if (isfinite(spec->most_cost)) {
        msim_plan_amount_text(spec->most_cost, text, sizeof(text));
        msim_html_print(out, "%s%s %s of cost%s", before, text, spec->currency,
                        msim_spec_is_hourly(spec) ? " an hour" : "");
        before = ", ";
    }
    if (isfinite(spec->most_gpus)) {
        msim_html_print(out, "%s%.0f GPUs", before, spec->most_gpus);
        before = ", ";
    }
    if (spec->least_rate > 0) {
        msim_plan_amount_text(spec->least_rate, text, sizeof(text));
        msim_html_print(out, "%sat least %s %s a second", before, text,
                        msim_spec_unit_text(spec->unit));
        before = ", ";
    }
    if (isfinite(spec->most_latency_us)) {
        msim_plan_time_text(spec->most_latency_us, text, sizeof(text));
        msim_html_print(out, "%s%s from a request to its answer", before, text);
        before = ", ";
    }
    if (isfinite(spec->most_memory_gib)) {
        msim_html_print(out, "%s%.4g GiB of each GPU", before,
                        spec->most_memory_gib);
        before = ", ";
    }
    fputs(before[0] == ',' ? "." : " No limits are given.", out);
}

static void put_work(const struct msim_plan *plan, const struct msim_spec *spec,
                     FILE *out)
{
    bool serves = spec->unit == MSIM_SPEC_UNIT_REQUESTS;
    char total[32];

    msim_plan_amount_text(spec->total, total, sizeof(total));
    msim_html_print(out, "<p class=soft>%s <b>%s</b>%s",
                    !spec->traced ? "Train"
                    : serves      ? "Answer requests as the step recorded in"
                                  : "Train as the step recorded in",
                    spec->name, serves ? " does" : "");
    if (spec->total > 0)
        msim_html_print(out, "%s %s %s", serves ? ":" : " on", total,
                        msim_spec_unit_text(spec->unit));
    if (!spec->traced)
        msim_html_print(out,
                        ", with %" PRId64 " sequences of %" PRId64
                        " tokens in each optimizer step.",
                        spec->global_batch, spec->sequence);
    else if (spec->global_batch)
        msim_html_print(out, ", with %" PRId64 " samples in each step.",
                        spec->global_batch);
    else if (serves && plan->basis.traced.ranks > 1)
        fprintf(out,
                ". Every %" PRId64 " GPUs answer batches of their own "
                "together, as recorded.",
                plan->basis.traced.ranks);
    else if (serves)
        fputs(". Each GPU answers batches of its own.", out);
    else
        fputs(". The samples of an optimizer step differ between ways: GPUs "
              "&times; batch &times; micro batches. Whether the model learns "
              "as well with them is not predicted.",
              out);
}

static void put_question(const struct msim_plan *plan,
                         const struct msim_spec *spec, FILE *out)
{
    put_work(plan, spec, out);
    put_limits(spec, out);
    msim_html_print(out,
                    " %" PRIu64
                    " ways were looked at: %u are feasible, %" PRIu64
                    " do not fit into memory, %" PRIu64 " %s, %" PRIu64
                    " have no model.</p>\n",
                    plan->looked_at, plan->n, plan->left_out[MSIM_PLAN_MEMORY],
                    plan->left_out[MSIM_PLAN_SPLIT], msim_plan_split_word(spec),
                    plan->left_out[MSIM_PLAN_NO_MODEL]);
}

/* ---- the answer ---------------------------------------------------------- */

static void put_gpus(const struct msim_plan_point *p,
                     const struct msim_spec *spec, FILE *out)
{
    msim_html_print(out, "%" PRId64 " &times; %s", p->strategy.gpus,
                    spec->platforms[p->platform].name);
}

static void put_strategy(const struct msim_plan_point *p,
                         const struct msim_spec *spec, FILE *out)
{
    char strategy[MSIM_PLAN_STRATEGY_TEXT];

    msim_plan_strategy_text(spec, p, strategy, sizeof(strategy));
    msim_html_print(out, "%s", strategy);
}

/* A figure in a box: what, how much, its interval. */
static void put_card(const char *what, const char *figure, const char *interval,
                     FILE *out)
{
    msim_html_print(out,
                    "<div class=card><span>%s</span><b>%s</b><span>%s</span>"
                    "</div>\n",
                    what, figure, interval);
}

static void put_figure(const char *what, int places, const char *unit,
                       struct msim_plan_figure f, FILE *out)
{
    char figure[48], interval[96];

    if (isnan(f.middle))
        return;
    snprintf(figure, sizeof(figure), "%.*f %s", places, f.middle, unit);
    snprintf(interval, sizeof(interval), "90 %%: %.*f to %.*f", places, f.low,
             places, f.high);
    put_card(what, figure, interval, out);
}

static void put_amount(const char *what, struct msim_plan_figure f,
                       const char *unit, FILE *out)
{
    char middle[32], low[32], high[32], figure[64], interval[96];

    if (isnan(f.middle))
        return;
    msim_plan_amount_text(f.middle, middle, sizeof(middle));
    msim_plan_amount_text(f.low, low, sizeof(low));
    msim_plan_amount_text(f.high, high, sizeof(high));
    snprintf(figure, sizeof(figure), "%s%s%s", middle, *unit ? " " : "", unit);
    snprintf(interval, sizeof(interval), "90 %%: %s to %s", low, high);
    put_card(what, figure, interval, out);
}

/* A figure whose texts have units of their own. */
static void put_texts(const char *what, struct msim_plan_figure f,
                      void (*text)(double v, char *text, size_t size),
                      FILE *out)
{
    char middle[32], low[32], high[32], interval[96];

    if (isnan(f.middle))
        return;
    text(f.middle, middle, sizeof(middle));
    text(f.low, low, sizeof(low));
    text(f.high, high, sizeof(high));
    snprintf(interval, sizeof(interval), "90 %%: %s to %s", low, high);
    put_card(what, middle, interval, out);
}

/* The time of a step, or of an answer. */
static void put_step(const struct msim_plan_point *p,
                     const struct msim_spec *spec, FILE *out)
{
    put_texts(spec->unit == MSIM_SPEC_UNIT_REQUESTS ? "latency" : "a step",
              msim_plan_figure_of(p, p->us), msim_plan_time_text, out);
}

static void put_memory(const struct msim_plan_point *p, FILE *out)
{
    if (isnan(p->peak_gib)) {
        put_card("memory a GPU", "as recorded, or less",
                 "an execution trace would tell it", out);
        return;
    }
    put_texts(p->fits == MSIM_FITS_EDGE ? "memory a GPU: not sure to fit"
                                        : "memory a GPU: it fits",
              (struct msim_plan_figure){p->peak_gib, p->low_gib, p->high_gib},
              msim_plan_memory_text, out);
}

static void put_energy(const struct msim_plan_point *p, FILE *out)
{
    put_texts("energy", msim_plan_figure_of(p, p->kwh), msim_plan_energy_text,
              out);
}

static void put_cost(const struct msim_plan_point *p,
                     const struct msim_spec *spec, FILE *out)
{
    char cost[32], figure[64];

    if (!msim_spec_is_hourly(spec)) {
        put_amount("cost", msim_plan_figure_of(p, p->cost), spec->currency,
                   out);
        put_energy(p, out);
    } else if (!isnan(p->cost)) {
        msim_plan_amount_text(p->cost, cost, sizeof(cost));
        snprintf(figure, sizeof(figure), "%s %s", cost, spec->currency);
        put_card("cost an hour", figure, "the prices of the spec", out);
    }
}

static void put_cards(const struct msim_plan_point *p,
                      const struct msim_spec *spec, FILE *out)
{
    char unit[32];

    snprintf(unit, sizeof(unit), "%s/s", msim_spec_unit_text(spec->unit));
    fputs("<div class=cards>\n", out);
    put_figure(spec->unit == MSIM_SPEC_UNIT_REQUESTS ? "all requests"
                                                     : "whole training",
               1, "days", msim_plan_figure_of(p, p->days), out);
    put_cost(p, spec, out);
    put_step(p, spec, out);
    put_amount("throughput", msim_plan_inverse_of(p, p->rate), unit, out);
    put_figure("of the GPUs' peak (MFU)", 1, "%",
               msim_plan_inverse_of(p, 100 * p->mfu), out);
    put_memory(p, out);
    fputs("</div>\n", out);
}

/* ---- how sure ------------------------------------------------------------ */

static void put_cheaper(const struct msim_plan *plan,
                        const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *p, *best = &plan->points[plan->best];
    char chance[24];

    if (plan->cheaper == UINT32_MAX)
        return;
    p = &plan->points[plan->cheaper];
    fputs("<li>What may be cheaper, and is not sure: <b>", out);
    put_gpus(p, spec, out);
    fputs("</b> (", out);
    put_strategy(p, spec, out);
    msim_html_print(out, "), the %s &times; %.3f.",
                    msim_plan_cost_word(spec, best),
                    msim_plan_cost(p) / msim_plan_cost(best));
    if (p->fits == MSIM_FITS_EDGE)
        fputs(" It may not fit.", out);
    if (p->chance < MSIM_PLAN_SAFE) {
        msim_plan_chance_text(p->chance, chance, sizeof(chance));
        msim_html_print(out, " It keeps the limits with a chance of %s.",
                        chance);
    }
    fputs("</li>\n", out);
}

static void put_chance(const struct msim_plan *plan,
                       const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *p = &plan->points[plan->best];
    char chance[24];

    if (!isnan(p->chance)) {
        msim_plan_chance_text(p->chance, chance, sizeof(chance));
        msim_html_print(
            out, "<li>It keeps the limits with a chance of <b>%s</b>.</li>\n",
            chance);
    }
    if (!msim_plan_is_sure(p))
        fputs("<li>No point is sure (95 %).</li>\n", out);
    put_cheaper(plan, spec, out);
}

static void put_test(const struct msim_plan *plan, const struct msim_spec *spec,
                     FILE *out)
{
    msim_html_print(out,
                    "the two are too close to call. Some steps of the %s on ",
                    plan->test == plan->best ? "recommended one" : "runner-up");
    put_gpus(&plan->points[plan->test], spec, out);
    msim_html_print(out,
                    " would decide it within &times; %.2f either way.</li>\n",
                    plan->after_test);
}

static void put_runner_up(const struct msim_plan *plan,
                          const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *p;

    if (plan->runner_up == UINT32_MAX)
        return;
    p = &plan->points[plan->runner_up];
    fputs("<li>The runner-up is <b>", out);
    put_gpus(p, spec, out);
    fputs("</b> (", out);
    put_strategy(p, spec, out);
    msim_html_print(
        out,
        "). The recommended one takes &times; %.3f of its %s (90 %%: %.3f "
        "to %.3f): ",
        plan->ratio, msim_plan_cost_word(spec, p), plan->ratio_low,
        plan->ratio_high);
    if (plan->test == UINT32_MAX)
        fputs("that order is sure.</li>\n", out);
    else
        put_test(plan, spec, out);
}

static void put_reasons(const struct msim_plan *plan,
                        const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *p = &plan->points[plan->best];

    msim_html_print(
        out,
        "<ul class=reasons>\n<li>Of all ways that %sfit%s, it is expected to "
        "take the least %s.</li>\n",
        msim_plan_is_sure(p) ? "surely " : "",
        msim_spec_is_limited(spec) ? " and keep the limits" : "",
        msim_plan_cost_word(spec, p));
    put_chance(plan, spec, out);
    put_runner_up(plan, spec, out);
    if (isnan(p->peak_gib))
        fputs("<li>It fits, as it did when it was recorded. How much memory it "
              "takes is not known: that takes an execution trace.</li>\n",
              out);
    else if (p->fits == MSIM_FITS_EDGE)
        fputs("<li>It is not sure to fit: the GPU's memory lies inside the "
              "interval of the peak. The frontier below has others.</li>\n",
              out);
    fputs("</ul>\n", out);
}

/* The text for a terminal, as a block. */
static void put_nearest(const struct msim_plan *plan,
                        const struct msim_spec *spec, FILE *out)
{
    char *text = NULL;
    size_t size;
    FILE *memory =
        plan->has_nearest || plan->n ? open_memstream(&text, &size) : NULL;

    if (!memory)
        return;
    if (plan->n)
        msim_plan_limits_text(plan, spec, memory);
    else
        msim_plan_nearest_text(plan, spec, memory);
    if (fclose(memory) == 0)
        msim_html_print(out, "<pre>%s</pre>\n", text);
    free(text);
}

/* Ways that are none, and why: a planner may have counted on them. */
static void put_refusals(const struct msim_plan *plan,
                         const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_refusals *r = &plan->refusals;

    if (!r->n)
        return;
    fputs("<section><h3>What cannot be</h3>\n<div class=scroll><table><tr>"
          "<th>why<th class=n>ways<th>the first of them</tr>\n",
          out);
    for (uint32_t i = 0; i < r->n; i++) {
        msim_html_print(out, "<tr><td>%s</td><td class=n>%" PRIu64 "</td><td>",
                        r->of[i].text, r->of[i].points);
        put_gpus(&plan->refused[i], spec, out);
        fputs(": ", out);
        put_strategy(&plan->refused[i], spec, out);
        fputs("</td></tr>\n", out);
    }
    if (r->others)
        fprintf(out,
                "<tr><td>other reasons</td><td class=n>%" PRIu64 "</td><td>"
                "</td></tr>\n",
                r->others);
    fputs("</table></div></section>\n", out);
}

/* What is left out of the answer, since it cannot be as it is predicted. */
static void put_marked(const struct msim_plan *plan, FILE *out)
{
    char text[MSIM_GUARD_SENTENCE];

    msim_guard_sentence(&plan->marked, "points", text);
    if (*text)
        msim_html_print(out, "<p class=soft>%s. None is recommended.</p>\n",
                        text);
}

void msim_plan_page_answer(const struct msim_plan *plan,
                           const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *p;

    put_question(plan, spec, out);
    fputs("<h2>The answer</h2>\n", out);
    if (plan->best == UINT32_MAX) {
        msim_html_print(out, "<p class=answer>%s</p>\n",
                        msim_plan_none_text(plan, spec));
        put_marked(plan, out);
        put_nearest(plan, spec, out);
        put_refusals(plan, spec, out);
        return;
    }
    p = &plan->points[plan->best];
    fputs("<p class=answer>Take <b>", out);
    put_gpus(p, spec, out);
    fputs("</b></p>\n<p>", out);
    put_strategy(p, spec, out);
    fputs("</p>\n", out);
    put_cards(p, spec, out);
    put_reasons(plan, spec, out);
    put_marked(plan, out);
    put_refusals(plan, spec, out);
}
