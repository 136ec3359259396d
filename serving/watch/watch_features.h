/*
 * serving/watch/watch_features.h - a second as numbers that trees can split.
 *
 * Times are over the limit or over what is usual, so that the numbers of one
 * application mean the same in another. A model of one application has besides
 * some of its stages' own numbers: see msim_watch_stage_feature().
 */
#ifndef MSIM_SERVING_WATCH_WATCH_FEATURES_H
#define MSIM_SERVING_WATCH_WATCH_FEATURES_H
#include "serving/watch/watch_blame.h"

/* X(name). Of e2e, where not said otherwise; "log" is over the limit for times.
 */
#define MSIM_FEATURE_MAP(X)                                                    \
    X(P99_LOG)                                                                 \
    X(P99_MOST_LOG)                                                            \
    X(P99_LOG_3S)                                                              \
    X(P99_LOG_8S)                                                              \
    X(P99_LOG_MOST_8S)                                                         \
    X(P99_SLOPE_5S)                                                            \
    X(P99_USUAL_LOG)                                                           \
    X(P99_SPREAD)                                                              \
    X(LIMIT_Z)                                                                 \
    X(VIOLATED_SHARE)                                                          \
    X(MEAN_OVER_USUAL)                                                         \
    X(MEAN_SLOPE_5S)                                                           \
    X(MEAN_LOG)                                                                \
    X(RATE_OVER_8S)                                                            \
    X(RATE_OVER_USUAL_3S)                                                      \
    X(RATE_SLOPE_5S)                                                           \
    X(RATE_Z)                                                                  \
    X(RATE_AHEAD)                                                              \
    X(RATE_USUAL)                                                              \
    X(IN_FLIGHT_OVER_USUAL)                                                    \
    X(IN_FLIGHT_SLOPE_5S)                                                      \
    X(BUSY_MOST)                                                               \
    X(BUSY_MOST_3S)                                                            \
    X(BUSY_SECOND_3S)                                                          \
    X(BUSY_MOST_AHEAD)                                                         \
    X(BUSY_OVER_USUAL)                                                         \
    X(DEMAND_AHEAD)                                                            \
    X(DEMAND_NOW)                                                              \
    X(WAIT_OVER_LIMIT)                                                         \
    X(WAIT_OVER_LIMIT_3S)                                                      \
    X(WAIT_MOST_SLOPE)                                                         \
    X(WAIT_LOG_Z_MOST)                                                         \
    X(WAIT_LOG_AHEAD)                                                          \
    X(BLOW_UP)                                                                 \
    X(DRAIN_MOST)                                                              \
    X(DRAIN_SUM)                                                               \
    X(DRAIN_SLOPE)                                                             \
    X(SELF_Z_MOST)                                                             \
    X(NET_Z_MOST)                                                              \
    X(PSI_CPU_Z_MOST)                                                          \
    X(PSI_MEM_Z_MOST)                                                          \
    X(PSI_IO_Z_MOST)                                                           \
    X(BLAME_MS)                                                                \
    X(BLAME_SELF)                                                              \
    X(BLAME_NET)                                                               \
    X(BLAME_WORKERS)                                                           \
    X(BLAME_LOAD)                                                              \
    X(RATIO_NOW)                                                               \
    X(RATIO_AHEAD)                                                             \
    X(SLOW_NOW)                                                                \
    X(SLOW_AHEAD)                                                              \
    X(P99_AHEAD)                                                               \
    X(P99_AHEAD_TWICE)                                                         \
    X(REPLICAS_OVER_USUAL)                                                     \
    X(SECONDS)                                                                 \
    X(PRIOR) /* log odds by the trees of all applications */                   \
    X(PRIOR_NEXT)

enum msim_feature {
#define X(name) MSIM_FEATURE_##name,
    MSIM_FEATURE_MAP(X)
#undef X
        MSIM_FEATURES
};

/* Of one stage. */
#define MSIM_STAGE_FEATURE_MAP(X)                                              \
    X(BUSY)  /* mean of 3 s */                                                 \
    X(DRAIN) /* s until its queue is served */                                 \
    X(WAIT)  /* ms over the limit, 2 s */                                      \
    X(RATE)  /* log visits a second and replica */

enum msim_stage_feature {
#define X(name) MSIM_STAGE_FEATURE_##name,
    MSIM_STAGE_FEATURE_MAP(X)
#undef X
        MSIM_STAGE_FEATURES
};

/* The name in model files, such as "p99_log". */
const char *msim_feature_text(enum msim_feature f);
const char *msim_stage_feature_text(enum msim_stage_feature f);

/*
 * The numbers of the last second of `h`; `b` was found for the same second and
 * horizon. What is not known is 0 over what is usual.
 */
void msim_features_of(double x[MSIM_FEATURES], const struct msim_app *app,
                      const struct msim_history *h, const struct msim_blame *b,
                      double limit_ms, double horizon);

double msim_stage_feature_of(const struct msim_history *h, uint32_t stage,
                             enum msim_stage_feature f, double limit_ms);

#endif
