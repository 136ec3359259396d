/*
 * calibrate/steps/search.c - Levenberg-Marquardt on reweighted rows.
 */
#include "calibrate/steps/steps_fit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS    80
#define TRIES     8    /* of a round, with shorter and shorter steps */
#define SMALL     0.01 /* below it a deviation counts as its square */
#define STEP      0.01 /* of a slope */
#define LONGEST   0.7  /* that a constant's logarithm moves in a round */
#define ENOUGH    1e-6 /* a round that brings less is the last */
#define CONSTANTS 64   /* at most */
#define NUDGES    20   /* rounds over all constants, one by one */
#define WIDEST    0.4  /* of such a move */

struct state {
    const struct msim_search *s;
    double start[CONSTANTS], x[CONSTANTS], next[CONSTANTS]; /* logarithms */
    double *residual, *moved;                               /* a row each */
    double *slope;                                          /* rows x n */
    double lambda; /* how much shorter than Gauss-Newton's a step is */
    gsl_matrix *normal, *damped;
    gsl_vector *gradient, *step;
};

static void evaluate(const struct state *k, double *out, const double *x)
{
    double at[CONSTANTS];

    for (uint32_t i = 0; i < k->s->n; i++)
        at[i] = exp(x[i]);
    k->s->residuals(out, at, k->s->context);
}

static double badness(const struct state *k, const double *residual,
                      const double *x)
{
    double sum = 0;

    for (uint32_t i = 0; i < k->s->rows; i++)
        sum += k->s->weight[i] * fmin(fabs(residual[i]), k->s->most);
    for (uint32_t i = 0; i < k->s->n; i++)
        sum += k->s->ridge * (x[i] - k->start[i]) * (x[i] - k->start[i]);
    return sum;
}

static void slopes(struct state *k)
{
    for (uint32_t i = 0; i < k->s->n; i++) {
        k->x[i] += STEP;
        evaluate(k, k->moved, k->x);
        k->x[i] -= STEP;
        for (uint32_t j = 0; j < k->s->rows; j++)
            k->slope[j * k->s->n + i] = (k->moved[j] - k->residual[j]) / STEP;
    }
}

/* A row's square has the weight that makes it its absolute value. */
static double square_weight(const struct state *k, uint32_t row)
{
    double r = k->residual[row];

    return fabs(r) < k->s->most
               ? k->s->weight[row] / (2 * sqrt(r * r + SMALL * SMALL))
               : 0;
}

static void add_row(struct state *k, const double *slope, double weight,
                    double residual)
{
    for (uint32_t a = 0; a < k->s->n; a++) {
        *gsl_vector_ptr(k->gradient, a) -= weight * slope[a] * residual;
        for (uint32_t b = 0; b < k->s->n; b++)
            *gsl_matrix_ptr(k->normal, a, b) += weight * slope[a] * slope[b];
    }
}

static void normal_equations(struct state *k)
{
    gsl_matrix_set_zero(k->normal);
    gsl_vector_set_zero(k->gradient);
    for (uint32_t j = 0; j < k->s->rows; j++) {
        double w = square_weight(k, j);

        if (w > 0)
            add_row(k, &k->slope[j * k->s->n], w, k->residual[j]);
    }
    for (uint32_t i = 0; i < k->s->n; i++) {
        *gsl_matrix_ptr(k->normal, i, i) += k->s->ridge;
        *gsl_vector_ptr(k->gradient, i) -=
            k->s->ridge * (k->x[i] - k->start[i]);
    }
}

/* Where a step of this length leads: its badness; residuals in `moved`. */
static double try_step(struct state *k)
{
    gsl_matrix_memcpy(k->damped, k->normal);
    for (uint32_t i = 0; i < k->s->n; i++)
        *gsl_matrix_ptr(k->damped, i, i) *= 1 + k->lambda;
    if (gsl_linalg_cholesky_decomp1(k->damped) != GSL_SUCCESS ||
        gsl_linalg_cholesky_solve(k->damped, k->gradient, k->step) !=
            GSL_SUCCESS)
        return INFINITY;
    for (uint32_t i = 0; i < k->s->n; i++)
        k->next[i] =
            k->x[i] + fmin(fmax(gsl_vector_get(k->step, i), -LONGEST), LONGEST);
    evaluate(k, k->moved, k->next);
    return badness(k, k->moved, k->next);
}

/* Whether a round brought anything; `*now` is the badness. */
static bool go_round(struct state *k, double *now)
{
    double was = *now;

    slopes(k);
    normal_equations(k);
    for (int i = 0; i < TRIES; i++, k->lambda *= 4) {
        *now = try_step(k);
        if (*now < was) {
            memcpy(k->x, k->next, sizeof(k->x));
            memcpy(k->residual, k->moved, k->s->rows * sizeof(double));
            k->lambda = fmax(k->lambda / 5, 1e-6);
            return was - *now > ENOUGH;
        }
    }
    *now = was;
    return false;
}

/* One constant by one width, either way; whether it brought anything. */
static bool nudge(struct state *k, uint32_t which, double width, double *now)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        double was = k->x[which], then;

        k->x[which] = was + sign * width;
        evaluate(k, k->moved, k->x);
        then = badness(k, k->moved, k->x);
        if (then < *now) {
            *now = then;
            return true;
        }
        k->x[which] = was;
    }
    return false;
}

/* Where laws have kinks, slopes lead nowhere and one constant may still. */
static void polish(struct state *k, double now)
{
    double width = WIDEST;

    for (int i = 0; i < NUDGES && width > SMALL / 4; i++) {
        bool any = false;

        for (uint32_t c = 0; c < k->s->n; c++)
            any |= nudge(k, c, width, &now);
        width *= any ? 1 : 0.5;
    }
}

static bool allocate(struct state *k)
{
    size_t rows = k->s->rows + 1, n = k->s->n;

    k->residual = calloc(rows, sizeof(double));
    k->moved = calloc(rows, sizeof(double));
    k->slope = calloc(rows * n, sizeof(double));
    k->normal = gsl_matrix_alloc(n, n);
    k->damped = gsl_matrix_alloc(n, n);
    k->gradient = gsl_vector_alloc(n);
    k->step = gsl_vector_alloc(n);
    return k->residual && k->moved && k->slope && k->normal && k->damped &&
           k->gradient && k->step;
}

static void release(struct state *k)
{
    free(k->residual);
    free(k->moved);
    free(k->slope);
    gsl_matrix_free(k->normal);
    gsl_matrix_free(k->damped);
    gsl_vector_free(k->gradient);
    gsl_vector_free(k->step);
}

void msim_search_run(const struct msim_search *s)
{
    struct state k = {.s = s, .lambda = 0.01};
    bool is_there;
    double now;

    if (s->n == 0 || s->n > CONSTANTS)
        return;
    gsl_set_error_handler_off();
    is_there = allocate(&k);
    for (uint32_t i = 0; is_there && i < s->n; i++)
        k.start[i] = k.x[i] = log(s->at[i]);
    if (is_there) {
        evaluate(&k, k.residual, k.x);
        now = badness(&k, k.residual, k.x);
        for (int i = 0; i < ROUNDS && go_round(&k, &now); i++)
            continue;
        polish(&k, now);
        for (uint32_t i = 0; i < s->n; i++)
            s->at[i] = exp(k.x[i]);
    }
    release(&k);
}
