/*
 * profilers/sampler.c - time a case until its median is known.
 */
#include "profilers/serve_internal.h"

#include "core/base/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WARM_UP  2
#define RUNS_MIN 5
#define SPREAD   0.01
#define SECONDS  1.0

/* Interquartile ranges from the nearer quartile: "far out" (Tukey, "Exploratory
 * data analysis", 1977). */
#define FAR_OUT 3

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The median lies between the values of ranks n / 2 -+ 0.98 sqrt(n) in 95 % of
 * all cases: the binomial distribution, as a normal one. */
static double median_spread(const double *sorted, uint32_t n, double median)
{
    double reach = 0.98 * sqrt(n);
    double from = floor(fmax(n / 2.0 - reach, 0));
    double to = ceil(fmin(n / 2.0 + reach, n - 1.0));

    return (sorted[(uint32_t)to] - sorted[(uint32_t)from]) / 2 / median;
}

void msim_sampled_summarise(struct msim_sampled *s)
{
    double sorted[MSIM_SAMPLES_MAX];
    double q1, q3;

    if (s->n == 0)
        return;
    memcpy(sorted, s->samples, s->n * sizeof(*sorted));
    msim_sort_values(sorted, s->n);
    q1 = msim_quantile_between(sorted, s->n, 0.25);
    q3 = msim_quantile_between(sorted, s->n, 0.75);
    s->us = msim_quantile_between(sorted, s->n, 0.5);
    s->low_us = msim_quantile_between(sorted, s->n, 0.1);
    s->high_us = msim_quantile_between(sorted, s->n, 0.9);
    s->spread = median_spread(sorted, s->n, s->us);
    s->outliers = 0;
    for (uint32_t i = 0; i < s->n; i++)
        s->outliers += sorted[i] > q3 + FAR_OUT * (q3 - q1) ||
                       sorted[i] < q1 - FAR_OUT * (q3 - q1);
}

/* `policy` with the defaults in the place of zeros. */
static struct msim_policy filled_in(const struct msim_policy *policy)
{
    struct msim_policy p = *policy;

    p.warm_up = p.warm_up ? p.warm_up : WARM_UP;
    p.least = p.least ? p.least : RUNS_MIN;
    if (p.most == 0 || p.most > MSIM_SAMPLES_MAX)
        p.most = MSIM_SAMPLES_MAX;
    p.spread = p.spread > 0 ? p.spread : SPREAD;
    p.seconds = p.seconds > 0 ? p.seconds : SECONDS;
    return p;
}

static bool is_enough(const struct msim_policy *p, struct msim_sampled *s)
{
    if (s->n >= p->most || s->seconds >= p->seconds)
        return true;
    if (s->n < p->least)
        return false;
    msim_sampled_summarise(s);
    return s->spread <= p->spread;
}

/* One run, which must have taken some time. */
static enum msim_status run(const struct msim_case *c, bool alone, double *us,
                            struct msim_error *err)
{
    MSIM_TRY((alone ? c->alone : c->time)(c->state, us, err));
    if (*us > 0 && isfinite(*us))
        return MSIM_OK;
    return msim_fail(err, MSIM_EINTERNAL, NULL, MSIM_OFFSET_NONE,
                     "timed %g us, want more than 0", *us);
}

static double median_of(double *values, uint32_t n)
{
    msim_sort_values(values, n);
    return msim_quantile_between(values, n, 0.5);
}

enum msim_status msim_sample_case(const struct msim_case *c,
                                  const struct msim_policy *policy,
                                  struct msim_sampled *out,
                                  struct msim_error *err)
{
    struct msim_policy p = filled_in(policy);
    double begin = now(), us;

    out->n = 0;
    out->seconds = 0;
    out->alone_us = 0;
    for (uint32_t i = 0; i < p.warm_up && out->seconds < p.seconds; i++) {
        MSIM_TRY(c->time(c->state, &us, err));
        out->seconds = now() - begin;
    }
    do {
        MSIM_TRY(run(c, false, &out->samples[out->n], err));
        if (c->alone)
            MSIM_TRY(run(c, true, &out->alone[out->n], err));
        out->n++;
        out->seconds = now() - begin;
    } while (!is_enough(&p, out));
    msim_sampled_summarise(out);
    if (c->alone)
        out->alone_us = median_of(out->alone, out->n);
    return MSIM_OK;
}
