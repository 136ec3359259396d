/*
 * core/work/rules/opmap_rules.h - the rules that rows of operators name, and
 * the words that stand in such rows: those of data/ops, which are built in, and
 * those of users (core/work/opmap/ops_file.h). docs/operators.md says what each
 * rule counts.
 *
 * cmake/ops_rows.py reads the lists below where it makes C of data/ops.
 */
#ifndef MSIM_CORE_WORK_RULES_OPMAP_RULES_H
#define MSIM_CORE_WORK_RULES_OPMAP_RULES_H
#include "core/work/rules/opmap_rule.h"

/* X(word, group, words of `arg`, columns that it reads): the rules. The
 * function is msim_rule_WORD(). */
#define MSIM_RULE_MAP(X)                                                       \
    X(along_dim, EMBEDDING, NUMBER, "variant flops_each")                      \
    X(amp_scale, OPTIMIZER, NUMBER, "variant inputs flops_each arg")           \
    X(attention, ATTENTION, ATTENTION, "arg")                                  \
    X(attention_function, ATTENTION, ATTENTION, "arg")                         \
    X(cat, MEMORY, NUMBER, "variant")                                          \
    X(compiled_kernel, MADE, NUMBER, "variant arg")                            \
    X(conv, CONV, CONV, "arg")                                                 \
    X(conv_backward, CONV, CONV, "arg")                                        \
    X(conv_one_backward, CONV, CONV, "arg")                                    \
    X(copy, MEMORY, NUMBER, "arg")                                             \
    X(ctc_loss, REDUCTION, NUMBER, "")                                         \
    X(cudnn_rnn, GEMM, NUMBER, "")                                             \
    X(cudnn_rnn_backward, GEMM, NUMBER, "")                                    \
    X(distances, REDUCTION, NUMBER, "inputs")                                  \
    X(dot, GEMM, NUMBER, "")                                                   \
    X(dropout, POINTWISE, NUMBER, "variant flops_each")                        \
    X(dropout_chain, POINTWISE, NUMBER, "variant flops_each")                  \
    X(each_element, EMBEDDING, NUMBER, "variant flops_each arg")               \
    X(embedding, EMBEDDING, NUMBER, "variant flops_each")                      \
    X(embedding_backward, EMBEDDING, NUMBER, "variant flops_each arg")         \
    X(embedding_bag, EMBEDDING, NUMBER, "variant flops_each")                  \
    X(experts, MOE, NUMBER, "variant")                                         \
    X(fill, MEMORY, NUMBER, "variant")                                         \
    X(fourier, RESAMPLE, NUMBER, "variant")                                    \
    X(fused_softmax, REDUCTION, NUMBER, "variant inputs flops_each arg")       \
    X(generated, POINTWISE, NUMBER, "variant")                                 \
    X(grouped_product, MOE, NUMBER, "")                                        \
    X(index_get, EMBEDDING, NUMBER, "variant flops_each")                      \
    X(index_put, EMBEDDING, NUMBER, "variant flops_each")                      \
    X(jagged, EMBEDDING, NUMBER, "variant kernels arg")                        \
    X(linear, GEMM, NUMBER, "arg")                                             \
    X(linear_function, GEMM, NUMBER, "")                                       \
    X(loss, POINTWISE, NUMBER, "variant inputs flops_each arg")                \
    X(matrix_vector, GEMM, NUMBER, "arg")                                      \
    X(moments, NORM, NORM, "variant inputs flops_each arg")                    \
    X(move, MEMORY, NUMBER, "variant")                                         \
    X(nll_loss, REDUCTION, NUMBER, "variant")                                  \
    X(nonzero, MEMORY, NUMBER, "variant")                                      \
    X(norm, NORM, NORM, "variant inputs flops_each arg")                       \
    X(onednn_rnn_backward, GEMM, NUMBER, "")                                   \
    X(optimizer_step, OPTIMIZER, NUMBER, "variant inputs flops_each arg")      \
    X(pointwise, POINTWISE, NUMBER, "variant inputs flops_each arg")           \
    X(product, GEMM, NUMBER, "arg")                                            \
    X(reduction, REDUCTION, NUMBER, "variant inputs flops_each arg")           \
    X(regroup, MADE, NUMBER, "variant")                                        \
    X(resample, RESAMPLE, RESAMPLE, "variant inputs flops_each arg")           \
    X(rnn, GEMM, NUMBER, "arg")                                                \
    X(rnn_cell, GEMM, NUMBER, "variant")                                       \
    X(scan, REDUCTION, NUMBER, "variant")                                      \
    X(search, REDUCTION, NUMBER, "variant arg")                                \
    X(softmax, REDUCTION, NUMBER, "variant flops_each")                        \
    X(sort, REDUCTION, NUMBER, "variant inputs arg")                           \
    X(tables_backward, MADE, NUMBER, "variant")                                \
    X(tables_lookup, MADE, NUMBER, "variant")                                  \
    X(template, MADE, NUMBER, "")                                              \
    X(to_host, MEMORY, NUMBER, "variant")                                      \
    X(transfer, COMM, NUMBER, "")                                              \
    X(transfer_around, MADE, NUMBER, "")

#define X(word, group, args, columns)                                          \
    bool msim_rule_##word(struct msim_opmap_ctx *c,                            \
                          const struct msim_opmap_row *row);
MSIM_RULE_MAP(X)
#undef X

/* X(name, word): how the arguments of attention lie. */
#define MSIM_ATTENTION_MAP(X)                                                  \
    X(FLASH, "flash")                                                          \
    X(FLASH_BWD, "flash_bwd")                                                  \
    X(EFFICIENT, "efficient")                                                  \
    X(EFFICIENT_BWD, "efficient_bwd")                                          \
    X(SDPA, "sdpa")                                                            \
    X(SDPA_BWD, "sdpa_bwd")                                                    \
    X(SDPA_EFF, "sdpa_eff")                                                    \
    X(SDPA_EFF_BWD, "sdpa_eff_bwd")                                            \
    X(SDPA_CUDNN, "sdpa_cudnn")                                                \
    X(SDPA_CUDNN_BWD, "sdpa_cudnn_bwd")                                        \
    X(CPU, "cpu")                                                              \
    X(CPU_BWD, "cpu_bwd")                                                      \
    X(CUDNN, "cudnn")                                                          \
    X(FA, "fa")                                                                \
    X(FA_BWD, "fa_bwd")                                                        \
    X(FA_VARLEN, "fa_varlen")                                                  \
    X(FA_VARLEN_BWD, "fa_varlen_bwd")                                          \
    X(XFORMERS, "xformers")                                                    \
    X(PLAIN, "plain")                                                          \
    X(PLAIN_BWD, "plain_bwd")                                                  \
    X(EITHER, "either")                                                        \
    X(TEMPLATE, "template")

/* X(name, word): how the arguments of a convolution lie. */
#define MSIM_CONV_MAP(X)                                                       \
    X(CUDNN, "cudnn")                                                          \
    X(MKLDNN, "mkldnn")                                                        \
    X(CUDNN_TRANSPOSE, "cudnn_transpose")                                      \
    X(SLOW, "slow")                                                            \
    X(ANY, "any")                                                              \
    X(FUSED, "fused")                                                          \
    X(FUSED_ADD, "fused_add")                                                  \
    X(BACKWARD, "backward")                                                    \
    X(OLD_BACKWARD_INPUT, "old_backward_input")                                \
    X(OLD_BACKWARD_WEIGHT, "old_backward_weight")

/* X(name, word): what shares one mean. */
#define MSIM_NORM_MAP(X)                                                       \
    X(LAYER, "layer")     /* input, normalized_shape, weight */                \
    X(PLAIN, "plain")     /* input, weight: the weight's elements are a row */ \
    X(GROUP, "group")     /* groups in a later argument */                     \
    X(CHANNEL, "channel") /* a row for every channel: batch norm */            \
    X(LAST, "last")       /* the last dimension is a row */                    \
    X(FIRST, "first")     /* a row for every index of the first dimension */

/* X(name, word): how the size of the result follows. */
#define MSIM_RESAMPLE_MAP(X)                                                   \
    X(POOL, "pool")                 /* input, kernel, stride, padding */       \
    X(POOL_INDICES, "pool_indices") /* and an index for every result */        \
    X(TO_SIZE, "to_size") /* input, size of the result's last dimensions */    \
    X(GRID, "grid") /* input, grid with a pair (or triple) of positions */     \
    X(TO_INPUT, "to_input")           /* backward: gradient, input */          \
    X(TO_INPUT_SIZE, "to_input_size") /* gradient, its size, the input's */    \
    X(ADAPTIVE, "adaptive") /* as TO_SIZE; windows that cover the input */     \
    X(BLENDED, "blended")   /* as TO_SIZE; a thread for each of its places */  \
    X(FRACTIONAL, "fractional") /* input, kernel, size of the result; an       \
                                   index for each */                           \
    X(UNPOOL, "unpool")         /* input, indices, size of the result */       \
    X(UNFOLD, "unfold")         /* each input as often as a window has it */   \
    X(FOLD, "fold")             /* input, size of the result, kernel */        \
    X(PADDING, "padding") /* input, two paddings a dimension, last first */

#define X(name, word) MSIM_ARGS_ATTENTION_##name,
enum msim_attention_args { MSIM_ATTENTION_MAP(X) };
#undef X
#define X(name, word) MSIM_ARGS_CONV_##name,
enum msim_conv_args { MSIM_CONV_MAP(X) };
#undef X
#define X(name, word) MSIM_ARGS_NORM_##name,
enum msim_norm_args { MSIM_NORM_MAP(X) };
#undef X
#define X(name, word) MSIM_ARGS_RESAMPLE_##name,
enum msim_resample_args { MSIM_RESAMPLE_MAP(X) };
#undef X

/* A rule by its word. */
struct msim_named_rule {
    const char *word;
    msim_opmap_rule rule;
    enum msim_opmap_group group;
    const char *const *args; /* words of `arg`; NULL: a number */
    uint32_t n_args;
    const char *columns; /* that it reads */
};

/* The rule with this word, or NULL; then `*near` (unless NULL) gets the word
 * that may have been meant, or NULL. */
const struct msim_named_rule *msim_rule_named(const char *word,
                                              const char **near);

/* The flag with this word (its first `len` bytes), or 0. */
enum msim_opmap_flag msim_flag_named(const char *word, size_t len);

#endif
