/*
 * plan/outcome/plan_data.c - a plan as CSV and JSON.
 */

#include "core/base/csv.h"
#include "core/base/json.h"
#include "core/base/texts.h"
#include "core/base/units.h"
#include "core/report/write/report.h"
#include "plan/outcome/plan_report_internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- CSV ----------------------------------------------------------------- */
static void put(FILE *out, double v)
{
    if (isfinite(v))
        fprintf(out, ",%.6g", v);
    else
        putc(',', out);
}

/* What differs in name from the column of a table of jobs. */
static const char *column_of(const struct msim_spec_dimension *d)
{
    return d->place == MSIM_SPEC_SHARD ? "strategy" : d->name;
}

/*
 * Has a dimension a column of its own? Those that every described strategy has
 * are there already; others have columns where the spec names them.
 */
static bool has_column(const struct msim_spec *spec, uint32_t i)
{
    const struct msim_spec_dimension *d =
        msim_spec_dimension_at(spec->traced, i);
    const struct msim_spec_values *values = &spec->values[i];
    bool named = values->n > 1 || values->v[0] != 0;

    if (!spec->traced)
        return d->place >= MSIM_GIVEN_ALWAYS && named;
    if (d->place == MSIM_GIVEN_tp || d->place == MSIM_GIVEN_pp)
        return values->n > 1 || values->v[0] != 1;
    if (d->place > MSIM_SPEC_BITS)
        return named;
    return d->words &&
           (named || (d->place != MSIM_SPEC_BITS &&
                      d->place != MSIM_GIVEN_optimizer_in_backward));
}

/* A value as a table of jobs has it: empty for what is as traced. */
static void value_text(const struct msim_spec *spec,
                       const struct msim_plan_point *p,
                       const struct msim_spec_dimension *d, char *text,
                       size_t size)
{
    int64_t v = msim_plan_point_value(p, d);

    msim_spec_value_text(d, v, text, size);
    if (!spec->traced)
        return;
    if (d->place == MSIM_SPEC_SHARD && p->strategy.dp < 2)
        snprintf(text, size, "%s", "single");
    if (v == 0 &&
        (d->place == MSIM_SPEC_DTYPE || d->place == MSIM_GIVEN_offload))
        *text = '\0';
}

static void csv_strategy(const struct msim_plan_point *p,
                         const struct msim_spec *spec, FILE *out)
{
    const struct msim_spec_dimension *d;
    char value[32];

    if (spec->traced) {
        fprintf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64, p->strategy.gpus,
                p->strategy.micro_batch, p->strategy.grad_accum);
    } else {
        for (int g = 0; g < MSIM_GIVEN_ALWAYS; g++) {
            msim_strategy_text(&p->strategy, (enum msim_given)g, value,
                               sizeof(value));
            msim_csv_add(out, value);
        }
    }
    for (uint32_t i = 0; (d = msim_spec_dimension_at(spec->traced, i)); i++) {
        if (!has_column(spec, i))
            continue;
        value_text(spec, p, d, value, sizeof(value));
        msim_csv_add(out, value);
    }
}

static void csv_line(const struct msim_plan_point *p,
                     const struct msim_spec *spec, FILE *out)
{
    char guards[MSIM_GUARD_WORDS];

    msim_csv_write(out, spec->platforms[p->platform].name);
    csv_strategy(p, spec, out);
    put(out, p->us / 1e3);
    put(out, p->low_us / 1e3);
    put(out, p->high_us / 1e3);
    put(out, p->peak_gib);
    msim_csv_add(out, isnan(p->peak_gib) ? "" : msim_fits_text(p->fits));
    put(out, p->rate);
    put(out, p->mfu);
    put(out, p->days);
    put(out, p->cost);
    put(out, p->kwh);
    fprintf(out, ",%d", p->allowed);
    msim_guard_words(p->marks, guards);
    msim_csv_add(out, guards);
    putc('\n', out);
}

void msim_plan_csv(const struct msim_plan *plan, const struct msim_spec *spec,
                   bool frontier, FILE *out)
{
    const struct msim_spec_dimension *d;
    char rate[64];

    fputs(spec->traced ? "platform,gpus,micro_batch,grad_accum" : "platform",
          out);
    for (int g = 0; g < MSIM_GIVEN_ALWAYS && !spec->traced; g++)
        msim_csv_add(out, msim_given_text((enum msim_given)g));
    for (uint32_t i = 0; (d = msim_spec_dimension_at(spec->traced, i)); i++)
        if (has_column(spec, i))
            msim_csv_add(out, column_of(d));
    snprintf(rate, sizeof(rate), "%s_per_second",
             msim_spec_unit_text(spec->unit));
    msim_csv_print(out,
                   ",predicted_ms,low_ms,high_ms" MSIM_PLAN_CSV_MARK
                   "%s,mfu,days,cost,kwh,keeps_limits,guards\n",
                   rate);
    for (uint32_t i = 0; i < (frontier ? plan->n_frontier : plan->n); i++)
        csv_line(&plan->points[frontier ? plan->frontier[i] : i], spec, out);
}

/* ---- JSON ---------------------------------------------------------------- */

static void json_nearest(struct msim_json *j, const struct msim_plan *plan,
                         const struct msim_spec *spec)
{
    const struct msim_plan_ways *w = &plan->nearest_ways;
    char strategy[MSIM_PLAN_STRATEGY_TEXT];

    if (!plan->has_nearest)
        return;
    msim_plan_strategy_text(spec, &plan->nearest, strategy, sizeof(strategy));
    msim_json_open(j, "nearest", '{', true);
    msim_json_text(j, "platform", spec->platforms[plan->nearest.platform].name);
    msim_json_integer(j, "gpus", plan->nearest.strategy.gpus);
    msim_json_text(j, "strategy", strategy);
    msim_json_number(j, "peak_bytes", plan->nearest.peak_gib * MSIM_GIB);
    msim_json_number(j, "capacity_bytes", plan->nearest.room_gib * MSIM_GIB);
    msim_json_open(j, "would_fit", '[', false);
    for (uint32_t i = 0; i < w->n; i++) {
        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "change", w->way[i].change);
        msim_json_number(j, "peak_bytes", w->way[i].peak);
        msim_json_text(j, "fits", msim_fits_text(w->way[i].fits));
        msim_json_close(j);
    }
    msim_json_close(j);
    msim_json_close(j);
}

static void json_strategy(struct msim_json *j, const struct msim_plan_point *p,
                          const struct msim_spec *spec)
{
    const struct msim_spec_dimension *d;
    char value[32];

    if (spec->traced) {
        msim_json_integer(j, "gpus", p->strategy.gpus);
        msim_json_integer(j, "micro_batch", p->strategy.micro_batch);
        msim_json_integer(j, "grad_accum", p->strategy.grad_accum);
    } else {
        msim_strategy_json(j, &p->strategy);
    }
    for (uint32_t i = 0; (d = msim_spec_dimension_at(spec->traced, i)); i++) {
        int64_t v;

        if (!has_column(spec, i))
            continue;
        value_text(spec, p, d, value, sizeof(value));
        if (msim_decimal_int(value, strlen(value), &v))
            msim_json_integer(j, d->name, v);
        else
            msim_json_text(j, d->name, *value ? value : NULL);
    }
}

/* Figures by name, as an object; names with "_" for what is no letter. */
static void json_parts(struct msim_json *j, const char *key,
                       const char *const *names, const double *values,
                       double unit)
{
    msim_json_open(j, key, '{', false);
    for (uint32_t i = 0; names[i]; i++) {
        char name[32];
        size_t n = 0;

        for (const char *at = names[i]; *at && n + 1 < sizeof(name); at++)
            if ((*at >= 'a' && *at <= 'z') || (n && name[n - 1] != '_'))
                name[n++] = *at >= 'a' && *at <= 'z' ? *at : '_';
        name[n] = '\0';
        msim_json_number(j, name, values[i] * unit);
    }
    msim_json_close(j);
}

static void json_point(struct msim_json *j, const char *key,
                       const struct msim_plan *plan,
                       const struct msim_plan_point *p,
                       const struct msim_spec *spec)
{
    char rate[48];

    snprintf(rate, sizeof(rate), "%s_per_second",
             msim_spec_unit_text(spec->unit));
    msim_json_open(j, key, '{', false);
    msim_json_text(j, "platform", spec->platforms[p->platform].name);
    json_strategy(j, p, spec);
    msim_report_json_range(j, "step_us", p->us, p->low_us, p->high_us);
    msim_json_open(j, "memory_bytes", '{', false);
    msim_json_number(j, "peak", p->peak_gib * MSIM_GIB);
    msim_json_number(j, "low", p->low_gib * MSIM_GIB);
    msim_json_number(j, "high", p->high_gib * MSIM_GIB);
    msim_json_number(j, "cuda_context", p->beside.context);
    msim_json_number(j, "nccl_buffers", p->beside.nccl);
    msim_json_number(j, "room", p->room_gib * MSIM_GIB);
    if (spec->traced)
        json_parts(j, "by", plan->memory_parts, p->part_gib, MSIM_GIB);
    else if (key && strcmp(key, "recommended") == 0)
        msim_plan_line_json(j, plan, p, spec);
    msim_json_close(j);
    json_parts(j, "parts_us", plan->step_parts, p->part_us, 1);
    msim_json_open(j, "exchange_us", '{', false);
    msim_json_number(j, "in_flight", p->exchange.in_flight);
    msim_json_number(j, "waits", p->exchange.waits);
    msim_json_number(j, "waits_low", p->exchange.low);
    msim_json_number(j, "waits_high", p->exchange.high);
    msim_json_close(j);
    msim_json_text(j, "fits",
                   isnan(p->peak_gib) ? NULL : msim_fits_text(p->fits));
    msim_json_number(j, rate, p->rate);
    msim_json_number(j, "mfu", p->mfu);
    msim_json_number(j, "days", p->days);
    msim_json_number(j, "cost", p->cost);
    msim_json_number(j, "kwh", p->kwh);
    msim_json_number(j, "chance", p->chance);
    msim_json_number(j, "correction", p->correction);
    msim_guard_json(j, p->marks);
    msim_json_close(j);
}

/* Why points are not feasible, beside memory. */
static void json_refusals(struct msim_json *j, const struct msim_plan *plan,
                          const struct msim_spec *spec)
{
    const struct msim_plan_refusals *r = &plan->refusals;
    char strategy[MSIM_PLAN_STRATEGY_TEXT];

    if (!spec->traced)
        return;
    msim_json_open(j, "why_not", '[', true);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct msim_plan_point *p = &plan->refused[i];

        msim_plan_strategy_text(spec, p, strategy, sizeof(strategy));
        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "reason", r->of[i].text);
        msim_json_unsigned(j, "points", r->of[i].points);
        msim_json_text(j, "first_platform", spec->platforms[p->platform].name);
        msim_json_integer(j, "first_gpus", p->strategy.gpus);
        msim_json_text(j, "first_strategy", strategy);
        msim_json_close(j);
    }
    msim_json_close(j);
    msim_json_unsigned(j, "why_not_others", r->others);
}

static void json_recorded(struct msim_json *j, const struct msim_plan *plan,
                          const struct msim_spec *spec)
{
    const struct msim_plan_traced *t = &plan->basis.traced;

    if (!spec->traced)
        return;
    msim_json_open(j, "recorded", '{', false);
    msim_json_integer(j, "batch", t->batch);
    msim_json_integer(j, "ranks", t->ranks);
    msim_json_text(j, "gpu", *t->platform ? t->platform : NULL);
    msim_json_number(j, "measured_us", t->measured_us);
    msim_json_number(j, "predicted_us", t->predicted_us);
    msim_json_text(j, "host", *t->host ? t->host : NULL);
    msim_json_close(j);
}

static void json_or_null(struct msim_json *j, const char *key,
                         const struct msim_plan *plan, uint32_t index,
                         const struct msim_spec *spec)
{
    if (index == UINT32_MAX)
        msim_json_text(j, key, NULL);
    else
        json_point(j, key, plan, &plan->points[index], spec);
}

static void json_runner_up(struct msim_json *j, const struct msim_plan *plan,
                           const struct msim_spec *spec)
{
    json_or_null(j, "runner_up", plan, plan->runner_up, spec);
    if (plan->runner_up == UINT32_MAX)
        return;
    msim_json_open(j, "cost_over_runner_up", '{', false);
    msim_json_number(j, "ratio", plan->ratio);
    msim_json_number(j, "low", plan->ratio_low);
    msim_json_number(j, "high", plan->ratio_high);
    if (plan->test == UINT32_MAX)
        msim_json_text(j, "test", NULL);
    else
        msim_json_text(j, "test",
                       plan->test == plan->best ? "recommended" : "runner_up");
    msim_json_number(j, "factor_after_test",
                     plan->test == UINT32_MAX ? NAN : plan->after_test);
    msim_json_close(j);
}

/* The best where it is sure: what is not is never recommended beside it. */
static uint32_t safe_of(const struct msim_plan *plan)
{
    return plan->best != UINT32_MAX &&
                   msim_plan_is_sure(&plan->points[plan->best])
               ? plan->best
               : UINT32_MAX;
}

static void json_simulated(struct msim_json *j, const struct msim_plan *plan,
                           const struct msim_spec *spec)
{
    if (!plan->n_simulated)
        return;
    msim_json_open(j, "simulated", '[', true);
    for (uint32_t i = 0; i < plan->n_simulated; i++) {
        const struct msim_plan_simulated *s = &plan->simulated[i];
        const struct msim_plan_point *p = &plan->points[s->point];

        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "platform", spec->platforms[p->platform].name);
        json_strategy(j, p, spec);
        msim_plan_simulated_json(j, plan, s);
        msim_json_close(j);
    }
    msim_json_close(j);
}

enum msim_status msim_plan_json(const struct msim_plan *plan,
                                const struct msim_spec *spec, FILE *out)
{
    struct msim_json j;

    msim_json_document(&j, msim_sink_file, out, "mystique-sim/plan/1");
    msim_json_text(&j, spec->traced ? "trace" : "model", spec->name);
    msim_json_unsigned(&j, "points", plan->looked_at);
    msim_json_unsigned(&j, "feasible", plan->n);
#define X(name, text)                                                          \
    msim_json_unsigned(&j, text, plan->left_out[MSIM_PLAN_##name]);
    MSIM_PLAN_REASON_MAP(X)
#undef X
    json_refusals(&j, plan, spec);
    msim_guard_count_json(&j, &plan->marked, "points");
    json_recorded(&j, plan, spec);
    msim_json_text(&j, "currency", *spec->currency ? spec->currency : NULL);
    msim_json_text(&j, "cost_of",
                   msim_spec_is_hourly(spec) ? "an hour" : "all");
    json_nearest(&j, plan, spec);
    json_or_null(&j, "recommended", plan, plan->best, spec);
    json_runner_up(&j, plan, spec);
    json_or_null(&j, "safe", plan, safe_of(plan), spec);
    json_or_null(&j, "cheaper", plan, plan->cheaper, spec);
    json_simulated(&j, plan, spec);
    msim_json_open(&j, "frontier", '[', true);
    for (uint32_t i = 0; i < plan->n_frontier; i++)
        json_point(&j, NULL, plan, &plan->points[plan->frontier[i]], spec);
    msim_json_close(&j);
    return msim_json_end(&j);
}
