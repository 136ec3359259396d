/*
 * predict/whatif/ratio.c - the ratio of two periods, and its interval.
 */
#include "predict/whatif/ratio.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what deviates --------------------------------------------------------
 */

/* Sums over tasks of what each family may deviate by, us. */
static void add_families(const struct msim_ratio_side *s, double *by, bool *gpu)
{
    const struct msim_graph *g = s->outcome->graph;
    const struct msim_costs *c = s->costs;

    for (uint32_t t = 0; t < g->n_tasks; t++)
        by[c->made_by[t]] += (double)(c->high[t] - c->low[t]) / MSIM_PS_PER_US;
    *gpu |= c->machine.slower > 1 || c->machine.faster > 1;
}

static int largest(const double *by, uint32_t taken)
{
    int best = -1;

    for (int f = 0; f < MSIM_MADE_BY_MAX; f++)
        if (!(taken & 1u << f) && by[f] > 0 && (best < 0 || by[f] > by[best]))
            best = f;
    return best;
}

void msim_deviations_choose(struct msim_deviations *d,
                            const struct msim_ratio_side *const *sides,
                            uint32_t n_sides)
{
    double by[MSIM_MADE_BY_MAX] = {0}, squares = 0, sum = 0;
    int f;

    memset(d, 0, sizeof(*d));
    for (uint32_t i = 0; i < n_sides; i++)
        add_families(sides[i], by, &d->gpu);
    for (int n = 0; n < MSIM_RATIO_SEPARATE; n++)
        if ((f = largest(by, d->separate)) >= 0)
            d->separate |= 1u << f;
    while ((f = largest(by, d->separate | d->others)) >= 0) {
        d->others |= 1u << f;
        squares += by[f] * by[f];
        sum += by[f];
    }
    d->share = sum > 0 ? sqrt(squares) / sum : 0;
}

/* ---- one deviating run ----------------------------------------------------
 */

static msim_ps deviated(const struct msim_ratio_side *s,
                        const struct msim_deviations *d, uint32_t task,
                        unsigned what, bool high)
{
    const struct msim_costs *c = s->costs;
    msim_ps mid = c->mid[task];
    double by = (double)((high ? c->high[task] : c->low[task]) - mid);
    uint32_t family = 1u << c->made_by[task];

    if (what == MSIM_DEVIATE_GPU)
        by = s->outcome->graph->kind[task] == MSIM_TASK_KERNEL
                 ? (double)mid * (high ? c->machine.slower - 1
                                       : 1 / c->machine.faster - 1)
                 : 0;
    else if (what == MSIM_DEVIATE_OTHERS)
        by *= d->others & family ? d->share : 0;
    else if (c->made_by[task] != what)
        by = 0;
    if (by >= (double)(MSIM_RUN_MAX - mid))
        return MSIM_RUN_MAX;
    mid += (msim_ps)llround(by);
    return mid > 0 ? mid : 0;
}

static enum msim_status simulate(const struct msim_ratio_side *s,
                                 const msim_ps *dur, struct msim_times *times,
                                 struct msim_error *err)
{
    struct msim_scenario scenario = {.dur = dur, .removed = s->costs->removed};
    struct msim_engine *e;
    enum msim_status status;

    memcpy(scenario.lag, s->costs->lag, sizeof(scenario.lag));
    MSIM_TRY(msim_engine_new(&e, s->outcome->graph));
    status = msim_engine_simulate(e, &scenario, times, err);
    msim_engine_free(e);
    return status;
}

enum msim_status msim_period_deviating(const struct msim_ratio_side *side,
                                       const struct msim_deviations *d,
                                       unsigned what, bool high, double *us,
                                       struct msim_error *err)
{
    size_t n = (size_t)side->outcome->graph->n_tasks + 1;
    struct msim_times times = {.start = malloc(n * sizeof(*times.start)),
                               .dur = malloc(n * sizeof(*times.dur))};
    msim_ps *dur = malloc(n * sizeof(*dur));
    struct msim_outcome o = *side->outcome;
    enum msim_status status = MSIM_ENOMEM;

    if (times.start && times.dur && dur) {
        for (uint32_t t = 0; t + 1 < n; t++)
            dur[t] = deviated(side, d, t, what, high);
        status = simulate(side, dur, &times, err);
        o.mid.start = times.start;
        o.mid.dur = times.dur;
    }
    if (status == MSIM_OK)
        status = msim_period_find(&o, side->iteration, NULL, us);
    free(times.start);
    free(times.dur);
    free(dur);
    return status;
}

/* ---- the ratio ------------------------------------------------------------
 */

struct parts {
    double ratio, down, up; /* sums of squares */
};

/* What one deviation moves the ratio by; the further end counts, once. */
static enum msim_status add_part(struct parts *p,
                                 const struct msim_ratio_side *base,
                                 const struct msim_ratio_side *changed,
                                 const struct msim_deviations *d, unsigned what,
                                 struct msim_error *err)
{
    double down = 0, up = 0, a, b;

    for (int high = 0; high < 2; high++) {
        MSIM_TRY(msim_period_deviating(base, d, what, high, &a, err));
        MSIM_TRY(msim_period_deviating(changed, d, what, high, &b, err));
        down = fmax(down, p->ratio - b / a);
        up = fmax(up, b / a - p->ratio);
    }
    p->down += down * down;
    p->up += up * up;
    return MSIM_OK;
}

enum msim_status msim_ratio_find(const struct msim_ratio_side *base,
                                 const struct msim_ratio_side *changed,
                                 struct msim_figure *ratio,
                                 struct msim_error *err)
{
    const struct msim_ratio_side *const sides[] = {base, changed};
    struct msim_deviations d;
    struct parts p = {0, 0, 0};
    double a, b;

    if (base->exact && changed->exact) {
        a = changed->period_us / base->period_us;
        *ratio = (struct msim_figure){a, a, a, (double)NAN};
        return MSIM_OK;
    }
    MSIM_TRY(msim_period_find(base->outcome, base->iteration, NULL, &a));
    MSIM_TRY(msim_period_find(changed->outcome, changed->iteration, NULL, &b));
    p.ratio = b / a;
    msim_deviations_choose(&d, sides, 2);
    for (unsigned f = 0; f < MSIM_MADE_BY_MAX; f++)
        if (d.separate & 1u << f)
            MSIM_TRY(add_part(&p, base, changed, &d, f, err));
    if (d.others)
        MSIM_TRY(add_part(&p, base, changed, &d, MSIM_DEVIATE_OTHERS, err));
    if (d.gpu)
        MSIM_TRY(add_part(&p, base, changed, &d, MSIM_DEVIATE_GPU, err));
    *ratio = (struct msim_figure){p.ratio, fmax(p.ratio - sqrt(p.down), 0),
                                  p.ratio + sqrt(p.up), (double)NAN};
    return MSIM_OK;
}
