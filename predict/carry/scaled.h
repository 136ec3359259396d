/*
 * predict/carry/scaled.h - a time measured on one GPU, carried to another.
 *
 *     time(target) = measured(source) * model(target) / model(source)
 *
 * Errors that the model has on both GPUs cancel. Without a model the class of
 * the kernel is used (predict/carry/scaled.h). From a GPU to itself the
 * time stays as measured, to the picosecond, and has no interval. A time that
 * stays as it is from a GPU to one with the same data sheet has none, either.
 */
#ifndef MSIM_PREDICT_CARRY_SCALED_H
#define MSIM_PREDICT_CARRY_SCALED_H
#include "core/work/data_sheet.h"
#include "core/work/estimate.h"

/* ---- kernel class -------------------------------------------------------- */
/*
 * What bounds a kernel of which only the name, the launch and the time are
 * known: kernels of CUDA and HIP graphs, of libraries that no operator names,
 * of operators without shapes.
 *
 * The class selects the figure of two data sheets by which a measured time
 * scales:
 *
 *     time(target) = head * floor(target) / floor(source)
 *                  + (time - head) * rate(source) / rate(target)
 *
 * `head` is the part that no rate shortens: all of a kernel that takes no
 * longer than the shortest of its kind, or that leaves most of the GPU idle.
 * Example: 10 us in a kernel that moves bytes, a head of 5 us, the same floor
 * on both, twice the bandwidth: 5 + 5 / 2 = 7.5 us.
 */

enum msim_kernel_class {
    MSIM_CLASS_LATENCY, /* launch, and one thing after the other */
    MSIM_CLASS_MEMORY,
    MSIM_CLASS_TENSOR,
    MSIM_CLASS_LINK, /* collectives of unknown size; by the network where the
                        name says that it joins nodes */
    MSIM_CLASS_COUNT
};

struct msim_kernel_facts {
    const char *name;
    const struct msim_launch_config *config; /* NULL: not recorded */
    double us;                               /* on the source */
    bool communication;
};

/* What bounds it where it was measured. */
enum msim_kernel_class
msim_kernel_class_of(const struct msim_data_sheet *source,
                     const struct msim_kernel_facts *k);

/* Its time on `target`, us: the formula above. */
double msim_kernel_class_us(const struct msim_data_sheet *source,
                            const struct msim_data_sheet *target,
                            const struct msim_kernel_facts *k);

/* ---- scaled -------------------------------------------------------------- */

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
