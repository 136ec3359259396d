/*
 * serving/counters/counters_read.h - the counters of a running application,
 * row by row: what `serve --counters` writes and `watch` and `learn` read
 * (docs/serving.md).
 *
 * A row is one stage, or `e2e`, in one window. Columns may be missing but for
 * `t` and `stage`, and stand in any order; an empty field is not known, nor is
 * one that no counter can be (below 0, above 10^12).
 *
 * The file comes from a program that may write other lines between, and it may
 * be a pipe that is written while it is read: a row is there as soon as its
 * line has ended. Lines from `#` on are skipped. Lines that are no rows are
 * left out and counted; a stage that the application does not have and a time
 * that goes back are errors, for then the file is another application's, or
 * two files.
 */
#ifndef MSIM_SERVING_COUNTERS_COUNTERS_READ_H
#define MSIM_SERVING_COUNTERS_COUNTERS_READ_H
#include "core/base/status.h"

#include <stdbool.h>

#define MSIM_COUNTER_E2E "e2e" /* the row of whole requests */

/* X(name in the enum, column) */
#define MSIM_COUNTER_MAP(X)                                                    \
    X(ARRIVALS, "arrivals") /* in the window */                                \
    X(QUEUE, "queue")       /* waiting at its end; of e2e: in flight */        \
    X(BUSY, "busy")         /* share of workers held */                        \
    X(REPLICAS, "replicas")                                                    \
    X(MEAN_MS, "mean_ms") /* of visits that ended in it */                     \
    X(P99_MS, "p99_ms")                                                        \
    X(SELF_MS, "self_ms") /* own service */                                    \
    X(WAIT_MS, "wait_ms") /* in the queue */                                   \
    X(PSI_CPU, "psi_cpu") /* share of time stalled, 0 to 1 */                  \
    X(PSI_MEM, "psi_mem")                                                      \
    X(PSI_IO, "psi_io")                                                        \
    X(NET_MS, "net_ms") /* one way to the stage */

enum msim_counter {
#define X(name, column) MSIM_COUNTER_##name,
    MSIM_COUNTER_MAP(X)
#undef X
        MSIM_COUNTERS
};

struct msim_counters_row {
    double t;                /* end of the window, s */
    uint32_t stage;          /* of the names given; their number: e2e */
    double v[MSIM_COUNTERS]; /* NAN: not known */
};

struct msim_counters; /* opaque */

/*
 * Open `path` ("-": standard input) of an application whose `n` stages are
 * called `stages` (they must live as long), and read its header. On success
 * `*out` is the caller's; on failure it is NULL: EIO, ETRUNCATED for an empty
 * file, EFORMAT where a column that is needed is missing.
 */
MSIM_MUST_CHECK
enum msim_status msim_counters_open(struct msim_counters **out,
                                    const char *path, const char *const *stages,
                                    uint32_t n, struct msim_error *err);

/* Accepts NULL. */
void msim_counters_close(struct msim_counters *c);

/* The next row; `*found` is false at the end. EFORMAT names the line. */
MSIM_MUST_CHECK
enum msim_status msim_counters_next(struct msim_counters *c,
                                    struct msim_counters_row *row, bool *found,
                                    struct msim_error *err);

/* Lines left out so far; what the first of them was: its line, and why. */
uint64_t msim_counters_left_out(const struct msim_counters *c);
uint64_t msim_counters_first_line(const struct msim_counters *c);
const char *msim_counters_first_reason(const struct msim_counters *c);

#endif
