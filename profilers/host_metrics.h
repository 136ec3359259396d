/*
 * profilers/host_metrics.h - what an interval took of the machine that this
 * process runs on: processor time and page faults of the process, its memory,
 * the share of all processors that was busy, and what the processor counted.
 */
#ifndef MSIM_PROFILERS_HOST_METRICS_H
#define MSIM_PROFILERS_HOST_METRICS_H
#include "core/base/json.h"

#include <stdbool.h>

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

#endif
