/*
 * plan/outcome/plan_words.c - figures of a plan as people write them.
 */
#include "plan/outcome/plan_report.h"

#include "core/report/write/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define PLATFORM_COLUMNS 40

void msim_plan_platform_text(const struct msim_spec *spec, uint32_t platform,
                             char *text, size_t size)
{
    (void)msim_format_name(text, size, spec->platforms[platform].name,
                           PLATFORM_COLUMNS);
}

/* A text that grows in a buffer. */
struct words {
    char *text;
    size_t size, used;
};

static void add(struct words *w, const char *name, const char *value)
{
    if (w->used < w->size)
        w->used += (size_t)snprintf(w->text + w->used, w->size - w->used,
                                    "%s%s%s%s", w->used ? ", " : "", name,
                                    *name && *value ? " " : "", value);
}

static void add_number(struct words *w, const char *name, int64_t v)
{
    char value[32];

    snprintf(value, sizeof(value), "%" PRId64, v);
    add(w, name, value);
}

/* Does the spec say how many nodes there are? */
static bool names_nodes(const struct msim_spec *spec)
{
    const struct msim_spec_dimension *d;
    bool any = false;

    for (uint32_t i = 0; (d = msim_spec_dimension_at(false, i)); i++)
        for (uint32_t k = 0; k < spec->values[i].n; k++)
            any |= d->place == MSIM_GIVEN_nodes && spec->values[i].v[k] != 0;
    return any;
}

static void describe_model(struct words *w, const struct msim_spec *spec,
                           const struct msim_strategy *s)
{
    static const struct {
        const char *name;
        size_t offset;
        int64_t usual; /* not printed */
    } MEMBERS[] = {
        {"tp", offsetof(struct msim_strategy, tp), 1},
        {"pp", offsetof(struct msim_strategy, pp), 1},
        {"vp", offsetof(struct msim_strategy, vp), 1},
        {"cp", offsetof(struct msim_strategy, cp), 1},
        {"ep", offsetof(struct msim_strategy, ep), 1},
        {"dp", offsetof(struct msim_strategy, dp), -1},
        {"zero", offsetof(struct msim_strategy, zero), -1},
        {"micro batch", offsetof(struct msim_strategy, micro_batch), -1},
    };
    char value[32];

    if (names_nodes(spec))
        add_number(w, "nodes", s->nodes);
    for (size_t i = 0; i < sizeof(MEMBERS) / sizeof(MEMBERS[0]); i++) {
        int64_t v;

        memcpy(&v, (const char *)s + MEMBERS[i].offset, sizeof(v));
        if (v != MEMBERS[i].usual)
            add_number(w, MEMBERS[i].name, v);
    }
    if (msim_expert_shares(s) != s->tp)
        add_number(w, "etp", msim_expert_shares(s));
    /* Words: types are known as such. */
    for (int g = MSIM_GIVEN_ALWAYS - 1; g >= MSIM_GIVEN_precision; g--) {
        msim_strategy_text(s, (enum msim_given)g, value, sizeof(value));
        add(w,
            g == MSIM_GIVEN_precision ? ""
                                      : msim_given_text((enum msim_given)g),
            value);
    }
    for (int g = MSIM_GIVEN_ALWAYS; g < MSIM_GIVEN_COUNT; g++) {
        int64_t v = msim_strategy_value(s, (enum msim_given)g);

        msim_strategy_value_text((enum msim_given)g, v, value, sizeof(value));
        if (v)
            add(w, msim_given_text((enum msim_given)g), value);
    }
}

/* Is a value of a traced step said beside batch, micro batches and GPUs? */
static bool is_said(const struct msim_spec_dimension *d,
                    const struct msim_strategy *s, int64_t v)
{
    if (d->place == MSIM_GIVEN_tp || d->place == MSIM_GIVEN_pp)
        return v > 1;
    if (d->place == MSIM_SPEC_SHARD)
        return s->dp >= 2;
    return v != 0 && (d->words || d->place > MSIM_SPEC_BITS);
}

/* What differs from the traced step, and the batch. */
static void describe_trace(struct words *w, const struct msim_plan_point *p)
{
    const struct msim_strategy *s = &p->strategy;

    if (s->micro_batch)
        add_number(w, "batch", s->micro_batch);
    if (s->grad_accum > 1)
        add_number(w, "micro batches", s->grad_accum);
    for (uint32_t i = 0; i < msim_spec_dimension_count(true); i++) {
        const struct msim_spec_dimension *d = msim_spec_dimension_at(true, i);
        int64_t v = msim_plan_point_value(p, d);
        char value[32];

        if (!is_said(d, s, v))
            continue;
        msim_spec_value_text(d, v, value, sizeof(value));
        add(w,
            d->place < MSIM_SPEC_BITS && d->place >= MSIM_GIVEN_COUNT ? ""
                                                                      : d->name,
            value);
    }
}

void msim_plan_strategy_text(const struct msim_spec *spec,
                             const struct msim_plan_point *p, char *text,
                             size_t size)
{
    struct words w = {text, size, 0};

    text[0] = '\0';
    if (spec->traced)
        describe_trace(&w, p);
    else
        describe_model(&w, spec, &p->strategy);
    if (!w.used)
        add(&w, "as traced", "");
}

struct msim_plan_figure msim_plan_figure_of(const struct msim_plan_point *p,
                                            double v)
{
    return (struct msim_plan_figure){v, v * p->low_us / p->us,
                                     v * p->high_us / p->us};
}

struct msim_plan_figure msim_plan_inverse_of(const struct msim_plan_point *p,
                                             double v)
{
    return (struct msim_plan_figure){v, v * p->us / p->high_us,
                                     v * p->us / p->low_us};
}

void msim_plan_memory_text(double gib, char *text, size_t size)
{
    if (gib < 1)
        snprintf(text, size, "%.0f MiB", gib * 1024);
    else
        snprintf(text, size, "%.1f GiB", gib);
}

void msim_plan_energy_text(double kwh, char *text, size_t size)
{
    static const char *const UNITS[] = {"kWh", "MWh", "GWh", "TWh"};
    int i = 0;

    for (; kwh >= 999.5 && i < 3; i++)
        kwh /= 1e3;
    snprintf(text, size, "%.3g %s", kwh, UNITS[i]);
}

void msim_plan_amount_text(double v, char *text, size_t size)
{
    static const struct {
        double from, unit;
        const char *name;
    } UNITS[] = {
        {1e12, 1e12, "T"}, {1e9, 1e9, "G"}, {1e6, 1e6, "M"}, {1e4, 1e3, "k"}};

    for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++)
        if (v >= UNITS[i].from) {
            snprintf(text, size, "%.4g %s", v / UNITS[i].unit, UNITS[i].name);
            return;
        }
    if (isnan(v))
        snprintf(text, size, "-");
    else if (v < 100)
        snprintf(text, size, "%.3g", v);
    else
        snprintf(text, size, "%.0f", v);
}

void msim_plan_chance_text(double chance, char *text, size_t size)
{
    if (chance > 0.99)
        snprintf(text, size, "above 99 %%");
    else if (chance < 0.01)
        snprintf(text, size, "below 1 %%");
    else
        snprintf(text, size, "%.0f %%", 100 * chance);
}

const char *msim_plan_cost_word(const struct msim_spec *spec,
                                const struct msim_plan_point *p)
{
    return isnan(p->cost)              ? "GPU time"
           : msim_spec_is_hourly(spec) ? "cost an hour"
                                       : "cost";
}

void msim_plan_time_text(double us, char *text, size_t size)
{
    if (us >= 1e6)
        snprintf(text, size, "%.2f s", us / 1e6);
    else
        snprintf(text, size, "%.3g ms", us / 1e3);
}

void msim_plan_exchange_text(const struct msim_spec *spec,
                             const struct msim_plan_point *p, char *text,
                             size_t size)
{
    const struct msim_plan_exchange *e = &p->exchange;
    double share = 100 / p->us;
    int used;

    text[0] = '\0';
    if (!(e->in_flight > 0))
        return;
    used = snprintf(text, size,
                    "%s %.0f %% of the step before overlap, of which it waits "
                    "for %.0f %%",
                    spec->traced ? "communication" : "gradients",
                    share * e->in_flight, share * e->waits);
    if (!isnan(e->high))
        snprintf(text + used, size - (size_t)used, " [%.0f-%.0f]",
                 share * e->low, share * e->high);
}

const char *msim_plan_step_word(const struct msim_spec *spec)
{
    return spec->unit == MSIM_SPEC_UNIT_REQUESTS ? "latency" : "step";
}

const char *msim_plan_split_word(const struct msim_spec *spec)
{
    return spec->traced ? "cannot be made of the trace" : "cannot be split so";
}

void msim_plan_days_text(double days, char *text, size_t size)
{
    if (isnan(days))
        snprintf(text, size, "-");
    else
        snprintf(text, size, days < 10 ? "%.2g" : "%.1f", days);
}

/* Nothing is feasible: what may be, by what left points out. */
static const char *infeasible_text(const struct msim_plan *plan,
                                   const struct msim_spec *spec)
{
    if (isfinite(spec->most_memory_gib) && plan->left_out[MSIM_PLAN_MEMORY])
        return "no point is feasible: a larger limits.memory_gib, more GPUs or "
               "other strategies may be";
    if (plan->left_out[MSIM_PLAN_MEMORY] || plan->left_out[MSIM_PLAN_NO_MODEL])
        return "no point is feasible: more GPUs, other strategies or GPUs with "
               "more memory may be";
    return spec->traced ? "no point is feasible: none can be made of the "
                          "trace, other values may be"
                        : "no point is feasible: the job cannot be split so, "
                          "other strategies or numbers of GPUs may be";
}

/* Is there a point that keeps the limits, and that a guard bars? */
static bool bars_some(const struct msim_plan *plan)
{
    for (uint32_t i = 0; i < plan->n; i++)
        if (plan->points[i].allowed && msim_guard_bars(plan->points[i].marks))
            return true;
    return false;
}

const char *msim_plan_none_word(const struct msim_plan *plan)
{
    return !plan->n          ? "no way is feasible"
           : bars_some(plan) ? "no way that keeps the limits is free of marks"
                             : "no way keeps the limits";
}

const char *msim_plan_none_text(const struct msim_plan *plan,
                                const struct msim_spec *spec)
{
    if (!plan->n)
        return infeasible_text(plan, spec);
    return bars_some(plan)
               ? "nothing is recommended: no point that keeps the limits is "
                 "free of marks; points.csv has all that are feasible"
               : "no point keeps the limits; points.csv has all that are "
                 "feasible";
}
