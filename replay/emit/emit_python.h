/*
 * replay/emit/emit_python.h - programs of ranks as a Python benchmark, or as
 * JSON.
 */
#ifndef MSIM_REPLAY_EMIT_EMIT_PYTHON_H
#define MSIM_REPLAY_EMIT_EMIT_PYTHON_H
#include "replay/program/program.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ---- emit options -------------------------------------------------------- */
/* What a benchmark is to be, beside its programs. */

struct msim_emit_options {
    const char *title;   /* one line: what the benchmark is of */
    const char *version; /* of this program */
    uint32_t batch;      /* samples; 0: as many as the trace had */
    uint32_t repeat;     /* steps that are timed at once; 0: one */
    bool no_loops;       /* every statement on a line of its own */
    /* What one rank alone waits instead of running its collectives: of each
     * rank, for each collective, in order; NULL: nothing is known. */
    const double *const *delays_us;
    const char *delays_from; /* where they come from: "predicted for H100" */
};

/* ---- emit python --------------------------------------------------------- */
/* Programs of ranks as a Python benchmark with its data. */

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

/* ---- emit json ----------------------------------------------------------- */
/* A program as JSON, for other tools and for tests. */

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
