/*
 * models/factor/program_factors.h - what whole programs say of a GPU: factors
 * of its kinds of work, and how uncertain the whole is.
 */
#ifndef MSIM_MODELS_FACTOR_PROGRAM_FACTORS_H
#define MSIM_MODELS_FACTOR_PROGRAM_FACTORS_H
#include "core/base/json.h"
#include "core/base/status.h"
#include "core/work/data_sheet.h"
#include "core/work/work.h"

/* ---- program factors ----------------------------------------------------- */
/*
 * How much longer, or shorter, whole programs took on a GPU than its laws say,
 * by kind of work.
 *
 * Tables of operators are few for most GPUs. Whole programs were timed on many
 * more, by others: their sums by kind say by which factor the laws are off on
 * that GPU (calibrate/programs/fit_factors_main.c). data/laws/programs.json has
 * the factors, with what they were found from and the errors that remain on
 * programs that were held out.
 */

/*
 * X(name, the word in the file, carries): a kind that `carries` has no rows of
 * its own in any table, so that where neither the GPU nor its generation was
 * timed, the mean over all GPUs counts.
 *
 * Full: fp32, of convolutions also where tensor cores round it; groups: in half
 * precision; deep: three spatial dimensions; depthwise: a filter for each
 * channel; batch norm: by the moments of the batch; recurrent: works that run
 * step by step; vector: pointwise, reduction, softmax, copy, embedding,
 * optimizer.
 */
#define MSIM_FACTOR_MAP(X)                                                     \
    X(GEMM_FULL, "gemm_full", false)                                           \
    X(GEMM_HALF, "gemm_half", false)                                           \
    X(CONV_FULL, "conv_full", false)                                           \
    X(CONV_HALF, "conv_half", false)                                           \
    X(CONV_GROUPS, "conv_groups", true)                                        \
    X(CONV_DEEP, "conv_deep", true)                                            \
    X(CONV_TRANSPOSED, "conv_transposed", true)                                \
    X(CONV_DEPTHWISE, "conv_depthwise", true)                                  \
    X(ATTENTION, "attention", false)                                           \
    X(BATCH_NORM, "batch_norm", true)                                          \
    X(NORM, "norm", false)                                                     \
    X(RECURRENT, "recurrent", true)                                            \
    X(VECTOR, "vector", false)

enum msim_factor {
#define X(name, text, carries) MSIM_FACTOR_##name,
    MSIM_FACTOR_MAP(X)
#undef X
        MSIM_FACTOR_COUNT
};
const char *msim_factor_text(enum msim_factor f);

/* The kind of a work; MSIM_FACTOR_COUNT: none (collectives, bounds). */
enum msim_factor msim_factor_of(const struct msim_work *w);

struct msim_program_factors {
    double time[MSIM_FACTOR_COUNT]; /* measured over the law's, above 0 */
};

/* Whose factors are asked for. */
struct msim_factor_gpu {
    const char *name, *generation;
    double tensor; /* FLOPs a cycle and SM in half precision; 0: not known */
    uint32_t with_rows; /* kinds that its own rows tell: bits, 1 << kind */
};

/* Those FLOPs; 0 where the data sheet lacks a clock. */
double msim_factor_tensor(const struct msim_data_sheet *s);

/*
 * The factors of a GPU from `json`, which is what `file` holds. One that it
 * does not give for the GPU is the geometric mean of its generation, of at
 * least two GPUs. Else it is what is expected of any GPU: the mean of all where
 * the factor carries, or 1; where one GPU of the generation with tensor cores
 * as wide is known, and none has rows of the kind, it is half way there. GPUs
 * of one generation whose tensor cores are half as wide reach another share of
 * what a law expects (their power bounds others), so that products in half
 * precision take factors of those with as wide ones alone. Kinds that rows of
 * its own tell have 1, and all where `json` is NULL, for there is no such file.
 * EFORMAT.
 */
MSIM_MUST_CHECK
enum msim_status msim_program_factors_read(struct msim_program_factors *f,
                                           const cJSON *json, const char *file,
                                           const struct msim_factor_gpu *gpu,
                                           struct msim_error *err);

/* Those that GPU `name` of `json` would have if it were not in it. EFORMAT. */
MSIM_MUST_CHECK
enum msim_status msim_program_factors_of_others(struct msim_program_factors *f,
                                                const cJSON *json,
                                                const char *file,
                                                const char *name,
                                                struct msim_error *err);

/* The factor for a work. */
double msim_program_factor(const struct msim_program_factors *f,
                           const struct msim_work *w);

/* ---- program spread ------------------------------------------------------ */
/*
 * How uncertain the time of a whole program is, by what it is made of.
 *
 * Rows of tables are of sizes that somebody chose, on a machine that does
 * nothing else. Programs of others are harder to foresee, and not all alike:
 * most sums of products and pointwise kernels are within 10 %, while a
 * convolution with an odd filter may take four times as long, by the version of
 * cuDNN. So each kind of work has a width of its own, with a side each for
 * longer and for shorter. All kernels of a program on one GPU share one more
 * width: versions of drivers and libraries, clocks, and what programs have that
 * laws were not written for. They are found from programs that were held out,
 * as the widths of least interval score (calibrate/factors/factor_fit.h);
 * data/laws/programs.json has them. Where all programs of a GPU were in full
 * precision, its kernels in half precision are as uncertain as those of a GPU
 * without programs.
 */

/*
 * X(name, the word in the file).
 *
 * Of fp32 products, odd: a size that is no multiple of four, so that loads are
 * of one number; thin: a size below 32. Of forward convolutions, few: at most
 * four input channels; odd: groups, dilation, a filter that is not square or
 * wider than seven, also in half precision; deep: three spatial dimensions;
 * depthwise: a filter for each channel.
 * Reduction: also look-ups and losses.
 */
#define MSIM_SPREAD_MAP(X)                                                     \
    X(GEMM_FULL, "gemm_full")                                                  \
    X(GEMM_ODD, "gemm_odd")                                                    \
    X(GEMM_THIN, "gemm_thin")                                                  \
    X(GEMM_HALF, "gemm_half")                                                  \
    X(CONV_FULL, "conv_full")                                                  \
    X(CONV_FEW, "conv_few")                                                    \
    X(CONV_HALF, "conv_half")                                                  \
    X(CONV_ODD, "conv_odd")                                                    \
    X(CONV_DEEP, "conv_deep")                                                  \
    X(DEPTHWISE, "depthwise")                                                  \
    X(TRANSPOSED, "transposed")                                                \
    X(TRANSPOSED_GROUPS, "transposed_groups")                                  \
    X(TRANSPOSED_DEEP, "transposed_deep")                                      \
    X(ATTENTION, "attention")                                                  \
    X(BATCH_NORM, "batch_norm")                                                \
    X(NORM, "norm")                                                            \
    X(RECURRENT, "recurrent")                                                  \
    X(POOL, "pool")                                                            \
    X(SOFTMAX, "softmax")                                                      \
    X(REDUCTION, "reduction")                                                  \
    X(VECTOR, "vector")

enum msim_spread {
#define X(name, text) MSIM_SPREAD_##name,
    MSIM_SPREAD_MAP(X)
#undef X
        MSIM_SPREAD_COUNT
};
const char *msim_spread_text(enum msim_spread s);

/* The kind of a work; MSIM_SPREAD_COUNT: no program tells it (collectives,
 * bounds, gradients of convolutions and of attention). */
enum msim_spread msim_spread_of(const struct msim_work *w);

/* A 90 % interval as logarithms: from exp(-faster) to exp(slower) times the
 * prediction. */
struct msim_spread_width {
    double slower, faster;
};

struct msim_program_spread {
    bool known;    /* false: no file, or none in it; all others are 0 */
    double shared; /* by all kernels of a program, either way; a logarithm */
    double half;   /* by kernels in half precision beside it: 0 where programs
                      in half precision were timed on the platform */
    struct msim_spread_width kind[MSIM_SPREAD_COUNT];
};

/*
 * The widths of the kinds, and what kernels share on platform `name`, or on
 * "others" where no program was timed on it, from `json`, which is what `file`
 * holds. NULL, or no "spread", leaves `known` false. EFORMAT.
 */
MSIM_MUST_CHECK
enum msim_status msim_program_spread_read(struct msim_program_spread *s,
                                          const cJSON *json, const char *file,
                                          const char *name,
                                          struct msim_error *err);

#endif
