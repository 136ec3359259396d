/* serving/learn/logistic.c - logistic regression by Newton's method. */
#include "serving/learn/learn_table_internal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define MOST   MSIM_LOGISTIC_MOST
#define ROUNDS 50
#define NEAR   1e-9 /* the largest step that is the last */
#define RIDGE  1.0

/* Gradient and curvature of the log likelihood, the gradient last in a row. */
struct slope {
    double a[MOST][MOST + 1];
    uint32_t k;
};

static void add_row(struct slope *s, const double *w, const double *x,
                    bool truth)
{
    double sum = 0, p;

    for (uint32_t i = 0; i < s->k; i++)
        sum += w[i] * x[i];
    p = 1 / (1 + exp(-sum));
    for (uint32_t i = 0; i < s->k; i++) {
        s->a[i][s->k] += (truth - p) * x[i];
        for (uint32_t j = 0; j < s->k; j++)
            s->a[i][j] += p * (1 - p) * x[i] * x[j];
    }
}

/* Gauss and Jordan: the matrix is positive definite, so pivots are taken in
 * order. */
static void solve(struct slope *s)
{
    uint32_t k = s->k;

    for (uint32_t p = 0; p < k; p++)
        for (uint32_t i = 0; i < k; i++) {
            double f = s->a[i][p] / s->a[p][p];

            for (uint32_t j = p; j <= k && i != p; j++)
                s->a[i][j] -= f * s->a[p][j];
        }
}

void msim_logistic_fit(double *w, const double *x, const bool *truth,
                       uint32_t n, uint32_t k)
{
    double step = 1;

    assert(k <= MOST);
    memset(w, 0, k * sizeof(*w));
    for (int round = 0; round < ROUNDS && step > NEAR; round++) {
        struct slope s = {.k = k};

        for (uint32_t i = 0; i < k; i++) {
            s.a[i][i] = RIDGE;
            s.a[i][k] = -RIDGE * w[i];
        }
        for (uint32_t i = 0; i < n; i++)
            add_row(&s, w, x + (uint64_t)i * k, truth[i]);
        solve(&s);
        step = 0;
        for (uint32_t i = 0; i < k; i++) {
            w[i] += s.a[i][k] / s.a[i][i];
            step = fmax(step, fabs(s.a[i][k] / s.a[i][i]));
        }
    }
}
