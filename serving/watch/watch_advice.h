/*
 * serving/watch/watch_advice.h - what to do about what comes: replicas, and
 * what else where replicas do not help.
 *
 * Replicas are the fewest whose queues leave the p99 below the limit. Queues
 * are foreseen by Sakasegawa's approximation of M/M/c with a factor that the
 * measured wait says (1977, "An approximation formula Lq = a rho^b / (1 -
 * rho)"):
 *
 *     wait = factor x service rho^(sqrt(2 (c + 1)) - 1) / (c (1 - rho))
 *
 * for the workers that will be held when new replicas serve. Replicas are added
 * one by one where they take most off the wait of the class that is nearest to
 * its limit. Counters do not tell classes apart: each is taken to be without
 * queues at the same share of its limit.
 */
#ifndef MSIM_SERVING_WATCH_WATCH_ADVICE_H
#define MSIM_SERVING_WATCH_WATCH_ADVICE_H
#include "serving/watch/watch.h"

/* X(name, word) */
#define MSIM_ACTION_MAP(X)                                                     \
    X(NONE, NULL)                                                              \
    X(SCALE, "scale")     /* other numbers of replicas */                      \
    X(MOVE, "move")       /* its replicas to machines that are less pressed */ \
    X(RESTART, "restart") /* its workers, which hang */                        \
    X(SHED, "shed")       /* load: replicas come too late */

enum msim_action {
#define X(name, word) MSIM_ACTION_##name,
    MSIM_ACTION_MAP(X)
#undef X
};

#define MSIM_ADVICE_KEPT 32 /* seconds */

struct msim_advice {
    int64_t *replicas; /* a stage: the number it should have, 0: as it is */
    enum msim_action action;
    struct msim_advice_stage *stages;
    uint32_t n, n_classes;
    double *visits;                /* [class][stage] of a request */
    double *limits;                /* [class], over that of w->limit_ms */
    double *sums;                  /* [class]: what queues add to its p99, ms */
    double rest[MSIM_ADVICE_KEPT]; /* ms: p99 without what queues add to it */
    uint32_t seconds;
    double share; /* of what is left below the limit, that queues may take */
};

/* For the application of `w`. ENOMEM. Release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_advice_init(struct msim_advice *a, struct msim_watch *w);
void msim_advice_release(struct msim_advice *a);

/* Decide after the second that `v` is of. */
void msim_advice_decide(struct msim_advice *a, const struct msim_watch *w,
                        const struct msim_verdict *v);

/* The word, NULL for none. */
const char *msim_action_text(enum msim_action a);

#endif
