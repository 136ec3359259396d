/*
 * serving/size/alone.h - one stage by itself: visits that arrive at known
 * times, wait for workers, and are served.
 *
 * A worker is held for the service, and with `rpc` for what the visit then
 * waits for its calls (`rest_ms`), too. Routing, priorities and batches are
 * those of serving plants: a batch begins when it is full, or its first visit
 * has waited max_wait.
 */
#ifndef MSIM_SERVING_SIZE_ALONE_H
#define MSIM_SERVING_SIZE_ALONE_H
#include "serving/app/app.h"

struct msim_alone_visit {
    double at_ms;   /* arrival; visits are in that order */
    double base_ms; /* service of size and factor 1 */
    double rest_ms; /* held on top, where the stage is called by rpc */
    float factor;   /* of the service, by size and class */
    uint32_t level; /* of priority, 0 first; less than MSIM_ALONE_LEVELS */
    uint32_t request, group; /* the caller's */
    uint64_t key;            /* of its random numbers */
    /* What comes out. */
    double wait_ms, service_ms;
    float batch_factor; /* service over the base: law and largest factor */
};

#define MSIM_ALONE_LEVELS 8

struct msim_alone_stage {
    const struct msim_stage *def;
    const double *law; /* of batches of n, at n - 1 */
    uint32_t most;     /* served together; 1: no batches */
    int64_t replicas;
};

/* Serve `n` visits. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_alone_run(const struct msim_alone_stage *stage,
                                struct msim_alone_visit *visits, uint32_t n);

#endif
