/*
 * replay/program/program_collective.h - collectives and the waits for them; for
 * this room.
 */
#ifndef MSIM_REPLAY_PROGRAM_PROGRAM_COLLECTIVE_H
#define MSIM_REPLAY_PROGRAM_PROGRAM_COLLECTIVE_H
#include "replay/program/program_build.h"

/* Which collectives of the step the trace records a wait for. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_builder_find_waits(struct msim_builder *b);

/* `s`, the next statement, is a collective: it has its operands and gets the
 * work as its result. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_builder_collective(struct msim_builder *b,
                                         struct msim_statement *s);
/* Add waits for what op `op`, a call with that schema, needs. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_builder_waits_before(struct msim_builder *b, uint32_t op,
                                           uint32_t schema);
/* Add the wait that op `op` records, if it is one for a collective that has
 * begun and is not waited for; `*known` is false otherwise. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_builder_wait(struct msim_builder *b, uint32_t op,
                                   bool *known);
/* Add waits for all that have begun. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_builder_wait_all(struct msim_builder *b);

#endif
