/*
 * models/platform/interval.h - 90 % intervals around a prediction.
 *
 * Residual quantiles of held-back rows are the base; reasons for more doubt
 * (another GPU's constants, sizes past the fitted range) are standard
 * deviations of the logarithm, added in quadrature to each side.
 */
#ifndef MSIM_MODELS_PLATFORM_INTERVAL_H
#define MSIM_MODELS_PLATFORM_INTERVAL_H
#include "core/work/estimate.h"
#include "models/platform/fit.h"

/* The residual quantiles for a prediction of `us`, as logarithms. */
void msim_interval_base(const struct msim_fit *c, double us, double *low,
                        double *high);

/* How far outside the fitted range the worst of the sizes among features `x`
 * lies, as a logarithm; 0 inside. */
double msim_interval_outside(const struct msim_fit *c, const double *x);

/* Set the interval of `e` from quantiles and a further spread. */
void msim_interval_set(struct msim_estimate *e, double low, double high,
                       double log_sd);

#endif
