/*
 * calibrate/collective/coll_likelihood.c - the covariance's constants of
 * greatest likelihood.
 */
#include "calibrate/collective/coll_covariance.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* Of the logarithms and logits that the simplex moves in. */
#define FIRST_STEP  0.3
#define STEP_ENOUGH 1e-3
/* The objective where a covariance is not positive definite. */
#define IMPOSSIBLE 1e100

/* Where a constant is in a component. */
static const struct {
    size_t offset;
    bool is_correlation; /* moves as a logit; else as a logarithm */
} PARAMS[] = {
    {offsetof(struct msim_coll_component, log_sd), false},
    {offsetof(struct msim_coll_component, size), false},
    {offsetof(struct msim_coll_component, ranks), false},
    {offsetof(struct msim_coll_component, nodes), false},
    {offsetof(struct msim_coll_component, gpu), true},
    {offsetof(struct msim_coll_component, generation), true},
    {offsetof(struct msim_coll_component, source), true},
    {offsetof(struct msim_coll_component, stack), true},
    {offsetof(struct msim_coll_component, mode), true},
    {offsetof(struct msim_coll_component, collective), true},
};
#define PARAMS_MAX (sizeof(PARAMS) / sizeof(*PARAMS))

struct problem {
    const struct msim_coll_block *b;
    struct msim_coll_process process; /* of the one component */
    double *rest;                     /* covariances of the others */
    double *k, *y;
    double usual; /* noise that the block's was made with */
    uint32_t moved[PARAMS_MAX], n_moved; /* of PARAMS, those that matter */
};

static const struct msim_coll_point *member(const struct msim_coll_block *b,
                                            uint32_t i)
{
    return &b->all->points[b->members[i]];
}

/* The lower triangle of the covariances by `p`, added to `base` (may be NULL),
 * without noise. */
static void fill(double *k, const double *base, const struct msim_coll_block *b,
                 const struct msim_coll_process *p)
{
    for (uint32_t i = 0; i < b->n; i++)
        for (uint32_t j = 0; j <= i; j++) {
            size_t at = (size_t)i * b->n + j;

            k[at] = (base ? base[at] : 0) +
                    msim_coll_covariance(p, b->all, member(b, i), member(b, j));
        }
}

/* ---- constants as a vector ----------------------------------------------- */

static double *value_of(struct msim_coll_process *p, uint32_t param)
{
    return (double *)((char *)&p->components[0] + PARAMS[param].offset);
}

/* Whether any covariance of the block's members depends on a constant. */
static bool matters(const struct problem *p, uint32_t param)
{
    struct msim_coll_process other = p->process;
    const struct msim_coll_block *b = p->b;

    *value_of(&other, param) /= 2;
    for (uint32_t i = 0; i < b->n; i++)
        for (uint32_t j = 0; j <= i; j++) {
            const struct msim_coll_point *x = member(b, i), *y = member(b, j);
            double was = msim_coll_covariance(&p->process, b->all, x, y);
            double is = msim_coll_covariance(&other, b->all, x, y);

            if (was < is || was > is)
                return true;
        }
    return false;
}

static void find_moved(struct problem *p)
{
    for (uint32_t i = 0; i < PARAMS_MAX; i++)
        if (matters(p, i))
            p->moved[p->n_moved++] = i;
}

/* Constants to numbers without bounds, the noise first. */
static void to_vector(struct problem *p, gsl_vector *v)
{
    gsl_vector_set(v, 0, log(p->process.noise));
    for (uint32_t i = 0; i < p->n_moved; i++) {
        double x = *value_of(&p->process, p->moved[i]);

        if (PARAMS[p->moved[i]].is_correlation) {
            x = fmin(x, 1 - 1e-6); /* the logit of 1 is infinite */
            gsl_vector_set(v, i + 1, log(x) - log1p(-x));
        } else {
            gsl_vector_set(v, i + 1, log(x));
        }
    }
}

static void from_vector(struct problem *p, const gsl_vector *v)
{
    p->process.noise = exp(gsl_vector_get(v, 0));
    for (uint32_t i = 0; i < p->n_moved; i++) {
        double x = gsl_vector_get(v, i + 1);

        *value_of(&p->process, p->moved[i]) =
            PARAMS[p->moved[i]].is_correlation ? 1 / (1 + exp(-x)) : exp(x);
    }
}

/* ---- the likelihood ------------------------------------------------------ */

static enum msim_status log_likelihood(double *out, const struct problem *p,
                                       const struct msim_coll_process *process,
                                       const double *rest)
{
    const struct msim_coll_block *b = p->b;

    fill(p->k, rest, b, process);
    for (uint32_t i = 0; i < b->n; i++)
        p->k[(size_t)i * b->n + i] +=
            b->noise[i] / p->usual * msim_coll_noise(process);
    return msim_kriging_log_likelihood(out, p->k, p->y, b->n);
}

static double objective(const gsl_vector *v, void *data)
{
    struct problem *p = data;
    double value;

    from_vector(p, v);
    return log_likelihood(&value, p, &p->process, p->rest) == MSIM_OK
               ? -value
               : IMPOSSIBLE;
}

static enum msim_status init(struct problem *p, const struct msim_coll_block *b)
{
    size_t size = (size_t)b->n * b->n;

    *p = (struct problem){
        .b = b, .usual = msim_coll_noise(&b->constants->fabrics[b->fabric])};
    p->rest = malloc(size * sizeof(*p->rest));
    p->k = malloc(size * sizeof(*p->k));
    p->y = malloc(b->n * sizeof(*p->y));
    if (!p->rest || !p->k || !p->y)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < b->n; i++)
        p->y[i] = member(b, i)->y;
    return MSIM_OK;
}

static void release(struct problem *p)
{
    free(p->rest);
    free(p->k);
    free(p->y);
}

enum msim_status msim_coll_log_likelihood(double *out,
                                          const struct msim_coll_block *b,
                                          const struct msim_coll_process *p)
{
    struct problem problem;
    enum msim_status status = init(&problem, b);

    if (status == MSIM_OK)
        status = log_likelihood(out, &problem, p, NULL);
    release(&problem);
    return status;
}

/* ---- climbing ------------------------------------------------------------ */

static enum msim_status climb(struct problem *p, uint32_t iterations,
                              double *out)
{
    gsl_multimin_function f = {objective, p->n_moved + 1, p};
    gsl_vector *start = gsl_vector_alloc(f.n), *step = gsl_vector_alloc(f.n);
    gsl_multimin_fminimizer *m =
        gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, f.n);
    enum msim_status status = start && step && m ? MSIM_OK : MSIM_ENOMEM;

    if (status == MSIM_OK) {
        to_vector(p, start);
        gsl_vector_set_all(step, FIRST_STEP);
        if (gsl_multimin_fminimizer_set(m, &f, start, step) != GSL_SUCCESS)
            status = MSIM_EINTERNAL;
    }
    for (uint32_t i = 0; status == MSIM_OK && i < iterations; i++)
        if (gsl_multimin_fminimizer_iterate(m) != GSL_SUCCESS ||
            gsl_multimin_fminimizer_size(m) < STEP_ENOUGH)
            break;
    if (status == MSIM_OK) {
        from_vector(p, gsl_multimin_fminimizer_x(m));
        *out = -gsl_multimin_fminimizer_minimum(m);
    }
    if (m)
        gsl_multimin_fminimizer_free(m);
    gsl_vector_free(start);
    gsl_vector_free(step);
    return status;
}

/* `p` without one of its components, and that one alone. */
static void split(const struct msim_coll_process *p, uint32_t component,
                  struct msim_coll_process *others,
                  struct msim_coll_process *one)
{
    *others = *one = *p;
    one->n_components = 1;
    one->components[0] = p->components[component];
    others->n_components--;
    for (uint32_t i = component; i < others->n_components; i++)
        others->components[i] = p->components[i + 1];
}

enum msim_status msim_coll_likelihood_climb(double *out,
                                            const struct msim_coll_block *b,
                                            struct msim_coll_process *p,
                                            uint32_t component,
                                            uint32_t iterations)
{
    struct msim_coll_process others;
    struct problem problem;
    enum msim_status status = init(&problem, b);

    if (status == MSIM_OK) {
        split(p, component, &others, &problem.process);
        find_moved(&problem);
        fill(problem.rest, NULL, b, &others);
        status = climb(&problem, iterations, out);
    }
    if (status == MSIM_OK) {
        p->noise = problem.process.noise;
        p->components[component] = problem.process.components[0];
    }
    release(&problem);
    return status;
}
