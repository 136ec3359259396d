/*
 * serving/learn/learn_table.h - runs as rows that trees learn from: observed,
 * simulated again, learned, reported.
 */
#ifndef MSIM_SERVING_LEARN_LEARN_TABLE_H
#define MSIM_SERVING_LEARN_LEARN_TABLE_H
#include "core/base/containers.h"
#include "serving/app/app.h"
#include "serving/counters/counters_read.h"
#include "serving/watch/watch.h"

#include <stdio.h>

/* ---- learn observed ------------------------------------------------------ */
/*
 * What the counters of a run tell of the application: how long its services
 * take, at which rate requests came, and how many replicas there were. That is
 * enough to let it run again ("learn again").
 *
 * `self_ms` of a window is the mean of n services that are drawn alike. Over
 * windows of which each differs by d from the mean of all,
 *
 *     mean of n d^2 = variance of a service
 *     mean of n^2 d^3 = its third central moment
 *
 * so that windows of 0.2 s tell the spread of services that took 5 ms each.
 *
 * A stage that batches holds a worker for u = busy time / visits a visit, while
 * a visit takes s = self_ms: batches are of s / u. How s goes with them is not
 * read off single seconds, since a long service makes the next batch large; it
 * is how both go with the rate of arrivals, which neither changes (the rate is
 * the instrument of two-stage least squares).
 */

struct msim_observed_stage {
    double mean_ms, cv, skewness; /* of a service; of one alone in its batch.
                                     cv is the standard deviation over the
                                     mean; NAN: not known */
    double slope; /* of a batch: by how much of mean_ms each visit more makes it
                     longer, 0 to 1 */
    double net_ms;
    int64_t most; /* replicas at once */
};

struct msim_observed {
    uint32_t part;        /* as in struct msim_runs_row */
    uint32_t n_stages, n; /* n: windows */
    double *t;            /* end of each window, s, from the run's begin */
    double *rate;         /* requests a second then, without what is noise */
    double *replicas;     /* [window][stage] */
    struct msim_observed_stage *stages;
    double visits; /* of all stages */
    double p99_ms; /* the median of all windows */
};

/*
 * Of a run's `rows`, in the order of their windows. True where they tell all
 * that it takes to let the run happen again: arrivals and replicas of every
 * window, services of every stage that states none. Release in any case.
 */
MSIM_MUST_CHECK
enum msim_status msim_observed_make(struct msim_observed *o, bool *whole,
                                    const struct msim_app *app,
                                    const struct msim_counters_row *rows,
                                    uint32_t n);
void msim_observed_release(struct msim_observed *o);

/* ---- learn table --------------------------------------------------------- */
/*
 * Runs of applications as rows that trees learn from: what was known at the end
 * of a second, and what came then.
 */

struct msim_runs_row {
    uint32_t run;
    uint32_t part; /* parts are held back: a run, or an application */
    double t;
    double log_p99;   /* of this second over the limit; NAN: no request ended */
    double violation; /* one of the seconds within the horizon violates: 0, 1;
                         NAN: the run ends before */
    double next;      /* log p99 of the next second over the limit; or NAN */
    bool steady;      /* replicas stay within the horizon */
    bool calm;        /* and it does not violate now */
    bool simulated;   /* it is of no recorded run ("learn again") */
};

struct msim_runs_table {
    uint32_t width; /* numbers of a row */
    uint32_t n_runs;
    uint32_t n_simulated; /* runs that are none of those */
    uint32_t part;        /* of the rows to come; MSIM_NONE: each run is one */
    struct msim_vec rows; /* struct msim_runs_row */
    struct msim_vec x;    /* double: width a row */
    bool observe;         /* keep what runs tell, in `observed` */
    struct msim_vec observed; /* struct msim_observed: of those that tell all */
};

/* Numbers of a row: those of every second, then, with `stages`, each number of
 * each stage of the application, stage by stage, and those of e2e. */
static inline uint32_t msim_runs_width(const struct msim_app *app, bool stages)
{
    return MSIM_FEATURES +
           (stages ? app->n_stages * MSIM_STAGE_FEATURES + MSIM_E2E_FEATURES
                   : 0);
}

/* Where a number of a stage, or of e2e, is in a row. */
static inline uint32_t msim_runs_column(struct msim_watch_column c)
{
    return MSIM_FEATURES + c.stage * MSIM_STAGE_FEATURES + c.feature;
}

/* Add the run whose counters are in `path` as one with `horizon_s`. */
MSIM_MUST_CHECK
enum msim_status msim_runs_add_run(struct msim_runs_table *t,
                                   const struct msim_app *app,
                                   const struct msim_watch_model *general,
                                   const char *path, double horizon_s,
                                   struct msim_error *err);

/* Add all files of `folder` that end in .csv, by name; `*n` gets their number.
 * EFORMAT where there is none. */
MSIM_MUST_CHECK
enum msim_status msim_runs_add_folder(struct msim_runs_table *t,
                                      const struct msim_app *app,
                                      const struct msim_watch_model *general,
                                      const char *folder, double horizon_s,
                                      uint32_t *n, struct msim_error *err);

/*
 * Rows of one run, as its windows come: begin, add each row of counters (the
 * watch is the caller's), end. Runs that were recorded and runs that were
 * simulated are read in the same way.
 */
MSIM_MUST_CHECK
enum msim_status msim_runs_take(struct msim_runs_table *t, struct msim_watch *w,
                                const struct msim_counters_row *row);
void msim_runs_look_ahead(struct msim_runs_table *t, uint32_t first,
                          double horizon_s);

void msim_runs_table_release(struct msim_runs_table *t);

static inline const struct msim_runs_row *
msim_runs_row(const struct msim_runs_table *t, uint32_t i)
{
    return (const struct msim_runs_row *)t->rows.data + i;
}

static inline const double *msim_runs_x(const struct msim_runs_table *t,
                                        uint32_t i)
{
    return (const double *)t->x.data + (size_t)i * t->width;
}

/* ---- learn again --------------------------------------------------------- */
/*
 * Recorded runs, simulated again and again, as further rows to learn from.
 *
 * Ten runs hold some hundred violations, of which half come at once. What the
 * flow of APP.json and the services that counters tell of ("learn observed") do
 * under such load can be simulated as often as there is time: with other
 * requests, some more or fewer of them, and changes of replicas at other times.
 * Each such run is of the part of the run that it repeats alone, and so is held
 * back with it.
 *
 * What counters do not tell (sizes that go with a request, services by class)
 * makes the simulated p99 another one by some factor: the limit of a simulated
 * run goes with it. Where that factor is large, the run is not understood, and
 * not repeated.
 */

/*
 * Add simulated rows to those of the runs in `t`, as its `observed` tell: as
 * many runs as `visits` visits are, and no more than 16 of each. None where the
 * application has stages whose services are no draws (models), or no run tells
 * enough. The same rows for any number of threads. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_runs_repeat(struct msim_runs_table *t,
                                  const struct msim_app *app,
                                  const struct msim_watch_model *general,
                                  double horizon_s, double visits,
                                  uint32_t threads, struct msim_error *err);

/* ---- learn fit ----------------------------------------------------------- */
/*
 * Trees grown on a table of seconds, the figures of runs held back whole, and
 * the model as a file.
 */

/* Of predictions on calm seconds of runs held back; NAN: not to be said. */
struct msim_runs_figures {
    uint32_t runs, simulated;
    uint32_t parts; /* each part of the runs is held back once */
    uint32_t seconds, calm, violating; /* calm ones before a violation */
    double auc, auc_last; /* of the trees, of the last p99 (persistence) */
    double calibration, calibration_majority;
    double p99, p99_last, p99_majority; /* errors of the next second's */
};

/*
 * Fit to the rows whose run is not `run % of == held` (`of` 0: to all), with at
 * most `columns` numbers of single stages, the ones that tell most. On success
 * `*out` is the model of watch_model.h, owned by the caller; `app` NULL: of all
 * applications. EFORMAT where the rows have no violation, or nothing else.
 */
MSIM_MUST_CHECK
enum msim_status msim_runs_fit(cJSON **out, const struct msim_runs_table *t,
                               const struct msim_app *app, uint32_t held,
                               uint32_t of, double horizon_s,
                               struct msim_error *err);

/* The figures of a model: each of `parts` parts of the runs, which are whole,
 * is asked for from a fit to the others. */
MSIM_MUST_CHECK
enum msim_status msim_runs_judge(struct msim_runs_figures *out,
                                 const struct msim_runs_table *t,
                                 const struct msim_app *app, uint32_t parts,
                                 double horizon_s, struct msim_error *err);

/* ---- learn report -------------------------------------------------------- */
/* What was learned, as text and as JSON. */

void msim_runs_text(FILE *out, const struct msim_runs_figures *f,
                    double horizon_s);
MSIM_MUST_CHECK
enum msim_status msim_runs_json(FILE *out, const struct msim_runs_figures *f,
                                double horizon_s);

#endif
