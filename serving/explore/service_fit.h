/*
 * serving/explore/service_fit.h - the service of a stage from visits that were
 * explored.
 *
 * A visit of class k, size z, served with n - 1 others, takes
 *
 *     x = b * max over the batch of (z^power * factor[k]) * law(n)
 *
 * in which b is drawn anew each time. The exponent, the factors and the law
 * are found by least squares on log x; b are the samples that are left. What
 * does not stand out from the noise is 0 (the exponent) or 1 (a factor).
 * Latency minus wait is the service, at any load; where waits are not known
 * the latency is, at a load that leaves little waiting.
 */
#ifndef MSIM_SERVING_EXPLORE_SERVICE_FIT_H
#define MSIM_SERVING_EXPLORE_SERVICE_FIT_H
#include "serving/explore/explore_rows.h"

struct msim_service_fit {
    double *base; /* ascending, ms; owned */
    uint32_t n_base;
    double mean;    /* of base */
    double power;   /* of the size */
    double *factor; /* one a class; owned */
    double *law;    /* law[n - 1] of a batch of n, law[0] = 1; owned */
    uint32_t most;  /* of a batch */
    bool waits, sizes, batches; /* what the rows told */
};

/*
 * Fit `rows` (n of them) of a stage that serves at most `most` together (1: no
 * batches). ELIMIT where there is nothing to learn from; ENOMEM. Release in all
 * cases.
 */
MSIM_MUST_CHECK
enum msim_status msim_service_fit_make(struct msim_service_fit *fit,
                                       const struct msim_visit_row *rows,
                                       uint32_t n, uint32_t n_classes,
                                       uint32_t most);
void msim_service_fit_release(struct msim_service_fit *fit);

#endif
