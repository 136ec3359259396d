/*
 * replay/emit/python_data.h - data.json of a Python benchmark: its tensors,
 * lists of numbers, what was inferred, what is left out; for this room.
 */
#ifndef MSIM_REPLAY_EMIT_PYTHON_DATA_H
#define MSIM_REPLAY_EMIT_PYTHON_DATA_H
#include "core/base/files.h"
#include "replay/emit/emit_options.h"
#include "replay/emit/python_state.h"

/* Near its beginning: it is the data of a benchmark. */
#define MSIM_DATA_MARK "\"schema\": \"mystique-sim/benchmark/"

/* All of it, of a program whose body is written; `rank` counts those that are
 * written. ENOMEM, EWRITE. */
MSIM_MUST_CHECK
enum msim_status msim_data_write(struct msim_file *f, const struct msim_body *b,
                                 uint32_t rank,
                                 const struct msim_emit_options *options);

#endif
