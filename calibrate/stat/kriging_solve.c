/*
 * calibrate/stat/kriging_solve.c - regression by a Gaussian process.
 */
#include "calibrate/stat/kriging_solve.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_math.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* `k` becomes its own inverse, both triangles. */
static enum msim_status invert(double *k, uint32_t n)
{
    gsl_matrix_view m = gsl_matrix_view_array(k, n, n);

    if (gsl_linalg_cholesky_decomp1(&m.matrix) != GSL_SUCCESS ||
        gsl_linalg_cholesky_invert(&m.matrix) != GSL_SUCCESS)
        return MSIM_EINTERNAL;
    return isfinite(k[0]) ? MSIM_OK : MSIM_EINTERNAL;
}

/* out = m v, for a symmetric m: row by row, in one order of sums, so that the
 * bytes of platform files do not depend on the library. */
static void multiply(double *out, const double *m, const double *v, uint32_t n)
{
    memset(out, 0, n * sizeof(*out));
    for (uint32_t i = 0; i < n; i++) {
        const double *row = m + (size_t)i * n;

        for (uint32_t j = 0; j < n; j++)
            out[j] += row[j] * v[i];
    }
}

enum msim_status msim_kriging_solve_init(struct msim_kriging_solve *g,
                                         double *k, const double *y, uint32_t n)
{
    enum msim_status status;

    *g = (struct msim_kriging_solve){.n = n, .inverse = k};
    g->weights = malloc(n * sizeof(*g->weights));
    g->row = malloc(n * sizeof(*g->row));
    status = k && g->weights && g->row ? invert(k, n) : MSIM_ENOMEM;
    if (status == MSIM_OK)
        multiply(g->weights, k, y, n);
    else
        msim_kriging_solve_release(g);
    return status;
}

void msim_kriging_solve_release(struct msim_kriging_solve *g)
{
    free(g->inverse);
    free(g->weights);
    free(g->row);
    memset(g, 0, sizeof(*g));
}

static double dot(const double *a, const double *b, uint32_t n)
{
    double sum = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

double msim_kriging_solve_at(struct msim_kriging_solve *g, const double *k,
                             double own, double *variance)
{
    if (variance) {
        multiply(g->row, g->inverse, k, g->n);
        *variance = fmax(own - dot(k, g->row, g->n), 0);
    }
    return dot(k, g->weights, g->n);
}

enum msim_status msim_kriging_solve_without(const struct msim_kriging_solve *g,
                                            const uint32_t *held, uint32_t m,
                                            double *missed, double *variance)
{
    double *a = malloc(((size_t)m + 1) * m * sizeof(*a));
    double *w = a ? a + (size_t)m * m : NULL;
    enum msim_status status;

    if (!a)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < m; i++) {
        w[i] = g->weights[held[i]];
        for (uint32_t j = 0; j < m; j++)
            a[(size_t)i * m + j] = g->inverse[(size_t)held[i] * g->n + held[j]];
    }
    status = invert(a, m);
    if (status == MSIM_OK)
        multiply(missed, a, w, m);
    for (uint32_t i = 0; status == MSIM_OK && i < m; i++)
        variance[i] = a[(size_t)i * m + i];
    free(a);
    return status;
}

/* With K = L L' and z = L^-1 y: y' K^-1 y = z' z, log |K| = 2 sum log L_ii. */
enum msim_status msim_kriging_log_likelihood(double *out, double *k,
                                             const double *y, uint32_t n)
{
    gsl_matrix_view m = gsl_matrix_view_array(k, n, n);
    gsl_vector_const_view values = gsl_vector_const_view_array(y, n);
    gsl_vector *z = gsl_vector_alloc(n);
    double half_log_det = 0, square = 0;

    if (!z)
        return MSIM_ENOMEM;
    gsl_vector_memcpy(z, &values.vector);
    if (gsl_linalg_cholesky_decomp1(&m.matrix) != GSL_SUCCESS ||
        gsl_blas_dtrsv(CblasLower, CblasNoTrans, CblasNonUnit, &m.matrix, z) !=
            GSL_SUCCESS) {
        gsl_vector_free(z);
        return MSIM_EINTERNAL;
    }
    for (uint32_t i = 0; i < n; i++) {
        half_log_det += log(k[(size_t)i * n + i]);
        square += gsl_vector_get(z, i) * gsl_vector_get(z, i);
    }
    gsl_vector_free(z);
    *out = -square / 2 - half_log_det - n * log(2 * M_PI) / 2;
    return isfinite(*out) ? MSIM_OK : MSIM_EINTERNAL;
}
