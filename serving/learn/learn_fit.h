/*
 * serving/learn/learn_fit.h - trees grown on a table of seconds, the figures of
 * runs held back whole, and the model as a file.
 */
#ifndef MSIM_SERVING_LEARN_LEARN_FIT_H
#define MSIM_SERVING_LEARN_LEARN_FIT_H
#include "serving/learn/learn_table.h"

#include <stdio.h>

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

#endif
