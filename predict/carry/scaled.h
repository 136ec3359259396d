/*
 * predict/carry/scaled.h - a time measured on one GPU, carried to another.
 *
 *     time(target) = measured(source) * model(target) / model(source)
 *
 * Errors that the model has on both GPUs cancel. Without a model the class of
 * the kernel is used (predict/carry/kernel_class.h). From a GPU to itself the
 * time stays as measured, to the picosecond, and has no interval. A time that
 * stays as it is from a GPU to one with the same data sheet has none, either.
 */
#ifndef MSIM_PREDICT_CARRY_SCALED_H
#define MSIM_PREDICT_CARRY_SCALED_H
#include "core/work/estimate.h"
#include "predict/carry/kernel_class.h"

/* The estimates of one piece of work on both. */
struct msim_scaling {
    const struct msim_platform *source, *target;
    struct msim_estimate from, to; /* us above 0 */
    bool reshaped;                 /* they are of other sizes, or types */
    /* Measured, of all kernels that do the work, each of which keeps its part;
     * above 0 where it is reshaped. */
    double whole_us;
};

/* `us` measured on the source, on the target. */
void msim_scaled_by_model(const struct msim_scaling *s, double us,
                          struct msim_estimate *out);

/* Likewise by the kernel's class; `k->us` is the measured time. */
void msim_scaled_by_class(const struct msim_platform *source,
                          const struct msim_platform *target,
                          const struct msim_kernel_facts *k,
                          struct msim_estimate *out);

/* Are both the same GPU at the same clock? */
bool msim_scaled_same(const struct msim_platform *source,
                      const struct msim_platform *target);

/*
 * The factor, either way, by which all kernels together may be off (90 %) since
 * both machines may differ from their models: the one that was traced and the
 * one that is predicted.
 */
double msim_scaled_factor(const struct msim_platform *source,
                          const struct msim_platform *target);

#endif
