/*
 * serving/size/pmf.c - the algebra.
 *
 * Sums go through Fourier's transform: both inputs are the real and imaginary
 * part of one complex array of 2 n points, so that nothing wraps around, and
 * one transform there and one back do for a sum (Cooley and Tukey 1965;
 * Press et al., Numerical Recipes, 12.3, two real arrays at once).
 */
#include "serving/size/size_plan_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the grid ------------------------------------------------------------ */

enum msim_status msim_pmf_grid_init(struct msim_pmf_grid *g, double horizon,
                                    uint32_t n)
{
    const double turn = 2 * acos(-1.0);

    *g = (struct msim_pmf_grid){.step = horizon / n, .n = n};
    g->wave = malloc(2 * (size_t)n * sizeof(double));
    g->work = malloc(8 * (size_t)n * sizeof(double));
    if (!g->wave || !g->work)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        g->wave[2 * i] = cos(turn * i / (2.0 * n));
        g->wave[2 * i + 1] = sin(turn * i / (2.0 * n));
    }
    return MSIM_OK;
}

void msim_pmf_grid_release(struct msim_pmf_grid *g)
{
    free(g->wave);
    free(g->work);
    *g = (struct msim_pmf_grid){0};
}

/* ---- making them --------------------------------------------------------- */

static void put(const struct msim_pmf_grid *g, double ms, double weight,
                double *out)
{
    double at = fmax(0, ms) / g->step;
    uint32_t i;

    if (!(at < g->n))
        return;
    i = (uint32_t)at;
    out[i] += weight * (i + 1 - at);
    if (i + 1 < g->n)
        out[i + 1] += weight * (at - i);
}

void msim_pmf_constant(const struct msim_pmf_grid *g, double ms, double *out)
{
    memset(out, 0, g->n * sizeof(*out));
    put(g, ms, 1, out);
}

void msim_pmf_put(const struct msim_pmf_grid *g, const double *ms, uint32_t n,
                  double factor, double weight, double *out)
{
    for (uint32_t i = 0; i < n; i++)
        put(g, ms[i] * factor, weight, out);
}

/* ---- sums ---------------------------------------------------------------- */

static void reverse_bits(double *a, uint32_t n)
{
    for (uint32_t i = 1, j = 0; i < n; i++) {
        uint32_t bit = n >> 1;

        for (; j & bit; bit >>= 1)
            j ^= bit;
        j |= bit;
        if (i < j)
            for (int c = 0; c < 2; c++) {
                double t = a[2 * i + c];

                a[2 * i + c] = a[2 * j + c];
                a[2 * j + c] = t;
            }
    }
}

/* The transform of n complex points in place; `sign` -1 there, 1 back. */
static void transform(const double *wave, double *a, uint32_t n, double sign)
{
    reverse_bits(a, n);
    for (uint32_t half = 1; half < n; half *= 2) {
        uint32_t stride = n / (2 * half);

        for (uint32_t at = 0; at < n; at += 2 * half)
            for (uint32_t k = 0; k < half; k++) {
                double c = wave[2 * k * stride];
                double s = sign * wave[2 * k * stride + 1];
                double *x = a + 2 * (at + k), *y = x + 2 * half;
                double re = y[0] * c - y[1] * s, im = y[0] * s + y[1] * c;

                y[0] = x[0] - re;
                y[1] = x[1] - im;
                x[0] += re;
                x[1] += im;
            }
    }
}

/* Z = X + iY gives X * Y = (Z(k)^2 - conj(Z(-k))^2) / 4i. */
static void product(const double *z, double *out, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        uint32_t m = (n - k) & (n - 1);
        double a = z[2 * k], b = z[2 * k + 1];
        double c = z[2 * m], d = -z[2 * m + 1];
        double re = a * a - b * b - (c * c - d * d);
        double im = 2 * a * b - 2 * c * d;

        out[2 * k] = im / 4;
        out[2 * k + 1] = -re / 4;
    }
}

void msim_pmf_add(struct msim_pmf_grid *g, const double *x, const double *y,
                  double *out)
{
    uint32_t n = 2 * g->n;
    double *z = g->work, *p = g->work + 2 * (size_t)n;

    memset(z, 0, 2 * (size_t)n * sizeof(*z));
    for (uint32_t i = 0; i < g->n; i++) {
        z[2 * i] = x[i];
        z[2 * i + 1] = y[i];
    }
    transform(g->wave, z, n, -1);
    product(z, p, n);
    transform(g->wave, p, n, 1);
    for (uint32_t i = 0; i < g->n; i++)
        out[i] = fmax(0, p[2 * i] / n);
}

/* ---- choices and joins --------------------------------------------------- */

void msim_pmf_maybe(const struct msim_pmf_grid *g, double p, double *x)
{
    for (uint32_t i = 0; i < g->n; i++)
        x[i] *= p;
    x[0] += 1 - p;
}

void msim_pmf_largest(const struct msim_pmf_grid *g, double n, double *x)
{
    double below = 0, before = 0;

    for (uint32_t i = 0; i < g->n; i++) {
        double up;

        below += x[i];
        up = pow(fmin(below, 1), n);
        x[i] = up - before;
        before = up;
    }
}

/* Sum over c of q (1 - q)^(c - 1) F^c = q F / (1 - (1 - q) F), q = 1 / mean. */
void msim_pmf_largest_geometric(const struct msim_pmf_grid *g, double mean,
                                double *x)
{
    double q = 1 / mean, below = 0, before = 0;

    for (uint32_t i = 0; i < g->n; i++) {
        double f, up;

        below += x[i];
        f = fmin(below, 1);
        up = q * f / (1 - (1 - q) * f);
        x[i] = up - before;
        before = up;
    }
}

void msim_pmf_max(const struct msim_pmf_grid *g, const double *x,
                  const double *y, double *out)
{
    double fx = 0, fy = 0, before = 0;

    for (uint32_t i = 0; i < g->n; i++) {
        fx += x[i];
        fy += y[i];
        out[i] = fx * fy - before;
        before = fx * fy;
    }
}

void msim_pmf_loop(struct msim_pmf_grid *g, const double *x, double again,
                   int64_t most, double *out)
{
    memcpy(out, x, g->n * sizeof(*out));
    for (int64_t i = 1; i < most; i++) {
        msim_pmf_maybe(g, again, out);
        msim_pmf_add(g, x, out, out);
    }
}

void msim_pmf_retry(const struct msim_pmf_grid *g, const double *x,
                    double timeout, int64_t most, double *out)
{
    uint32_t shift = (uint32_t)fmin(g->n, timeout / g->step + 0.5);
    double *later = g->work, above = 1, before = 1;

    for (uint32_t i = 0; i < g->n; i++) {
        above -= x[i];
        later[i] = fmax(0, above); /* chance of more than cell i */
    }
    for (uint32_t i = 0; i < g->n; i++) {
        double all = later[i];

        for (int64_t k = 1; k <= most && (uint64_t)k * shift <= i; k++)
            all *= later[i - (uint32_t)k * shift];
        out[i] = fmax(0, before - all);
        before = all;
    }
}

/* ---- k of a join --------------------------------------------------------- */

/*
 * chance[m * (most + 1) + a]: m calls are made, a of them have answered.
 * A call group adds (copies, how many of those answered), or nothing.
 */
struct join {
    const struct msim_pmf_call *calls;
    uint32_t n, most; /* calls of all groups */
    double *chance, *next;
};

static double binomial(uint32_t n, uint32_t k, double p)
{
    double c = 1;

    for (uint32_t i = 0; i < k; i++)
        c = c * (n - i) / (i + 1);
    return c * pow(p, k) * pow(1 - p, n - k);
}

static void add_group(struct join *j, const struct msim_pmf_call *c, double f)
{
    uint32_t w = j->most + 1;

    memset(j->next, 0, (size_t)w * w * sizeof(double));
    for (uint32_t m = 0; m < w; m++)
        for (uint32_t a = 0; a <= m; a++) {
            double p = j->chance[m * w + a];

            if (p == 0)
                continue;
            j->next[m * w + a] += p * (1 - c->prob);
            for (uint32_t k = 0; k <= c->copies; k++)
                j->next[(m + c->copies) * w + a + k] +=
                    p * c->prob * binomial(c->copies, k, f);
        }
    memcpy(j->chance, j->next, (size_t)w * w * sizeof(double));
}

/* Chance that enough have answered, `f[i]` being that of a call of group i. */
static double enough(struct join *j, const double *f, uint32_t wait)
{
    uint32_t w = j->most + 1;
    double sum = 0;

    memset(j->chance, 0, (size_t)w * w * sizeof(double));
    j->chance[0] = 1;
    for (uint32_t i = 0; i < j->n; i++)
        add_group(j, &j->calls[i], fmin(f[i], 1));
    for (uint32_t m = 0; m < w; m++)
        for (uint32_t a = m < wait ? m : wait; a <= m; a++)
            sum += j->chance[m * w + a];
    return sum;
}

enum msim_status msim_pmf_join(const struct msim_pmf_grid *g,
                               const struct msim_pmf_call *calls, uint32_t n,
                               uint32_t wait, double *out)
{
    struct join j = {.calls = calls, .n = n};
    double *f, before = 0;
    size_t square;

    for (uint32_t i = 0; i < n; i++)
        j.most += calls[i].copies;
    square = (size_t)(j.most + 1) * (j.most + 1);
    j.chance = calloc(2 * square + n, sizeof(double));
    if (!j.chance)
        return MSIM_ENOMEM;
    j.next = j.chance + square;
    f = j.next + square;
    for (uint32_t t = 0; t < g->n; t++) {
        double up;

        for (uint32_t i = 0; i < n; i++)
            f[i] += calls[i].x[t];
        up = enough(&j, f, wait);
        out[t] = fmax(0, up - before);
        before = up;
    }
    free(j.chance);
    return MSIM_OK;
}

/* ---- questions ----------------------------------------------------------- */

double msim_pmf_above(const struct msim_pmf_grid *g, const double *x, double ms)
{
    double at = ms / g->step + 0.5, below = 0;
    uint32_t i = 0;

    for (; i < g->n && i + 1 <= at; i++)
        below += x[i];
    if (i < g->n)
        below += x[i] * fmax(0, at - i);
    return fmax(0, 1 - below);
}

double msim_pmf_quantile(const struct msim_pmf_grid *g, const double *x,
                         double p)
{
    double below = 0;

    for (uint32_t i = 0; i < g->n; i++) {
        if (below + x[i] >= p)
            return x[i] > 0 ? fmax(0, i - 0.5 + (p - below) / x[i]) * g->step
                            : i * g->step;
        below += x[i];
    }
    return g->n * g->step;
}

double msim_pmf_mean(const struct msim_pmf_grid *g, const double *x)
{
    double sum = 0, mass = 0;

    for (uint32_t i = 0; i < g->n; i++) {
        sum += i * g->step * x[i];
        mass += x[i];
    }
    return sum + fmax(0, 1 - mass) * g->n * g->step;
}
