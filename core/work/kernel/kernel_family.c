/*
 * core/work/kernel/kernel_family.c - families of kinds of kernels.
 */
#include "core/work/kernel/infer.h"

enum msim_family msim_kernel_family(const char *name)
{
    static const enum msim_family OF[MSIM_KERNEL_KINDS] = {
        [MSIM_KERNEL_OTHER] = MSIM_FAMILY_BOUND,
        [MSIM_KERNEL_MATRIX] = MSIM_FAMILY_GEMM,
        [MSIM_KERNEL_GEMV] = MSIM_FAMILY_GEMM,
        [MSIM_KERNEL_CONV] = MSIM_FAMILY_CONV,
        [MSIM_KERNEL_ATTENTION] = MSIM_FAMILY_ATTENTION,
        [MSIM_KERNEL_DECODE] = MSIM_FAMILY_ATTENTION,
        [MSIM_KERNEL_SPLIT_K] = MSIM_FAMILY_GEMM,
        [MSIM_KERNEL_ELEMENTWISE] = MSIM_FAMILY_POINTWISE,
        [MSIM_KERNEL_FOREACH] = MSIM_FAMILY_POINTWISE,
        [MSIM_KERNEL_COPY] = MSIM_FAMILY_COPY,
        [MSIM_KERNEL_REDUCTION] = MSIM_FAMILY_REDUCTION,
        [MSIM_KERNEL_SOFTMAX] = MSIM_FAMILY_SOFTMAX,
        [MSIM_KERNEL_NORM] = MSIM_FAMILY_NORM,
        [MSIM_KERNEL_BATCH_NORM] = MSIM_FAMILY_NORM,
        [MSIM_KERNEL_POOL] = MSIM_FAMILY_REDUCTION,
        [MSIM_KERNEL_INDEX] = MSIM_FAMILY_EMBEDDING,
        [MSIM_KERNEL_EMBEDDING] = MSIM_FAMILY_EMBEDDING,
        [MSIM_KERNEL_SORT] = MSIM_FAMILY_REDUCTION,
        [MSIM_KERNEL_COLLECTIVE] = MSIM_FAMILY_COLLECTIVE,
    };
    struct msim_kernel_name k;

    msim_kernel_name_read(&k, name);
    return OF[k.kind];
}
