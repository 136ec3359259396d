/*
 * serving/watch/watch.h - an application watched while it runs: a verdict a
 * second, what to do, and how it is shown.
 */
#ifndef MSIM_SERVING_WATCH_WATCH_H
#define MSIM_SERVING_WATCH_WATCH_H
#include "serving/watch/watch_model.h"

#include <stdio.h>

/* ---- watch --------------------------------------------------------------- */
/* An application watched while it runs: a verdict a second. */

#define MSIM_WATCH_HORIZON_MOST 60 /* s */

struct msim_watch {
    const struct msim_app *app;
    const struct msim_watch_model *general; /* of all applications, or NULL */
    const struct msim_watch_model *model;   /* of this one, or NULL */
    double limit_ms, horizon_s;
    struct msim_seconds seconds;
    struct msim_history history;
    struct msim_watch_flow flow;
    struct msim_blame blame;
    double x[MSIM_WATCH_COLUMNS_MAX]; /* of the last second */
    struct msim_watch_said said;      /* by the trees of all applications */
    /* How often verdicts without a model of this application were right: those
     * of the seconds whose horizon is not over, and the log odds that are added
     * to them. */
    double chances[MSIM_WATCH_HORIZON_MOST + 1];
    uint32_t n_chances;
    double shift;
};

struct msim_verdict {
    double t;           /* end of the second, s */
    double p_violation; /* within the horizon */
    uint32_t stage;     /* the one that starts it */
    enum msim_resource resource;
    double lead_s;      /* until the p99 passes the limit; NAN: it does not */
    double p99_next_ms; /* NAN: not known */
};

/* What is watched: e2e where that is promised, else TTFT, else TPOT. */
enum msim_promise_metric msim_watch_metric(const struct msim_app *app);
/* The limit of a violation: the largest of the promises of that metric; NAN
 * where the application promises nothing. */
double msim_watch_limit(const struct msim_app *app);
/* EFORMAT where e2e, of which alone counters in csv tell, is not promised. */
MSIM_MUST_CHECK
enum msim_status msim_watch_check_e2e(const struct msim_app *app,
                                      struct msim_error *err);

/* Application and models must live as long. Without models there is blame, but
 * no probability. ENOMEM; EFORMAT where the
 * application promises nothing. Release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_watch_init(struct msim_watch *w,
                                 const struct msim_app *app,
                                 const struct msim_watch_model *general,
                                 const struct msim_watch_model *model,
                                 double horizon_s, struct msim_error *err);
void msim_watch_release(struct msim_watch *w);

/* Take a row; true where it ended a second, of which `v` is the verdict. */
bool msim_watch_add(struct msim_watch *w, const struct msim_counters_row *row,
                    struct msim_verdict *v);

/* ---- watch advice -------------------------------------------------------- */
/*
 * What to do about what comes: replicas, and what else where replicas do not
 * help.
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

/* ---- watch line ---------------------------------------------------------- */
/* Verdicts as lines: for people, CSV, JSON. */

/* What the names of columns are, where the format has any. */
void msim_watch_csv_header(FILE *out);

/* The verdict `v` of the last second of `w`, as a line. */
void msim_watch_csv_line(FILE *out, const struct msim_watch *w,
                         const struct msim_verdict *v);
void msim_watch_text_line(FILE *out, const struct msim_watch *w,
                          const struct msim_verdict *v);
/* `advice` may be NULL. */
MSIM_MUST_CHECK
enum msim_status msim_watch_json_line(FILE *out, const struct msim_watch *w,
                                      const struct msim_verdict *v,
                                      const struct msim_advice *advice);

#endif
