/*
 * serving/learn/learn_report.c - figures of a model beside those of guesses.
 */
#include "serving/learn/learn_table.h"

#include "core/base/json.h"
#include "core/base/print.h"

#include <math.h>

/* A row of the table; a dash where there is no figure. */
static void row(FILE *out, const char *name, double times, const char *unit,
                const double v[3])
{
    char cells[3][32];

    for (int i = 0; i < 3; i++)
        snprintf(cells[i], sizeof(cells[i]), isnan(v[i]) ? "-" : "%.3f%s",
                 v[i] * times, unit);
    msim_print(out, "%-36s%14s%14s%14s\n", name, cells[0], cells[1], cells[2]);
}

void msim_runs_text(FILE *out, const struct msim_runs_figures *f,
                    double horizon_s)
{
    msim_print(out,
               "%u runs in %u parts, each held back once: %u seconds, %u of "
               "them calm, %u of those before a violation within %g s\n\n",
               f->runs, f->parts, f->seconds, f->calm, f->violating, horizon_s);
    if (f->simulated > 0)
        msim_print(out,
                   "learned from %u simulated runs besides, each of which "
                   "repeats one of these and is held back with it\n\n",
                   f->simulated);
    msim_print(out, "%-36s%14s%14s%14s\n", "", "trees", "persistence",
               "majority");
    row(out, "AUC on calm seconds", 1, "",
        (const double[]){f->auc, f->auc_last, isnan(f->auc) ? NAN : 0.5});
    row(out, "calibration error", 1, "",
        (const double[]){f->calibration, NAN, f->calibration_majority});
    row(out, "p99 of the next second, median error", 100, " %",
        (const double[]){f->p99, f->p99_last, f->p99_majority});
}

static void guesses(struct msim_json *j, const char *key, double trees,
                    double persistence, double majority)
{
    msim_json_open(j, key, '{', false);
    msim_json_number(j, "trees", trees);
    msim_json_number(j, "persistence", persistence);
    msim_json_number(j, "majority", majority);
    msim_json_close(j);
}

enum msim_status msim_runs_json(FILE *out, const struct msim_runs_figures *f,
                                double horizon_s)
{
    struct msim_json j;

    msim_json_begin(&j, msim_sink_file, out);
    msim_json_open(&j, NULL, '{', true);
    msim_json_text(&j, "schema", "mystique-sim/learned/1");
    msim_json_number(&j, "horizon_s", horizon_s);
    msim_json_unsigned(&j, "runs", f->runs);
    msim_json_unsigned(&j, "simulated_runs", f->simulated);
    msim_json_unsigned(&j, "parts", f->parts);
    msim_json_unsigned(&j, "held_seconds", f->seconds);
    msim_json_unsigned(&j, "calm_seconds", f->calm);
    msim_json_unsigned(&j, "before_violation", f->violating);
    guesses(&j, "auc", f->auc, f->auc_last, isnan(f->auc) ? NAN : 0.5);
    guesses(&j, "calibration_error", f->calibration, NAN,
            f->calibration_majority);
    guesses(&j, "p99_error", f->p99, f->p99_last, f->p99_majority);
    return msim_json_end(&j);
}
