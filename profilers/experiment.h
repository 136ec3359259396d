/*
 * profilers/experiment.h - experiments: read from their lines and checked, the
 * vector operators among them, and which of them a GPU can run.
 */
#ifndef MSIM_PROFILERS_EXPERIMENT_H
#define MSIM_PROFILERS_EXPERIMENT_H
#include "core/base/json.h"
#include "core/work/rows.h"

/* ---- vector op ----------------------------------------------------------- */
/*
 * The vector operators that our own backends time, and what each does with its
 * operands.
 */

/* What a vector operator does with its shape; the last size is the columns. */
enum msim_vector_kind {
    MSIM_VECTOR_MADE,    /* one tensor in all, which is written */
    MSIM_VECTOR_CHANGED, /* one in all, changed in place */
    MSIM_VECTOR_UNARY,   /* two in all */
    MSIM_VECTOR_BINARY,  /* three in all */
    MSIM_VECTOR_DROPOUT, /* two, and a mask of a byte an element */
    MSIM_VECTOR_REDUCE,  /* one figure a row */
    MSIM_VECTOR_SOFTMAX,
    MSIM_VECTOR_NORM,          /* with a weight (and bias) a column */
    MSIM_VECTOR_NORM_BACKWARD, /* three gradients */
    MSIM_VECTOR_BATCH_NORM,    /* with a weight (and bias) a row */
    MSIM_VECTOR_BATCH_NORM_BACKWARD,
    MSIM_VECTOR_GATHER,  /* rows of a table, by random numbers */
    MSIM_VECTOR_SCATTER, /* to rows of a table, which is cleared before */
};

/*
 * X(name, the word, kind). Words are those by which works of traces go
 * (core/work/opmap/opmap.h): with a u at the end the second operand is a
 * number, not a tensor, as the public tables have it; with an underscore the
 * first is changed in place. Rows of a batch norm are its channels.
 */
#define MSIM_VECTOR_MAP(X)                                                     \
    X(COPY, "copy", UNARY)                                                     \
    X(COPY_IN, "copy_", UNARY)                                                 \
    X(FILL, "fill", MADE)                                                      \
    X(FILL_IN, "fill_", MADE)                                                  \
    X(BERNOULLI_IN, "bernoulli_", MADE)                                        \
    X(ADDU, "addu", UNARY)                                                     \
    X(MULU, "mulu", UNARY)                                                     \
    X(DIVU, "divu", UNARY)                                                     \
    X(POWU, "powu", UNARY)                                                     \
    X(RELU, "relu", UNARY)                                                     \
    X(GELU, "gelu", UNARY)                                                     \
    X(TANH, "tanh", UNARY)                                                     \
    X(SIGMOID, "sigmoid", UNARY)                                               \
    X(SILU, "silu", UNARY)                                                     \
    X(EXP, "exp", UNARY)                                                       \
    X(SQRT, "sqrt", UNARY)                                                     \
    X(CLAMP_MIN_IN, "clamp_min_", CHANGED)                                     \
    X(MULU_IN, "mulu_", CHANGED)                                               \
    X(ADDU_IN, "addu_", CHANGED)                                               \
    X(DIVU_IN, "divu_", CHANGED)                                               \
    X(ADD, "add", BINARY)                                                      \
    X(SUB, "sub", BINARY)                                                      \
    X(MUL, "mul", BINARY)                                                      \
    X(DIV, "div", BINARY)                                                      \
    X(POW, "pow", BINARY)                                                      \
    X(SILU_MUL, "silu_mul", BINARY)                                            \
    X(ADD_IN, "add_", UNARY)                                                   \
    X(LERP_IN, "lerp_", UNARY)                                                 \
    X(ADDCMUL_IN, "addcmul_", BINARY)                                          \
    X(ADDCDIV_IN, "addcdiv_", BINARY)                                          \
    X(GELU_BACKWARD, "gelu_backward", BINARY)                                  \
    X(SILU_BACKWARD, "silu_backward", BINARY)                                  \
    X(THRESHOLD_BACKWARD, "threshold_backward", BINARY)                        \
    X(DROPOUT, "dropout", DROPOUT)                                             \
    X(SUM, "sum", REDUCE)                                                      \
    X(MEAN, "mean", REDUCE)                                                    \
    X(AMAX, "amax", REDUCE)                                                    \
    X(SOFTMAX, "softmax", SOFTMAX)                                             \
    X(LOG_SOFTMAX, "log_softmax", SOFTMAX)                                     \
    X(SOFTMAX_BACKWARD, "softmax_backward", BINARY)                            \
    X(LAYER_NORM, "layer_norm", NORM)                                          \
    X(LAYER_NORM_BACKWARD, "layer_norm_backward", NORM_BACKWARD)               \
    X(BATCH_NORM, "batch_norm", BATCH_NORM)                                    \
    X(BATCH_NORM_BACKWARD, "batch_norm_backward", BATCH_NORM_BACKWARD)         \
    X(RMS_NORM, "rms_norm", NORM)                                              \
    X(INDEX_SELECT, "index_select", GATHER)                                    \
    X(EMBEDDING_BACKWARD, "embedding_backward", SCATTER)

enum msim_vector_op {
#define X(name, text, kind) MSIM_VOP_##name,
    MSIM_VECTOR_MAP(X)
#undef X
        MSIM_VOP_COUNT
};

/* The operator's word, NULL for MSIM_VOP_COUNT. */
const char *msim_vector_op_text(enum msim_vector_op op);
/* The operator with this word, MSIM_VOP_COUNT where there is none; `text` may
 * be NULL. */
enum msim_vector_op msim_vector_op_parse(const char *text);
/* `op` is below MSIM_VOP_COUNT. */
enum msim_vector_kind msim_vector_op_kind(enum msim_vector_op op);

/* ---- experiment ---------------------------------------------------------- */
/*
 * Read an experiment from its line, and check it; no device is needed.
 *
 * An experiment is a work (core/work/work.h) and the few things that only an
 * experiment has. Its members are named as the columns of the tables of
 * measured times (core/work/rows.h); the tables that no file has are
 *   copy      op: "h2d", "d2h", "d2d", "p2p" (between two devices), or "read",
 *             "write" (a kernel that only does that); bytes; for the host's
 *             side memory: "pinned" [default] or "pageable"
 *   latency   op: a name of MSIM_LATENCY_MAP
 *   dispatch  op: an operator, or a small model's step (PyTorch's backend)
 * and besides the columns any experiment may have
 *   cache    "cold" [default]: operands are pushed out of the caches before
 *            each run; or "warm": they are not
 *   beside   an experiment that runs concurrently, over and over
 * A vector operator on rows of a table (index_select, embedding_backward) takes
 * table_rows [default: 65536]. The letters of a matrix product's layout say
 * which of the operands, (m x k) and (k x n), both by rows, is stored
 * transposed: "NT" [default] is a linear layer.
 */

/* X(name, the word, its meaning). Times are of one call or kernel; "cpu": of
 * the calling thread. */
#define MSIM_LATENCY_MAP(X)                                                    \
    X(LAUNCH, "launch", "cpu: a launch call, the queue empty")                 \
    X(LAUNCH_RATE, "launch_rate", "cpu: a launch, of many in a row")           \
    X(LAUNCH_START, "launch_start",                                            \
      "from a launch call to its kernel's start")                              \
    X(KERNEL, "kernel", "a kernel that does nothing")                          \
    X(KERNEL_GAP, "kernel_gap",                                                \
      "from kernel to kernel in a queue, empty ones")                          \
    X(SYNC_STREAM, "sync_stream", "cpu: to wait for a stream that is idle")    \
    X(SYNC_DEVICE, "sync_device", "cpu: to wait for a device that is idle")    \
    X(SYNC_WAKE, "sync_wake", "from a kernel's end to the waiting call's")     \
    X(EVENT_RECORD, "event_record", "cpu: to record an event")                 \
    X(EVENT_WAIT, "event_wait", "cpu: to let a stream wait for an event")      \
    X(EVENT_GAP, "event_gap", "the same from stream to stream, by an event")   \
    X(MEMSET, "memset", "cpu: a cudaMemset call of 1 KiB")                     \
    X(MEMCPY, "memcpy", "cpu: a cudaMemcpyAsync call of 1 KiB on the device")  \
    X(CALL, "call", "cpu: to call a function that does nothing")               \
    X(WAKE, "wake", "cpu: an empty loop that all threads share")

enum msim_latency {
#define X(name, text, what) MSIM_LATENCY_##name,
    MSIM_LATENCY_MAP(X)
#undef X
        MSIM_LATENCY_COUNT
};

/* X(name, the word) */
#define MSIM_COPY_WAY_MAP(X)                                                   \
    X(H2D, "h2d")                                                              \
    X(D2H, "d2h")                                                              \
    X(D2D, "d2d")                                                              \
    X(P2P, "p2p")                                                              \
    X(READ, "read")                                                            \
    X(WRITE, "write")

enum msim_copy_way {
#define X(name, text) MSIM_COPY_WAY_##name,
    MSIM_COPY_WAY_MAP(X)
#undef X
        MSIM_COPY_WAY_COUNT
};

struct msim_experiment {
    enum msim_table table; /* MSIM_TABLE_COUNT: a table that is not known */
    /* The words of the line, which they point into: the operator, phase or
     * collective, and the dtype; NULL where it has none. */
    const char *op, *dtype_word;
    enum msim_dtype dtype; /* UNKNOWN: copies and latencies */
    bool tf32;             /* dtype is fp32, tensor cores may round */
    bool warm;             /* leave the caches as they are */
    /* Whether `work` is one that a law may know: false for copies, latencies
     * and dispatch, for words that no law knows, and for sizes below 1. */
    bool is_work;
    /* What runs; of the table's family even where is_work is false. Its dtype
     * is UNKNOWN for a collective whose line has none: that counts as fp32. */
    struct msim_work work;
    const cJSON *concurrent; /* not read yet; NULL: alone */
    union {                  /* what a work does not have */
        struct {
            enum msim_vector_op op;
            int64_t table_rows; /* of a gather; 0: none said */
            double bytes;       /* read and written; 0: as the shape says */
        } vector;
        struct {
            int64_t out_h, out_w;
        } conv;
        struct {
            enum msim_copy_way op;
            bool pageable;
            uint64_t bytes;
        } copy;
        enum msim_latency latency;
    } u;
};

/*
 * Read `line`, to which texts of `*out` point. EFORMAT, naming the member,
 * or word that is wrong.
 */
MSIM_MUST_CHECK
enum msim_status msim_experiment_read(struct msim_experiment *out,
                                      const cJSON *line,
                                      struct msim_error *err);

/*
 * Read a line that is another backend's, whose words need not be ours: as much
 * of it as is known. is_work tells whether that is a work.
 */
void msim_experiment_read_any(struct msim_experiment *out, const cJSON *line);

/*
 * Fill in what follows from the table, the words and the sizes in `e->work.u`
 * and `e->u`: dtypes, variant, flops, bytes, is_work. For experiments that are
 * made, not read.
 */
void msim_experiment_complete(struct msim_experiment *e);

/* Rows of the table that a gather reads: 65536 where none are said. */
int64_t msim_experiment_table_rows(const struct msim_experiment *e);

/* Bytes that the operands take on the device, of one rank; scratch memory and
 * what runs beside not counted. 0 for words that are not known. */
double msim_experiment_bytes(const struct msim_experiment *e);

/* The word for its dtype: "tf32", or that of msim_dtype_text(). */
const char *msim_experiment_dtype(const struct msim_experiment *e);

const char *msim_latency_text(enum msim_latency l);
const char *msim_copy_way_text(enum msim_copy_way c);

/*
 * How many elements a rank puts in and gets out of a collective of `bytes` in
 * the convention of nccl-tests: the whole buffer for all_gather and
 * reduce_scatter, one rank's send buffer for the rest. At least one each.
 */
void msim_collective_elems(enum msim_collective c, uint64_t bytes,
                           int64_t ranks, uint32_t elem_bytes, uint64_t *in,
                           uint64_t *out);

/* ---- gpu limits ---------------------------------------------------------- */
/*
 * Which experiments an NVIDIA GPU can run, by its compute capability; no GPU is
 * needed here.
 */

struct msim_gpu_limits {
    int capability; /* 10 x major + minor */
    int gpus;       /* that one process sees */
    double free_bytes;
};

/*
 * Whether `e` can be timed on such a GPU: ENOMODEL, with what is missing, where
 * it cannot. Libraries are not checked here.
 */
MSIM_MUST_CHECK
enum msim_status msim_gpu_limits_check(const struct msim_gpu_limits *l,
                                       const struct msim_experiment *e,
                                       struct msim_error *err);

/*
 * The kinds of a table on this GPU, for a greeting, one a call from 0: "fp32",
 * "conv2d_fwd:tf32", "add:fp16", "all_reduce". False after the last.
 */
bool msim_gpu_limits_kind(const struct msim_gpu_limits *l,
                          enum msim_table table, uint32_t i, char *text,
                          size_t size);

#endif
