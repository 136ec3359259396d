/*
 * replay/emit/emit_python.h - programs of ranks as a Python benchmark with its
 * data.
 */
#ifndef MSIM_REPLAY_EMIT_EMIT_PYTHON_H
#define MSIM_REPLAY_EMIT_EMIT_PYTHON_H
#include "replay/emit/emit_options.h"
#include "replay/program/program.h"

/* What was written, of the first rank; for messages. */
struct msim_emit_result {
    uint32_t statements, loops, lines, outside, left_out, opened;
    uint32_t programs; /* that differ from the first one's, and that one */
};

/*
 * Write DIR/bench.py, DIR/data.json and DIR/README.md for the programs of `n`
 * ranks; `dir` is made where it is missing. Ranks after the first get a
 * data-rank-N.json, and a bench-rank-N.py where they do something else than the
 * first; bench.py finds both. Files are renamed into place when all of them are
 * complete. EIO with the path, ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_emit_python(const struct msim_program *const *ranks,
                                  uint32_t n, const char *dir,
                                  const struct msim_emit_options *options,
                                  struct msim_emit_result *result,
                                  struct msim_error *err);

#endif
