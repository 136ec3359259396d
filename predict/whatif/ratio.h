/*
 * predict/whatif/ratio.h - how many times as long a changed job takes, with an
 * interval of its own.
 *
 * Two predictions of one job share most of their errors: where a law takes all
 * products for 10 % too short, it does so in both. So the interval of their
 * ratio is not that of two independent figures. What is uncertain are a few
 * deviations: one for each family of operators, one for the host, and one for
 * the whole GPU. Each alone goes to the end of its 90 % interval, low and high,
 * in both jobs at once; what that moves the ratio by are its parts:
 *
 *     r        = period of the changed job / period of the base
 *     r(d)     = the same while deviation d is at one end
 *     r - low  = root of the sum over d of max(r - r(d low), r - r(d high),
 * 0)^2 high - r = root of the sum over d of max(r(d low) - r, r(d high) - r,
 * 0)^2
 *
 * Deviations that both jobs have cancel; what only one of them has, and what
 * the two feel differently, stays. Example: a job that kernels bound, with all
 * kernels halved, takes 0.500 times as long, whatever its kernels take. Under
 * measured costs nothing deviates, and the interval is a point.
 *
 * The largest SEPARATE families deviate by themselves, the others as one, with
 * the share of their sum that independent deviations leave (scenarios.h).
 */
#ifndef MSIM_PREDICT_WHATIF_RATIO_H
#define MSIM_PREDICT_WHATIF_RATIO_H
#include "core/report/analyse/outcome.h"
#include "predict/cost.h"

#define MSIM_RATIO_SEPARATE 5

/* One of two jobs. */
struct msim_ratio_side {
    const struct msim_outcome *outcome; /* its middle run */
    const struct msim_costs *costs;
    uint32_t iteration; /* index, or UINT32_MAX: all */
    bool exact;         /* it is known that no duration of it deviates, */
    double period_us;   /* and its period; else 0 */
};

/* `us`: r, low, high, and nothing measured. Both must have the same states
 * (msim_outcome.states). */
MSIM_MUST_CHECK
enum msim_status msim_ratio_find(const struct msim_ratio_side *base,
                                 const struct msim_ratio_side *changed,
                                 struct msim_figure *ratio,
                                 struct msim_error *err);

/* What deviates: a family (an index as costs.made_by), or one of these. */
#define MSIM_DEVIATE_GPU    (MSIM_MADE_BY_MAX + 0) /* all kernels together */
#define MSIM_DEVIATE_OTHERS (MSIM_MADE_BY_MAX + 1) /* families not named */

/* Which families of two jobs deviate by themselves, and the rest. */
struct msim_deviations {
    uint32_t separate; /* bits of 1 << family */
    uint32_t others;   /* likewise */
    bool gpu;
    double share; /* of each of the others */
};
void msim_deviations_choose(struct msim_deviations *d,
                            const struct msim_ratio_side *const *sides,
                            uint32_t n_sides);

/* The period of a job (us) while `what` is at one end. */
MSIM_MUST_CHECK
enum msim_status msim_period_deviating(const struct msim_ratio_side *side,
                                       const struct msim_deviations *d,
                                       unsigned what, bool high, double *us,
                                       struct msim_error *err);

#endif
