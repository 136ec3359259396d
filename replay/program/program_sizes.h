/*
 * replay/program/program_sizes.h - tensors that no machine can hold; for this
 * room.
 */
#ifndef MSIM_REPLAY_PROGRAM_PROGRAM_SIZES_H
#define MSIM_REPLAY_PROGRAM_PROGRAM_SIZES_H
#include "replay/program/program_build.h"

/* EFORMAT with the node where a tensor of op `op` has more than 2^46 elements
 * or bytes, or begins before its memory: sums of sizes fit in 64 bits then. */
MSIM_MUST_CHECK
enum msim_status msim_builder_sizes(const struct msim_builder *b, uint32_t op);

#endif
