/*
 * replay/program/program_units.h - which operators a program calls; for this
 * room.
 */
#ifndef MSIM_REPLAY_PROGRAM_PROGRAM_UNITS_H
#define MSIM_REPLAY_PROGRAM_PROGRAM_UNITS_H
#include "replay/program/program_build.h"

/* All statements, bound, with what is opened by now. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_builder_round(struct msim_builder *b);

#endif
