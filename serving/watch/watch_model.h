/*
 * serving/watch/watch_model.h - a second of a running application as numbers,
 * whom it blames, and how likely a violation is.
 */
#ifndef MSIM_SERVING_WATCH_WATCH_MODEL_H
#define MSIM_SERVING_WATCH_WATCH_MODEL_H
#include "models/forest/forest.h"
#include "serving/app/app.h"
#include "serving/counters/counters_read.h"

/* ---- watch flow ---------------------------------------------------------- */
/*
 * How long a request takes when every visit takes its mean: the longest way
 * through each step of the flow.
 *
 *     time(s) = wait(s) + self(s) + sum over steps of
 *               max over calls of the step of n (net(to) + time(to))
 *
 * with n = probability x calls of a loop. That is no percentile; it says how
 * much of a change of one stage reaches the whole.
 */

struct msim_watch_flow {
    const struct msim_app *app;
    uint32_t *order;     /* stages, callers before what they call */
    uint32_t n;          /* of them: those that requests reach */
    double *time;        /* [stage]: of the last class that was asked */
    double *edge_weight; /* [edge]: see msim_watch_flow_weigh() */
    double *reach;       /* [stage]: visits of a request, while it weighs */
};

/* `app` must live as long. ENOMEM. Release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_watch_flow_init(struct msim_watch_flow *f,
                                      const struct msim_app *app);
void msim_watch_flow_release(struct msim_watch_flow *f);

/* The mean of all classes, by their shares, in ms; `own` (wait and self) and
 * `net` are of every stage. */
double msim_watch_flow_time(struct msim_watch_flow *f, const double *own,
                            const double *net);

/* The slow requests of each class, in ms, into `times`: those that make every
 * call of 2 % or more of the visits, since one in a hundred is a p99. */
void msim_watch_flow_slow(struct msim_watch_flow *f, const double *own,
                          const double *net, double *times);

/* How often a request of class `cls` comes to each stage one time after
 * another: calls that are made at once count as one. */
void msim_watch_flow_visits(struct msim_watch_flow *f, uint32_t cls,
                            double *visits);

/*
 * What becomes of a ms more at stage `to` on an edge, as ms of its caller, in
 * f->edge_weight: the calls made, less where another call of the step takes
 * longer. `weight` gets the same of every stage, as ms of a mean request.
 */
void msim_watch_flow_weigh(struct msim_watch_flow *f, const double *own,
                           const double *net, double *weight);

/* ---- watch history ------------------------------------------------------- */
/*
 * What counters were in the last two minutes, and what is usual.
 *
 * Times that are multiplied by what goes wrong are kept as logarithms, so that
 * a ramp is a line and a slow visit among few does not outweigh the rest. What
 * is usual is a median and a spread of all seconds kept but the last ten, in
 * which something may have begun: until 30 seconds are there, of all. The
 * spread is the standard deviation of normal noise with that median deviation,
 * or with that 95 % quantile where it is larger: waits of few visits have wild
 * outliers upwards, and nothing comes of them.
 */

enum msim_track {
    MSIM_TRACK_SELF,     /* log ms */
    MSIM_TRACK_NET,      /* ms */
    MSIM_TRACK_WAIT,     /* ms */
    MSIM_TRACK_WAIT_LOG, /* of the wait and a hundredth of the service */
    MSIM_TRACK_BUSY,     /* share of workers */
    MSIM_TRACK_RATE,     /* log of visits a second */
    MSIM_TRACK_QUEUE,
    MSIM_TRACK_PSI_CPU,
    MSIM_TRACK_PSI_MEM,
    MSIM_TRACK_PSI_IO,
    MSIM_TRACK_MEAN, /* log ms */
    MSIM_TRACK_P99,  /* log ms */
    MSIM_TRACK_MOST, /* log ms: the longest p99 of a window */
    MSIM_TRACK_REPLICAS,
    MSIM_TRACK_QUEUE_LAST, /* at the end of the second, as the next three */
    MSIM_TRACK_MEAN_LAST,  /* log ms */
    MSIM_TRACK_RATE_LAST,  /* log of arrivals a second; of e2e, as the next */
    MSIM_TRACK_AGE,        /* log ms */
    MSIM_TRACKS
};

#define MSIM_HISTORY_KEPT 128 /* seconds */

struct msim_usual {
    double median, spread; /* NAN: the counter is not known */
};

struct msim_history {
    uint32_t n_stages; /* e2e is stage n_stages */
    uint32_t seconds;  /* so far */
    double *v;         /* [stage][track][second % KEPT], NAN: not known */
    struct msim_usual *usual; /* [stage][track] */
};

/* ENOMEM. Release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_history_init(struct msim_history *h, uint32_t n_stages);
void msim_history_release(struct msim_history *h);

void msim_history_add(struct msim_history *h,
                      const struct msim_second_stage *stages);

static inline const struct msim_usual *
msim_history_usual(const struct msim_history *h, uint32_t stage,
                   enum msim_track track)
{
    return &h->usual[stage * MSIM_TRACKS + track];
}

/* The value `ago` seconds before the last one; NAN where there is none. */
double msim_history_at(const struct msim_history *h, uint32_t stage,
                       enum msim_track track, uint32_t ago);
/* The mean, and the largest, of the last `n` seconds; NAN where none is. */
double msim_history_mean(const struct msim_history *h, uint32_t stage,
                         enum msim_track track, uint32_t n);
double msim_history_most(const struct msim_history *h, uint32_t stage,
                         enum msim_track track, uint32_t n);
/* How much it grows a second: the line of least squares through the last `n`;
 * 0 where fewer than 3 are known. */
double msim_history_slope(const struct msim_history *h, uint32_t stage,
                          enum msim_track track, uint32_t n);

/*
 * How far a track is from what is usual, and how far it will be: of the last
 * second and the line through 4, and of the last 3 and the line through 6, the
 * one that says more. Both are shrunk towards 0 as noise would be.
 */
struct msim_deviation {
    double excess; /* now */
    double ahead;  /* as far ahead as was asked */
    double z;      /* of the last 3 s, in standard errors */
};
struct msim_deviation msim_history_deviation(const struct msim_history *h,
                                             uint32_t stage,
                                             enum msim_track track,
                                             double horizon);

/* ---- watch blame --------------------------------------------------------- */
/*
 * Which stage starts what makes requests longer, and of what it has too little.
 *
 * The question is not where the queue is. A stage whose calls take longer holds
 * its workers longer, so that those who wait in front of it wait for its
 * callee. So the growth of a request's time is handed down the flow: from the
 * first stage on, each keeps what its own service and network grew by, and
 * hands on what its calls grew by. Growth of its queue goes to whatever made
 * it: longer own service, longer calls (synchronous ones), more arrivals, and
 * where nothing of that grew, fewer workers.
 */

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

/* ---- watch features ------------------------------------------------------ */
/*
 * A second as numbers that trees can split.
 *
 * Times are over the limit or over what is usual, so that the numbers of one
 * application mean the same in another. A model of one application has besides
 * some of its stages' own numbers: see msim_watch_stage_feature().
 */

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

/* Of e2e, in models of one application. What is in flight now ends within the
 * horizon, so that these are of the end of a second. */
#define MSIM_E2E_FEATURE_MAP(X)                                                \
    X(IN_FLIGHT)     /* log of requests */                                     \
    X(IN_FLIGHT_LOG) /* log of ms until as many arrive, over the limit */      \
    X(QUEUED_MOST)   /* time until the queue of a stage is served, */          \
    X(QUEUED_SUM)    /* over the limit: most, sum over stages */               \
    X(MEAN_LAST_LOG) /* of the last window */                                  \
    X(AGE_LOG)       /* of the oldest in flight */                             \
    X(AGE_OVER_MEAN) /* log of that over the mean of requests, 3 s */          \
    X(IN_OVER_OUT)   /* log of arrivals over requests that ended */            \
    X(IN_OVER_OUT_3S)                                                          \
    X(RATE_LAST) /* log of arrivals a second, two windows */                   \
    X(RATE_LAST_OVER_2S)                                                       \
    X(RATE_OVER_5S)                                                            \
    X(RATE_2S_OVER_12S)

enum msim_e2e_feature {
#define X(name) MSIM_E2E_FEATURE_##name,
    MSIM_E2E_FEATURE_MAP(X)
#undef X
        MSIM_E2E_FEATURES
};

/* The name in model files, such as "p99_log". */
const char *msim_feature_text(enum msim_feature f);
const char *msim_e2e_feature_text(enum msim_e2e_feature f);
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
double msim_e2e_feature_of(const struct msim_history *h,
                           enum msim_e2e_feature f, double limit_ms);

/* ---- watch model --------------------------------------------------------- */
/*
 * Trees that say how likely a violation is, and what the next second's p99 will
 * be.
 *
 * Two forests (models/forest/forest.h) of the same numbers of a second: the
 * log odds of a violation within the horizon, and the logarithm of the next
 * second's p99 over the mean of the last three. The first numbers are those of
 * "watch features"; a model of one application goes on with numbers of single
 * stages. data/laws/watch.json was fitted to runs of many applications and is
 * asked where there is no model of this one; its answer is a number of those
 * models.
 *
 * Trees of all applications take the noise of some for growth, again and again.
 * So their log odds of a violation are
 *
 *     said x (what they say) + usually x (what they usually say) + plus
 *
 * Usually they say the 95 % quantile of what they said in the seconds of the
 * last two minutes after which nothing came within the horizon.
 */

#define MSIM_WATCH_MODEL_SCHEMA "mystique-sim/watch-model/1"
#define MSIM_WATCH_COLUMNS_MAX  128 /* what trees can split */

/* A number of one stage, or of e2e, which is stage n_stages. */
struct msim_watch_column {
    uint32_t stage;
    uint32_t feature; /* msim_stage_feature or msim_e2e_feature */
};

#define MSIM_WATCH_E2E "e2e" /* as in counters */

/* Of what trees say, as of what they usually say: what is fitted to (learn),
 * and what is read (watch). */
#define MSIM_WATCH_USUALLY 0.95

/* What trees said of an application in the seconds kept, the last one last. */
struct msim_watch_said {
    double log_odds[MSIM_HISTORY_KEPT];
    bool late[MSIM_HISTORY_KEPT]; /* the second violates */
    uint32_t n;
};

void msim_watch_said_add(struct msim_watch_said *s, double log_odds, bool late);

/* The log odds of a violation from those of the trees. */
struct msim_watch_odds {
    double said, usually, plus;
    double begin; /* what trees usually say where nothing is known of that */
};

struct msim_watch_model {
    double horizon_s;
    struct msim_watch_odds odds;
    struct msim_watch_column columns[MSIM_WATCH_COLUMNS_MAX - MSIM_FEATURES];
    uint32_t n_columns; /* behind MSIM_FEATURES */
    struct msim_forest violation, next;
};

/*
 * Read a model file; `app` is NULL for a model of all applications, else the
 * one that it must be of. On failure `m` holds nothing: EIO, ESYNTAX, EFORMAT.
 */
MSIM_MUST_CHECK
enum msim_status msim_watch_model_read(struct msim_watch_model *m,
                                       const char *path,
                                       const struct msim_app *app,
                                       struct msim_error *err);
void msim_watch_model_release(struct msim_watch_model *m);

/* The same of a file that was read already. */
MSIM_MUST_CHECK
enum msim_status msim_watch_model_parse(struct msim_watch_model *m,
                                        const cJSON *json, const char *path,
                                        const struct msim_app *app,
                                        struct msim_error *err);

/* The number of numbers of a second, and all of them; `x` begins with those of
 * msim_features_of(). */
static inline uint32_t msim_watch_model_width(const struct msim_watch_model *m)
{
    return MSIM_FEATURES + m->n_columns;
}
void msim_watch_model_columns(const struct msim_watch_model *m, double *x,
                              const struct msim_history *h, double limit_ms);

/* What trees usually say, as far as that is known: `begin` counts as ten
 * seconds of it. */
double msim_watch_said_usually(const struct msim_watch_said *s,
                               double horizon_s, double begin);
/* The log odds of a violation within the model's horizon, from what its trees
 * say and usually say. */
double msim_watch_model_odds(const struct msim_watch_model *m, double trees,
                             double usually);
/* The probability within `horizon_s` (for another one than the model's as if
 * each second were as likely). */
double msim_watch_model_chance(const struct msim_watch_model *m,
                               double log_odds, double horizon_s);
/* The next second's p99 in ms (NAN: there was none yet). */
double msim_watch_model_next(const struct msim_watch_model *m, const double *x,
                             double limit_ms);

#endif
