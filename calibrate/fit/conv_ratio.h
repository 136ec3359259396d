/*
 * calibrate/fit/conv_ratio.h - what a convolution's backward passes take over
 * its forward pass, from rows that time all of them for the same shape.
 */
#ifndef MSIM_CALIBRATE_FIT_CONV_RATIO_H
#define MSIM_CALIBRATE_FIT_CONV_RATIO_H
#include "calibrate/rows/samples.h"

struct msim_conv_ratio {
    double median, p10, p90;
    uint32_t pairs;
};

struct msim_conv_ratios {
    /* Data gradients of strided convolutions, and all weight gradients, where
     * tiles are full and nothing but the pass differs. */
    struct msim_conv_ratio strided_data, weight;
};

/* Ratios of 1 where there are no pairs. */
void msim_conv_ratios_make(struct msim_conv_ratios *out,
                           const struct msim_samples *s);

#endif
