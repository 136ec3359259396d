/*
 * core/work/foreach.h - how PyTorch's operators on lists of tensors (foreach,
 * fused optimizers) are divided:
 * aten/src/ATen/native/cuda/MultiTensorApply.cuh.
 */
#ifndef MSIM_CORE_WORK_FOREACH_H
#define MSIM_CORE_WORK_FOREACH_H
#include <stdint.h>

/*
 * Kernels that an operator over `lists` lists of `tensors` tensors each takes,
 * not rounded; `chunks` is the number of its blocks. A kernel takes its tensors
 * as arguments, at most 4 kB of them (depth_to_max_tensors), and has at most
 * 320 blocks (depth_to_max_blocks). 100 tensors of one chunk in 4 lists:
 * 100 / 36 = 2.8.
 */
static inline double msim_foreach_kernels(double tensors, double chunks,
                                          uint32_t lists)
{
    static const double most_tensors[] = {110, 110, 64, 48, 36, 30};
    double by_tensors = tensors / most_tensors[lists < 5 ? lists : 5];
    double by_chunks = chunks / 320;

    return by_tensors > by_chunks ? by_tensors : by_chunks;
}

#endif
