/* serving/explore/service_fit.c - least squares on the logarithm of services.
 */
#include "serving/explore/explore_internal.h"

#include "core/base/containers.h"
#include "core/base/quantile.h"

#include <string.h>

/* Visits of one batch begin and end together; rows are rounded. */
#define TOGETHER_S 5e-6
/* How far a coefficient must stand out, in standard errors: of some hundred
 * that are looked at in a large application none should by chance. */
#define STANDS_OUT  4.0
#define LEAST_POWER 0.03 /* what is smaller changes nothing that matters */
#define SHORTEST_MS 1e-6 /* of a service, for its logarithm */

/* What was served in one go. */
struct served {
    double ms, size; /* size: the largest of the batch, NAN: not known */
    uint32_t n, cls; /* class: of the first */
};

/* ---- batches ------------------------------------------------------------- */

struct start {
    double begin, end;
    uint32_t row, run;
};

static int compare_starts(const void *a, const void *b)
{
    const struct start *x = a, *y = b;

    if (x->run != y->run)
        return MSIM_ORDER(x->run, y->run);
    if (x->end != y->end)
        return MSIM_ORDER(x->end, y->end);
    return MSIM_ORDER(x->row, y->row);
}

/* Is `b` of the batch that `a` is of? */
static bool is_together(const struct start *a, const struct start *b)
{
    return a->run == b->run && fabs(a->end - b->end) < TOGETHER_S &&
           fabs(a->begin - b->begin) < TOGETHER_S;
}

/* Add the batch that `s[0..n)` are, if it is complete. */
static enum msim_status add_batch(struct msim_vec *out,
                                  const struct msim_visit_row *rows,
                                  const struct start *s, uint32_t n)
{
    const struct msim_visit_row *first = &rows[s->row];
    struct served *to;

    if (first->batch != n)
        return MSIM_OK;
    to = msim_vec_add(out, sizeof(*to));
    if (!to)
        return MSIM_ENOMEM;
    *to = (struct served){.ms = first->latency_ms - first->wait_ms,
                          .size = first->size,
                          .n = n,
                          .cls = first->cls};
    for (uint32_t i = 1; i < n; i++)
        if (rows[s[i].row].size > to->size) {
            to->size = rows[s[i].row].size;
            to->cls = rows[s[i].row].cls;
        }
    return MSIM_OK;
}

static enum msim_status gather_batches(struct msim_vec *out,
                                       const struct msim_visit_row *rows,
                                       uint32_t n)
{
    struct start *s = malloc((n + 1) * sizeof(*s));
    enum msim_status status = MSIM_OK;

    if (!s)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        s[i] = (struct start){
            .begin = rows[i].t_s + rows[i].wait_ms / 1e3,
            .end = rows[i].t_s + rows[i].latency_ms / 1e3,
            .row = i,
            .run = rows[i].run,
        };
    qsort(s, n, sizeof(*s), compare_starts);
    for (uint32_t i = 0, j; i < n && status == MSIM_OK; i = j) {
        for (j = i + 1; j < n && is_together(&s[i], &s[j]); j++)
            ;
        status = add_batch(out, rows, &s[i], j - i);
    }
    free(s);
    return status;
}

static enum msim_status gather_single(struct msim_vec *out,
                                      const struct msim_visit_row *rows,
                                      uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct served *to = msim_vec_add(out, sizeof(*to));
        double wait = isnan(rows[i].wait_ms) ? 0 : rows[i].wait_ms;

        if (!to)
            return MSIM_ENOMEM;
        *to = (struct served){.ms = rows[i].latency_ms - wait,
                              .size = rows[i].size,
                              .n = 1,
                              .cls = rows[i].cls};
    }
    return MSIM_OK;
}

/* ---- least squares ------------------------------------------------------- */

/*
 * Coefficients: the exponent, a factor for each class but the first, a level
 * for each size of batch. Normal equations, solved by Gauss and Jordan; a
 * column without rows keeps its 0.
 */
struct equations {
    uint32_t n;  /* coefficients */
    double *a;   /* n * n, becomes the inverse */
    double *b;   /* n, becomes the coefficients */
    double *row; /* n: of one service */
};

static void fill_row(const struct equations *q, uint32_t n_classes,
                     const struct served *s)
{
    memset(q->row, 0, q->n * sizeof(*q->row));
    q->row[0] = isnan(s->size) ? 0 : log(s->size);
    if (s->cls)
        q->row[s->cls] = 1;
    q->row[n_classes + s->n - 1] = 1;
}

static double log_ms(const struct served *s)
{
    return log(s->ms > SHORTEST_MS ? s->ms : SHORTEST_MS);
}

static void add_equations(struct equations *q, uint32_t n_classes,
                          const struct served *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        fill_row(q, n_classes, &s[i]);
        for (uint32_t j = 0; j < q->n; j++) {
            if (q->row[j] == 0)
                continue;
            q->b[j] += q->row[j] * log_ms(&s[i]);
            for (uint32_t k = 0; k < q->n; k++)
                q->a[j * q->n + k] += q->row[j] * q->row[k];
        }
    }
}

/* `a` becomes its inverse in place; what cannot be told apart is left out:
 * its row and column are 0. The matrix is positive semidefinite, so pivots
 * are taken in order. */
static void invert(struct equations *q)
{
    uint32_t n = q->n;
    double *a = q->a;

    for (uint32_t p = 0; p < n; p++) {
        double pivot = a[p * n + p];
        bool none = fabs(pivot) < 1e-9;

        for (uint32_t j = 0; j < n; j++)
            a[p * n + j] = none ? 0 : j == p ? 1 / pivot : a[p * n + j] / pivot;
        for (uint32_t i = 0; i < n; i++) {
            double f = a[i * n + p];

            if (i == p)
                continue;
            a[i * n + p] = 0;
            for (uint32_t j = 0; j < n; j++)
                a[i * n + j] -= f * a[p * n + j];
        }
    }
}

static void multiply(const struct equations *q, double *out)
{
    for (uint32_t i = 0; i < q->n; i++) {
        out[i] = 0;
        for (uint32_t j = 0; j < q->n; j++)
            out[i] += q->a[i * q->n + j] * q->b[j];
    }
}

/* Mean square of what is left of log x. */
static double left_over(const struct equations *q, const double *coefficient,
                        uint32_t n_classes, const struct served *s, uint32_t n)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        double e = log_ms(&s[i]);

        fill_row(q, n_classes, &s[i]);
        for (uint32_t j = 0; j < q->n; j++)
            e -= q->row[j] * coefficient[j];
        sum += e * e;
    }
    return sum / fmax(1, (double)n - q->n);
}

/* ---- what is kept -------------------------------------------------------- */

static void keep(struct msim_service_fit *fit, const struct equations *q,
                 const double *coefficient, double variance, uint32_t n_classes)
{
    for (uint32_t j = 0; j < n_classes; j++) {
        double se = sqrt(fmax(0, q->a[j * q->n + j]) * variance);
        bool out = se > 0 && fabs(coefficient[j]) > STANDS_OUT * se;

        if (j == 0)
            fit->power =
                out && coefficient[0] > LEAST_POWER ? coefficient[0] : 0;
        else
            fit->factor[j] = out ? exp(coefficient[j]) : 1;
    }
}

static double relative_size(const struct msim_service_fit *fit,
                            const struct served *s)
{
    double f = fit->factor[s->cls];

    return fit->power > 0 && !isnan(s->size) ? f * pow(s->size, fit->power) : f;
}

/*
 * law(n) = 1 + u (n - 1) + v (n - 1)^2 by least squares through the means of
 * x over its size, weighted by the inverse square of how well they are known;
 * v only where it stands out, and never falling.
 */
static void fit_law(struct msim_service_fit *fit, const struct served *s,
                    uint32_t n)
{
    double sum[65] = {0}, squares[65] = {0}, count[65] = {0};
    double a11 = 0, a12 = 0, a22 = 0, b1 = 0, b2 = 0, u, v, det;
    uint32_t most = fit->most < 64 ? fit->most : 64;

    for (uint32_t i = 0; i < n; i++) {
        double x = s[i].ms / relative_size(fit, &s[i]);

        if (s[i].n > most)
            continue;
        sum[s[i].n] += x;
        squares[s[i].n] += x * x;
        count[s[i].n]++;
    }
    for (uint32_t k = 0; k < fit->most; k++)
        fit->law[k] = 1;
    if (count[1] < 2 || most < 2)
        return;
    for (uint32_t k = 2; k <= most; k++) {
        double m = k - 1, mean1 = sum[1] / count[1], mean, variance, w;

        if (count[k] < 2)
            continue;
        mean = sum[k] / count[k];
        variance = squares[k] / count[k] - mean * mean;
        w = count[k] * mean1 * mean1 / fmax(variance, 1e-6 * mean * mean);
        a11 += w * m * m;
        a12 += w * m * m * m;
        a22 += w * m * m * m * m;
        b1 += w * m * (mean / mean1 - 1);
        b2 += w * m * m * (mean / mean1 - 1);
    }
    if (!(a11 > 0))
        return;
    u = b1 / a11;
    v = 0;
    det = a11 * a22 - a12 * a12;
    if (det > 1e-9 * a11 * a22 &&
        fabs(a11 * b2 - a12 * b1) / det > STANDS_OUT * sqrt(a11 / det)) {
        v = (a11 * b2 - a12 * b1) / det;
        u = (a22 * b1 - a12 * b2) / det;
    }
    for (uint32_t k = 1; k < fit->most; k++)
        fit->law[k] = fmax(fit->law[k - 1], 1 + u * k + v * k * k);
}

static enum msim_status take_base(struct msim_service_fit *fit,
                                  const struct served *s, uint32_t n)
{
    fit->base = malloc(n * sizeof(*fit->base));
    if (!fit->base)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        double x = s[i].ms / relative_size(fit, &s[i]) / fit->law[s[i].n - 1];

        fit->base[i] = fmax(0, x);
        fit->mean += fit->base[i] / n;
    }
    fit->n_base = n;
    msim_sort_values(fit->base, n);
    return MSIM_OK;
}

static enum msim_status fit_served(struct msim_service_fit *fit,
                                   const struct served *s, uint32_t n,
                                   uint32_t n_classes)
{
    struct equations q = {.n = n_classes + fit->most};
    double *coefficient;

    q.a = calloc((size_t)q.n * (q.n + 3), sizeof(double));
    if (!q.a)
        return MSIM_ENOMEM;
    q.b = q.a + (size_t)q.n * q.n;
    q.row = q.b + q.n;
    coefficient = q.row + q.n;
    add_equations(&q, n_classes, s, n);
    invert(&q);
    multiply(&q, coefficient);
    keep(fit, &q, coefficient, left_over(&q, coefficient, n_classes, s, n),
         n_classes);
    free(q.a);
    fit_law(fit, s, n);
    return take_base(fit, s, n);
}

static void look_at(struct msim_service_fit *fit,
                    const struct msim_visit_row *rows, uint32_t n)
{
    fit->waits = fit->sizes = fit->batches = n > 0;
    for (uint32_t i = 0; i < n; i++) {
        fit->waits = fit->waits && !isnan(rows[i].wait_ms);
        fit->sizes = fit->sizes && !isnan(rows[i].size);
        fit->batches = fit->batches && rows[i].batch > 0;
    }
}

static bool is_in_range(const struct msim_service_fit *fit,
                        const struct served *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (s[i].n > fit->most)
            return false;
    return true;
}

enum msim_status msim_service_fit_make(struct msim_service_fit *fit,
                                       const struct msim_visit_row *rows,
                                       uint32_t n, uint32_t n_classes,
                                       uint32_t most)
{
    struct msim_vec served = {0};
    enum msim_status status;

    *fit = (struct msim_service_fit){.most = most};
    fit->factor = malloc(n_classes * sizeof(*fit->factor));
    fit->law = malloc(most * sizeof(*fit->law));
    if (!fit->factor || !fit->law)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n_classes; i++)
        fit->factor[i] = 1;
    look_at(fit, rows, n);
    if (most > 1 && fit->batches && fit->waits)
        status = gather_batches(&served, rows, n);
    else
        status = gather_single(&served, rows, n);
    if (status == MSIM_OK &&
        (!served.n || !is_in_range(fit, served.data, served.n)))
        status = MSIM_ELIMIT;
    if (status == MSIM_OK)
        status = fit_served(fit, served.data, served.n, n_classes);
    free(served.data);
    return status;
}

void msim_service_fit_release(struct msim_service_fit *fit)
{
    free(fit->base);
    free(fit->factor);
    free(fit->law);
    *fit = (struct msim_service_fit){0};
}
