/*
 * calibrate/fit/conv_ratio.h - times of a convolution's backward passes over
 * that of its forward pass, from rows of the same shape.
 */
#ifndef MSIM_CALIBRATE_FIT_CONV_RATIO_H
#define MSIM_CALIBRATE_FIT_CONV_RATIO_H
#include "calibrate/rows/samples.h"

struct msim_conv_ratio {
    double median, p10, p90;
    uint32_t pairs;
};

struct msim_conv_ratios {
    /* Data gradients of strided convolutions, and all weight gradients; of
     * shapes with full tiles, where nothing but the pass differs. */
    struct msim_conv_ratio strided_data, weight;
};

/* Ratios are 1 where there are no pairs. */
void msim_conv_ratios_make(struct msim_conv_ratios *out,
                           const struct msim_samples *s);

#endif
