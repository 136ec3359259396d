/*
 * calibrate/steps/search.h - constants above 0 of least badness: one after
 * another is moved along its logarithm by Brent's method (GSL), several times
 * over.
 */
#ifndef MSIM_CALIBRATE_STEPS_SEARCH_H
#define MSIM_CALIBRATE_STEPS_SEARCH_H
#include <stdint.h>

struct msim_search {
    double *at;   /* where it begins; then the result */
    uint32_t n;   /* constants */
    double ridge; /* badness of a constant at e times its start */
    double (*badness)(const double *at, void *context);
    void *context;
};

void msim_search_run(const struct msim_search *s);

#endif
