/*
 * serving/counters/counters_row.h - counters of one stage, or of whole requests
 * (`e2e`), in one window.
 */
#ifndef MSIM_SERVING_COUNTERS_COUNTERS_ROW_H
#define MSIM_SERVING_COUNTERS_COUNTERS_ROW_H
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

#endif
