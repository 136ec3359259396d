/*
 * replay/emit/python_call.h - the call of one statement as Python text; for
 * this room.
 */
#ifndef MSIM_REPLAY_EMIT_PYTHON_CALL_H
#define MSIM_REPLAY_EMIT_PYTHON_CALL_H
#include "replay/emit/python_operand.h"

/* The call of a statement, from the operator's name on. */
void msim_body_call(struct msim_body *b, struct msim_text *out,
                    struct msim_body_place at);
/* The call of a collective. */
void msim_body_collective(struct msim_body *b, struct msim_text *out,
                          struct msim_body_place at);

#endif
