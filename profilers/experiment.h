/*
 * profilers/experiment.h - what an experiment's line asks for, checked: no
 * device is needed to read one.
 *
 * Members are named as the columns of the tables of measured times
 * (core/work/rows.h); the two tables that file does not have are
 *   copy     op: "h2d", "d2h", "d2d", "p2p" (between two devices), or "read",
 *            "write" (a kernel that only does that); bytes; for the host's side
 *            memory: "pinned" [default] or "pageable"
 *   latency  op: a name of MSIM_LATENCY_MAP
 * and beside the columns any experiment may have
 *   cache    "cold" [default] or "warm": whether what is read is thrown out of
 *            the caches before each run
 *   beside   an experiment that runs at the same time, on and on
 * A vector operator on rows of a table (index_select, embedding_backward) takes
 * table_rows [default: 65536]. The letters of a matrix product's layout say
 * which of the operands, (m x k) and (k x n), both by rows, is stored
 * transposed: "NT" [default] is a linear layer.
 */
#ifndef MSIM_PROFILERS_EXPERIMENT_H
#define MSIM_PROFILERS_EXPERIMENT_H
#include "core/base/json.h"
#include "core/trace/trace.h"

/* X(name, the word) */
#define MSIM_TIMED_MAP(X)                                                      \
    X(GEMM, "gemm")                                                            \
    X(ATTENTION, "attention")                                                  \
    X(VECTOR, "vector")                                                        \
    X(CONV, "conv")                                                            \
    X(COLLECTIVE, "collective")                                                \
    X(COPY, "copy")                                                            \
    X(LATENCY, "latency")

enum msim_timed {
#define X(name, text) MSIM_TIMED_##name,
    MSIM_TIMED_MAP(X)
#undef X
        MSIM_TIMED_COUNT
};

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

/* X(name, the word, what it is). Times are for one; "cpu" is the thread's. */
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
    X(MEMSET, "memset", "cpu: to call for the setting of 1 KiB")               \
    X(MEMCPY, "memcpy", "cpu: to call for a copy of 1 KiB on the device")      \
    X(CALL, "call", "cpu: to call a function that does nothing")               \
    X(WAKE, "wake", "cpu: to let all threads share a loop that does nothing")

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

enum msim_conv_way {
    MSIM_CONV_WAY_FORWARD,
    MSIM_CONV_WAY_DATA,
    MSIM_CONV_WAY_WEIGHT,
};

struct msim_experiment {
    enum msim_timed table;
    enum msim_dtype dtype;   /* UNKNOWN: copies and latencies */
    bool tf32;               /* dtype is fp32, tensor cores may round */
    bool warm;               /* leave the caches as they are */
    const cJSON *concurrent; /* not read yet; NULL: alone */
    union {
        struct {
            int64_t m, n, k, batch;
            bool a_transposed, b_transposed;
        } gemm;
        struct {
            const char *phase; /* prefill, decode or encoder... */
            int64_t batch, heads, kv_heads, q_len, kv_len, head_dim, window;
        } attention;
        struct {
            enum msim_vector_op op;
            int64_t elems, rows, cols;
            int64_t table_rows; /* of a gather */
        } vector;
        struct {
            enum msim_conv_way way;
            int64_t n, c, h, w, k, r, s, stride, pad, groups;
            int64_t out_h, out_w;
        } conv;
        struct {
            enum msim_collective collective;
            uint64_t bytes; /* size column of nccl-tests */
            int64_t ranks, nodes;
        } collective;
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
 * where it is none of the above.
 */
MSIM_MUST_CHECK
enum msim_status msim_experiment_read(struct msim_experiment *out,
                                      const cJSON *line,
                                      struct msim_error *err);

/* Bytes that the operands take on the device, of one rank; scratch memory and
 * what runs beside not counted. */
double msim_experiment_bytes(const struct msim_experiment *e);

/* The word for its dtype: "tf32", or that of msim_dtype_text(). */
const char *msim_experiment_dtype(const struct msim_experiment *e);

const char *msim_timed_text(enum msim_timed t);
const char *msim_vector_op_text(enum msim_vector_op op);
enum msim_vector_kind msim_vector_op_kind(enum msim_vector_op op);
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

#endif
