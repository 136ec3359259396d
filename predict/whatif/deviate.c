/*
 * predict/whatif/deviate.c - the period of a job while one thing deviates.
 */
#include "predict/whatif/deviate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_WHAT (MSIM_DEVIATE_OTHERS + 1)

struct msim_deviating {
    struct msim_ratio_side side;
    struct msim_engine *engine; /* from the first simulation on */
    struct msim_period_finder *finder;
    msim_ps *dur;
    struct msim_times times;
    double middle_us;     /* NaN: not asked for yet */
    double us[N_WHAT][2]; /* likewise; low, high */
    uint32_t others[2];   /* families of us[OTHERS] */
    double others_share[2];
};

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
    for (int n = 0; n < MSIM_DEVIATE_SEPARATE; n++)
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

static bool deviates(const struct msim_deviating *x,
                     const struct msim_deviations *d, uint32_t task,
                     unsigned what)
{
    const struct msim_ratio_side *s = &x->side;

    if (what == MSIM_DEVIATE_GPU)
        return s->outcome->graph->kind[task] == MSIM_TASK_KERNEL;
    if (what == MSIM_DEVIATE_OTHERS)
        return d->others & 1u << s->costs->made_by[task];
    return s->costs->made_by[task] == what;
}

static msim_ps deviated(const struct msim_costs *c,
                        const struct msim_deviations *d, uint32_t task,
                        unsigned what, bool high)
{
    msim_ps mid = c->mid[task], end = high ? c->high[task] : c->low[task];
    double by = (double)(end - mid);

    if (what < MSIM_MADE_BY_MAX)
        return end < 0 ? 0 : end < MSIM_RUN_MAX ? end : MSIM_RUN_MAX;
    if (what == MSIM_DEVIATE_GPU)
        by = (double)mid *
             (high ? c->machine.slower - 1 : 1 / c->machine.faster - 1);
    else if (what == MSIM_DEVIATE_OTHERS)
        by *= d->share;
    if (by >= (double)(MSIM_RUN_MAX - mid))
        return MSIM_RUN_MAX;
    mid += (msim_ps)llround(by);
    return mid > 0 ? mid : 0;
}

/* Does any duration differ from its middle one? */
static bool set_durations(struct msim_deviating *x,
                          const struct msim_deviations *d, unsigned what,
                          bool high)
{
    const struct msim_costs *c = x->side.costs;
    uint32_t n = x->side.outcome->graph->n_tasks;
    bool differs = false;

    memcpy(x->dur, c->mid, n * sizeof(*x->dur));
    for (uint32_t t = 0; t < n; t++)
        if (deviates(x, d, t, what)) {
            x->dur[t] = deviated(c, d, t, what, high);
            differs |= x->dur[t] != c->mid[t];
        }
    return differs;
}

static enum msim_status simulate(struct msim_deviating *x,
                                 struct msim_error *err)
{
    const struct msim_costs *c = x->side.costs;
    struct msim_scenario scenario = {.dur = x->dur, .removed = c->removed};

    memcpy(scenario.lag, c->lag, sizeof(scenario.lag));
    if (!x->engine)
        MSIM_TRY(msim_engine_new(&x->engine, x->side.outcome->graph));
    return msim_engine_simulate(x->engine, &scenario, &x->times, err);
}

/* ---- periods --------------------------------------------------------------
 */

enum msim_status msim_deviating_new(struct msim_deviating **out,
                                    const struct msim_ratio_side *side)
{
    size_t n = (size_t)side->outcome->graph->n_tasks + 1;
    struct msim_deviating *x = calloc(1, sizeof(*x));

    *out = NULL;
    if (!x)
        return MSIM_ENOMEM;
    x->side = *side;
    x->middle_us = (double)NAN;
    for (int what = 0; what < N_WHAT; what++)
        x->us[what][0] = x->us[what][1] = (double)NAN;
    x->dur = malloc(n * sizeof(*x->dur));
    x->times.start = malloc(n * sizeof(*x->times.start));
    x->times.dur = malloc(n * sizeof(*x->times.dur));
    if (!x->dur || !x->times.start || !x->times.dur ||
        msim_period_finder_new(&x->finder, side->outcome, side->iteration) !=
            MSIM_OK) {
        msim_deviating_free(x);
        return MSIM_ENOMEM;
    }
    *out = x;
    return MSIM_OK;
}

void msim_deviating_free(struct msim_deviating *x)
{
    if (!x)
        return;
    msim_engine_free(x->engine);
    msim_period_finder_free(x->finder);
    free(x->dur);
    free(x->times.start);
    free(x->times.dur);
    free(x);
}

const struct msim_ratio_side *
msim_deviating_side(const struct msim_deviating *x)
{
    return &x->side;
}

enum msim_status msim_deviating_middle(struct msim_deviating *x, double *us)
{
    if (isnan(x->middle_us))
        MSIM_TRY(msim_period_finder_find(x->finder, &x->side.outcome->mid,
                                         &x->middle_us));
    *us = x->middle_us;
    return MSIM_OK;
}

static enum msim_status find_period(struct msim_deviating *x,
                                    const struct msim_deviations *d,
                                    unsigned what, bool high, double *us,
                                    struct msim_error *err)
{
    struct msim_run run = x->side.outcome->mid;

    if (!set_durations(x, d, what, high))
        return msim_deviating_middle(x, us);
    MSIM_TRY(simulate(x, err));
    run.start = x->times.start;
    run.dur = x->times.dur;
    return msim_period_finder_find(x->finder, &run, us);
}

enum msim_status msim_deviating_period(struct msim_deviating *x,
                                       const struct msim_deviations *d,
                                       unsigned what, bool high, double *us,
                                       struct msim_error *err)
{
    double *known = &x->us[what][high];

    if (what == MSIM_DEVIATE_OTHERS &&
        (d->others != x->others[high] || d->share != x->others_share[high])) {
        *known = (double)NAN;
        x->others[high] = d->others;
        x->others_share[high] = d->share;
    }
    if (isnan(*known))
        MSIM_TRY(find_period(x, d, what, high, known, err));
    *us = *known;
    return MSIM_OK;
}
