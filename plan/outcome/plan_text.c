/*
 * plan/outcome/plan_text.c - a plan for the terminal, and as tables.
 */
#include "plan/outcome/plan_report.h"

#include "core/base/csv.h"
#include "core/base/decimal.h"
#include "core/base/json_out.h"
#include "plan/outcome/plan_line.h"
#include "plan/outcome/plan_words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define GIB 1073741824.0

/* ---- text ---------------------------------------------------------------- */

static void write_line(const struct msim_plan_point *p,
                       const struct msim_spec *spec, FILE *out)
{
    char strategy[MSIM_PLAN_STRATEGY_TEXT], cost[24], days[24] = "-";

    msim_plan_strategy_text(&p->strategy, strategy, sizeof(strategy));
    msim_plan_amount_text(p->cost, cost, sizeof(cost));
    if (!isnan(p->days))
        snprintf(days, sizeof(days), "%.1f", p->days);
    fprintf(out, "%8s %9s %6" PRId64 " %-14s %8.2f %5.1f %6.1f%s  %s\n", days,
            cost, p->strategy.gpus, spec->platforms[p->platform].name,
            p->us / 1e6, 100 * p->mfu, p->peak_gib,
            p->fits == MSIM_FITS_EDGE ? "?" : " ", strategy);
}

static void write_best(const struct msim_plan *plan,
                       const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *p = &plan->points[plan->best];
    char strategy[MSIM_PLAN_STRATEGY_TEXT], cost[24], low[24], high[24];

    msim_plan_strategy_text(&p->strategy, strategy, sizeof(strategy));
    fprintf(out, "\nrecommended   %" PRId64 " x %s: %s\n", p->strategy.gpus,
            spec->platforms[p->platform].name, strategy);
    fprintf(out,
            "  step        %.2f s [%.2f-%.2f], %.0f tokens/s, MFU %.1f %%\n",
            p->us / 1e6, p->low_us / 1e6, p->high_us / 1e6,
            p->tokens_per_second, 100 * p->mfu);
    if (!isnan(p->days))
        fprintf(out, "  training    %.1f days [%.1f-%.1f]\n", p->days,
                p->days * p->low_us / p->us, p->days * p->high_us / p->us);
    if (!isnan(p->cost)) {
        msim_plan_amount_text(p->cost, cost, sizeof(cost));
        msim_plan_amount_text(p->cost * p->low_us / p->us, low, sizeof(low));
        msim_plan_amount_text(p->cost * p->high_us / p->us, high, sizeof(high));
        fprintf(out, "  cost        %s [%s to %s]%s%s\n", cost, low, high,
                *spec->currency ? " " : "", spec->currency);
    }
    if (!isnan(p->kwh))
        fprintf(out, "  energy      %.0f MWh\n", p->kwh / 1e3);
    fprintf(out,
            "  memory      %.1f GiB a GPU [%.1f-%.1f] of the %.1f GiB that "
            "CUDA's context (%.1f GiB) and NCCL's buffers (%.1f GiB) leave%s\n",
            p->peak_gib, p->low_gib, p->high_gib, p->room_gib,
            p->beside.context / GIB, p->beside.nccl / GIB,
            p->fits == MSIM_FITS_EDGE
                ? ": not sure to fit, see the next lines of the frontier"
                : "");
    fprintf(out,
            "  a step is   compute %.0f %%, host %.0f, tensor parallel %.0f, "
            "context and experts %.0f, bubble %.0f, gradients %.0f, optimizer "
            "%.0f\n",
            100 * p->parts.compute / p->us, 100 * p->parts.host / p->us,
            100 * p->parts.tp / p->us,
            100 * (p->parts.cp + p->parts.ep) / p->us,
            100 * p->parts.bubble / p->us, 100 * p->parts.gradients / p->us,
            100 * p->parts.optimizer / p->us);
    fprintf(out, "  because     it costs least%s of all that fit%s\n",
            isnan(p->cost) ? " GPU time" : "",
            msim_spec_is_limited(spec) ? " and keep the limits" : "");
}

/* How sure it is that limits of time and cost are kept, and what would be. */
static void write_chance(const struct msim_plan *plan,
                         const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *p = &plan->points[plan->best], *safe;
    char chance[24], strategy[MSIM_PLAN_STRATEGY_TEXT];

    if (isnan(p->chance))
        return;
    msim_plan_chance_text(p->chance, chance, sizeof(chance));
    fprintf(out, "  limits      kept with a chance of %s\n", chance);
    if (p->chance >= MSIM_PLAN_SAFE)
        return;
    if (plan->safe == UINT32_MAX) {
        fputs("              no point keeps them for sure (95 %)\n", out);
        return;
    }
    safe = &plan->points[plan->safe];
    msim_plan_strategy_text(&safe->strategy, strategy, sizeof(strategy));
    fprintf(out,
            "  to be sure  %" PRId64 " x %s: %s\n"
            "              %s x %.3f of the recommended one\n",
            safe->strategy.gpus, spec->platforms[safe->platform].name, strategy,
            msim_plan_cost_word(p), msim_plan_cost(safe) / msim_plan_cost(p));
}

static void write_runner_up(const struct msim_plan *plan,
                            const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *p;
    char strategy[MSIM_PLAN_STRATEGY_TEXT];

    if (plan->runner_up == UINT32_MAX)
        return;
    p = &plan->points[plan->runner_up];
    msim_plan_strategy_text(&p->strategy, strategy, sizeof(strategy));
    fprintf(out,
            "  runner-up   %" PRId64 " x %s: %s\n"
            "              the recommended one costs x %.3f of it "
            "[%.3f-%.3f]: %s\n",
            p->strategy.gpus, spec->platforms[p->platform].name, strategy,
            plan->ratio, plan->ratio_low, plan->ratio_high,
            plan->ratio_high < 1 ? "sure" : "not sure, try both");
}

void msim_plan_nearest_text(const struct msim_plan *plan,
                            const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *p = &plan->nearest;
    char strategy[MSIM_PLAN_STRATEGY_TEXT], ways[MSIM_MEMORY_WAYS_TEXT];

    if (!plan->has_nearest)
        return;
    msim_plan_strategy_text(&p->strategy, strategy, sizeof(strategy));
    msim_memory_ways_text(&plan->nearest_ways, ways);
    fprintf(out,
            "nearest to it: %" PRId64
            " x %s: %s; it needs %.1f GiB [%.1f-%.1f] of the %.1f GiB "
            "that CUDA and NCCL leave\n",
            p->strategy.gpus, spec->platforms[p->platform].name, strategy,
            p->peak_gib, p->low_gib, p->high_gib, p->room_gib);
    fprintf(out, "would fit: %s\n", *ways ? ways : "nothing that was tried");
}

static void json_nearest(struct msim_json *j, const struct msim_plan *plan,
                         const struct msim_spec *spec)
{
    const struct msim_memory_ways *w = &plan->nearest_ways;
    char strategy[MSIM_PLAN_STRATEGY_TEXT];

    if (!plan->has_nearest)
        return;
    msim_plan_strategy_text(&plan->nearest.strategy, strategy,
                            sizeof(strategy));
    msim_json_open(j, "nearest", '{', true);
    msim_json_text(j, "platform", spec->platforms[plan->nearest.platform].name);
    msim_json_integer(j, "gpus", plan->nearest.strategy.gpus);
    msim_json_text(j, "strategy", strategy);
    msim_json_number(j, "peak_bytes", plan->nearest.peak_gib * GIB);
    msim_json_number(j, "capacity_bytes", plan->nearest.room_gib * GIB);
    msim_json_open(j, "would_fit", '[', false);
    for (uint32_t i = 0; i < w->n; i++) {
        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "change", w->ways[i].change);
        msim_json_number(j, "peak_bytes", w->ways[i].peak);
        msim_json_text(j, "fits", msim_fits_text(w->ways[i].fits));
        msim_json_close(j);
    }
    msim_json_close(j);
    msim_json_close(j);
}

void msim_plan_text(const struct msim_plan *plan, const struct msim_spec *spec,
                    FILE *out)
{
    fprintf(out,
            "plan of %s: %" PRId64 " sequences of %" PRId64 " tokens a step\n",
            spec->model.name, spec->global_batch, spec->sequence);
    fprintf(out,
            "%" PRIu64 " points: %u feasible, %" PRIu64
            " cannot be split so, %" PRIu64 " do not fit into memory, %" PRIu64
            " have no model\n",
            plan->looked_at, plan->n, plan->left_out[MSIM_PLAN_SPLIT],
            plan->left_out[MSIM_PLAN_MEMORY],
            plan->left_out[MSIM_PLAN_NO_MODEL]);
    if (plan->best == UINT32_MAX) {
        fputs(plan->n ? "\nno point keeps the limits; points.csv has all that "
                        "are feasible\n"
                      : "\nno point is feasible: more GPUs, other strategies "
                        "or GPUs with more memory may be\n",
              out);
        msim_plan_nearest_text(plan, spec, out);
        return;
    }
    write_best(plan, spec, out);
    write_chance(plan, spec, out);
    write_runner_up(plan, spec, out);
    fputs(
        "\nfrontier: shorter or cheaper than all others (? memory is not sure "
        "to fit)\n    days      cost   GPUs platform         step s MFU %    "
        "GiB   strategy\n",
        out);
    for (uint32_t i = 0; i < plan->n_frontier; i++)
        write_line(&plan->points[plan->frontier[i]], spec, out);
}

/* ---- CSV, JSON ----------------------------------------------------------- */

static void put(FILE *out, double v)
{
    if (isfinite(v))
        fprintf(out, ",%.6g", v);
    else
        putc(',', out);
}

/* Techniques have columns where the spec names them. */
static bool is_named(const struct msim_spec *spec, uint32_t d)
{
    const struct msim_spec_values *values = &spec->values[d];

    return msim_spec_dimension_at(d)->given >= MSIM_GIVEN_offload &&
           (values->n > 1 || values->v[0] != 0);
}

static void csv_techniques(const struct msim_plan_point *p,
                           const struct msim_spec *spec, FILE *out)
{
    for (uint32_t d = 0; d < MSIM_SPEC_DIMENSIONS; d++) {
        enum msim_given g = msim_spec_dimension_at(d)->given;
        char value[32];

        if (!is_named(spec, d))
            continue;
        msim_strategy_value_text(g, msim_strategy_value(&p->strategy, g), value,
                                 sizeof(value));
        fprintf(out, ",%s", value);
    }
}

static void csv_line(const struct msim_plan_point *p,
                     const struct msim_spec *spec, FILE *out)
{
    msim_csv_write(out, spec->platforms[p->platform].name);
#define X(name, missing) fprintf(out, ",%" PRId64, p->strategy.name);
    MSIM_STRATEGY_MAP(X)
#undef X
    fprintf(out, ",%s,%s", msim_precision_text(p->strategy.precision),
            msim_recompute_text(p->strategy.recompute));
    csv_techniques(p, spec, out);
    put(out, p->us / 1e3);
    put(out, p->low_us / 1e3);
    put(out, p->high_us / 1e3);
    put(out, p->peak_gib);
    fprintf(out, ",%s", msim_fits_text(p->fits));
    put(out, p->tokens_per_second);
    put(out, p->mfu);
    put(out, p->days);
    put(out, p->cost);
    put(out, p->kwh);
    fprintf(out, ",%d\n", p->allowed);
}

void msim_plan_csv(const struct msim_plan *plan, const struct msim_spec *spec,
                   bool frontier, FILE *out)
{
    fputs("platform", out);
#define X(name, missing) fputs("," #name, out);
    MSIM_STRATEGY_MAP(X)
#undef X
    fputs(",precision,recompute", out);
    for (uint32_t d = 0; d < MSIM_SPEC_DIMENSIONS; d++)
        if (is_named(spec, d))
            fprintf(out, ",%s", msim_spec_dimension_text(d));
    fputs(",predicted_ms,low_ms,high_ms,predicted_memory_gib,fits,tokens_per_"
          "second,mfu,days,cost,kwh,"
          "keeps_limits\n",
          out);
    for (uint32_t i = 0; i < (frontier ? plan->n_frontier : plan->n); i++)
        csv_line(&plan->points[frontier ? plan->frontier[i] : i], spec, out);
}

static void json_techniques(struct msim_json *j,
                            const struct msim_plan_point *p,
                            const struct msim_spec *spec)
{
    for (uint32_t d = 0; d < MSIM_SPEC_DIMENSIONS; d++) {
        enum msim_given g = msim_spec_dimension_at(d)->given;
        int64_t v = msim_strategy_value(&p->strategy, g);
        char value[32];

        if (!is_named(spec, d))
            continue;
        msim_strategy_value_text(g, v, value, sizeof(value));
        if (v && msim_decimal_int(value, strlen(value), &v))
            msim_json_integer(j, msim_given_text(g), v);
        else
            msim_json_text(j, msim_given_text(g), *value ? value : NULL);
    }
}

/* `plan`: with the memory within a step; NULL: without. */
static void json_point(struct msim_json *j, const char *key,
                       const struct msim_plan_point *p,
                       const struct msim_spec *spec,
                       const struct msim_plan *plan)
{
    msim_json_open(j, key, '{', false);
    msim_json_text(j, "platform", spec->platforms[p->platform].name);
#define X(name, missing) msim_json_integer(j, #name, p->strategy.name);
    MSIM_STRATEGY_MAP(X)
#undef X
    msim_json_text(j, "precision", msim_precision_text(p->strategy.precision));
    msim_json_text(j, "recompute", msim_recompute_text(p->strategy.recompute));
    json_techniques(j, p, spec);
    msim_json_open(j, "step_us", '{', false);
    msim_json_number(j, "predicted", p->us);
    msim_json_number(j, "low", p->low_us);
    msim_json_number(j, "high", p->high_us);
    msim_json_close(j);
    msim_json_open(j, "memory_bytes", '{', false);
    msim_json_number(j, "peak", p->peak_gib * 1073741824.0);
    msim_json_number(j, "low", p->low_gib * 1073741824.0);
    msim_json_number(j, "high", p->high_gib * 1073741824.0);
    msim_json_number(j, "cuda_context", p->beside.context);
    msim_json_number(j, "nccl_buffers", p->beside.nccl);
    msim_json_number(j, "room", p->room_gib * 1073741824.0);
    if (plan)
        msim_plan_line_json(j, plan, p, spec);
    msim_json_close(j);
    msim_json_text(j, "fits", msim_fits_text(p->fits));
    msim_json_number(j, "tokens_per_second", p->tokens_per_second);
    msim_json_number(j, "mfu", p->mfu);
    msim_json_number(j, "days", p->days);
    msim_json_number(j, "cost", p->cost);
    msim_json_number(j, "kwh", p->kwh);
    msim_json_number(j, "chance", p->chance);
    msim_json_number(j, "correction", p->correction);
    msim_json_close(j);
}

enum msim_status msim_plan_json(const struct msim_plan *plan,
                                const struct msim_spec *spec, FILE *out)
{
    struct msim_json j;

    msim_json_begin(&j, msim_sink_file, out);
    msim_json_open(&j, NULL, '{', true);
    msim_json_text(&j, "schema", "mystique-sim/plan/1");
    msim_json_text(&j, "version", MSIM_VERSION);
    msim_json_text(&j, "model", spec->model.name);
    msim_json_unsigned(&j, "points", plan->looked_at);
    msim_json_unsigned(&j, "feasible", plan->n);
    msim_json_unsigned(&j, "not_split", plan->left_out[MSIM_PLAN_SPLIT]);
    msim_json_unsigned(&j, "no_memory", plan->left_out[MSIM_PLAN_MEMORY]);
    msim_json_unsigned(&j, "no_model", plan->left_out[MSIM_PLAN_NO_MODEL]);
    json_nearest(&j, plan, spec);
    if (plan->best == UINT32_MAX)
        msim_json_text(&j, "recommended", NULL);
    else
        json_point(&j, "recommended", &plan->points[plan->best], spec, plan);
    if (plan->runner_up == UINT32_MAX) {
        msim_json_text(&j, "runner_up", NULL);
    } else {
        json_point(&j, "runner_up", &plan->points[plan->runner_up], spec, NULL);
        msim_json_open(&j, "cost_over_runner_up", '{', false);
        msim_json_number(&j, "ratio", plan->ratio);
        msim_json_number(&j, "low", plan->ratio_low);
        msim_json_number(&j, "high", plan->ratio_high);
        msim_json_close(&j);
    }
    if (plan->safe == UINT32_MAX)
        msim_json_text(&j, "safe", NULL);
    else
        json_point(&j, "safe", &plan->points[plan->safe], spec, NULL);
    msim_json_open(&j, "frontier", '[', true);
    for (uint32_t i = 0; i < plan->n_frontier; i++)
        json_point(&j, NULL, &plan->points[plan->frontier[i]], spec, NULL);
    msim_json_close(&j);
    msim_json_close(&j);
    return msim_json_end(&j);
}
