/*
 * plan/outcome/plan_limits.c - which limit of a plan is in the way.
 */
#include "plan/outcome/plan_report.h"

#include "core/base/print.h"

#include <inttypes.h>
#include <math.h>

/* At least the bound (else at most) `of` a point, NAN: not known. */
struct limit {
    const char *member;
    double (*of)(const struct msim_plan_point *p);
    double bound;
    bool least;
};

static double days_of(const struct msim_plan_point *p)
{
    return p->days;
}

static double cost_of(const struct msim_plan_point *p)
{
    return p->cost;
}

static double gpus_of(const struct msim_plan_point *p)
{
    return (double)p->strategy.gpus;
}

static double rate_of(const struct msim_plan_point *p)
{
    return p->rate;
}

static double latency_ms_of(const struct msim_plan_point *p)
{
    return p->us / 1e3;
}

/* All digits of small figures: a limit may be any. */
static void figure_text(double v, char *text, size_t size)
{
    snprintf(text, size, v < 1e5 ? "%.4g" : "%.3g", v);
}

static bool keeps(const struct limit *l, double v)
{
    return l->least ? v >= l->bound : v <= l->bound;
}

static bool is_set(const struct limit *l)
{
    return l->least ? l->bound > 0 : isfinite(l->bound);
}

static bool keeps_all(const struct limit *limits, size_t n,
                      const struct msim_plan_point *p)
{
    for (size_t i = 0; i < n; i++)
        if (is_set(&limits[i]) && !keeps(&limits[i], limits[i].of(p)))
            return false;
    return true;
}

/* True where some point keeps it. */
static bool write_limit(const struct limit *l, const struct msim_plan *plan,
                        const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *best = NULL;
    char bound[32], text[32];
    uint32_t kept = 0;

    for (uint32_t i = 0; i < plan->n; i++) {
        const struct msim_plan_point *p = &plan->points[i];
        double v = l->of(p);

        kept += keeps(l, v);
        if (!isnan(v) &&
            (!best || (l->least ? v > l->of(best) : v < l->of(best))))
            best = p;
    }
    figure_text(l->bound, bound, sizeof(bound));
    msim_print(out, "limits.%s is %s: %u of %u points keep%s it", l->member,
               bound, kept, plan->n, kept == 1 ? "s" : "");
    if (best) {
        figure_text(l->of(best), text, sizeof(text));
        msim_print(out, "; the %s is %s, of %" PRId64 " x %s",
                   l->least ? "most" : "least", text, best->strategy.gpus,
                   spec->platforms[best->platform].name);
    }
    putc('\n', out);
    return kept > 0;
}

void msim_plan_limits_text(const struct msim_plan *plan,
                           const struct msim_spec *spec, FILE *out)
{
    char rate[64];
    const struct limit limits[] = {
        {"days", days_of, spec->most_days, false},
        {"cost", cost_of, spec->most_cost, false},
        {"gpus", gpus_of, spec->most_gpus, false},
        {"latency_ms", latency_ms_of, spec->most_latency_us / 1e3, false},
        {rate, rate_of, spec->least_rate, true},
    };
    const size_t n_limits = sizeof(limits) / sizeof(limits[0]);
    bool each = true, all = false;

    snprintf(rate, sizeof(rate), "%s_per_second",
             msim_spec_unit_text(spec->unit));
    for (size_t i = 0; i < n_limits; i++)
        each &= !is_set(&limits[i]) || write_limit(&limits[i], plan, spec, out);
    for (uint32_t i = 0; i < plan->n; i++)
        all |= keeps_all(limits, n_limits, &plan->points[i]);
    if (each && !all)
        fputs("each limit is kept by some point, and all of them by none\n",
              out);
}
