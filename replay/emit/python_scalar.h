/*
 * replay/emit/python_scalar.h - numbers, words and devices as Python text; for
 * this room.
 */
#ifndef MSIM_REPLAY_EMIT_PYTHON_SCALAR_H
#define MSIM_REPLAY_EMIT_PYTHON_SCALAR_H
#include "replay/emit/python_state.h"

/* An argument that holds no tensor and is no list, of that type. */
void msim_body_scalar(const struct msim_body *b, struct msim_text *out,
                      const struct msim_schema_arg *type,
                      const struct msim_arg *a);

#endif
