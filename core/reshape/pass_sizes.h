/*
 * core/reshape/pass_sizes.h - what a recorded pass of a model was of: how many
 * samples, of how many tokens, behind how many earlier ones.
 */
#ifndef MSIM_CORE_RESHAPE_PASS_SIZES_H
#define MSIM_CORE_RESHAPE_PASS_SIZES_H
#include "core/trace/trace.h"

struct msim_pass_sizes {
    int64_t batch;   /* samples; 0: the trace does not tell */
    int64_t tokens;  /* of each; 0: likewise, or it has none */
    int64_t context; /* tokens before them, whose keys attention reads; -1: no
                        attention tells */
    bool trains;     /* there is a backward pass: it is a step of training */
};

/* By the widest look-up of a matrix of indices, [samples, tokens], and by
 * attention, [samples, heads, tokens, channels]; samples alone by
 * msim_axis_batch_of(). */
void msim_pass_sizes_of(struct msim_pass_sizes *out,
                        const struct msim_trace *t);

#endif
