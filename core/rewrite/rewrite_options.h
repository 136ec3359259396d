/*
 * core/rewrite/rewrite_options.h - what a rewritten step does otherwise. All
 * zero: nothing.
 */
#ifndef MSIM_CORE_REWRITE_REWRITE_OPTIONS_H
#define MSIM_CORE_REWRITE_REWRITE_OPTIONS_H
#include "core/trace/trace.h"

#define MSIM_REWRITE_GLOB 128

struct msim_rewrite {
    /* Blocks whose forward pass is computed again in backward: one of so many;
     * 0: none. With a GLOB only operators that match it are. */
    uint32_t recompute_every;
    char recompute_ops[MSIM_REWRITE_GLOB];
    uint32_t accumulate; /* micro batches of a step; 0: as recorded */
};

#endif
