/*
 * profilers/cuda/cupti/cupti_counters.h - hardware counters of what is
 * launched, read by CUPTI's Range Profiling API.
 *
 * There are more metrics than registers that count, so what is counted is run
 * several times, once a pass ("user replay"), each in one range of its own.
 * While CUPTI records activities (cupti_trace.h) nothing must be counted. For
 * device 0 and its current context. Not thread-safe.
 */
#ifndef MSIM_PROFILERS_CUDA_CUPTI_CUPTI_COUNTERS_H
#define MSIM_PROFILERS_CUDA_CUPTI_CUPTI_COUNTERS_H
#include "profilers/counters.h"

struct msim_cupti_counters; /* opaque */

/*
 * Whether there is anything that says that counters cannot be read here: false,
 * with the reason. Calls nothing of CUPTI's profiler, whose beginning hooks
 * into the driver: what is timed before the first count is timed without that.
 */
bool msim_cupti_counters_likely(char *why, size_t size);

/* ENOMODEL, naming the call, where they cannot. On success `*out` is owned by
 * the caller. */
MSIM_MUST_CHECK
enum msim_status msim_cupti_counters_new(struct msim_cupti_counters **out,
                                         struct msim_error *err);

/* Accepts NULL. */
void msim_cupti_counters_free(struct msim_cupti_counters *c);

/* What is counted: `run` does it and waits for its end; `ready`, outside of
 * what is counted, comes before each time. */
struct msim_counted {
    void *state;
    enum msim_status (*ready)(void *state, struct msim_error *err);
    enum msim_status (*run)(void *state, struct msim_error *err);
};

MSIM_MUST_CHECK
enum msim_status msim_cupti_counters_read(struct msim_cupti_counters *c,
                                          const struct msim_counted *what,
                                          struct msim_counts *out,
                                          struct msim_error *err);

#endif
