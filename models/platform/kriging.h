/*
 * models/platform/kriging.h - the correction of a law where rows are few, by
 * rows of similar sizes.
 *
 * Trees need hundreds of rows until their steps lie where the library's do.
 * With fewer rows log(measured / law) is modelled as a smooth function
 * (kriging):
 *
 *     correction(x) = sum over rows i of weight_i k(d_i)
 *     d_i^2         = sum over features f of ((x_f - x_if) / length_scale_f)^2
 *     k(d)          = (1 + sqrt(3) d) exp(-sqrt(3) d)
 *
 * k is the Matern correlation of order 3/2 (Rasmussen and Williams, Gaussian
 * Processes for Machine Learning, 2006, eq. 4.17). Far from all rows the
 * correction is 0: the law alone. calibrate/fit/kriging_fit.h finds the weights
 * and length scales.
 *
 * The variance depends on the row with the largest correlation k: given this
 * row alone, it is in proportion to noise + 1 - k^2 (eq. 2.26).
 *
 * In a platform file, "nearby" has "reach" (an object: the length scale of each
 * feature, in the unit of the feature), "rows" (a text: these features of one
 * row after the other), "weights" (a text: one a row), "noise", and "low" and
 * "high" as in models/forest/forest.h.
 */
#ifndef MSIM_MODELS_PLATFORM_KRIGING_H
#define MSIM_MODELS_PLATFORM_KRIGING_H
#include "models/law/law.h"

struct msim_kriging {
    uint32_t n, n_features;
    uint32_t features[MSIM_LAW_FEATURES]; /* indices into those of the law */
    double length_scale[MSIM_LAW_FEATURES];
    double *rows;    /* n x n_features, over their length scales */
    double *weights; /* n */
    double noise, low, high;
};

/* The correction, limited to low..high, and its standard deviation over that of
 * the fit, which the fit's interval has. */
struct msim_kriging_answer {
    double log, sd_ratio;
};

/* k(d), where `distance2` is d^2. */
double msim_kriging_correlation(double distance2);

/* The correction for the law's features `x`. `correlation` is that between
 * corrections on the rows' GPU and on the GPU that is asked for: 1 where both
 * are the same. */
struct msim_kriging_answer msim_kriging_correct(const struct msim_kriging *m,
                                                const double *x,
                                                double correlation);

/* The sd_ratio where no row is near. */
double msim_kriging_far(const struct msim_kriging *m);

/*
 * Read the "nearby" object of a fit of `law`. On failure EFORMAT or ENOMEM, and
 * `m` is released.
 */
MSIM_MUST_CHECK
enum msim_status msim_kriging_read(struct msim_kriging *m, const cJSON *json,
                                   const struct msim_law *law);
void msim_kriging_release(struct msim_kriging *m);

#endif
