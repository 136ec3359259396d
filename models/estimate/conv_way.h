/*
 * models/estimate/conv_way.h - how libraries compute a convolution where it is
 * no plain product on tensor cores: sums added up in memory, images copied into
 * columns, three spatial dimensions.
 *
 * Example: a transposed convolution of stride 2 to 16 channels in fp32 is
 * priced as its product, and then, before Hopper, as 27 / 8 additions an
 * element, which take five times as long.
 */
#ifndef MSIM_MODELS_ESTIMATE_CONV_WAY_H
#define MSIM_MODELS_ESTIMATE_CONV_WAY_H
#include "core/work/estimate.h"
#include "core/work/work.h"
#include "models/platform/platform.h"

#include <stdio.h>

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

#endif
