/*
 * serving/learn/learn_table.h - runs of applications as rows that trees learn
 * from: what was known at the end of a second, and what came then.
 */
#ifndef MSIM_SERVING_LEARN_LEARN_TABLE_H
#define MSIM_SERVING_LEARN_LEARN_TABLE_H
#include "core/base/containers.h"
#include "serving/learn/learn_observed.h"
#include "serving/watch/watch.h"

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
    bool simulated;   /* it is of no recorded run (learn_again.h) */
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
 * each stage of the application, stage by stage. */
static inline uint32_t msim_runs_width(const struct msim_app *app, bool stages)
{
    return MSIM_FEATURES + (stages ? app->n_stages * MSIM_STAGE_FEATURES : 0);
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

#endif
