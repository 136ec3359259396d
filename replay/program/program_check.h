/*
 * replay/program/program_check.h - operators that no machine can run: a broken
 * trace; for this room.
 */
#ifndef MSIM_REPLAY_PROGRAM_PROGRAM_CHECK_H
#define MSIM_REPLAY_PROGRAM_PROGRAM_CHECK_H
#include "replay/program/program_build.h"

/*
 * EFORMAT with the node where a tensor of op `op` has more than 2^46 elements
 * or bytes, or begins before its memory (sums of sizes fit in 64 bits
 * otherwise), or where one that signature `schema` asks for was never made.
 * Backward operators take none for gradients that nobody wants.
 */
MSIM_MUST_CHECK
enum msim_status msim_builder_check(const struct msim_builder *b, uint32_t op,
                                    uint32_t schema);

#endif
