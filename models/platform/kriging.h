/*
 * models/platform/kriging.h - the correction of a law where rows are few: what
 * rows of like sizes measured.
 *
 * Trees want hundreds of rows before their steps lie where the library's do.
 * With fewer, log(measured / law) is better taken to vary smoothly (kriging):
 *
 *     correction(x) = sum over rows i of weight_i k(d_i)
 *     d_i^2         = sum over features f of ((x_f - x_if) / reach_f)^2
 *     k(d)          = (1 + sqrt(3) d) exp(-sqrt(3) d)
 *
 * the Matern covariance of order 3/2 (Rasmussen and Williams, Gaussian
 * Processes for Machine Learning, 2006, eq. 4.17). Far from all rows it is 0:
 * the law alone. calibrate/fit/kriging_fit.h finds weights and reaches.
 *
 * How sure that is depends on the row that is most alike: given that one alone,
 * what is left has a variance in proportion to noise + 1 - k^2 (eq. 2.26).
 *
 * In a platform file: "reach" (an object: how far which feature reaches, in its
 * own unit), "rows" (a text: these features of one row after the other),
 * "weights" (a text: one a row), "noise", "low" and "high" as in
 * models/platform/forest.h.
 */
#ifndef MSIM_MODELS_PLATFORM_KRIGING_H
#define MSIM_MODELS_PLATFORM_KRIGING_H
#include "models/law/law.h"

struct msim_kriging {
    uint32_t n, n_features;
    uint32_t features[MSIM_LAW_FEATURES]; /* of the law */
    double length_scale[MSIM_LAW_FEATURES];
    double *rows;    /* n x n_features, over their reach */
    double *weights; /* n */
    double noise, low, high;
};

/* The correction, within low..high, and its doubt: a standard deviation, but
 * for a factor that a cell's interval knows. */
struct msim_kriging_answer {
    double log, sd_ratio;
};

/* k(d) for the square of d. */
double msim_kriging_correlation(double distance2);

/* What rows nearby say of the law's features `x`. `alike` is the correlation of
 * their GPU's corrections with those of the GPU that is asked for: 1 for its
 * own. */
struct msim_kriging_answer msim_kriging_correct(const struct msim_kriging *m,
                                                const double *x,
                                                double correlation);

/* The doubt where no row is near. */
double msim_kriging_far(const struct msim_kriging *m);

/*
 * Read the "nearby" object of a cell. On failure EFORMAT (or ENOMEM), and `m`
 * is released.
 */
MSIM_MUST_CHECK
enum msim_status msim_kriging_read(struct msim_kriging *m, const cJSON *json,
                                   const struct msim_law *law);
void msim_kriging_release(struct msim_kriging *m);

#endif
