/*
 * replay/emit/python_body.h - the statements of a program as Python text; for
 * this room.
 */
#ifndef MSIM_REPLAY_EMIT_PYTHON_BODY_H
#define MSIM_REPLAY_EMIT_PYTHON_BODY_H
#include "replay/emit/python_state.h"

/* The whole of step(). ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_body_write(struct msim_body *b);
void msim_body_release(struct msim_body *b);

#endif
