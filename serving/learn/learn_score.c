/*
 * serving/learn/learn_score.c - figures of predictions.
 */
#include "serving/learn/learn_table_internal.h"

#include "core/base/quantile.h"

#include <math.h>
#include <stdlib.h>

struct scored {
    double score;
    bool truth;
};

static int by_score(const void *a, const void *b)
{
    return msim_compare_values(&((const struct scored *)a)->score,
                               &((const struct scored *)b)->score);
}

double msim_score_auc(const double *score, const bool *truth, uint32_t n)
{
    struct scored *s = malloc((size_t)n * sizeof(*s) + 1);
    double ranks = 0, yes = 0, no;

    for (uint32_t i = 0; s && i < n; i++)
        s[i] = (struct scored){score[i], truth[i]};
    if (s)
        qsort(s, n, sizeof(*s), by_score);
    for (uint32_t i = 0, end; s && i < n; i = end) {
        /* equals share the mean of their ranks, which begin at 1 */
        for (end = i; end < n && s[end].score == s[i].score; end++)
            ;
        for (uint32_t j = i; j < end; j++) {
            ranks += s[j].truth ? (i + 1 + end) / 2.0 : 0;
            yes += s[j].truth;
        }
    }
    free(s);
    no = n - yes;
    return yes > 0 && no > 0 ? (ranks - yes * (yes + 1) / 2) / (yes * no) : NAN;
}

double msim_score_calibration(const double *p, const bool *truth, uint32_t n)
{
    enum { CLASSES = 10 };
    double sum[CLASSES] = {0}, came[CLASSES] = {0}, off = 0;

    for (uint32_t i = 0; i < n; i++) {
        int k = (int)(p[i] * CLASSES);

        k = k < 0 ? 0 : k >= CLASSES ? CLASSES - 1 : k;
        sum[k] += p[i];
        came[k] += truth[i];
    }
    for (int k = 0; k < CLASSES; k++)
        off += fabs(sum[k] - came[k]);
    return n ? off / n : NAN;
}

double msim_score_log_error(const double *guess, const double *truth,
                            uint32_t n)
{
    double *off = malloc((size_t)n * sizeof(*off) + 1);
    double median = NAN;

    for (uint32_t i = 0; off && i < n; i++)
        off[i] = fabs(expm1(guess[i] - truth[i]));
    if (off && n > 0)
        median = msim_median_mean(off, n);
    free(off);
    return median;
}
