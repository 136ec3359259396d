/*
 * profilers/serve_internal.h - what the files of profilers share; no other room
 * includes it.
 */
#ifndef MSIM_PROFILERS_SERVE_INTERNAL_H
#define MSIM_PROFILERS_SERVE_INTERNAL_H
#include "core/base/json.h"
#include "profilers/serve.h"

#include <stdbool.h>

/* ---- host metrics -------------------------------------------------------- */
/*
 * What an interval took of the machine that this process runs on: processor
 * time and page faults of the process, its memory, the share of all processors
 * that was busy, and what the processor counted.
 */

/* X(field, the counter's number, the word) */
#define MSIM_HOST_COUNTER_MAP(X)                                               \
    X(CYCLES, PERF_COUNT_HW_CPU_CYCLES, "cycles")                              \
    X(INSTRUCTIONS, PERF_COUNT_HW_INSTRUCTIONS, "instructions")                \
    X(CACHE_MISSES, PERF_COUNT_HW_CACHE_MISSES, "cache_misses")

enum msim_host_counter {
#define X(field, number, text) MSIM_HOST_##field,
    MSIM_HOST_COUNTER_MAP(X)
#undef X
        MSIM_HOST_COUNTERS
};

/* NAN: not known. */
struct msim_host_figures {
    double cpu_us, faults; /* of this process, all threads */
    double rss_bytes;      /* at the end */
    double busy;           /* share of all processors, whoever used them */
    double counters[MSIM_HOST_COUNTERS];
};

struct msim_host_metrics; /* opaque */

/*
 * Begin to watch, once all threads that are to be counted run. ENOMEM is the
 * only failure; what cannot be read is NAN from then on.
 */
MSIM_MUST_CHECK
enum msim_status msim_host_metrics_new(struct msim_host_metrics **out);
void msim_host_metrics_free(struct msim_host_metrics *m); /* accepts NULL */

/* Why counters cannot be read; NULL: they can. */
const char *msim_host_metrics_refused(const struct msim_host_metrics *m);

/* Figures of the time since the last call, or since the beginning. */
void msim_host_metrics_take(struct msim_host_metrics *m,
                            struct msim_host_figures *out);

/* As members; what is not known is left out. */
void msim_host_figures_write(const struct msim_host_figures *f,
                             struct msim_json *out);

/* ---- run sequence -------------------------------------------------------- */
/*
 * Time experiments one after the other, in the order of a program, again and
 * again.
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

/* ---- sampler ------------------------------------------------------------- */
/* Time a case until its median is known, and summarise the samples. */

#define MSIM_SAMPLES_MAX 1000

/* When to stop; of zeros: the defaults of msim_sample_case(). */
struct msim_policy {
    uint32_t warm_up;     /* runs before the first that counts */
    uint32_t least, most; /* runs that count */
    double spread;        /* of the median, that is small enough */
    double seconds;       /* after them no further run begins */
};

struct msim_sampled {
    uint32_t n;        /* runs that counted */
    uint32_t outliers; /* of these, further than 3 interquartile ranges off;
                          they count */
    double us;         /* median */
    double low_us, high_us; /* first and last decile */
    /* Half the width of the median's 95 % interval (order statistics, binomial)
     * over the median. */
    double spread;
    double alone_us; /* median without the concurrent experiment; 0: none */
    double seconds;  /* all runs took */
    double samples[MSIM_SAMPLES_MAX]; /* in the order of time */
    double alone[MSIM_SAMPLES_MAX];   /* sorted, where alone_us is not 0 */
};

/*
 * Time `c` until its median is known to within `policy->spread`, or the budget
 * is spent: at least `least` runs (5), at most `most` (1000) or `seconds` (1),
 * after `warm_up` (2); spread 0.01. With a concurrent experiment, runs with and
 * without it alternate, so that a shared machine slows both alike. Fails as the
 * case fails.
 */
MSIM_MUST_CHECK
enum msim_status msim_sample_case(const struct msim_case *c,
                                  const struct msim_policy *policy,
                                  struct msim_sampled *out,
                                  struct msim_error *err);

/* Fill in all members that follow from the samples: all but `seconds` and
 * `alone_us`. */
void msim_sampled_summarise(struct msim_sampled *s);

#endif
