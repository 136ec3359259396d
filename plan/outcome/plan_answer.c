/*
 * plan/outcome/plan_answer.c - the first section of the report: question and
 * answer.
 */
#include "plan/outcome/plan_page.h"
#include "plan/outcome/plan_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- the question -------------------------------------------------------- */

static void put_limits(const struct msim_spec *spec, FILE *out)
{
    const char *before = " Limits: ";
    char text[32];

    if (isfinite(spec->most_days)) {
        fprintf(out, "%s%.4g days", before, spec->most_days);
        before = ", ";
    }
    if (isfinite(spec->most_cost)) {
        msim_plan_amount_text(spec->most_cost, text, sizeof(text));
        fprintf(out, "%s%s %s of cost", before, text, spec->currency);
        before = ", ";
    }
    if (isfinite(spec->most_gpus)) {
        fprintf(out, "%s%.0f GPUs", before, spec->most_gpus);
        before = ", ";
    }
    if (spec->least_tokens_per_second > 0) {
        msim_plan_amount_text(spec->least_tokens_per_second, text,
                              sizeof(text));
        fprintf(out, "%sat least %s tokens a second", before, text);
        before = ", ";
    }
    if (isfinite(spec->most_memory_gib)) {
        fprintf(out, "%s%.4g GiB of each GPU", before, spec->most_memory_gib);
        before = ", ";
    }
    fputs(before[0] == ',' ? "." : " No limits are given.", out);
}

static void put_question(const struct msim_plan *plan,
                         const struct msim_spec *spec, FILE *out)
{
    char tokens[32];

    msim_plan_amount_text(spec->tokens, tokens, sizeof(tokens));
    fputs("<p class=question>Train <b>", out);
    msim_html_text(spec->model.name, out);
    fputs("</b>", out);
    if (spec->tokens > 0)
        fprintf(out, " on %s tokens", tokens);
    fprintf(out,
            ", with %" PRId64 " sequences of %" PRId64
            " tokens in each optimizer step.",
            spec->global_batch, spec->sequence);
    put_limits(spec, out);
    fprintf(out,
            " %" PRIu64 " ways were looked at: %u are feasible, %" PRIu64
            " do not fit into memory, %" PRIu64 " cannot be split so, %" PRIu64
            " have no model.</p>\n",
            plan->looked_at, plan->n, plan->left_out[MSIM_PLAN_MEMORY],
            plan->left_out[MSIM_PLAN_SPLIT],
            plan->left_out[MSIM_PLAN_NO_MODEL]);
}

/* ---- the answer ---------------------------------------------------------- */

static void put_gpus(const struct msim_plan_point *p,
                     const struct msim_spec *spec, FILE *out)
{
    fprintf(out, "%" PRId64 " &times; ", p->strategy.gpus);
    msim_html_text(spec->platforms[p->platform].name, out);
}

static void put_strategy(const struct msim_plan_point *p, FILE *out)
{
    char strategy[MSIM_PLAN_STRATEGY_TEXT];

    msim_plan_strategy_text(&p->strategy, strategy, sizeof(strategy));
    msim_html_text(strategy, out);
}

/* A figure in a box: what, how much, its interval. */
static void put_card(const char *what, const char *figure, const char *interval,
                     FILE *out)
{
    fputs("<div class=card><span>", out);
    msim_html_text(what, out);
    fputs("</span><b>", out);
    msim_html_text(figure, out);
    fputs("</b><span>", out);
    msim_html_text(interval, out);
    fputs("</span></div>\n", out);
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
    snprintf(figure, sizeof(figure), "%s %s", middle, unit);
    snprintf(interval, sizeof(interval), "90 %%: %s to %s", low, high);
    put_card(what, figure, interval, out);
}

static void put_cards(const struct msim_plan_point *p,
                      const struct msim_spec *spec, FILE *out)
{
    double rate = p->tokens_per_second;

    fputs("<div class=cards>\n", out);
    put_figure("whole training", 1, "days", msim_plan_figure_of(p, p->days),
               out);
    put_amount("cost", msim_plan_figure_of(p, p->cost), spec->currency, out);
    put_figure("energy", 0, "MWh", msim_plan_figure_of(p, p->kwh / 1e3), out);
    put_figure("a step", 2, "s", msim_plan_figure_of(p, p->us / 1e6), out);
    put_amount("throughput",
               (struct msim_plan_figure){rate, rate * p->us / p->high_us,
                                         rate * p->us / p->low_us},
               "tokens/s", out);
    put_figure("of the GPUs' peak (MFU)", 1, "%",
               (struct msim_plan_figure){100 * p->mfu,
                                         100 * p->mfu * p->us / p->high_us,
                                         100 * p->mfu * p->us / p->low_us},
               out);
    put_figure(p->fits == MSIM_FITS_EDGE ? "memory a GPU: not sure to fit"
                                         : "memory a GPU: it fits",
               1, "GiB",
               (struct msim_plan_figure){p->peak_gib, p->low_gib, p->high_gib},
               out);
    fputs("</div>\n", out);
}

/* ---- how sure ------------------------------------------------------------ */

static void put_chance(const struct msim_plan *plan,
                       const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *p = &plan->points[plan->best], *safe;
    char chance[24];

    if (isnan(p->chance))
        return;
    msim_plan_chance_text(p->chance, chance, sizeof(chance));
    fprintf(out, "<li>It keeps the limits with a chance of <b>%s</b>.", chance);
    if (p->chance < MSIM_PLAN_SAFE && plan->safe == UINT32_MAX)
        fputs(" No point keeps them surely (95 %).", out);
    if (p->chance < MSIM_PLAN_SAFE && plan->safe != UINT32_MAX) {
        safe = &plan->points[plan->safe];
        msim_plan_chance_text(safe->chance, chance, sizeof(chance));
        fputs(" To be sure, take <b>", out);
        put_gpus(safe, spec, out);
        fputs("</b> (", out);
        put_strategy(safe, out);
        fprintf(out, "): the chance is %s, and the %s &times; %.3f.", chance,
                msim_plan_cost_word(p),
                msim_plan_cost(safe) / msim_plan_cost(p));
    }
    fputs("</li>\n", out);
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
    put_strategy(p, out);
    fprintf(out,
            "). The recommended one takes &times; %.3f of its %s (90 %%: %.3f "
            "to %.3f): %s</li>\n",
            plan->ratio, msim_plan_cost_word(p), plan->ratio_low,
            plan->ratio_high,
            plan->ratio_high < 1
                ? "that order is sure."
                : "the two are too close to call. Try both before you buy.");
}

/* The largest share of a step that is not compute. */
static const char *largest_loss(const struct msim_step_parts *parts,
                                double *share, double us)
{
    const struct {
        const char *name;
        double us;
    } losses[] = {
        {"waiting for the host", parts->host},
        {"exchanges of tensor parallel ranks", parts->tp},
        {"exchanges of context and expert parallel ranks",
         parts->cp + parts->ep},
        {"pipeline stages that wait for one another", parts->bubble},
        {"exchange of gradients and weights", parts->gradients},
        {"the optimizer", parts->optimizer},
    };
    uint32_t most = 0;

    for (uint32_t i = 1; i < sizeof(losses) / sizeof(losses[0]); i++)
        if (losses[i].us > losses[most].us)
            most = i;
    *share = losses[most].us / us;
    return losses[most].name;
}

static void put_bound(const struct msim_plan_point *p, FILE *out)
{
    double share;
    const char *name = largest_loss(&p->parts, &share, p->us);

    fprintf(out, "<li>Compute takes %.0f %% of a step.",
            100 * p->parts.compute / p->us);
    if (share >= 0.005)
        fprintf(out, " The largest loss is %s: %.0f %%.", name, 100 * share);
    fputs("</li>\n", out);
}

static void put_reasons(const struct msim_plan *plan,
                        const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *p = &plan->points[plan->best];

    fprintf(out,
            "<ul class=reasons>\n<li>Of all ways that fit%s, it takes the "
            "least %s.</li>\n",
            msim_spec_is_limited(spec) ? " and keep the limits" : "",
            msim_plan_cost_word(p));
    put_chance(plan, spec, out);
    put_runner_up(plan, spec, out);
    put_bound(p, out);
    if (p->fits == MSIM_FITS_EDGE)
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
    FILE *memory = plan->has_nearest ? open_memstream(&text, &size) : NULL;

    if (!memory)
        return;
    msim_plan_nearest_text(plan, spec, memory);
    if (fclose(memory) == 0) {
        fputs("<pre>", out);
        msim_html_text(text, out);
        fputs("</pre>\n", out);
    }
    free(text);
}

static void put_none(const struct msim_plan *plan, FILE *out)
{
    fputs(plan->n ? "<p class=answer>No way keeps the limits. points.csv has "
                    "all that are feasible.</p>\n"
                  : "<p class=answer>No way is feasible: more GPUs, other "
                    "strategies or GPUs with more memory may be.</p>\n",
          out);
}

void msim_plan_page_answer(const struct msim_plan *plan,
                           const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *p;

    put_question(plan, spec, out);
    fputs("<h2>The answer</h2>\n", out);
    if (plan->best == UINT32_MAX) {
        put_none(plan, out);
        put_nearest(plan, spec, out);
        return;
    }
    p = &plan->points[plan->best];
    fputs("<p class=answer>Take <b>", out);
    put_gpus(p, spec, out);
    fputs("</b></p>\n<p>", out);
    put_strategy(p, out);
    fputs("</p>\n", out);
    put_cards(p, spec, out);
    put_reasons(plan, spec, out);
}
