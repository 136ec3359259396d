/*
 * calibrate/steps/search.h - constants above 0 that explain rows best: the
 * least weighted mean of |log(measured / predicted)|, at most `most` a row,
 * since some rows met a broken network; with a little for the distance of every
 * constant from where it began, so that what no row can tell stays there.
 *
 * All constants move together, along their logarithms: absolute values are
 * squares with weights of their own (iteratively reweighted least squares), and
 * each round solves for the squares by the method of Levenberg (1944) and
 * Marquardt (1963). One constant at a time would stop where two must change
 * together; it follows, since it gets over kinks of the law.
 *
 * Allocates and frees what it needs; without memory `at` stays as it is.
 */
#ifndef MSIM_CALIBRATE_STEPS_SEARCH_H
#define MSIM_CALIBRATE_STEPS_SEARCH_H
#include <stdint.h>

struct msim_search {
    double *at;           /* where it begins; then the result */
    uint32_t n;           /* constants, at most 64 */
    const double *weight; /* of each row */
    uint32_t rows;
    double most, ridge; /* the latter: what a constant at e times its start
                           costs */
    /* log(measured / predicted) of every row by the constants `at` */
    void (*residuals)(double *out, const double *at, void *context);
    void *context;
};

void msim_search_run(const struct msim_search *s);

#endif
