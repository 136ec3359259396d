/*
 * profilers/run_sequence.h - time experiments one after the other, in the order
 * of a program, again and again.
 *
 * A sequence names each distinct experiment once, and the order in which they
 * run:
 *   {"id": 1, "sequence": {"experiments": [{...}, {...}], "order": [0, 1, 0],
 *                          "warm_up": 2, "iterations": 10}}
 * All experiments are made ready before the first runs. Each iteration runs the
 * whole order back to back and is answered when it is over:
 *   {"id": 1, "iteration": 0, "us": the whole, "at_us": [start of each],
 *    "time_us": [of each], "cpu_us", "rss_bytes", ..., "state": {...}}
 * and the last one is followed by
 *   {"id": 1, "done": true, "iterations": 10}
 * with "counters_error" where the processor's counters cannot be read. Where an
 * experiment cannot be made ready, none runs:
 *   {"id": 1, "error": "why the first cannot", "unsupported": true,
 *    "refused": [{"experiment": 1, "error": "why"}]}
 *
 * Where the backend puts work between two runs, such as reading a large buffer
 * that empties the caches (msim_backend.apart), "us" is the sum of "time_us"
 * and starts are counted as if there were none. Where it can run all in a row
 * (msim_backend.together), each iteration is followed by one that does, and
 * "together_us" is what that took.
 */
#ifndef MSIM_PROFILERS_RUN_SEQUENCE_H
#define MSIM_PROFILERS_RUN_SEQUENCE_H
#include "profilers/backend.h"
#include "profilers/host_metrics.h"

#define MSIM_SEQUENCE_EXPERIMENTS 100000
#define MSIM_SEQUENCE_ORDER       4000000

struct msim_sequence {
    const struct msim_backend *b;
    void *self; /* the backend's */
    uint32_t n_cases, n, warm_up, iterations;
    struct msim_case *cases; /* owned, as all below */
    char (*refused)[160];    /* why a case cannot be made ready; "": it can */
    uint32_t n_refused;
    uint32_t *order;
    double *at_us, *time_us; /* of the last iteration */
    double us, together_us;  /* 0: not known */
    struct msim_host_metrics *metrics;
    struct msim_host_figures figures; /* of the last iteration */
};

/*
 * Read the member "sequence", and make its experiments ready. EFORMAT where the
 * line is wrong; ENOMODEL where the device or a library cannot do one of them,
 * `refused` then says which. Release it in any case.
 */
MSIM_MUST_CHECK
enum msim_status msim_sequence_ready(struct msim_sequence *s,
                                     const struct msim_backend *b, void *self,
                                     const cJSON *sequence,
                                     struct msim_error *err);
void msim_sequence_release(struct msim_sequence *s);

/* One iteration. */
MSIM_MUST_CHECK
enum msim_status msim_sequence_run(struct msim_sequence *s,
                                   struct msim_error *err);

/* The members of its answer, from "us" on, and those of an answer that refuses.
 */
void msim_sequence_write(const struct msim_sequence *s, struct msim_json *out);
void msim_sequence_write_refused(const struct msim_sequence *s,
                                 struct msim_json *out);

#endif
