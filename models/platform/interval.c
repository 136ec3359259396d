/*
 * models/platform/interval.c - 90 % intervals around a prediction.
 */
#include "models/platform/fit.h"

#include <math.h>

void msim_interval_base(const struct msim_fit *c, double us, double *low,
                        double *high)
{
    uint32_t i = 0;

    if (c->n_bins == 0) {
        *low = -0.7; /* no held-out rows: a factor of 2 */
        *high = 0.7;
        return;
    }
    while (i + 1 < c->n_bins && us > c->bins[i].upto_us)
        i++;
    *low = c->bins[i].low;
    *high = c->bins[i].high;
}

double msim_interval_outside(const struct msim_fit *c, const double *x)
{
    double most = 0;

    for (uint32_t i = 0; i < c->law->n_sizes; i++) {
        double d = 0;

        if (x[i] < c->range_low[i])
            d = c->range_low[i] - x[i];
        else if (x[i] > c->range_high[i])
            d = x[i] - c->range_high[i];
        most = fmax(most, d);
    }
    return most;
}

void msim_interval_set(struct msim_estimate *e, double low, double high,
                       double log_sd)
{
    double z = MSIM_Z90 * log_sd;

    /* the interval holds the prediction itself */
    if (low > 0)
        low = 0;
    if (high < 0)
        high = 0;
    e->low_us = e->us * exp(-sqrt(low * low + z * z));
    e->high_us = e->us * exp(sqrt(high * high + z * z));
}
