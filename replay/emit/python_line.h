/*
 * replay/emit/python_line.h - lines of a Python program; for this room.
 */
#ifndef MSIM_REPLAY_EMIT_PYTHON_LINE_H
#define MSIM_REPLAY_EMIT_PYTHON_LINE_H
#include "replay/emit/python_state.h"

/* Add a line as far indented as the program is. */
void msim_body_line(struct msim_body *b, const char *s);
/* The same; frees `line`, and keeps its failure. */
void msim_body_take_line(struct msim_body *b, struct msim_text *line);

#endif
