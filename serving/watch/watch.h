/*
 * serving/watch/watch.h - an application watched while it runs: a verdict a
 * second.
 */
#ifndef MSIM_SERVING_WATCH_WATCH_H
#define MSIM_SERVING_WATCH_WATCH_H
#include "serving/watch/watch_model.h"

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

#endif
