/*
 * models/estimate/model_internal.h - what the files of models/estimate share;
 * no other room includes it.
 */
#ifndef MSIM_MODELS_ESTIMATE_MODEL_INTERNAL_H
#define MSIM_MODELS_ESTIMATE_MODEL_INTERNAL_H
#include "core/work/estimate.h"
#include "core/work/work.h"
#include "models/platform/fit.h"
#include "models/platform/platform.h"

#include <stdio.h>

/* ---- attention parts ----------------------------------------------------- */
/* Attention that no kernel fuses: products, a softmax and casts. */

/* Whether the attention `w` runs so on `p`: on a GPU, with a stack named that
 * has no fused attention. */
bool msim_attention_is_in_parts(const struct msim_platform *p,
                                const struct msim_work *w);

/* The estimate of such an attention: the sum of its parts. Statuses as those of
 * msim_model_predict(). */
MSIM_MUST_CHECK
enum msim_status msim_attention_parts(const struct msim_platform *p,
                                      const struct msim_work *w,
                                      struct msim_estimate *out);

/* Append to `out` how each part is estimated. */
void msim_attention_parts_explain(const struct msim_platform *p,
                                  const struct msim_work *w, FILE *out);

/* ---- conv way ------------------------------------------------------------ */
/*
 * How libraries compute a convolution where it is no plain product on tensor
 * cores: sums added up in memory, images copied into columns, three spatial
 * dimensions.
 *
 * Example: a transposed convolution of stride 2 to 16 channels in fp32 is
 * priced as its product, and then, before Hopper, as 27 / 8 additions an
 * element, which take five times as long.
 */

/* Whether PyTorch calls the library, not a stack of its own. */
bool msim_conv_is_bare(const struct msim_work *w);

/* Whether it runs on the units of fp32, as asked for or for want of others. */
bool msim_conv_is_plain(const struct msim_platform *p,
                        const struct msim_work *w);

/* Whether cuDNN computes it by the kernels of data gradients with three
 * dimensions and no strides, which pad any number of channels. */
bool msim_conv_is_deep_gradient(const struct msim_platform *p,
                                const struct msim_work *w);

/* Taps of the third dimension, for each of which channels are counted. */
double msim_conv_depth(const struct msim_work *w);

/* Round the channels of `s`, the shape of `w`, up to what its kernel computes;
 * the multiplications over those that are asked for, at least 1. */
double msim_conv_way_fill(const struct msim_platform *p,
                          const struct msim_work *w, struct msim_conv_shape *s);

/* The time of three dimensions over that of the product; 1 for two. */
double msim_conv_deep_factor(const struct msim_platform *p,
                             const struct msim_work *w);

/* Microseconds of the SMs for a filter a channel in fp32, channels first. */
double msim_conv_depthwise_us(const struct msim_platform *p,
                              const struct msim_work *w);

/* Microseconds of a way that is slower than any product: sums added up in
 * memory, or groups without a kernel of their own; 0: there is none. `settled`
 * is `w` with the type that its kernels compute in. */
double msim_conv_way_us(const struct msim_platform *p,
                        const struct msim_work *w,
                        const struct msim_work *settled);

/* Join to the product's time `e` what else the library does for `w`. */
void msim_conv_way_join(const struct msim_platform *p,
                        const struct msim_work *w,
                        const struct msim_work *settled,
                        struct msim_estimate *e);
void msim_conv_way_explain(const struct msim_platform *p,
                           const struct msim_work *w,
                           const struct msim_work *settled, FILE *out);

/* ---- gemm ---------------------------------------------------------------- */
/*
 * The fit for a matrix product, also for other works that are estimated as a
 * product.
 */

/* The fit for the GEMM work `w` on `p`; false where there is none. */
bool msim_gemm_pick(const struct msim_platform *p, const struct msim_work *w,
                    struct msim_pick *out);

/* ---- pace ---------------------------------------------------------------- */
/* Estimates by memory's pace, where the SMs may be the slower ones. */

/* Join the time `sms_us` of the SMs (models/law/law.h) to an estimate that
 * memory's pace gives: about the longer of both. The interval is wider where
 * the SMs take longer. 0 changes nothing. */
void msim_pace_join(double sms_us, struct msim_estimate *e);

/* Another pass of `us` after it. */
void msim_pace_add(double us, struct msim_estimate *e);

/* ---- plausible ----------------------------------------------------------- */
/*
 * Whether an estimate can be true of its work.
 *
 * A law that is asked for sizes that were misread answers all the same. What no
 * kernel can do is bounded instead, and says why (msim_estimate.bounded):
 *
 *   - write, or read without fetching anything twice, more than the device has
 *     memory: of a trace's own kernels. Where somebody asks for such sizes
 *     (msim_work.asked) the time is the law's;
 *   - run below half of its floor: the start of its kernels, its bytes beyond
 *     the cache at peak bandwidth, its FLOPs at the rate that products keep up;
 *   - run above 20 times what its kernels, bytes and FLOPs take on the
 *     multiprocessors that its blocks fill.
 *
 * No estimate is below what the data sheet's peaks allow. Too little memory is
 * a mark (msim_estimate.marks, core/guard/guard.h).
 *
 * None of 15,700 measured rows of five GPUs (every 17th of the tables) has an
 * estimate that these rules bound. They read no time of a trace, and hold
 * for kernels of GPUs: a CPU has other floors, links and networks have none of
 * these, and a user's table knows better.
 */

struct msim_platform; /* models/platform/platform.h */

/* Replace an estimate of `asked` on `p` that cannot be true by a bound, and set
 * its marks. */
void msim_plausible_bound(const struct msim_platform *p,
                          const struct msim_work *asked,
                          struct msim_estimate *e);

#endif
