/*
 * serving/watch/watch_advice.h - what to do about what comes: replicas, and
 * what else where replicas do not help.
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

struct msim_advice {
    int64_t *replicas; /* a stage: the number it should have, 0: as it is */
    enum msim_action action;
    struct msim_advice_stage *stages; /* what was asked for, and when */
    uint32_t n;
};

/* ENOMEM. Release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_advice_init(struct msim_advice *a, uint32_t n_stages);
void msim_advice_release(struct msim_advice *a);

/* Decide after the second that `v` is of. */
void msim_advice_decide(struct msim_advice *a, const struct msim_watch *w,
                        const struct msim_verdict *v);

/* The word, NULL for none. */
const char *msim_action_text(enum msim_action a);

#endif
