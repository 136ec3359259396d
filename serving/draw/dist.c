/*
 * serving/draw/dist.c - draws and means of distributions.
 *
 * `u` and `v` are, by kind: LOGNORMAL mu and sigma of the logarithm; GAMMA
 * shape and scale; BIMODAL the fast and the slow value; PARETO the least value
 * and -1/alpha; QUANTILES and SAMPLES the factor of all values.
 */
#include "serving/draw/random.h"

#include <math.h>
#include <stddef.h>

struct msim_dist msim_dist_constant(double value)
{
    return (struct msim_dist){
        .kind = MSIM_DIST_CONSTANT, .a = value, .mean = value};
}

struct msim_dist msim_dist_exponential(double mean)
{
    return (struct msim_dist){
        .kind = MSIM_DIST_EXPONENTIAL, .a = mean, .mean = mean};
}

struct msim_dist msim_dist_lognormal(double mean, double cv)
{
    double variance = log1p(cv * cv); /* of the logarithm */

    if (cv == 0 || mean == 0)
        return msim_dist_constant(mean);
    return (struct msim_dist){.kind = MSIM_DIST_LOGNORMAL,
                              .a = mean,
                              .b = cv,
                              .u = log(mean) - variance / 2,
                              .v = sqrt(variance),
                              .mean = mean};
}

struct msim_dist msim_dist_gamma(double mean, double cv)
{
    if (cv == 0 || mean == 0)
        return msim_dist_constant(mean);
    return (struct msim_dist){.kind = MSIM_DIST_GAMMA,
                              .a = mean,
                              .b = cv,
                              .u = 1 / (cv * cv),
                              .v = mean * cv * cv,
                              .mean = mean};
}

struct msim_dist msim_dist_bimodal(double mean, double slow, double share)
{
    double fast = mean / (1 - share + share * slow);

    return (struct msim_dist){.kind = MSIM_DIST_BIMODAL,
                              .a = mean,
                              .b = slow,
                              .c = share,
                              .u = fast,
                              .v = fast * slow,
                              .mean = mean};
}

/* The mean of min(X, cap) where P(X > x) = x^-alpha from 1 on: 1 plus the
 * integral of x^-alpha from 1 to cap. */
static double capped_mean(double alpha, double cap)
{
    double power = 1 - alpha;

    if (power == 0)
        return 1 + log(cap);
    if (isinf(cap))
        return power < 0 ? 1 - 1 / power : INFINITY;
    return 1 + (pow(cap, power) - 1) / power;
}

struct msim_dist msim_dist_pareto(double mean, double alpha, double cap)
{
    return (struct msim_dist){.kind = MSIM_DIST_PARETO,
                              .a = mean,
                              .b = alpha,
                              .c = cap,
                              .u = mean / capped_mean(alpha, cap),
                              .v = -1 / alpha,
                              .mean = mean};
}

/* Between two points x is uniform, beyond them constant. */
static double mean_of_quantiles(const struct msim_dist *d)
{
    const double *p = d->p, *x = d->x;
    uint32_t last = d->n - 1;
    double sum = p[0] * x[0] + (1 - p[last]) * x[last];

    for (uint32_t i = 0; i < last; i++)
        sum += (p[i + 1] - p[i]) * ((x[i] + x[i + 1]) / 2);
    return sum;
}

struct msim_dist msim_dist_quantiles(const double *p, const double *x,
                                     uint32_t n)
{
    struct msim_dist d = {
        .kind = MSIM_DIST_QUANTILES, .u = 1, .n = n, .p = p, .x = x};

    d.mean = mean_of_quantiles(&d);
    return d;
}

static double mean_of_samples(const struct msim_dist *d)
{
    double sum = 0;

    for (uint32_t i = 0; i < d->n; i++)
        sum += d->x[i];
    return sum / d->n;
}

struct msim_dist msim_dist_samples(const double *x, uint32_t n)
{
    struct msim_dist d = {.kind = MSIM_DIST_SAMPLES, .u = 1, .n = n, .x = x};

    d.mean = mean_of_samples(&d);
    return d;
}

/* Where p lies among the points, linear between them. */
static double quantile_at(const struct msim_dist *d, double p)
{
    uint32_t low = 0, high = d->n - 1;

    if (p <= d->p[0])
        return d->x[0];
    if (p >= d->p[high])
        return d->x[high];
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (d->p[middle] <= p)
            low = middle;
        else
            high = middle;
    }
    return d->x[low] + (p - d->p[low]) / (d->p[high] - d->p[low]) *
                           (d->x[high] - d->x[low]);
}

double msim_dist_draw(const struct msim_dist *d, struct msim_random *r)
{
    switch (d->kind) {
    case MSIM_DIST_NONE:
        return 0;
    case MSIM_DIST_CONSTANT:
        return d->a;
    case MSIM_DIST_EXPONENTIAL:
        return d->a * msim_random_exponential(r);
    case MSIM_DIST_LOGNORMAL:
        return exp(d->u + d->v * msim_random_normal(r));
    case MSIM_DIST_GAMMA:
        return d->v * msim_random_gamma(r, d->u);
    case MSIM_DIST_BIMODAL:
        return msim_random_unit(r) < d->c ? d->v : d->u;
    case MSIM_DIST_PARETO:
        return d->u * fmin(pow(msim_random_unit(r), d->v), d->c);
    case MSIM_DIST_QUANTILES:
        return d->u * quantile_at(d, msim_random_unit(r));
    case MSIM_DIST_SAMPLES:
        return d->u * d->x[(uint32_t)(msim_random_unit(r) * d->n)];
    }
    return 0;
}

struct msim_dist msim_dist_scaled(const struct msim_dist *d, double factor)
{
    struct msim_dist s = *d;

    s.mean = d->mean * factor;
    switch (d->kind) {
    case MSIM_DIST_LOGNORMAL:
        return msim_dist_lognormal(d->a * factor, d->b);
    case MSIM_DIST_GAMMA:
        return msim_dist_gamma(d->a * factor, d->b);
    case MSIM_DIST_BIMODAL:
        return msim_dist_bimodal(d->a * factor, d->b, d->c);
    case MSIM_DIST_PARETO:
        return msim_dist_pareto(d->a * factor, d->b, d->c);
    case MSIM_DIST_QUANTILES:
    case MSIM_DIST_SAMPLES:
        s.u = d->u * factor;
        break;
    default:
        s.a = d->a * factor;
    }
    return s;
}
