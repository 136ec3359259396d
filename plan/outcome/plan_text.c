/*
 * plan/outcome/plan_text.c - a plan for the terminal.
 */
#include "core/base/print.h"
#include "core/base/units.h"
#include "plan/outcome/plan_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- text ---------------------------------------------------------------- */

static void write_line(const struct msim_plan_point *p,
                       const struct msim_spec *spec, FILE *out)
{
    char strategy[MSIM_PLAN_STRATEGY_TEXT], cost[24], days[24];
    char step[32], mfu[24] = "-", peak[24] = "-";

    msim_plan_strategy_text(spec, p, strategy, sizeof(strategy));
    msim_plan_amount_text(p->cost, cost, sizeof(cost));
    msim_plan_days_text(p->days, days, sizeof(days));
    msim_plan_time_text(p->us, step, sizeof(step));
    if (!isnan(p->mfu))
        snprintf(mfu, sizeof(mfu), "%.1f", 100 * p->mfu);
    if (!isnan(p->peak_gib))
        snprintf(peak, sizeof(peak), p->peak_gib < 1 ? "%.2f" : "%.1f",
                 p->peak_gib);
    msim_print(
        out, "%8s %9s %6" PRId64 " %-14s %9s %5s %6s%s  %s\n", days, cost,
        p->strategy.gpus, spec->platforms[p->platform].name, step, mfu, peak,
        p->fits == MSIM_FITS_EDGE && !isnan(p->peak_gib) ? "?" : " ", strategy);
}

static void write_step(const struct msim_plan_point *p,
                       const struct msim_spec *spec, FILE *out)
{
    char middle[32], low[32], high[32];

    msim_plan_time_text(p->us, middle, sizeof(middle));
    msim_plan_time_text(p->low_us, low, sizeof(low));
    msim_plan_time_text(p->high_us, high, sizeof(high));
    msim_print(out, "  %-11s %s [%s to %s], %.4g %s/s",
               msim_plan_step_word(spec), middle, low, high, p->rate,
               msim_spec_unit_text(spec->unit));
    if (!isnan(p->mfu))
        fprintf(out, ", MFU %.1f %%", 100 * p->mfu);
    putc('\n', out);
}

static void write_days(const struct msim_plan_point *p,
                       const struct msim_spec *spec, FILE *out)
{
    char middle[24], low[24], high[24];

    msim_plan_days_text(p->days, middle, sizeof(middle));
    msim_plan_days_text(p->days * p->low_us / p->us, low, sizeof(low));
    msim_plan_days_text(p->days * p->high_us / p->us, high, sizeof(high));
    msim_print(out, "  %-11s %s days [%s-%s]\n",
               spec->unit == MSIM_SPEC_UNIT_REQUESTS ? "all" : "training",
               middle, low, high);
}

static void write_memory(const struct msim_plan_point *p, FILE *out)
{
    char peak[32], low[32], high[32];

    if (isnan(p->peak_gib))
        fputs("  memory      no more than when it was recorded; it takes an "
              "execution trace to know\n",
              out);
    else {
        msim_plan_memory_text(p->peak_gib, peak, sizeof(peak));
        msim_plan_memory_text(p->low_gib, low, sizeof(low));
        msim_plan_memory_text(p->high_gib, high, sizeof(high));
        msim_print(
            out,
            "  memory      %s a GPU [%s to %s] of the %.1f GiB that CUDA's "
            "context (%.1f GiB) and NCCL's buffers (%.1f GiB) leave%s\n",
            peak, low, high, p->room_gib, p->beside.context / MSIM_GIB,
            p->beside.nccl / MSIM_GIB,
            p->fits == MSIM_FITS_EDGE ? ": not sure to fit" : "");
    }
}

static void write_parts(const struct msim_plan *plan,
                        const struct msim_spec *spec,
                        const struct msim_plan_point *p, FILE *out)
{
    char exchange[MSIM_PLAN_EXCHANGE_TEXT];

    fputs("  a step is  ", out);
    for (uint32_t i = 0; plan->step_parts[i]; i++)
        msim_print(out, "%s %s %.0f%s", i ? "," : "", plan->step_parts[i],
                   100 * p->part_us[i] / p->us, i ? "" : " %");
    putc('\n', out);
    msim_plan_exchange_text(spec, p, exchange, sizeof(exchange));
    if (*exchange)
        msim_print(out, "  exchange    %s\n", exchange);
}

static void write_best(const struct msim_plan *plan,
                       const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *p = &plan->points[plan->best];
    char strategy[MSIM_PLAN_STRATEGY_TEXT], cost[24], low[24], high[24];
    char energy[24];

    msim_plan_strategy_text(spec, p, strategy, sizeof(strategy));
    msim_print(out, "\nrecommended   %" PRId64 " x %s: %s\n", p->strategy.gpus,
               spec->platforms[p->platform].name, strategy);
    write_step(p, spec, out);
    if (!isnan(p->days))
        write_days(p, spec, out);
    if (!isnan(p->cost)) {
        msim_plan_amount_text(p->cost, cost, sizeof(cost));
        msim_plan_amount_text(p->cost * p->low_us / p->us, low, sizeof(low));
        msim_plan_amount_text(p->cost * p->high_us / p->us, high, sizeof(high));
        msim_print(out, "  cost        %s", cost);
        if (!msim_spec_is_hourly(spec))
            msim_print(out, " [%s to %s]", low, high);
        msim_print(out, "%s%s%s\n", *spec->currency ? " " : "", spec->currency,
                   msim_spec_is_hourly(spec) ? " an hour" : "");
    }
    if (!isnan(p->kwh)) {
        msim_plan_energy_text(p->kwh, energy, sizeof(energy));
        msim_print(out, "  energy      %s%s\n", energy,
                   msim_spec_is_hourly(spec) ? " an hour" : "");
    }
    write_memory(p, out);
    write_parts(plan, spec, p, out);
    msim_print(out,
               "  because     it is expected to cost least%s of all that "
               "%sfit%s\n",
               isnan(p->cost) ? " GPU time" : "",
               msim_plan_is_sure(p) ? "surely " : "",
               msim_spec_is_limited(spec) ? " and keep the limits" : "");
}

/* Why a point is not sure. */
static void write_doubt(const struct msim_plan_point *p, FILE *out)
{
    char chance[24];

    if (p->fits == MSIM_FITS_EDGE)
        msim_print(out, "not sure to fit (%.1f GiB, up to %.1f of %.1f)",
                   p->peak_gib, p->high_gib, p->room_gib);
    if (!(p->chance < MSIM_PLAN_SAFE))
        return;
    msim_plan_chance_text(p->chance, chance, sizeof(chance));
    msim_print(out, "%skeeps the limits with a chance of %s",
               p->fits == MSIM_FITS_EDGE ? ", and " : "", chance);
}

/* How sure it is that limits of time and cost are kept; and what may cost less,
 * but is not. */
static void write_chance(const struct msim_plan *plan,
                         const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *p = &plan->points[plan->best], *cheaper;
    char chance[24], strategy[MSIM_PLAN_STRATEGY_TEXT];

    if (!isnan(p->chance)) {
        msim_plan_chance_text(p->chance, chance, sizeof(chance));
        msim_print(out, "  limits      kept with a chance of %s\n", chance);
    }
    if (!msim_plan_is_sure(p))
        msim_print(out, "              no point is sure to fit%s\n",
                   isnan(p->chance) ? "" : " and to keep them (95 %)");
    if (plan->cheaper == UINT32_MAX)
        return;
    cheaper = &plan->points[plan->cheaper];
    msim_plan_strategy_text(spec, cheaper, strategy, sizeof(strategy));
    msim_print(out,
               "  cheaper?    %" PRId64 " x %s: %s\n"
               "              %s x %.3f of the recommended one; ",
               cheaper->strategy.gpus, spec->platforms[cheaper->platform].name,
               strategy, msim_plan_cost_word(spec, p),
               msim_plan_cost(cheaper) / msim_plan_cost(p));
    write_doubt(cheaper, out);
    putc('\n', out);
}

static void write_runner_up(const struct msim_plan *plan,
                            const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *p;
    char strategy[MSIM_PLAN_STRATEGY_TEXT];

    if (plan->runner_up == UINT32_MAX)
        return;
    p = &plan->points[plan->runner_up];
    msim_plan_strategy_text(spec, p, strategy, sizeof(strategy));
    msim_print(out,
               "  runner-up   %" PRId64 " x %s: %s\n"
               "              the recommended one costs x %.3f of it "
               "[%.3f-%.3f]: %s\n",
               p->strategy.gpus, spec->platforms[p->platform].name, strategy,
               plan->ratio, plan->ratio_low, plan->ratio_high,
               plan->test == UINT32_MAX ? "sure" : "too close to call");
    if (plan->test == UINT32_MAX)
        return;
    p = &plan->points[plan->test];
    msim_print(
        out,
        "              some steps of %s on %" PRId64
        " x %s would decide it within x %.2f either way\n",
        plan->test == plan->best ? "the recommended one" : "the runner-up",
        p->strategy.gpus, spec->platforms[p->platform].name, plan->after_test);
}

void msim_plan_nearest_text(const struct msim_plan *plan,
                            const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *p = &plan->nearest;
    const char *ways = plan->nearest_ways.text;
    char strategy[MSIM_PLAN_STRATEGY_TEXT];

    if (!plan->has_nearest)
        return;
    msim_plan_strategy_text(spec, p, strategy, sizeof(strategy));
    msim_print(out,
               "nearest to it: %" PRId64
               " x %s: %s; it needs %.1f GiB [%.1f-%.1f] of the %.1f GiB "
               "that CUDA and NCCL leave",
               p->strategy.gpus, spec->platforms[p->platform].name, strategy,
               p->peak_gib, p->low_gib, p->high_gib, fmax(p->room_gib, 0));
    if (isfinite(spec->most_memory_gib))
        msim_print(out, " of limits.memory_gib, %.4g", spec->most_memory_gib);
    putc('\n', out);
    msim_print(out, "would fit: %s\n", *ways ? ways : "nothing that was tried");
}

static void write_unpriced(const struct msim_plan *plan,
                           const struct msim_spec *spec, FILE *out)
{
    for (uint32_t i = 0; plan->priced && i < spec->n_platforms; i++)
        if (spec->platforms[i].price <= 0)
            msim_print(
                out,
                "%s has no price_per_gpu_hour, and others have: it is not "
                "compared\n",
                spec->platforms[i].name);
}

static void write_question(const struct msim_plan *plan,
                           const struct msim_spec *spec, FILE *out)
{
    if (!spec->traced)
        msim_print(out,
                   "plan of %s: %" PRId64 " sequences of %" PRId64
                   " tokens a step\n",
                   spec->name, spec->global_batch, spec->sequence);
    else if (spec->global_batch)
        msim_print(out, "plan of the step in %s: %" PRId64 " samples a step\n",
                   spec->name, spec->global_batch);
    else
        msim_print(out, "plan of the %s in %s\n",
                   spec->unit == MSIM_SPEC_UNIT_REQUESTS ? "requests" : "step",
                   spec->name);
    msim_print(out,
               "%" PRIu64 " points: %u feasible, %" PRIu64 " %s, %" PRIu64
               " do not fit into memory, %" PRIu64 " have no model\n",
               plan->looked_at, plan->n, plan->left_out[MSIM_PLAN_SPLIT],
               msim_plan_split_word(spec), plan->left_out[MSIM_PLAN_MEMORY],
               plan->left_out[MSIM_PLAN_NO_MODEL]);
}

/* Why points are not feasible, each reason once. */
static void write_refusals(const struct msim_plan *plan,
                           const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_refusals *r = &plan->refusals;
    char strategy[MSIM_PLAN_STRATEGY_TEXT];

    for (uint32_t i = 0; i < r->n; i++) {
        const struct msim_plan_point *p = &plan->refused[i];

        msim_plan_strategy_text(spec, p, strategy, sizeof(strategy));
        msim_print(out,
                   "%8" PRIu64 " left out: %s\n         the first: %" PRId64
                   " x %s: %s\n",
                   r->of[i].points, r->of[i].text, p->strategy.gpus,
                   spec->platforms[p->platform].name, strategy);
    }
    if (r->others)
        fprintf(out, "%8" PRIu64 " left out for other reasons\n", r->others);
}

static void write_marked(const struct msim_plan *plan, FILE *out)
{
    char text[MSIM_GUARD_SENTENCE];

    msim_guard_sentence(&plan->marked, "points", text);
    if (*text)
        msim_print(out, "%s; none of them is recommended\n", text);
}

void msim_plan_text(const struct msim_plan *plan, const struct msim_spec *spec,
                    FILE *out)
{
    write_question(plan, spec, out);
    if (plan->best == UINT32_MAX) {
        msim_print(out, "\n%s\n", msim_plan_none_text(plan, spec));
        if (plan->n)
            msim_plan_limits_text(plan, spec, out);
        write_refusals(plan, spec, out);
        write_marked(plan, out);
        msim_plan_nearest_text(plan, spec, out);
        return;
    }
    write_refusals(plan, spec, out);
    write_marked(plan, out);
    write_unpriced(plan, spec, out);
    write_best(plan, spec, out);
    write_chance(plan, spec, out);
    write_runner_up(plan, spec, out);
    fputs(
        "\nfrontier: shorter or cheaper than all others (? memory is not sure "
        "to fit)\n    days      cost   GPUs platform            step MFU %    "
        "GiB   strategy\n",
        out);
    for (uint32_t i = 0; i < plan->n_frontier; i++)
        write_line(&plan->points[plan->frontier[i]], spec, out);
    msim_plan_simulated_text(plan, spec, out);
}
