/*
 * replay/program/program_bind.h - statements and which result each of their
 * tensors is; for this room.
 */
#ifndef MSIM_REPLAY_PROGRAM_PROGRAM_BIND_H
#define MSIM_REPLAY_PROGRAM_PROGRAM_BIND_H
#include "replay/program/program_build.h"

/* Add the call of `op`, which has that schema. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_builder_call(struct msim_builder *b, uint32_t op,
                                   uint32_t schema);
/* Op `i` is a step of PyTorch's engine: part of a backward statement. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_builder_backward(struct msim_builder *b, uint32_t i);

#endif
