/*
 * core/work/kernel/kernel_name.h - what the name of a kernel shows of its work.
 *
 * Libraries name their kernels after what they compute, and C++ writes a
 * template's arguments out: the kind of work, the type of its elements, how
 * many of them a thread takes, the tile of a product's output. Example:
 *
 *   vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>,
 *   at::detail::Array<char*, 3> >
 *
 * adds fp32 tensors; it reads two of three pointers, and a thread takes four
 * elements. What a name does not show is 0, or the usual value.
 *
 * This is the one place that reads names: kernel classes
 * (predict/carry/kernel_class.h) and inferred sizes (core/work/kernel/infer.h)
 * use it.
 */
#ifndef MSIM_CORE_WORK_KERNEL_KERNEL_NAME_H
#define MSIM_CORE_WORK_KERNEL_KERNEL_NAME_H
#include "core/work/data_sheet.h"
#include "core/work/kernel/kernel_kind.h"

struct msim_kernel_name {
    enum msim_kernel_kind kind;
    enum msim_dtype dtype;    /* of the elements; fp32 where not shown */
    enum msim_rate rate;      /* products and the like: of the arithmetic */
    enum msim_conv_pass pass; /* CONV */
    bool backward;
    bool maximum;         /* POOL */
    bool causal;          /* ATTENTION */
    bool splits;          /* MATRIX, CONV: blocks share sums (split-K) */
    bool channels_first;  /* the grid's x runs over columns of the output */
    bool experts;         /* MATRIX: one a block along the grid's y */
    bool gated;           /* MATRIX: half of the rows weigh the other half */
    bool counts_threads;  /* the grid is of threads, as HIP's modules launch */
    bool swizzles;        /* CUTLASS: rows of tiles run along columns too */
    bool odd;             /* for rows that begin on no 16 bytes */
    bool strides;         /* blocks go on: a grid of whole multiples of the
                             multiprocessors is not the size of the work */
    bool joins;           /* copies of several tensors, one a row of blocks */
    bool layout;          /* positions by channels, in tiles of 32 by 32 */
    bool tiled;           /* Winograd's transforms: a thread a tile */
    bool casts;           /* one side is of another type */
    bool rowwise;         /* a block a row or channel, of unknown length */
    bool persistent;      /* MATRIX: blocks that stay, as many as the GPU holds;
                             the grid says nothing of the output */
    double tile[2];       /* rows and columns of an output tile; 0: not shown */
    double items;         /* elements a thread takes */
    double reads, writes; /* tensors read and written */
    double cols;          /* of a row, of an attention head; 0: not shown */
};

/* Fill in `k` from a kernel's name, plain or mangled. */
void msim_kernel_name_read(struct msim_kernel_name *k, const char *full);

/* The shorter side of the tile; 0 where the name has none. */
double msim_kernel_name_narrow(const struct msim_kernel_name *k);

#endif
