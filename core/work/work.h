/*
 * core/work/work.h - works: what one operator asks of a device, as numbers;
 * their shapes, axes and words.
 */
#ifndef MSIM_CORE_WORK_WORK_H
#define MSIM_CORE_WORK_WORK_H
#include "core/trace/trace.h"

#include <stdint.h>

/* ---- moe load ------------------------------------------------------------ */
/*
 * What the routing of tokens leaves one rank to do.
 *
 * A layer of E experts on `ep` ranks gives each of T tokens to k experts, so
 * that T k pairs are shared out; each rank has L = E / ep experts. A layer
 * waits for its slowest rank, so the load is that of the busiest one:
 *
 *   EVEN       round and round: every expert T k / E pairs, or one of the
 *              first few pairs each
 *   RANDOM     each pair to any expert: L (1 - exp(-T k / E)) of them have
 *              something to do
 *   POWER_LAW  shares drawn from a density x^-alpha: a few experts get most
 *
 * Worked example: 8 experts, k = 2, 16 tokens, one rank, EVEN: 32 pairs, 8
 * active experts of 4 pairs each, 8 tiles of any size from 4 rows up.
 */

enum msim_routing_kind {
    MSIM_ROUTING_RANDOM,
    MSIM_ROUTING_EVEN,
    MSIM_ROUTING_POWER_LAW
};

struct msim_moe_routing {
    int64_t tokens, topk, experts, ep; /* of the layer, over all ranks */
    enum msim_routing_kind kind;
    double alpha; /* POWER_LAW: 1.01 mild, 1.2 strong */
};

/* Rows of the tiles that kernels cut each expert's tokens into. */
#define MSIM_MOE_TILES 4
extern const double MSIM_MOE_TILE[MSIM_MOE_TILES]; /* 16, 32, 64, 128 */

/* Expected values for the busiest rank; all are above 0. */
struct msim_moe_load {
    double local;                 /* experts that the rank holds */
    double pairs;                 /* (token, expert) pairs for them */
    double active;                /* experts with at least one */
    double most;                  /* pairs of the busiest expert */
    double tiles[MSIM_MOE_TILES]; /* sum of ceil(pairs / rows) over experts */
};

/* Sizes below 1 count as 1; any sizes are answered with finite figures. */
void msim_moe_load_make(struct msim_moe_load *load,
                        const struct msim_moe_routing *r);

/* ---- work ---------------------------------------------------------------- */
/*
 * What one operator asks of a device, as numbers.
 *
 * The bridge between traces and laws: the operator map (core/work/opmap) makes
 * works out of operators and their arguments, core/work/rows.h out of rows of
 * tables, and a model makes an estimate of a work. A work holds no time.
 */

/* GPUs of a node where nothing says it: as many as the servers of the known
 * platforms have. */
#define MSIM_GPUS_A_NODE 8

/* X(name, the word in reports). A dispatch to experts is a work of its own
 * family; reports count its time as a collective's. */
#define MSIM_FAMILY_MAP(X)                                                     \
    X(GEMM, "gemm")                                                            \
    X(ATTENTION, "attention")                                                  \
    X(CONV, "conv")                                                            \
    X(POINTWISE, "pointwise")                                                  \
    X(REDUCTION, "reduction")                                                  \
    X(SOFTMAX, "softmax")                                                      \
    X(NORM, "norm")                                                            \
    X(EMBEDDING, "embedding")                                                  \
    X(COPY, "copy")                                                            \
    X(OPTIMIZER, "optimizer")                                                  \
    X(MOE, "moe")                                                              \
    X(COLLECTIVE, "collective")                                                \
    X(DISPATCH, "dispatch")                                                    \
    X(BOUND, "bound")

enum msim_family {
#define X(name, text) MSIM_FAMILY_##name,
    MSIM_FAMILY_MAP(X)
#undef X
        MSIM_FAMILY_COUNT
};
const char *msim_family_text(enum msim_family f);

enum msim_attention_phase {
    MSIM_ATTENTION_PREFILL, /* causal */
    MSIM_ATTENTION_DECODE,
    MSIM_ATTENTION_ENCODER, /* not causal */
};

enum msim_conv_pass {
    MSIM_CONV_FORWARD,
    MSIM_CONV_BACKWARD_DATA,
    MSIM_CONV_BACKWARD_WEIGHT,
};

/* Where the numbers lie that a reduction sums into one. */
enum msim_fold {
    MSIM_FOLD_UNKNOWN,
    MSIM_FOLD_ALONG,  /* side by side: sums of rows */
    MSIM_FOLD_ACROSS, /* a row apart: sums of columns */
};

struct msim_work {
    enum msim_family family;
    enum msim_dtype dtype; /* of the arithmetic's inputs */
    /* The stack that runs it ("pytorch", "trtllm", "vllm", ...) and the
     * source that would have measured it. NULL: not given, so the bare kernel.
     * Only rows of tables give them. */
    const char *framework, *source, *version, *backend;
    /*
     * The kind within a family: "add", "gelu", "layer_norm", "fp8_block" ...;
     * NULL or "" where there is only one. For fp32 matrix products and
     * convolutions "tf32" means that tensor cores may round the inputs
     * (torch.backends.cuda.matmul.allow_tf32 and cudnn.allow_tf32); without it
     * the arithmetic is plain fp32. A GPU without TF32 runs "tf32" as plain
     * fp32.
     */
    const char *variant;
    double flops;                     /* multiply and add count two */
    double bytes_read, bytes_written; /* least traffic to memory */
    struct { /* by a user's table (core/work/opmap/ops_file.h), else all 0 */
        const char *origin;     /* "ops.csv:3" */
        double interval_factor; /* wider by this either way */
        double us;              /* the time itself; 0: by its law */
    } user;
    uint32_t kernels; /* kernels that the operator is made of; 0 counts as 1 */
    uint32_t repeats; /* it runs so often, each time after the other; 0: once */
    /* Writes memory that was in use before, not memory that was just
     * allocated. */
    bool in_place;
    /* No rule knows its kernels: the family is that of the nearest kind. */
    bool nearest;
    /* A CUDA graph launches it, right behind another kernel. */
    bool graphed;
    /* Somebody asks for these sizes: they are not what a trace says of kernels
     * that ran, and so never misread. */
    bool asked;
    /* The GPU that was traced has room for it, so that it was not misread. */
    bool possible;
    union {
        struct {
            int64_t m, n, k, batch;
            bool a_transposed, b_transposed;
        } gemm;
        struct {
            enum msim_attention_phase phase;
            bool backward;
            int64_t batch, heads, kv_heads, q_len, kv_len, head_dim, window;
            int64_t v_dim; /* of a value; 0: head_dim, that of a key. Narrower
                              with one head of keys for all: DeepSeek's latent
                              attention, whose values are the first of a key's
                              numbers, so that those are read once */
            enum msim_dtype kv_dtype;
        } attention;
        struct {
            enum msim_conv_pass pass;
            int64_t n, c, h, w, k, r, s; /* input, output channels, filter */
            int64_t stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
            int64_t groups;
            bool transposed, channels_last;
            bool deep; /* three spatial dimensions; n and c have the third */
            int64_t depth; /* filter taps of the third that c has; 0: 1 */
        } conv;
        struct {                      /* POINTWISE .. OPTIMIZER and BOUND */
            int64_t elems;            /* of the largest operand */
            int64_t rows, cols;       /* reductions, softmax, norms,
                                         embeddings: rows are independent, cols
                                         are reduced (or gathered) together;
                                         else 1, elems */
            enum msim_fold fold;      /* REDUCTION, SOFTMAX, batch NORM */
            enum msim_copy_kind copy; /* COPY */
            bool pageable;            /* COPY to or from the host */
            bool strided;      /* an operand is not read in its memory order */
            double lookups;    /* gathers: rows fetched, */
            double table_rows; /* of a table of so many, 0: not known */
            double row_bytes;
            double segments;   /* jagged data: rows of differing lengths */
            double taps;       /* pooling: inputs of all windows together */
            double turns;      /* loads of a thread that wait for each other, */
            double threads;    /* of so many threads */
            bool addressed;    /* operands do not lie alike in memory: the
                                  address of each element is computed */
            double most_flops; /* BOUND: of a product of its operands */
        } vector;
        struct {
            enum msim_collective collective;
            uint64_t bytes; /* size column of nccl-tests: the whole buffer */
            uint32_t ranks, nodes;
            const char *interconnect, *algorithm; /* NULL: the platform's */
            const char *setting; /* of a cluster, as its logs name it; NULL */
            bool as_fitted; /* by the platform's first machine alone, as the
                               constants of described jobs were fitted */
        } coll;
        struct { /* MOE: one rank's share of a layer of experts */
            int64_t hidden, inter; /* of the model; inter is split over tp */
            struct msim_moe_routing routing;
            int64_t tp;
            bool plain;                /* two matrices an expert: no gate */
            struct msim_moe_load load; /* made by msim_work_count() */
        } moe;
        struct { /* DISPATCH: tokens to the ranks of their experts, or back */
            int64_t tokens, hidden, topk, experts; /* tokens of one rank */
            int64_t ranks, sms; /* sms 0: the library's choice */
            bool combine;       /* back, and summed */
            bool low_latency;   /* every pair is sent by itself */
        } dispatch;
    } u;
};

/* How often the work runs, at least 1. */
double msim_work_repeats(const struct msim_work *w);

/* Bytes of one weight, its share of the scales included. A variant may pack
 * weights below the size of the dtype. */
double msim_work_weight_bytes(const struct msim_work *w);

/* With its flops and bytes, which laws count themselves. A load of experts that
 * is filled in is that of its routing. */
struct msim_work msim_work_counted(const struct msim_work *w);

/* Whether an operator of that name writes its first operand ("add_"). */
bool msim_work_is_in_place(const char *op);

/* `w->variant`, "" for NULL. */
const char *msim_work_variant(const struct msim_work *w);

/*
 * Fill in flops, bytes_read and bytes_written of a gemm, attention, conv or moe
 * work from its sizes and dtypes: the least traffic, each operand once.
 * Attention counts causal pairs only (PREFILL), and those of a window. Of
 * experts only the active ones count; the load is filled in.
 */
void msim_work_count(struct msim_work *w);

/*
 * Query-key pairs of one head and one sequence: all of them (ENCODER,
 * DECODE), the causal ones (PREFILL: query i of q sees kv - q + i + 1 keys),
 * at most `window` a query where there is a window.
 */
double msim_attention_pairs(const struct msim_work *w);

/* Output height and width of a convolution, at least 1. */
void msim_conv_output(const struct msim_work *w, int64_t *p, int64_t *q);

/* ---- axes ---------------------------------------------------------------- */
/*
 * Works that differ in one size alone.
 *
 * A work has an axis for each of its sizes. Two works lie on one axis, of the
 * same `kind`, where all else about them is the same: so the one that is larger
 * there takes no less time.
 *
 *     mm 128 x 64 x 512    on axis n, of all mm 128 x ? x 512: at 64
 *     mm 128 x 80 x 512    on the same axis: at 80
 */

#define MSIM_WORK_AXES 6

struct msim_work_axis {
    uint64_t kind; /* a hash: of equal words, on every machine of a kind */
    double size;
};

/* Fill in `axes`; how many there are. Bytes and FLOPs follow from sizes, and
 * are not looked at. */
uint32_t msim_work_axes(const struct msim_work *w,
                        struct msim_work_axis axes[MSIM_WORK_AXES]);

/*
 * Axis `i` of the work as a number by which kinds are put into an order: which
 * of several contradictions is marked (core/guard/guard.h) depends on it. It is
 * the same for works of a kind, and takes longer than all axes do.
 */
uint64_t msim_work_axis_order(const struct msim_work *w, uint32_t i);

/* ---- conv shape ---------------------------------------------------------- */
/*
 * A convolution as the products that it is made of.
 *
 * A transposed convolution is the data gradient of a plain one, and the other
 * way round, so that three passes of plain ones are all there is.
 */

/* Sizes of a plain convolution, channels a group. */
struct msim_conv_shape {
    enum msim_conv_pass pass;
    double n, c, h, w, k, p, q, r, s;
    double stride_h, stride_w, groups;
};

/* `batch` products of (m x k)(k x n): doubles, as they are only counted. */
struct msim_conv_product {
    double m, n, k, batch;
};

/* That of the plain convolution. */
enum msim_conv_pass msim_conv_pass_of(const struct msim_work *w);

/* All sizes are at least 1. */
void msim_conv_shape_of(const struct msim_work *w, struct msim_conv_shape *s);

/*
 * The product of a pass (Chetlur et al., "cuDNN: Efficient Primitives for Deep
 * Learning", 2014):
 *   forward          m = n p q   n = k       k = c r s
 *   data gradient    m = n h w   n = c       k = k r s / stride^2
 *   weight gradient  m = k       n = c r s   k = n p q
 */
void msim_conv_product_of(const struct msim_conv_shape *s,
                          struct msim_conv_product *out);

/* ---- work shape ---------------------------------------------------------- */
/*
 * The sizes of a work as whole numbers: two works of one family, kind and dtype
 * whose shapes are equal are one operator on one shape.
 *
 * Bytes are no part of it: an operand that is broadcast is read once, and the
 * shape is that of the result.
 */

/* Behind the last size there are zeros; convolutions have the most. */
struct msim_work_shape {
    int64_t sizes[19];
};

/* False where sizes do not say all of it: collectives, experts, dispatches,
 * look-ups in a table of unknown size and what only has a bound. */
bool msim_work_shape_of(const struct msim_work *w, struct msim_work_shape *out);

/* Whether rows of a table are looked up, whose sizes are known. Rows and
 * columns of such a work are what is fetched, in rows of a thousand. */
bool msim_work_has_table(const struct msim_work *w);

/* Rows and columns of an operator that moves bytes: of one on a table the rows
 * that are looked up, of one without rows a single one. */
void msim_work_rows(const struct msim_work *w, int64_t *rows, int64_t *cols);

/* ---- vector name --------------------------------------------------------- */
/*
 * The names of vector operators in tables ("add", "layer_norm_backward"). An
 * underscore at the end means in place ("add_"), a u that the second operand is
 * a number ("addu").
 */

/* The family that a work of this name has in a trace. */
enum msim_family msim_vector_name_family(const char *op);

/* Tensors of the operator's shape that it reads: 0 for "fill", 2 for "add",
 * 1 where nothing else is known. */
double msim_vector_name_inputs(const char *op);

/*
 * Make `w`, whose dtype, elems, rows and cols are there, the work of a vector
 * operator of that name, which must live as long: its family, and the bytes
 * that it moves. `bytes` in all, 0: as many as the operands of the name have;
 * `table_rows` of the table whose rows it fetches or adds to, 0: no table.
 */
void msim_vector_name_count(struct msim_work *w, const char *op, double bytes,
                            double table_rows);

/* ---- words --------------------------------------------------------------- */
/*
 * The words by which tables of measured times and experiments name dtypes,
 * collectives and the passes of a convolution.
 *
 * Several sources spell one thing in several ways ("half", "float16"); all of
 * them are read. What is written has one spelling: msim_dtype_text(),
 * msim_collective_text(), msim_conv_pass_text(). Everything is static text.
 */

/*
 * The dtype of the arithmetic's inputs, MSIM_DT_UNKNOWN for no known word.
 * Some words say more than that: how fp32 is rounded ("tf32") or how weights
 * are packed ("nvfp4", "int4_wo"). `*variant` becomes such a word, as in
 * msim_work.variant; NULL for a plain dtype.
 */
enum msim_dtype msim_dtype_parse(const char *word, const char **variant);

/* MSIM_COLL_UNKNOWN for no known word; "all_reduce", "all-reduce" and
 * "AllReduce" are one. Both halves of a point-to-point transfer ("send_recv")
 * are MSIM_COLL_SEND. */
enum msim_collective msim_collective_parse(const char *word);

/* False, and `*pass` untouched, for no known word. */
bool msim_conv_pass_parse(const char *word, enum msim_conv_pass *pass);
const char *msim_conv_pass_text(enum msim_conv_pass pass);

/* ---- foreach ------------------------------------------------------------- */
/*
 * How PyTorch's operators on lists of tensors (foreach, fused optimizers) are
 * divided: aten/src/ATen/native/cuda/MultiTensorApply.cuh.
 */

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

/* ---- op kernels ---------------------------------------------------------- */
/* Kernels (not copies, not collectives) by the operator that launched them. */

struct msim_op_kernels {
    uint32_t *begin; /* n_ops + 1, into gpu */
    uint32_t *gpu;   /* indices of GPU events, in their order */
};

/* Fill in `l`; ENOMEM is the only failure. Release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_op_kernels_init(struct msim_op_kernels *l,
                                      const struct msim_trace *t);
void msim_op_kernels_release(struct msim_op_kernels *l);

#endif
