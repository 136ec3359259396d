/*
 * predict/whatif/deviate.c - the period of a job while one thing deviates.
 */
#include "predict/whatif/whatif.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_WHAT (MSIM_DEVIATE_OTHERS + 1)

/* What runs of one graph need, for one job at a time. */
struct workspace {
    struct msim_engine *engine;
    struct msim_period_finder *finder;
    const struct msim_deviating *of; /* whose middle durations `dur` holds */
    msim_ps *dur;
    bool lined;       /* the engine has those of tasks that share nothing */
    uint8_t *made_by; /* as costs.made_by of that job, */
    uint32_t *tasks;  /* by which these are sorted: from begin[family] on */
    uint32_t begin[MSIM_MADE_BY_MAX + 1];
};

struct msim_deviating {
    struct msim_ratio_side side;
    struct workspace *w;  /* NULL until a run is asked for */
    bool borrows;         /* it is another one's */
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

static bool deviates(const struct msim_deviations *d, unsigned family,
                     unsigned what)
{
    if (what == MSIM_DEVIATE_GPU)
        return true;
    return what == MSIM_DEVIATE_OTHERS
               ? family < MSIM_MADE_BY_MAX && d->others & 1u << family
               : family == what;
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

static bool shares(const struct msim_graph *g, uint32_t task)
{
    return g->sharing && g->sharing->of_task[task] != MSIM_NONE;
}

/* What differs from the middle durations. */
struct differences {
    bool any, alone; /* one of a task that shares nothing */
};

static void set_family(struct msim_deviating *x,
                       const struct msim_deviations *d, unsigned family,
                       unsigned what, bool high, struct differences *differ)
{
    const struct msim_costs *c = x->side.costs;
    const struct msim_graph *g = x->side.outcome->graph;
    struct workspace *w = x->w;

    for (uint32_t i = w->begin[family]; i < w->begin[family + 1]; i++) {
        uint32_t t = w->tasks[i];

        if (what == MSIM_DEVIATE_GPU && g->kind[t] != MSIM_TASK_KERNEL)
            continue;
        w->dur[t] = deviated(c, d, t, what, high);
        if (w->dur[t] != c->mid[t]) {
            differ->any = true;
            differ->alone |= !shares(g, t);
        }
    }
}

static struct differences set_durations(struct msim_deviating *x,
                                        const struct msim_deviations *d,
                                        unsigned what, bool high)
{
    struct differences differ = {false, false};

    for (unsigned f = 0; f < MSIM_MADE_BY_MAX; f++)
        if (deviates(d, f, what))
            set_family(x, d, f, what, high, &differ);
    return differ;
}

static void set_middle(struct msim_deviating *x,
                       const struct msim_deviations *d, unsigned what)
{
    struct workspace *w = x->w;

    for (unsigned f = 0; f < MSIM_MADE_BY_MAX; f++)
        for (uint32_t i = w->begin[f];
             deviates(d, f, what) && i < w->begin[f + 1]; i++)
            w->dur[w->tasks[i]] = x->side.costs->mid[w->tasks[i]];
}

static enum msim_status simulate(struct msim_deviating *x, bool anew,
                                 struct msim_laid *laid, struct msim_error *err)
{
    const struct msim_costs *c = x->side.costs;
    struct msim_scenario scenario = {.dur = x->w->dur, .removed = c->removed};

    memcpy(scenario.lag, c->lag, sizeof(scenario.lag));
    return msim_engine_lay(x->w->engine, &scenario, anew, laid, err);
}

/* ---- the workspace -------------------------------------------------------
 */

static void workspace_free(struct workspace *w)
{
    if (!w)
        return;
    msim_engine_free(w->engine);
    msim_period_finder_free(w->finder);
    free(w->dur);
    free(w->made_by);
    free(w->tasks);
    free(w);
}

static enum msim_status workspace_new(struct workspace **out,
                                      const struct msim_ratio_side *side)
{
    size_t n = (size_t)side->outcome->graph->n_tasks + 1;
    struct workspace *w = calloc(1, sizeof(*w));
    enum msim_status status = MSIM_ENOMEM;

    *out = NULL;
    if (w) {
        w->dur = malloc(n * sizeof(*w->dur));
        w->made_by = malloc(n);
        w->tasks = malloc(n * sizeof(*w->tasks));
    }
    if (w && w->dur && w->made_by && w->tasks)
        status = msim_engine_new(&w->engine, side->outcome->graph);
    if (status == MSIM_OK)
        status =
            msim_period_finder_new(&w->finder, side->outcome, side->iteration);
    if (status == MSIM_OK)
        *out = w;
    else
        workspace_free(w);
    return status;
}

static void sort_tasks(struct workspace *w, uint32_t n)
{
    uint32_t next[MSIM_MADE_BY_MAX];

    memset(w->begin, 0, sizeof(w->begin));
    for (uint32_t t = 0; t < n; t++)
        w->begin[w->made_by[t] + 1]++;
    for (unsigned f = 0; f < MSIM_MADE_BY_MAX; f++) {
        next[f] = w->begin[f];
        w->begin[f + 1] += w->begin[f];
    }
    for (uint32_t t = 0; t < n; t++)
        w->tasks[next[w->made_by[t]]++] = t;
}

/* It is this job's from now on. */
static enum msim_status take_workspace(struct msim_deviating *x)
{
    const struct msim_costs *c = x->side.costs;
    uint32_t n = x->side.outcome->graph->n_tasks;
    struct workspace *w;

    if (!x->w)
        MSIM_TRY(workspace_new(&x->w, &x->side));
    w = x->w;
    if (w->of == x)
        return MSIM_OK;
    memcpy(w->dur, c->mid, n * sizeof(*w->dur));
    if (!w->begin[MSIM_MADE_BY_MAX] || memcmp(w->made_by, c->made_by, n)) {
        memcpy(w->made_by, c->made_by, n);
        sort_tasks(w, n);
    }
    w->of = x;
    w->lined = false;
    return MSIM_OK;
}

/* ---- periods --------------------------------------------------------------
 */

enum msim_status msim_deviating_new(struct msim_deviating **out,
                                    const struct msim_ratio_side *side,
                                    struct msim_deviating *beside)
{
    struct msim_deviating *x = calloc(1, sizeof(*x));

    *out = NULL;
    if (!x)
        return MSIM_ENOMEM;
    x->side = *side;
    x->middle_us = (double)NAN;
    for (int what = 0; what < N_WHAT; what++)
        x->us[what][0] = x->us[what][1] = (double)NAN;
    if (beside && beside->side.outcome->graph == side->outcome->graph &&
        beside->side.iteration == side->iteration) {
        if (!beside->w && workspace_new(&beside->w, &beside->side) != MSIM_OK) {
            free(x);
            return MSIM_ENOMEM;
        }
        x->w = beside->w;
        x->borrows = true;
    }
    *out = x;
    return MSIM_OK;
}

void msim_deviating_free(struct msim_deviating *x)
{
    if (!x)
        return;
    if (x->borrows && x->w->of == x)
        x->w->of = NULL;
    if (!x->borrows)
        workspace_free(x->w);
    free(x);
}

const struct msim_ratio_side *
msim_deviating_side(const struct msim_deviating *x)
{
    return &x->side;
}

enum msim_status msim_deviating_middle(struct msim_deviating *x, double *us)
{
    if (isnan(x->middle_us)) {
        MSIM_TRY(take_workspace(x));
        MSIM_TRY(msim_period_finder_find(x->w->finder, &x->side.outcome->mid,
                                         &x->middle_us));
    }
    *us = x->middle_us;
    return MSIM_OK;
}

static enum msim_status find_period(struct msim_deviating *x,
                                    const struct msim_deviations *d,
                                    unsigned what, bool high, double *us,
                                    struct msim_error *err)
{
    struct msim_run run = x->side.outcome->mid;
    struct differences differ;
    struct msim_laid laid;
    enum msim_status status;

    MSIM_TRY(take_workspace(x));
    differ = set_durations(x, d, what, high);
    if (!differ.any)
        return msim_deviating_middle(x, us);
    status = simulate(x, differ.alone || !x->w->lined, &laid, err);
    x->w->lined = status == MSIM_OK && !differ.alone;
    set_middle(x, d, what);
    MSIM_TRY(status);
    run.start = run.dur = NULL;
    run.laid = &laid;
    return msim_period_finder_find(x->w->finder, &run, us);
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
