/*
 * predict/whatif/ratio.h - how many times as long a changed job takes, with an
 * interval of its own.
 *
 * Two predictions of one job share most of their errors: where a law takes all
 * products for 10 % too short, it does so in both. So the interval of their
 * ratio is not that of two independent figures. Each deviation (deviate.h)
 * alone goes to the end of its 90 % interval, low and high, in both jobs at
 * once; what that moves the ratio by are its parts:
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
 */
#ifndef MSIM_PREDICT_WHATIF_RATIO_H
#define MSIM_PREDICT_WHATIF_RATIO_H
#include "predict/whatif/deviate.h"

/* `us`: r, low, high, and nothing measured. Both must have the same states
 * (msim_outcome.states). What is found of the base serves the next ratio. */
MSIM_MUST_CHECK
enum msim_status msim_ratio_find(struct msim_deviating *base,
                                 const struct msim_ratio_side *changed,
                                 struct msim_figure *ratio,
                                 struct msim_error *err);

/*
 * The laws of two GPUs are fitted apart, so the deviations of their families
 * and machines count as independent. What both periods share cancels: the host,
 * whose deviation goes to each end in both at once, if it is one host:
 *
 *     log ratio - log low = root of (host part^2 + the base's GPU part up^2
 *                                    + its own GPU part down^2)
 */
struct msim_ratio_parts {
    double us; /* the period, and what moves it, as logarithms >= 0 */
    double gpu_down, gpu_up, host_down, host_up;
};

MSIM_MUST_CHECK
enum msim_status msim_ratio_parts_find(struct msim_ratio_parts *out,
                                       const struct msim_ratio_side *of,
                                       double us, struct msim_error *err);
struct msim_figure msim_ratio_of_gpus(const struct msim_ratio_parts *base,
                                      const struct msim_ratio_parts *changed,
                                      bool one_host);

/*
 * Where measured jobs tell the changed job apart from the base
 * (predict/measured_step.h), by factors of what their graphs take, the ratio
 * is as unsure as these differ: its interval holds the ratio that one factor
 * for both would give, too.
 */
void msim_ratio_widen(struct msim_figure *ratio, double base_factor,
                      double factor);

#endif
