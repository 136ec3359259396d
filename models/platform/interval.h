/*
 * models/platform/interval.h - 90 % intervals around a prediction.
 *
 * The base is quantiles of log(measured / predicted) on held-out rows. Other
 * reasons (another GPU's constants, sizes outside the fitted range) are
 * standard deviations of the logarithm, which are added in quadrature to each
 * side.
 */
#ifndef MSIM_MODELS_PLATFORM_INTERVAL_H
#define MSIM_MODELS_PLATFORM_INTERVAL_H
#include "core/work/estimate.h"
#include "models/platform/fit.h"

/* The quantiles for a prediction of `us` microseconds, as logarithms. */
void msim_interval_base(const struct msim_fit *c, double us, double *low,
                        double *high);

/* The largest distance of a size among the features `x` from the fitted range,
 * a logarithm; 0 inside. */
double msim_interval_outside(const struct msim_fit *c, const double *x);

/* Set the interval of `e` around e->us from the quantiles `low` and `high` and
 * a further standard deviation, all of the logarithm. */
void msim_interval_set(struct msim_estimate *e, double low, double high,
                       double log_sd);

#endif
