/*
 * serving/outcome/serving_outcome.h - what a simulated application does, as
 * figures: latencies and promises of its classes, load and share of its stages,
 * what would come of a stage that took no time, and how much it can bear.
 *
 * Times are ms, rates a second. NAN: not known. All figures but `seconds` are
 * the same for any number of threads.
 */
#ifndef MSIM_SERVING_OUTCOME_SERVING_OUTCOME_H
#define MSIM_SERVING_OUTCOME_SERVING_OUTCOME_H
#include "serving/app/app.h"
#include "serving/deploy/deploy.h"

#include <stdio.h>

/* Of values over requests or visits; low and high: 90 % of the mean. */
struct msim_serving_figure {
    double mean, p50, p90, p99, low, high;
};

struct msim_class_outcome {
    const char *name;
    uint64_t requests;   /* that came after the warm-up and ended */
    uint64_t unfinished; /* that came after it and never end */
    uint64_t cut;        /* that ended before their answers did */
    struct msim_serving_figure e2e, ttft, tpot;
    /* What ends from the warm-up to the last arrival; NAN: nothing does. */
    double throughput_rps, tokens_per_s, goodput_rps;
    double violations; /* share of requests (with the unfinished) that break a
                          promise; NAN: none was made */
    uint64_t late;     /* how many those are */
    double worst;      /* violations over what its promises allow; NAN */
    bool few; /* requests for a promise's percentile p, which wants a hundred
                 beyond it, 100 / (1 - p); fewer than a hundred are late, too */
};

struct msim_stage_outcome {
    const char *name;
    double replicas;
    double visits_per_s, utilisation, computing, in_stage;
    struct msim_serving_figure queue, self;
    double critical_share;
    double capacity_rps;                 /* visits */
    struct msim_serving_figure capacity; /* the same: mean, low, high */
    struct msim_serving_figure tokens;   /* capacity: mean, low, high */
    double half; /* of the logarithm of its times, 90 %; 0: as stated */
    struct msim_recorded_law recorded; /* what corrects them; none */
    double gpu_hours, cost, energy_kwh;
    double counterfactual_p99, counterfactual_mean;
    bool saturated;
};

struct msim_serving_wish {
    const struct msim_app *app;
    const struct msim_deploy *deploy; /* of it; NULL: no LLM, no model stage */
    struct msim_serving_how how;
    const struct msim_promise *goodput; /* instead of the application's */
    uint32_t n_goodput;
    uint32_t threads;
    bool counterfactuals; /* left out where they take too long */
    bool capacities;      /* with runs of their own, where a run below capacity
                             does not say it (LLMs, batches, held workers) */
};

struct msim_serving_outcome {
    const struct msim_app *app;
    struct msim_class_outcome *classes; /* as the application has them */
    struct msim_stage_outcome *stages;
    uint32_t worst_class;                /* the one that suffers most */
    struct msim_serving_figure capacity; /* mean, low, high alone */
    uint32_t capacity_by;                /* stage; MSIM_NONE */
    double rate;                         /* of what arrived */
    double asked;                        /* rate; NAN: none was */
    int64_t
        clients;   /* of a closed loop, which sends again what ends; 0: open */
    bool promised; /* something, to some class */
    bool saturated;
    bool counterfactuals; /* they were asked for, and not too long */
    char **warnings;
    uint32_t n_warnings;
    uint64_t events;
    double seconds;           /* that the simulation took */
    struct msim_serving *sim; /* the main run's, whose result this is: */
    struct msim_serving_result run;
};

/*
 * Simulate and sum up. On success `o` goes to msim_serving_outcome_release();
 * on failure it holds nothing, with the statuses of msim_serving_new() and
 * msim_serving_run().
 */
MSIM_MUST_CHECK
enum msim_status msim_serving_outcome_make(struct msim_serving_outcome *o,
                                           const struct msim_serving_wish *w,
                                           struct msim_error *err);
void msim_serving_outcome_release(struct msim_serving_outcome *o);

/* The figure of `n` values in the order of events, which this puts into
 * another; NAN where n is 0. Low and high by batch means. */
struct msim_serving_figure msim_serving_figure_of(double *values, uint64_t n);

/* That figure of a request, ms; NAN: it has none. */
double msim_serving_metric(const struct msim_served *q,
                           enum msim_promise_metric m);

/* Simulate every plan; a line each, as CSV. */
MSIM_MUST_CHECK
enum msim_status msim_serving_plans_csv(const struct msim_serving_wish *w,
                                        const struct msim_serving_plans *plans,
                                        FILE *out, struct msim_error *err);

MSIM_MUST_CHECK
enum msim_status msim_serving_json(const struct msim_serving_outcome *o,
                                   FILE *out);
void msim_serving_text(const struct msim_serving_outcome *o, FILE *out);
/* One line a request, in order of arrival. */
void msim_serving_csv(const struct msim_serving_outcome *o, FILE *out);
/* Windows of the run, which kept them, as `watch` and `learn` read them. */
MSIM_MUST_CHECK
enum msim_status msim_serving_counters(const struct msim_serving_outcome *o,
                                       const char *path,
                                       struct msim_error *err);
/* Spans of the run, which kept them; `path` may end in .gz. */
MSIM_MUST_CHECK
enum msim_status msim_serving_timeline(const struct msim_serving_outcome *o,
                                       const char *path,
                                       struct msim_error *err);
/* Latency by percentile, SVG or PNG. */
MSIM_MUST_CHECK
enum msim_status msim_serving_chart(const struct msim_serving_outcome *o,
                                    const char *path, struct msim_error *err);

#endif
