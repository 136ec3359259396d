/*
 * core/work/kernel/kernel_kind.h - the kind of work of a kernel, from its name.
 */
#ifndef MSIM_CORE_WORK_KERNEL_KERNEL_KIND_H
#define MSIM_CORE_WORK_KERNEL_KERNEL_KIND_H

/* X(name, the word in explanations) */
#define MSIM_KERNEL_KIND_MAP(X)                                                \
    X(OTHER, "other")                                                          \
    X(MATRIX, "product")                                                       \
    X(GEMV, "matrix by vector")                                                \
    X(CONV, "convolution")                                                     \
    X(ATTENTION, "attention")                                                  \
    X(DECODE, "attention of one query")                                        \
    X(SPLIT_K, "sum of partial products")                                      \
    X(ELEMENTWISE, "elementwise")                                              \
    X(FOREACH, "list of tensors")                                              \
    X(COPY, "copy")                                                            \
    X(REDUCTION, "reduction")                                                  \
    X(SOFTMAX, "softmax")                                                      \
    X(NORM, "norm of rows")                                                    \
    X(BATCH_NORM, "norm of channels")                                          \
    X(POOL, "pool")                                                            \
    X(INDEX, "gather")                                                         \
    X(EMBEDDING, "embedding bag")                                              \
    X(SORT, "sort")                                                            \
    X(COLLECTIVE, "collective")

enum msim_kernel_kind {
#define X(name, text) MSIM_KERNEL_##name,
    MSIM_KERNEL_KIND_MAP(X)
#undef X
        MSIM_KERNEL_KINDS
};
const char *msim_kernel_kind_text(enum msim_kernel_kind k);

/* The kind of work; `name` without the types of its parameters. */
enum msim_kernel_kind msim_kernel_kind_read(const char *name);

#endif
