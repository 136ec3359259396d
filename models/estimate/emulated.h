/*
 * models/estimate/emulated.h - products in types that a GPU has no units for.
 *
 *   bfloat16  PyTorch and cuBLAS compute it in fp32, on cores that are no
 * tensor cores: they widen what they load (pytorch/pytorch pull request
 *             148322). On a T4 that takes as long as fp32 or more than twice as
 *             long, by version (openxla/xla issue 12429, jax-ml/jax issue
 *             21212).
 *   int8      runs at the rate of the next wider type
 *   fp8, fp4  no library has kernels: PyTorch refuses them. They are priced at
 *             the rate of the next wider type, for a job that would be changed.
 *
 * A type for which the GPU has rows of its own is not emulated.
 */
#ifndef MSIM_MODELS_ESTIMATE_EMULATED_H
#define MSIM_MODELS_ESTIMATE_EMULATED_H
#include "core/work/estimate.h"
#include "models/platform/platform.h"

enum msim_emulation {
    MSIM_EMULATED_NO,
    MSIM_EMULATED_BF16,
    MSIM_EMULATED_INT8,
    MSIM_EMULATED_FP8,
    MSIM_EMULATED_FP4,
};

/* How `w` runs on `p`. */
enum msim_emulation msim_emulation_of(const struct msim_platform *p,
                                      const struct msim_work *w);

/* Whether no library runs it. */
bool msim_emulation_is_refused(enum msim_emulation e);

#define MSIM_EMULATION_TEXT 128

/* "bfloat16 is not supported on t4: computed in fp32", into `text`. */
void msim_emulation_text(enum msim_emulation e, const struct msim_platform *p,
                         char *text, size_t size);

/* The work that stands for `w`, which runs as `e`; `w` itself where it is not
 * emulated. */
struct msim_work msim_emulated_work(enum msim_emulation e,
                                    const struct msim_work *w);

/* Make the estimate of that work one of the emulated work. */
void msim_emulated_widen(enum msim_emulation e, struct msim_estimate *out);

#endif
