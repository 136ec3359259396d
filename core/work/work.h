/*
 * core/work/work.h - what one operator asks of a device, as numbers.
 *
 * The bridge between traces and laws: the operator map (core/work/opmap) makes
 * works out of operators and their arguments, core/work/rows.h out of rows of
 * tables, and a model makes an estimate of a work. A work holds no time.
 */
#ifndef MSIM_CORE_WORK_WORK_H
#define MSIM_CORE_WORK_WORK_H
#include "core/trace/trace.h"
#include "core/work/moe_load.h"

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

#endif
