/*
 * profilers/serve.h - a backend as a program: experiments in, answers out, one
 * JSON object a line.
 *
 * The first line out is the greeting:
 *   {"schema": "mystique-sim/profiler/1", "backend": "cuda", "version": "1.0",
 *    "device": {"name": "NVIDIA H100 80GB HBM3", "kind": "gpu", "sms": 132,
 *               "memory_bytes": 85e9, "l2_bytes": 52428800,
 *               "max_sm_mhz": 1980, "power_limit_w": 700},
 *    "libraries": {"CUDA": "13.0", "cuBLAS": "13.0.2"},
 *    "tables": {"gemm": ["fp32", "tf32"], "vector": ["add:fp32"]},
 *    "left_out": {"conv": "built without cuDNN"},
 *    "counters": true, "sequences": true, "sustained": true,
 *    "beside": {"gemm": ["fp16"]}}
 * "device" has what is known of name, kind, sizes, clocks and power; "tables"
 * the kinds of each table; "left_out" why a table is missing. "counters" is
 * true, or the reason why hardware counters cannot be read. "beside" has the
 * kinds that can be timed beside a collective, or the reason why none can.
 * "left_out", "counters", "beside", "sequences" and "sustained" may be missing.
 *
 * Every line in is an experiment (profilers/experiment.h), perhaps with
 * "policy": {"warm_up", "least", "most", "spread", "seconds"}, "raw": true,
 * "sustained": seconds, and "counters": true. Every line out answers one:
 *   {"id": 1, "time_us": median, "low_us", "high_us": deciles, "spread",
 *    "runs", "outliers", "seconds", "state": {...}, "samples": [us, ...],
 *    "sustained": {"seconds", "runs", "time_us", "sm_mhz", "power_w"},
 *    "counters": {...}}
 *   {"id": 1, "error": "why", "unsupported": true|false}
 *
 * Hardware counters (profilers/counters.h) are read in runs of their own, after
 * the timed ones. Where that fails, the answer has the times, and the reason in
 * "counters_error". A sustained run comes before them: the experiment over and
 * over for so long, with nothing between the runs; what it says is of the
 * second half, when the clock has settled. A backend that knows them greets
 * with "sustained": true; a failure is in "sustained_error".
 *
 * What an answer took is what passes until it comes. Where the machine that is
 * timed has a time of its own, as behind a queue or in a simulator, "took_s"
 * says it: the budget of calibrate counts that, and no fit between answers.
 *
 * A line with a "sequence" (profilers/run_sequence.h) has a line of answer for
 * each iteration, and one when it is done; a backend that knows them greets
 * with "sequences": true.
 *
 * An answer is flushed before the next experiment is read, so that a crash
 * loses no answer. The program ends at the end of input, and after an
 * experiment that leaves the device unusable: it answers that first, and can be
 * started again.
 *
 * A dry run needs no device. Its greeting has "dry_run": true and no device;
 * an experiment that could be timed is answered with
 *   {"id": 1, "would_run": true, "bytes": that its operands take}
 */
#ifndef MSIM_PROFILERS_SERVE_H
#define MSIM_PROFILERS_SERVE_H
#include "profilers/backend.h"

#include <stdio.h>

#define MSIM_PROFILER_SCHEMA "mystique-sim/profiler/1"

/* The exit code of a program whose device is unusable: it is to be started
 * again. */
#define MSIM_SERVE_UNUSABLE 4

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
 * no device and bad input, MSIM_SERVE_UNUSABLE.
 */
int msim_serve_main(const struct msim_backend *b, int argc, char **argv);

#endif
