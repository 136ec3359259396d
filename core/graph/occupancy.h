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

/*
 * The share of its duration that a GPU activity has left when its last block
 * has been issued, in 0..1. 1: it holds nobody up, because it never fills the
 * device, is no compute kernel, or nothing is known of it.
 */
double msim_occupancy_tail(const struct msim_trace *t, uint32_t gpu_event);

#endif
