/*
 * calibrate/fit/law_fit.c - the constants of a law from measured rows.
 */
#include "calibrate/fit/law_fit.h"

#include "core/base/quantile.h"
#include "core/work/kernel_fact.h"
#include "models/platform/platform_data.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIT_ROWS       1000
#define FIT_ITERATIONS 500
/* Short rows: their factor over the shortest, and the least share of them. */
#define SHORT       1.2
#define SHORT_SHARE 0.03
/* Weight of a constant's distance from its start, over the number of rows. */
#define PULL 0.3

struct problem {
    const struct msim_law *law;
    const struct msim_sample **rows;
    uint32_t n;
    bool has_gap;
    bool gap_shows; /* else it stays where it began */
};

static const struct msim_param GAP = {"launch_gap", "us", 30, 5, 70};
static const struct msim_param ADDED = {"launch_added", "us", 15, 0.5, 40};
#define GAP_PARAMS 2 /* those two, after the law's own */

double msim_law_measured(const struct msim_law_constants *c,
                         const struct msim_sample *r)
{
    double params[MSIM_LAW_PARAMS];

    memcpy(params, c->params, sizeof(params));
    if (r->start > 0)
        params[0] *= r->start;
    return msim_with_gap(r->law->time_us(r->sheet, &r->work, params),
                         r->gap.least_us > 0 ? r->gap : c->gap);
}

/* The constant of a logarithm, within bounds. Returns the penalty of the
 * objective: the distance outside, and a pull to the start, so that a constant
 * that the rows do not determine stays there. */
static double take(const struct msim_param *param, double log_value, uint32_t n,
                   double *value)
{
    double p = exp(log_value);
    double bounded = fmin(fmax(p, param->low), param->high);
    double moved = log(bounded / param->start);

    *value = bounded;
    return 0.1 * fabs(log(p / bounded)) + PULL / n * moved * moved;
}

static double take_gap(const struct problem *p, const gsl_vector *v,
                       struct msim_gap *gap)
{
    uint32_t first = p->law->n_params;
    double penalty =
        take(&GAP, gsl_vector_get(v, first), p->n, &gap->least_us) +
        take(&ADDED, gsl_vector_get(v, first + 1), p->n, &gap->added_us);

    if (!p->gap_shows)
        *gap = (struct msim_gap){GAP.start, ADDED.start};
    /* a launch takes at least what it adds */
    gap->added_us = fmin(gap->added_us, gap->least_us);
    return penalty;
}

static double constants(const struct problem *p, const gsl_vector *v,
                        struct msim_law_constants *c)
{
    double penalty = 0;

    c->gap = (struct msim_gap){0, 0};
    for (uint32_t i = 0; i < p->law->n_params; i++)
        penalty +=
            take(&p->law->params[i], gsl_vector_get(v, i), p->n, &c->params[i]);
    if (p->has_gap)
        penalty += take_gap(p, v, &c->gap);
    if (p->has_gap || p->rows[0]->gap.least_us > 0)
        c->params[0] = p->rows[0]->start > 0
                           ? MSIM_FACT(NULL, SHARED_LAW_FLOOR_US)
                           : p->rows[0]->sheet->floor_us;
    return penalty;
}

static double objective(const gsl_vector *v, void *data)
{
    const struct problem *p = data;
    struct msim_law_constants c;
    double sum = 0;
    double penalty = constants(p, v, &c);

    for (uint32_t i = 0; i < p->n; i++) {
        const struct msim_sample *r = p->rows[i];

        sum += fabs(log(r->us / msim_law_measured(&c, r)));
    }
    return sum / p->n + penalty;
}

static enum msim_status minimise(const struct problem *p,
                                 struct msim_law_constants *out)
{
    gsl_multimin_function f = {
        objective, p->law->n_params + (p->has_gap ? GAP_PARAMS : 0), (void *)p};
    gsl_vector *start = gsl_vector_alloc(f.n);
    gsl_vector *step = gsl_vector_alloc(f.n);
    gsl_multimin_fminimizer *m =
        gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, f.n);
    enum msim_status status = MSIM_ENOMEM;

    if (start && step && m) {
        for (uint32_t i = 0; i < p->law->n_params; i++)
            gsl_vector_set(start, i, log(p->law->params[i].start));
        if (p->has_gap) {
            gsl_vector_set(start, p->law->n_params, log(GAP.start));
            gsl_vector_set(start, p->law->n_params + 1, log(ADDED.start));
        }
        gsl_vector_set_all(step, 0.4);
        status = gsl_multimin_fminimizer_set(m, &f, start, step) == GSL_SUCCESS
                     ? MSIM_OK
                     : MSIM_EINTERNAL;
        for (int i = 0; status == MSIM_OK && i < FIT_ITERATIONS; i++) {
            if (gsl_multimin_fminimizer_iterate(m) != GSL_SUCCESS ||
                gsl_multimin_fminimizer_size(m) < 1e-4)
                break;
        }
        (void)constants(p, gsl_multimin_fminimizer_x(m), out);
    }
    if (m)
        gsl_multimin_fminimizer_free(m);
    if (start)
        gsl_vector_free(start);
    if (step)
        gsl_vector_free(step);
    return status;
}

/*
 * Rows that wait for the launch all take about the same time: many are as short
 * as the shortest. Where none do, the gap does not follow from the rows: it
 * would only fit them a little better, and spoil shorter ones on other GPUs.
 */
static enum msim_status look_for_gap(struct problem *p)
{
    double *us = malloc(((size_t)p->n + 1) * sizeof(*us));
    uint32_t n_short = 0;
    double shortest;

    if (!us)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < p->n; i++)
        us[i] = p->rows[i]->us;
    msim_sort_values(us, p->n);
    shortest = msim_quantile(us, p->n, 0.01);
    while (n_short < p->n && us[n_short] < SHORT * shortest)
        n_short++;
    p->gap_shows = shortest < GAP.high && n_short >= SHORT_SHARE * p->n;
    free(us);
    return MSIM_OK;
}

enum msim_status msim_law_fit(struct msim_law_constants *out,
                              const struct msim_law *law,
                              const struct msim_sample *rows,
                              const uint8_t *fold, uint32_t n, int held_out,
                              bool has_gap)
{
    struct problem p = {.law = law, .has_gap = has_gap};
    uint32_t usable = 0, seen = 0, step;
    enum msim_status status;

    for (uint32_t i = 0; i < n; i++)
        usable += fold[i] != held_out;
    step = (usable + FIT_ROWS - 1) / FIT_ROWS;
    p.rows = malloc(((size_t)usable + 1) * sizeof(*p.rows));
    if (!p.rows)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        if (fold[i] == held_out)
            continue;
        if (seen++ % step == 0)
            p.rows[p.n++] = &rows[i];
    }
    status = p.n > 0 ? look_for_gap(&p) : MSIM_EINTERNAL;
    if (status == MSIM_OK)
        status = minimise(&p, out);
    free(p.rows);
    return status;
}
