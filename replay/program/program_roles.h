/*
 * replay/program/program_roles.h - what tensors from outside are for; for this
 * room.
 */
#ifndef MSIM_REPLAY_PROGRAM_PROGRAM_ROLES_H
#define MSIM_REPLAY_PROGRAM_PROGRAM_ROLES_H
#include "replay/program/program_build.h"

/* Roles and storage of the tensors from outside. `*known` is false where the
 * parameters are not those that backward made gradients for: then nothing else
 * has been done. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_builder_roles(struct msim_builder *b, bool *known);

#endif
