/*
 * profilers/serve.h - a backend as a program: experiments in, rows out, one
 * JSON object a line.
 *
 * The first line out greets:
 *   {"schema": "mystique-sim/profiler/1", "backend": ..., "version": ...,
 *    "device": {...}, "libraries": {...}, "tables": {...}}
 * Every line in is an experiment (profilers/backend.h), perhaps with "policy":
 * {"warm_up", "least", "most", "spread", "seconds"}, "raw": true, and
 * "counters": true. Every line out answers one:
 *   {"id": 1, "time_us": median, "low_us", "high_us": deciles, "spread",
 *    "runs", "outliers", "seconds", "state": {...}, "samples": [us, ...],
 *    "counters": {...}}
 *   {"id": 1, "error": "why", "unsupported": true|false}
 *
 * Hardware counters (profilers/counters.h) are read in runs of their own, after
 * the last that is timed; where that fails the answer has "counters_error",
 * why, and the times all the same.
 *
 * An answer is flushed before the next experiment is read, so that what was
 * timed is not lost when the program dies. At the end of input it ends, and
 * after an experiment that leaves the device unusable: that is answered first,
 * and whoever started the program can start it again.
 *
 * A dry run needs no device. Its greeting says "dry_run": true and nothing of
 * devices; what could be timed is answered with
 *   {"id": 1, "would_run": true, "bytes": that its operands take}
 */
#ifndef MSIM_PROFILERS_SERVE_H
#define MSIM_PROFILERS_SERVE_H
#include "profilers/backend.h"

#include <stdio.h>

#define MSIM_PROFILER_SCHEMA "mystique-sim/profiler/1"

/*
 * Serve until `in` ends. EUNKNOWN where the backend has no device; ESYNTAX,
 * with the number of the line, where one is not a JSON object; EIO where
 * nobody reads the answers; EINTERNAL where an experiment left the device
 * unusable. An experiment that fails otherwise is answered, and is no failure.
 */
MSIM_MUST_CHECK
enum msim_status msim_serve(const struct msim_backend *b, FILE *in, FILE *out,
                            struct msim_error *err);

/* The same without a device; EUSAGE where the backend has no check(). */
MSIM_MUST_CHECK
enum msim_status msim_serve_dry(const struct msim_backend *b, FILE *in,
                                FILE *out, struct msim_error *err);

/*
 * main() of a program that serves, dry with the argument --dry-run: messages on
 * standard error, exit code 0, or 2 for arguments that it does not know, 3 for
 * no device and bad input, 4 where it must be started again.
 */
int msim_serve_main(const struct msim_backend *b, int argc, char **argv);

#endif
