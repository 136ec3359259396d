/*
 * plan/outcome/plan_text.c - a plan for the terminal.
 */
#include "core/base/print.h"
#include "core/base/units.h"
#include "core/record/record.h"
#include "plan/outcome/plan_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- pieces -------------------------------------------------------------- */

/* "  memory      12.3 GiB a GPU"; further lines of it have no label. */
MSIM_PRINTF(3, 4)
static void put_line(FILE *out, const char *label, const char *fmt, ...)
{
    char text[2048];
    va_list args;

    va_start(args, fmt);
    msim_vprint_text(text, sizeof(text), fmt, args);
    va_end(args);
    msim_print(out, "  %-11s %s\n", label, text);
}

struct way {
    char text[MSIM_PLAN_STRATEGY_TEXT + 300];
};

/* "8 x h100: tp 2, zero 1". */
static const char *way_of(struct way *way, const struct msim_spec *spec,
                          const struct msim_plan_point *p)
{
    char strategy[MSIM_PLAN_STRATEGY_TEXT];

    msim_plan_strategy_text(spec, p, strategy, sizeof(strategy));
    snprintf(way->text, sizeof(way->text), "%" PRId64 " x %s: %s",
             p->strategy.gpus, spec->platforms[p->platform].name, strategy);
    return way->text;
}

/* ---- the frontier -------------------------------------------------------- */

struct row {
    char days[24], cost[24], step[32], mfu[24], peak[24];
    char strategy[MSIM_PLAN_STRATEGY_TEXT];
    const char *platform, *edge;
    int64_t gpus;
};

#define COLUMN(member, title, before, columns, kind)                           \
    MSIM_COLUMN(struct row, member, NULL, .heading = (title), .gap = (before), \
                .width = (columns), .type = MSIM_COLUMN_##kind)

static const struct msim_column COLUMNS[] = {
    COLUMN(days, "days", 0, 8, CELL),
    COLUMN(cost, "cost", 1, 9, CELL),
    COLUMN(gpus, "GPUs", 1, 6, COUNT),
    COLUMN(platform, "platform", 1, -14, TEXT),
    COLUMN(step, "step", 1, 9, CELL),
    COLUMN(mfu, "MFU %", 1, 5, CELL),
    COLUMN(peak, "GiB", 1, 6, CELL),
    COLUMN(edge, "", 0, 1, TEXT),
    COLUMN(strategy, "strategy", 2, 0, CELL)};

static void write_row(const struct msim_plan_point *p,
                      const struct msim_spec *spec, FILE *out)
{
    struct row r = {
        .mfu = "-",
        .peak = "-",
        .platform = spec->platforms[p->platform].name,
        .edge = p->fits == MSIM_FITS_EDGE && !isnan(p->peak_gib) ? "?" : " ",
        .gpus = p->strategy.gpus};

    msim_plan_strategy_text(spec, p, r.strategy, sizeof(r.strategy));
    msim_plan_amount_text(p->cost, r.cost, sizeof(r.cost));
    msim_plan_days_text(p->days, r.days, sizeof(r.days));
    msim_plan_time_text(p->us, r.step, sizeof(r.step));
    if (!isnan(p->mfu))
        snprintf(r.mfu, sizeof(r.mfu), "%.1f", 100 * p->mfu);
    if (!isnan(p->peak_gib))
        snprintf(r.peak, sizeof(r.peak), p->peak_gib < 1 ? "%.2f" : "%.1f",
                 p->peak_gib);
    msim_record_text(out, MSIM_COLUMNS(COLUMNS), &r);
}

/* ---- what is recommended ------------------------------------------------- */

static void write_step(const struct msim_plan_point *p,
                       const struct msim_spec *spec, FILE *out)
{
    char middle[32], low[32], high[32], mfu[32] = "";

    msim_plan_time_text(p->us, middle, sizeof(middle));
    msim_plan_time_text(p->low_us, low, sizeof(low));
    msim_plan_time_text(p->high_us, high, sizeof(high));
    if (!isnan(p->mfu))
        snprintf(mfu, sizeof(mfu), ", MFU %.1f %%", 100 * p->mfu);
    put_line(out, msim_plan_step_word(spec), "%s [%s to %s], %.4g %s/s%s",
             middle, low, high, p->rate, msim_spec_unit_text(spec->unit), mfu);
}

static void write_days(const struct msim_plan_point *p,
                       const struct msim_spec *spec, FILE *out)
{
    char middle[24], low[24], high[24];

    msim_plan_days_text(p->days, middle, sizeof(middle));
    msim_plan_days_text(p->days * p->low_us / p->us, low, sizeof(low));
    msim_plan_days_text(p->days * p->high_us / p->us, high, sizeof(high));
    put_line(out, spec->unit == MSIM_SPEC_UNIT_REQUESTS ? "all" : "training",
             "%s days [%s-%s]", middle, low, high);
}

static void write_memory(const struct msim_plan_point *p, FILE *out)
{
    char peak[32], low[32], high[32];

    if (isnan(p->peak_gib)) {
        put_line(out, "memory",
                 "no more than when it was recorded; it takes an execution "
                 "trace to know");
    } else {
        msim_plan_memory_text(p->peak_gib, peak, sizeof(peak));
        msim_plan_memory_text(p->low_gib, low, sizeof(low));
        msim_plan_memory_text(p->high_gib, high, sizeof(high));
        put_line(
            out, "memory",
            "%s a GPU [%s to %s] of the %.1f GiB that CUDA's context (%.1f "
            "GiB) and NCCL's buffers (%.1f GiB) leave%s",
            peak, low, high, p->room_gib, p->beside.context / MSIM_GIB,
            p->beside.nccl / MSIM_GIB,
            p->fits == MSIM_FITS_EDGE ? ": not sure to fit" : "");
    }
}

static void write_parts(const struct msim_plan *plan,
                        const struct msim_spec *spec,
                        const struct msim_plan_point *p, FILE *out)
{
    char exchange[MSIM_PLAN_EXCHANGE_TEXT], parts[512] = "";

    for (uint32_t i = 0; plan->step_parts[i]; i++)
        msim_text_append(parts, sizeof(parts), "%s%s %.0f%s", i ? ", " : "",
                         plan->step_parts[i], 100 * p->part_us[i] / p->us,
                         i ? "" : " %");
    put_line(out, "a step is", "%s", parts);
    msim_plan_exchange_text(spec, p, exchange, sizeof(exchange));
    if (*exchange)
        put_line(out, "exchange", "%s", exchange);
}

static void write_cost(const struct msim_plan_point *p,
                       const struct msim_spec *spec, FILE *out)
{
    const char *hour = msim_spec_is_hourly(spec) ? " an hour" : "";
    char cost[24], low[24], high[24], energy[24], interval[64] = "";

    msim_plan_amount_text(p->cost, cost, sizeof(cost));
    msim_plan_amount_text(p->cost * p->low_us / p->us, low, sizeof(low));
    msim_plan_amount_text(p->cost * p->high_us / p->us, high, sizeof(high));
    if (!*hour)
        snprintf(interval, sizeof(interval), " [%s to %s]", low, high);
    if (!isnan(p->cost))
        put_line(out, "cost", "%s%s%s%s%s", cost, interval,
                 *spec->currency ? " " : "", spec->currency, hour);
    msim_plan_energy_text(p->kwh, energy, sizeof(energy));
    if (!isnan(p->kwh))
        put_line(out, "energy", "%s%s", energy, hour);
}

static void write_best(const struct msim_plan *plan,
                       const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *p = &plan->points[plan->best];
    struct way way;

    msim_print_title(out, "recommended   %s", way_of(&way, spec, p));
    write_step(p, spec, out);
    if (!isnan(p->days))
        write_days(p, spec, out);
    write_cost(p, spec, out);
    write_memory(p, out);
    write_parts(plan, spec, p, out);
    put_line(out, "because",
             "it is expected to cost least%s of all that %sfit%s",
             isnan(p->cost) ? " GPU time" : "",
             msim_plan_is_sure(p) ? "surely " : "",
             msim_spec_is_limited(spec) ? " and keep the limits" : "");
}

/* Why a point is not sure. */
static void doubt_text(const struct msim_plan_point *p, char text[256])
{
    char chance[24];

    *text = '\0';
    if (p->fits == MSIM_FITS_EDGE)
        msim_text_append(text, 256,
                         "not sure to fit (%.1f GiB, up to %.1f of "
                         "%.1f)",
                         p->peak_gib, p->high_gib, p->room_gib);
    if (!(p->chance < MSIM_PLAN_SAFE))
        return;
    msim_plan_chance_text(p->chance, chance, sizeof(chance));
    msim_text_append(text, 256, "%skeeps the limits with a chance of %s",
                     *text ? ", and " : "", chance);
}

/* How sure it is that limits of time and cost are kept; and what may cost less,
 * but is not. */
static void write_chance(const struct msim_plan *plan,
                         const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *p = &plan->points[plan->best], *cheaper;
    char chance[24], doubt[256];
    struct way way;

    if (!isnan(p->chance)) {
        msim_plan_chance_text(p->chance, chance, sizeof(chance));
        put_line(out, "limits", "kept with a chance of %s", chance);
    }
    if (!msim_plan_is_sure(p))
        put_line(out, "", "no point is sure to fit%s",
                 isnan(p->chance) ? "" : " and to keep them (95 %)");
    if (plan->cheaper == UINT32_MAX)
        return;
    cheaper = &plan->points[plan->cheaper];
    doubt_text(cheaper, doubt);
    put_line(out, "cheaper?", "%s", way_of(&way, spec, cheaper));
    put_line(out, "", "%s x %.3f of the recommended one; %s",
             msim_plan_cost_word(spec, p),
             msim_plan_cost(cheaper) / msim_plan_cost(p), doubt);
}

static void write_runner_up(const struct msim_plan *plan,
                            const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *p;
    struct way way;

    if (plan->runner_up == UINT32_MAX)
        return;
    put_line(out, "runner-up", "%s",
             way_of(&way, spec, &plan->points[plan->runner_up]));
    put_line(out, "", "the recommended one costs x %.3f of it [%.3f-%.3f]: %s",
             plan->ratio, plan->ratio_low, plan->ratio_high,
             plan->test == UINT32_MAX ? "sure" : "too close to call");
    if (plan->test == UINT32_MAX)
        return;
    p = &plan->points[plan->test];
    put_line(out, "",
             "some steps of %s on %" PRId64 " x %s would decide it within x "
             "%.2f either way",
             plan->test == plan->best ? "the recommended one" : "the runner-up",
             p->strategy.gpus, spec->platforms[p->platform].name,
             plan->after_test);
}

/* ---- what is not --------------------------------------------------------- */

void msim_plan_nearest_text(const struct msim_plan *plan,
                            const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *p = &plan->nearest;
    const char *ways = plan->nearest_ways.text;
    char limit[64] = "";
    struct way way;

    if (!plan->has_nearest)
        return;
    if (isfinite(spec->most_memory_gib))
        snprintf(limit, sizeof(limit), " of limits.memory_gib, %.4g",
                 spec->most_memory_gib);
    msim_print(out,
               "nearest to it: %s; it needs %.1f GiB [%.1f-%.1f] of the %.1f "
               "GiB that CUDA and NCCL leave%s\nwould fit: %s\n",
               way_of(&way, spec, p), p->peak_gib, p->low_gib, p->high_gib,
               fmax(p->room_gib, 0), limit,
               *ways ? ways : "nothing that was tried");
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
    struct way way;

    for (uint32_t i = 0; i < r->n; i++)
        msim_print(out, "%8" PRIu64 " left out: %s\n         the first: %s\n",
                   r->of[i].points, r->of[i].text,
                   way_of(&way, spec, &plan->refused[i]));
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
        msim_print_title(out, "%s", msim_plan_none_text(plan, spec));
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
    msim_print_title(out, "frontier: shorter or cheaper than all others (? "
                          "memory is not sure to fit)");
    msim_record_text_head(out, MSIM_COLUMNS(COLUMNS));
    for (uint32_t i = 0; i < plan->n_frontier; i++)
        write_row(&plan->points[plan->frontier[i]], spec, out);
    msim_plan_simulated_text(plan, spec, out);
}
