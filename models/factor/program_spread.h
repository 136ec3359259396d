/*
 * models/factor/program_spread.h - how uncertain the time of a whole program
 * is, by what it is made of.
 *
 * Rows of tables are of sizes that somebody chose, on a machine that does
 * nothing else. Programs of others are harder to foresee, and not all alike:
 * most sums of products and pointwise kernels are within 10 %, while a
 * convolution with an odd filter may take four times as long, by the version of
 * cuDNN. So each kind of work has a width of its own, with a side each for
 * longer and for shorter. All kernels of a program on one GPU share one more
 * width: versions of drivers and libraries, clocks, and what programs have that
 * laws were not written for. They are found from programs that were held out,
 * as the widths of least interval score (calibrate/factors/spread_fit.h);
 * data/laws/programs.json has them. Where all programs of a GPU were in full
 * precision, its kernels in half precision are as uncertain as those of a GPU
 * without programs.
 */
#ifndef MSIM_MODELS_FACTOR_PROGRAM_SPREAD_H
#define MSIM_MODELS_FACTOR_PROGRAM_SPREAD_H
#include "core/base/json.h"
#include "core/base/status.h"
#include "core/work/work.h"

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
