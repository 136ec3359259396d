/*
 * replay/emit/emit_json.h - a program as JSON, for other tools and for tests.
 */
#ifndef MSIM_REPLAY_EMIT_EMIT_JSON_H
#define MSIM_REPLAY_EMIT_EMIT_JSON_H
#include "replay/program/program.h"

#include <stdio.h>

/*
 * Write `p` to `out`, schema "mystique-sim/program/1" (docs/json.md). EIO,
 * ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_emit_json(const struct msim_program *p, bool loops,
                                FILE *out);

struct msim_json; /* core/base/json.h */
/* The operators that the program leaves out, and why: an array "left_out" of an
 * open object. */
void msim_emit_left_out(struct msim_json *j, const struct msim_program *p);

#endif
