/*
 * core/graph/occupancy.h - how much of a GPU a kernel fills, and for how long.
 *
 * A streaming multiprocessor (SM) holds as many blocks of a kernel as its
 * threads, registers, shared memory and block slots allow. A grid that needs
 * more than all SMs hold runs in waves:
 *
 *     waves = ceil(grid / (blocks per SM * SMs)),  tail = 1 / waves
 *
 * Blocks of a kernel on another stream are issued only when those of the
 * running one all have been: when its last wave begins. Example: 2176 blocks,
 * 4 a SM, 80 SMs: 7 waves, so a kernel of 2.5 ms lets others in after 2.14.
 *
 * A grid that fills every slot exactly has no last wave to share: it leaves
 * room only at its end, so its tail is 0.
 *
 * What a kernel keeps on the SMs follows: in all waves but the last every SM
 * holds as many blocks as it can, in the last one the blocks that are left are
 * dealt to as many SMs as there are. Example: 600 blocks of 256 threads, 4 a
 * SM, 108 SMs: a first wave of 432 (all SMs, 32 of 64 warps each) and a second
 * of 168 (all SMs, 168 / 432 of that).
 *
 * Blocks are taken to be equal. Where a kernel's are not (a concatenation of
 * tensors of different sizes), the last wave is shorter or longer.
 */
#ifndef MSIM_CORE_GRAPH_OCCUPANCY_H
#define MSIM_CORE_GRAPH_OCCUPANCY_H
#include "core/trace/trace.h"

/*
 * Blocks of a launch that one SM holds at a time. 0: unknown, because the
 * compute capability is (or is not NVIDIA's), or no block fits.
 */
uint32_t msim_occupancy_blocks(const struct msim_gpu_properties *gpu,
                               const struct msim_launch_config *config);

/* Threads that an SM of it holds at most; 0: unknown, as above. */
uint32_t msim_occupancy_threads(const struct msim_gpu_properties *gpu);

/* What a kernel brings to the SMs. Of a grid that is estimated, not a whole
 * number. */
struct msim_residency {
    float blocks;   /* of its grid; 0: it holds no SM, or nothing is known */
    float threads;  /* of a block */
    float resident; /* of its blocks that one SM holds at a time; 0: unknown */
};

struct msim_residency
msim_occupancy_residency(const struct msim_gpu_properties *gpu,
                         const struct msim_launch_config *config);

/* What it keeps there in a part of its duration. */
struct msim_filling {
    double share;   /* of its duration */
    double sms;     /* of the SMs: hold a block of it */
    double threads; /* of those that all SMs can hold; NAN: unknown */
};

/* All that it keeps there, in the order of time. */
struct msim_holding {
    uint32_t n; /* 0: no SM, or nothing is known */
    struct msim_filling of[2];
};

/*
 * Its waves but the last, and the last; one where both are alike. `threads`:
 * that an SM of `sms` holds, or 0.
 */
struct msim_holding msim_occupancy_holding(const struct msim_residency *r,
                                           double sms, double threads);

/*
 * The share of its duration that a GPU activity has left when its last block
 * has been issued, in 0..1. 1: it holds nobody up, because it never fills the
 * device, is no compute kernel, or nothing is known of it.
 */
double msim_occupancy_tail(const struct msim_trace *t, uint32_t gpu_event);

#endif
