/*
 * calibrate/steps/steps_interval.c - quantiles of residuals.
 */
#include "calibrate/steps/steps_fit.h"

#include "core/base/containers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN 0.693 /* log 2 */
#define MODELS  256   /* that are told apart, at most */

struct weighted {
    double value, weight;
    uint32_t group; /* whose rows count as one: a model, or a source */
};

static int by_value(const void *a, const void *b)
{
    double x = ((const struct weighted *)a)->value,
           y = ((const struct weighted *)b)->value;

    return MSIM_ORDER(x, y);
}

static double quantile(const struct weighted *sorted, uint32_t n, double q)
{
    double all = 0, sum = 0;
    uint32_t i = 0;

    for (uint32_t j = 0; j < n; j++)
        all += sorted[j].weight;
    while (i + 1 < n && sum + sorted[i].weight < q * all)
        sum += sorted[i++].weight;
    return sorted[i].value;
}

static bool is_same_model(const struct msim_step_samples *s, uint32_t a,
                          uint32_t b)
{
    return s->rows[a].source == s->rows[b].source &&
           strcmp(s->rows[a].model, s->rows[b].model) == 0;
}

/* Where residuals of a class come from, the first that has any. */
enum origin { OF_CLASS, OF_PROGRAM, OF_SOURCES, ORIGINS };

static int program_of(int class)
{
    return class / 2;
}

static bool counts(const struct msim_left_over *o, enum origin from, int class,
                   uint32_t without)
{
    switch (from) {
    case OF_CLASS:
    case OF_PROGRAM:
        return !o->whole && o->without == MSIM_NO_SOURCE &&
               o->source != without &&
               (from == OF_CLASS
                    ? (int)o->class == class
                    : program_of((int)o->class) == program_of(class));
    default:
        return o->whole && o->without == without &&
               program_of(class) != program_of(MSIM_STEP_CLASS_EXPERTS) &&
               program_of((int)o->class) != program_of(MSIM_STEP_CLASS_EXPERTS);
    }
}

/* Groups count alike. */
static void weigh(struct weighted *w, uint32_t n)
{
    double count[MODELS] = {0};

    for (uint32_t i = 0; i < n; i++)
        count[w[i].group]++;
    for (uint32_t i = 0; i < n; i++)
        w[i].weight = 1 / count[w[i].group];
}

/* The models of rows, numbered. */
struct models {
    uint32_t first[MODELS]; /* a row of each */
    uint32_t n;
};

static uint32_t model_of(struct models *m, const struct msim_step_samples *s,
                         uint32_t row)
{
    uint32_t i = 0;

    while (i < m->n && !is_same_model(s, m->first[i], row))
        i++;
    if (i == m->n && i < MODELS)
        m->first[m->n++] = row;
    return i < MODELS ? i : MODELS - 1;
}

struct task {
    const struct msim_left_overs *l;
    const struct msim_step_samples *s;
    uint32_t without, judged;
    struct models models;
    struct weighted *w;
};

/* The residuals that count; how many. */
static uint32_t gather(struct task *k, enum origin from, int class)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < k->l->n; i++) {
        const struct msim_left_over *o = &k->l->of[i];
        bool whole = from == OF_SOURCES;

        if (!counts(o, from, class, k->without) ||
            (k->judged != UINT32_MAX && is_same_model(k->s, o->row, k->judged)))
            continue;
        k->w[n++] = (struct weighted){
            .value = whole ? o->residual : fabs(o->residual),
            .group = whole ? o->source : model_of(&k->models, k->s, o->row)};
    }
    weigh(k->w, n);
    qsort(k->w, n, sizeof(*k->w), by_value);
    return n;
}

static bool is_unlike(int class)
{
    return class % 2 == 1;
}

/* As far as sources were off that were held out as a whole: nothing tells that
 * a job unlike all rows is not of one more of them. */
static void widen_to_sources(struct msim_step_interval *out, struct task *k,
                             int class)
{
    uint32_t n = gather(k, OF_SOURCES, class);

    if (n == 0)
        return;
    out->low[class] = fmax(out->low[class], -quantile(k->w, n, 0.05));
    out->high[class] = fmax(out->high[class], quantile(k->w, n, 0.95));
}

static void of_class(struct msim_step_interval *out, struct task *k, int class)
{
    uint32_t n = 0;
    int from = OF_CLASS;

    out->low[class] = out->high[class] = 0;
    while (from < ORIGINS && (n = gather(k, (enum origin)from, class)) == 0)
        from++;
    out->rows[class] = n;
    if (n == 0) {
        out->low[class] = out->high[class] = UNKNOWN;
    } else if (from == OF_SOURCES) {
        widen_to_sources(out, k, class);
    } else {
        out->low[class] = out->high[class] =
            quantile(k->w, n, fmin(0.9 * (1 + 1.0 / n), 1));
        if (is_unlike(class))
            widen_to_sources(out, k, class);
    }
}

enum msim_status msim_step_interval_of(struct msim_step_interval *out,
                                       const struct msim_left_overs *l,
                                       const struct msim_step_samples *s,
                                       uint32_t without, uint32_t judged)
{
    struct task k = {.l = l, .s = s, .without = without, .judged = judged};

    k.w = calloc((size_t)l->n + 1, sizeof(*k.w));
    if (!k.w)
        return MSIM_ENOMEM;
    for (int class = 0; class < MSIM_STEP_CLASSES; class ++)
        of_class(out, &k, class);
    free(k.w);
    return MSIM_OK;
}
