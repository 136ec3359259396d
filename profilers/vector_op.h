/*
 * profilers/vector_op.h - the vector operators that our own backends time, and
 * what each does with its operands.
 */
#ifndef MSIM_PROFILERS_VECTOR_OP_H
#define MSIM_PROFILERS_VECTOR_OP_H

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

#endif
