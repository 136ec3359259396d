/*
 * core/work/kernel/infer.h - kernels without shapes: what their names say, of
 * which kind they are, and the works that their times and launches tell.
 */
#ifndef MSIM_CORE_WORK_KERNEL_INFER_H
#define MSIM_CORE_WORK_KERNEL_INFER_H
#include "core/trace/trace.h"
#include "core/work/data_sheet.h"
#include "core/work/estimate.h"
#include "core/work/opmap/opmap.h"
#include "core/work/work.h"

/* ---- kernel kind --------------------------------------------------------- */
/* The kind of work of a kernel, from its name. */

enum msim_kernel_kind {
    MSIM_KERNEL_OTHER,
    MSIM_KERNEL_MATRIX,
    MSIM_KERNEL_GEMV, /* matrix by vector */
    MSIM_KERNEL_CONV,
    MSIM_KERNEL_ATTENTION,
    MSIM_KERNEL_DECODE,  /* attention of one query */
    MSIM_KERNEL_SPLIT_K, /* sum of partial products */
    MSIM_KERNEL_ELEMENTWISE,
    MSIM_KERNEL_FOREACH, /* a list of tensors */
    MSIM_KERNEL_COPY,
    MSIM_KERNEL_REDUCTION,
    MSIM_KERNEL_SOFTMAX,
    MSIM_KERNEL_NORM,       /* of rows */
    MSIM_KERNEL_BATCH_NORM, /* of channels */
    MSIM_KERNEL_POOL,
    MSIM_KERNEL_INDEX,
    MSIM_KERNEL_EMBEDDING,
    MSIM_KERNEL_SORT,
    MSIM_KERNEL_COLLECTIVE,
    MSIM_KERNEL_KINDS
};

/* The kind of work; `name` without the types of its parameters. */
enum msim_kernel_kind msim_kernel_kind_read(const char *name);

/* ---- kernel name --------------------------------------------------------- */
/*
 * What the name of a kernel shows of its work.
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
 * (predict/carry/scaled.h) and inferred sizes ("infer")
 * use it.
 */

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

/* ---- kernel family ------------------------------------------------------- */
/*
 * The family that a kernel's name tells, for kernels of graphs, of generated
 * code and of operators that are not known.
 */

/* BOUND where the name tells nothing. */
enum msim_family msim_kernel_family(const char *name);

/* ---- infer state --------------------------------------------------------- */
/*
 * What is known of the kernels of one rank. Private to infer_*.c, which share
 * it; "infer" is its public face.
 */

/* A product (m x k)(k x n), `batch` times; m 0: none. */
struct msim_infer_product {
    double m, n, k, batch;
    double filter; /* convolutions: positions of the filter */
    bool related;  /* k from related products, else the usual */
};

/* What is known of the kernels of one rank. */
struct msim_infer {
    const struct msim_trace *t;
    struct msim_kernel_name *names; /* that differ */
    uint32_t *name_of;              /* of each GPU event, into `names` */
    uint32_t *order;                /* GPU events as they were launched */
    uint32_t *place;                /* of each GPU event in that order */
    double *elems; /* of each, by its own launch or its forward pass; 0 */
    struct msim_infer_product *products; /* of each */
    double width; /* of rows, where a norm's name states it; else the usual */
    uint32_t n_names, cap_names;
    bool shapeless; /* no operator of the trace has a shape */
};

static inline const struct msim_kernel_name *
msim_infer_name(const struct msim_infer *l, uint32_t i)
{
    return &l->names[l->name_of[i]];
}

/* Blocks and threads of the launch; 0 where it is not recorded. */
double msim_infer_blocks(const struct msim_infer *l, uint32_t i);
double msim_infer_threads(const struct msim_infer *l, uint32_t i);

/* The autograd node of GPU event `gpu` and whether its pass is the backward
 * one: that of the next operator around it that has a sequence number. False
 * where there is none. */
bool msim_infer_node(const struct msim_trace *t, uint32_t gpu, int64_t *node,
                     bool *backward);

/* Fill in `products`: the sizes of all products of the rank. */
MSIM_MUST_CHECK
enum msim_status msim_infer_products(struct msim_infer *l);
/* Fill in `elems`: the elements of the other kernels by their own launches, of
 * norms and softmax by the other pass of their layer. */
MSIM_MUST_CHECK
enum msim_status msim_infer_elements(struct msim_infer *l);
/* Multiprocessors of the GPU that was traced; the usual number where the trace
 * does not record it. */
uint32_t msim_infer_sms(const struct msim_infer *l);
/* Rows, columns and batch of kernel `i`, a product. */
void msim_infer_output(const struct msim_infer *l, uint32_t i,
                       struct msim_infer_product *p);
/* Elements of kernel `i` by its launch or its neighbours; 0: not known. */
double msim_infer_elems(const struct msim_infer *l, uint32_t i);
/* Elements of the kernel before it, else of the one after it; 0: not known. */
double msim_infer_taken(const struct msim_infer *l, uint32_t i);
/* Does the size of kernel `i` follow from its own launch or its layer, rather
 * than from its neighbours? */
bool msim_infer_own(const struct msim_infer *l, uint32_t i);

/* ---- infer --------------------------------------------------------------- */
/*
 * Works of kernels without shapes: no operator launched them, or one whose
 * shapes are not recorded.
 *
 * Only the name, the launch configuration and the neighbours of such a kernel
 * are known. Sizes follow from them; times are not read.
 *
 *   elements  blocks x threads x elements a thread, which the name states
 *
 *   products  rows and columns of the output: grid x tile
 *
 * A grid may be as large as the GPU, whatever the work: then the elements are
 * those of the kernels launched next to it. The size that a product sums over
 * follows from related products: the forward pass of a layer and its two
 * gradients multiply the same three sizes a, b and c pairwise. The areas of
 * their outputs are ab, bc and ac, and each takes 2 abc = 2 sqrt(ab * bc * ac)
 * operations.
 *
 * Example: outputs of 1024 x 4096, 2048 x 4096 and 1024 x 2048 belong to a
 * layer from 2048 to 1024 features for 4096 rows.
 *
 * The laws of their families estimate these works like any other. The interval
 * gets wider by the standard deviation of the logarithm that the sizes have.
 *
 * Not thread-safe; the context owns all memory.
 */

/* Fill in `l`; ENOMEM is the only failure. Release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_infer_init(struct msim_infer *l,
                                 const struct msim_trace *t);
void msim_infer_release(struct msim_infer *l);

/*
 * The work of GPU event `i`, a kernel. `*log_sd` is the standard deviation of
 * the logarithm of its time that its sizes cause. False for a collective, whose
 * launch configuration says nothing of its size.
 */
bool msim_infer_work(const struct msim_infer *l, uint32_t i,
                     struct msim_work *w, double *log_sd);

/* Does nothing in the name of kernel `i` say what it does? */
bool msim_infer_blind(const struct msim_infer *l, uint32_t i);

/*
 * Is the work of op `op` to be inferred from its kernels, rather than to be its
 * `n` works, as msim_opmap() has them? It is where no operator of the trace has
 * a shape, unless a user's table names the operator; for a compiled region; and
 * for an unknown operator, whose tensors give a lower bound only.
 */
bool msim_infer_decides(const struct msim_infer *l,
                        const struct msim_op_kernels *kernels, uint32_t op,
                        enum msim_opmap_result r, const struct msim_work *works,
                        uint32_t n);

/* Mark an estimate as one of an inferred work and widen its interval: `log_sd`
 * is added in quadrature to each side. */
void msim_infer_widen(struct msim_estimate *e, double log_sd);

/*
 * Infer the size of `w`, the transfer of GPU event `i`, where it is not
 * recorded: that of what the kernel before it wrote. `*log_sd` is as above.
 * Where nothing is known of the kernel before, `w` stays; where the size is
 * recorded or there is none (a barrier), `*log_sd` is 0, too.
 */
void msim_infer_comm(const struct msim_infer *l, uint32_t i,
                     struct msim_work *w, double *log_sd);

#endif
