/*
 * profilers/serve.h - a backend as a program: experiments in, answers out, one
 * JSON object a line.
 */
#ifndef MSIM_PROFILERS_SERVE_H
#define MSIM_PROFILERS_SERVE_H
#include "core/base/json.h"
#include "profilers/counters.h"

#include <stdbool.h>
#include <stdio.h>

/* ---- backend ------------------------------------------------------------- */
/*
 * The interface of a backend, which times experiments on one device.
 *
 * An experiment is a JSON object on one line (profilers/experiment.h), with an
 * "id" that the answer repeats. A backend turns it into a case, which can be
 * timed again and again; profilers/sampler.c decides how often.
 * "serve" reads and writes the lines.
 */

/* Something that can be timed; `state` is the backend's. */
struct msim_case {
    void *state;
    /* Time one run, its operands not in the caches; `*us` is of one run, even
     * where several are run because one is too short for the clock. */
    enum msim_status (*time)(void *state, double *us, struct msim_error *err);
    void (*release)(void *state); /* may be NULL */
    /* The same without the concurrent experiment. NULL: there is none. */
    enum msim_status (*alone)(void *state, double *us, struct msim_error *err);
};

/* An operation over and over, once the device's clock has settled. */
struct msim_sustained {
    double seconds;         /* that count */
    uint32_t runs;          /* in them */
    double us;              /* of a run */
    double sm_mhz, power_w; /* 0: not known */
};

struct msim_backend {
    const char *name;
    /* Find the device; `*self` is passed to all other functions. EUNKNOWN,
     * with what was looked for, where there is no device. close() is called
     * only after a success. */
    enum msim_status (*open)(void **self, struct msim_error *err);
    void (*close)(void *self);
    /* Write the greeting's members from "device" on ("serve" has an
     * example). */
    void (*describe)(void *self, struct msim_json *out);
    /*
     * Make an experiment ready, its operands filled with random numbers.
     * ENOMODEL where the device or a library cannot do it, which is answered
     * and is no failure of the backend. `*out` must be released.
     */
    enum msim_status (*prepare)(void *self, const cJSON *experiment,
                                struct msim_case *out, struct msim_error *err);
    /* Write the device's state, such as its clock in MHz, as members of an
     * answer; may be NULL. */
    void (*state)(void *self, struct msim_json *out);
    /* Called by a dry run instead of prepare(), without a device: check the
     * experiment, and count the bytes of its operands. EFORMAT as in prepare().
     * NULL: no dry runs. */
    enum msim_status (*check)(const cJSON *experiment, double *bytes,
                              struct msim_error *err);
    /* Run a case a few times more, and read the device's hardware counters.
     * Called at most once, after the last time(). ENOMODEL where they cannot
     * be read. NULL: the backend reads none. */
    enum msim_status (*count)(void *self, const struct msim_case *c,
                              struct msim_counts *out, struct msim_error *err);
    /* Run a case over and over for so many seconds, with nothing between the
     * runs. ENOMODEL where that makes no sense. NULL: the backend cannot. */
    enum msim_status (*sustain)(void *self, const struct msim_case *c,
                                double seconds, struct msim_sustained *out,
                                struct msim_error *err);
    /* Run cases in an order, with nothing between them; `*us` is of all.
     * ENOMODEL where one cannot be run so. NULL: what is timed runs so
     * anyway (see apart). */
    enum msim_status (*together)(void *self, const struct msim_case *cases,
                                 const uint32_t *order, uint32_t n, double *us,
                                 struct msim_error *err);
    /* Called after a failed experiment or count(): can the device still be
     * used? NULL: it always can. */
    bool (*usable)(void *self);
    /* Between two runs there is work that is no part of them, such as emptying
     * the caches by reading a large buffer. */
    bool apart;
};

/* ---- serve --------------------------------------------------------------- */
/*
 * A backend as a program: experiments in, answers out, one JSON object a line.
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
 * A line with a "sequence" (profilers/run_sequence.c) has a line of answer for
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
