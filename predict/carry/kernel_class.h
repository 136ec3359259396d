/*
 * predict/carry/kernel_class.h - what bounds a kernel of which only the name,
 * the launch and the time are known: kernels of CUDA and HIP graphs, of
 * libraries that no operator names, of operators without shapes.
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
#ifndef MSIM_PREDICT_CARRY_KERNEL_CLASS_H
#define MSIM_PREDICT_CARRY_KERNEL_CLASS_H
#include "core/work/data_sheet.h"

enum msim_kernel_class {
    MSIM_CLASS_LATENCY, /* launch, and one thing after the other */
    MSIM_CLASS_MEMORY,
    MSIM_CLASS_TENSOR,
    MSIM_CLASS_LINK, /* collectives of unknown size; by the network where the
                        name says that it joins nodes */
    MSIM_CLASS_COUNT
};
const char *msim_kernel_class_text(enum msim_kernel_class c);

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

#endif
