/*
 * Logistic regression, where the answer is known: shares of what is true.
 */
#include "serving/learn/learn_table_internal.h"
#include "tests/check.h"

#include <math.h>

#define N 8000

/* A half of which 3 of 4 are true, and one of which 1 of 8 is; log odds are
 * log 3, and log 3 - log 21. */
static void test_logistic__finds_shares(void)
{
    static double x[2 * N];
    static bool truth[N];
    double w[2];

    for (int i = 0; i < N; i++) {
        x[2 * i] = i % 2;
        x[2 * i + 1] = 1;
        truth[i] = i % 2 ? i / 2 % 8 == 0 : i / 2 % 4 != 0;
    }
    msim_logistic_fit(w, x, truth, N, 2);
    CHECK_REL(w[1], log(3), 5e-3);
    CHECK_REL(w[0], -log(21), 5e-3);
}

/* All that is above 0 is true: the weight stays a number. */
static void test_logistic__stays_finite(void)
{
    double x[100], w[1];
    bool truth[100];

    for (int i = 0; i < 100; i++) {
        x[i] = i - 49.5;
        truth[i] = x[i] > 0;
    }
    msim_logistic_fit(w, x, truth, 100, 1);
    CHECK(isfinite(w[0]) && w[0] > 0);
    msim_logistic_fit(w, x, truth, 0, 1);
    CHECK_REL(w[0], 0, 0);
}

int main(void)
{
    RUN(test_logistic__finds_shares);
    RUN(test_logistic__stays_finite);
    return check_summary();
}
