/*
 * serving/watch/watch_blame.h - which stage starts what makes requests longer,
 * and of what it has too little.
 *
 * The question is not where the queue is. A stage whose calls take longer holds
 * its workers longer, so that those who wait in front of it wait for its
 * callee. So the growth of a request's time is handed down the flow: from the
 * first stage on, each keeps what its own service and network grew by, and
 * hands on what its calls grew by. Growth of its queue goes to whatever made
 * it: longer own service, longer calls (synchronous ones), more arrivals, and
 * where nothing of that grew, fewer workers.
 */
#ifndef MSIM_SERVING_WATCH_WATCH_BLAME_H
#define MSIM_SERVING_WATCH_WATCH_BLAME_H
#include "serving/watch/watch_flow.h"
#include "serving/watch/watch_history.h"

/* X(name, word) */
#define MSIM_RESOURCE_MAP(X)                                                   \
    X(CPU, "cpu")                                                              \
    X(MEMORY, "memory")                                                        \
    X(DISK, "disk")                                                            \
    X(NETWORK, "network")                                                      \
    X(WORKERS, "workers")                                                      \
    X(LOAD, "load")

enum msim_resource {
#define X(name, word) MSIM_RESOURCE_##name,
    MSIM_RESOURCE_MAP(X)
#undef X
        MSIM_RESOURCES
};

/* What a stage adds to the time of a mean request, above what is usual, at the
 * horizon: ms. */
struct msim_blame_stage {
    double self, net, workers, load;
};

struct msim_blame {
    uint32_t n;
    struct msim_blame_stage *stages;
    struct msim_blame_stage *kept; /* of all seconds, fading: who it is */
    uint32_t stage;                /* the one that starts it */
    enum msim_resource resource;   /* what it has too little of */
    double ms;                     /* of all stages */
    double share;                  /* of that, which this stage starts */
    /* What was seen of that stage, for `why`: standard errors above usual. */
    double z_self, z_net, z_rate, z_psi[3];
    /* Times of a mean request at the horizon and now, over the usual one. */
    double ratio_now, ratio_ahead, usual_ms;
    /* What the slow requests of a class grew by until now, and will have grown
     * by at the horizon: of the class where that is most, ms. */
    double slow_now, slow_ahead;
    struct msim_blame_work *work;
    double *columns; /* 3 x n, scratch */
    double *classes; /* 3 a class, scratch */
};

/* `app` as in watch_flow. ENOMEM. Release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_blame_init(struct msim_blame *b, uint32_t n_stages,
                                 uint32_t n_classes);
void msim_blame_release(struct msim_blame *b);

/* Find who is to blame for the time of requests `horizon` s ahead. */
void msim_blame_find(struct msim_blame *b, struct msim_watch_flow *f,
                     const struct msim_history *h, double horizon);

const char *msim_resource_text(enum msim_resource r);

#endif
