/*
 * calibrate/factors/factor_fit.c - a robust fit of one factor a kind of work,
 * by GSL's BFGS.
 */
#include "calibrate/factors/factor_fit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FOLDS      MSIM_PROGRAM_FOLDS
#define NO_FOLD    FOLDS
#define ITERATIONS 500
/* Scale of the Cauchy loss of a group's logarithm, log(1 + (error / NEAR)^2): a
 * program far off, which ran other kernels than the law is of, hardly moves the
 * others. A factor is pulled to 1 by (log / FAR)^2. A kind with less than SEEN
 * of all time is left at 1. */
#define NEAR 0.2
#define FAR  0.4
#define SEEN 0.01

struct group {
    double weight; /* of each of its rows */
    uint32_t rows, fold;
};

struct factor_problem {
    const struct msim_program_sums *s;
    struct group *groups;
    uint32_t platform, fixed;
    uint32_t without; /* the fold that is held out */
    int kinds[MSIM_FACTOR_COUNT];
    size_t n_kinds;
};

static double predicted(const struct msim_program_sum *row,
                        const double time[MSIM_FACTOR_COUNT])
{
    double us = row->other;

    for (int k = 0; k < MSIM_FACTOR_COUNT; k++)
        us += row->kind[k] * time[k];
    return us;
}

static bool counts(const struct factor_problem *p,
                   const struct msim_program_sum *row)
{
    return row->platform == p->platform &&
           p->groups[row->group].fold != p->without;
}

static void take(const struct factor_problem *p, const gsl_vector *v,
                 double time[MSIM_FACTOR_COUNT])
{
    for (int k = 0; k < MSIM_FACTOR_COUNT; k++)
        time[k] = 1;
    for (size_t i = 0; i < p->n_kinds; i++)
        time[p->kinds[i]] = exp(gsl_vector_get(v, i));
}

/* The objective and, unless NULL, its gradient. */
static double value(const struct factor_problem *p, const gsl_vector *v,
                    gsl_vector *gradient)
{
    double time[MSIM_FACTOR_COUNT], sum = 0;

    take(p, v, time);
    for (size_t i = 0; i < p->n_kinds; i++) {
        double x = gsl_vector_get(v, i) / FAR;

        sum += x * x;
        if (gradient)
            gsl_vector_set(gradient, i, 2 * x / FAR);
    }
    for (uint32_t r = 0; r < p->s->n; r++) {
        const struct msim_program_sum *row = &p->s->rows[r];
        double us, error, weight;

        if (!counts(p, row))
            continue;
        us = predicted(row, time);
        error = log(us / row->us) / NEAR;
        weight = p->groups[row->group].weight;
        sum += weight * log1p(error * error);
        for (size_t i = 0; gradient && i < p->n_kinds; i++)
            *gsl_vector_ptr(gradient, i) +=
                weight * 2 * error / (1 + error * error) / NEAR *
                row->kind[p->kinds[i]] * time[p->kinds[i]] / us;
    }
    return sum;
}

static double objective(const gsl_vector *v, void *data)
{
    return value(data, v, NULL);
}

static void gradient(const gsl_vector *v, void *data, gsl_vector *g)
{
    (void)value(data, v, g);
}

static void both(const gsl_vector *v, void *data, double *f, gsl_vector *g)
{
    *f = value(data, v, g);
}

static enum msim_status search(struct factor_problem *p,
                               double time[MSIM_FACTOR_COUNT])
{
    gsl_multimin_function_fdf f = {objective, gradient, both, p->n_kinds, p};
    gsl_vector *start = gsl_vector_calloc(f.n);
    gsl_multimin_fdfminimizer *m = gsl_multimin_fdfminimizer_alloc(
        gsl_multimin_fdfminimizer_vector_bfgs2, f.n);
    enum msim_status status = start && m ? MSIM_OK : MSIM_ENOMEM;

    if (status == MSIM_OK &&
        gsl_multimin_fdfminimizer_set(m, &f, start, 0.1, 0.1) != GSL_SUCCESS)
        status = MSIM_EINTERNAL;
    /* the search ends where it finds nothing better */
    for (int i = 0; status == MSIM_OK && i < ITERATIONS; i++)
        if (gsl_multimin_fdfminimizer_iterate(m) != GSL_SUCCESS)
            break;
    if (status == MSIM_OK)
        take(p, gsl_multimin_fdfminimizer_x(m), time);
    if (m)
        gsl_multimin_fdfminimizer_free(m);
    if (start)
        gsl_vector_free(start);
    return status;
}

/* Mean error over groups; of fold `fold` alone unless NO_FOLD. */
static double error_sum(const struct factor_problem *p,
                        const double time[MSIM_FACTOR_COUNT], uint32_t fold)
{
    double sum = 0;

    for (uint32_t i = 0; i < p->s->n; i++) {
        const struct msim_program_sum *row = &p->s->rows[i];
        const struct group *g = &p->groups[row->group];

        if (row->platform == p->platform &&
            (fold == NO_FOLD || g->fold == fold))
            sum += g->weight * fabs(predicted(row, time) / row->us - 1);
    }
    return sum;
}

static void prepare(struct factor_problem *p, struct msim_factor_fit *out)
{
    double all = 0;

    for (uint32_t i = 0; i < p->s->n; i++) {
        const struct msim_program_sum *row = &p->s->rows[i];
        struct group *g = &p->groups[row->group];
        double us = predicted(row, (double[MSIM_FACTOR_COUNT]){0});

        if (row->platform != p->platform)
            continue;
        g->fold = row->fold;
        out->groups += g->rows++ == 0;
        out->rows++;
        for (int k = 0; k < MSIM_FACTOR_COUNT; k++)
            us += row->kind[k];
        /* as a share, so that a long program counts like a short one */
        for (int k = 0; k < MSIM_FACTOR_COUNT; k++)
            out->share[k] += row->kind[k] / us;
        all++;
    }
    for (int k = 0; k < MSIM_FACTOR_COUNT; k++) {
        out->share[k] /= fmax(all, 1);
        if (out->share[k] >= SEEN && !(p->fixed >> k & 1))
            p->kinds[p->n_kinds++] = k;
        else
            out->share[k] = 0;
    }
    for (uint32_t i = 0; i < p->s->groups.n; i++)
        p->groups[i].weight = p->groups[i].rows ? 1.0 / p->groups[i].rows : 0;
}

static enum msim_status fit(struct factor_problem *p,
                            struct msim_factor_fit *out)
{
    for (int k = 0; k < MSIM_FACTOR_COUNT; k++) {
        out->time[k] = 1;
        for (uint32_t fold = 0; fold < FOLDS; fold++)
            out->without[fold][k] = 1;
    }
    if (p->n_kinds == 0)
        return MSIM_OK;
    out->error_laws = error_sum(p, out->time, NO_FOLD) / out->groups;
    for (uint32_t fold = 0; fold < FOLDS; fold++) {
        p->without = fold;
        MSIM_TRY(search(p, out->without[fold]));
        out->error_held_out +=
            error_sum(p, out->without[fold], fold) / out->groups;
    }
    p->without = NO_FOLD;
    MSIM_TRY(search(p, out->time));
    out->error_fitted = error_sum(p, out->time, NO_FOLD) / out->groups;
    return MSIM_OK;
}

enum msim_status msim_factor_fit_make(struct msim_factor_fit *out,
                                      const struct msim_program_sums *s,
                                      uint32_t platform, uint32_t fixed)
{
    struct factor_problem p = {.s = s, .platform = platform, .fixed = fixed};
    enum msim_status status;

    memset(out, 0, sizeof(*out));
    p.groups = calloc((size_t)s->groups.n + 1, sizeof(*p.groups));
    if (!p.groups)
        return MSIM_ENOMEM;
    prepare(&p, out);
    status = fit(&p, out);
    free(p.groups);
    return status;
}
