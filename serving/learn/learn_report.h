/*
 * serving/learn/learn_report.h - what was learned, as text and as JSON.
 */
#ifndef MSIM_SERVING_LEARN_LEARN_REPORT_H
#define MSIM_SERVING_LEARN_LEARN_REPORT_H
#include "serving/learn/learn_fit.h"

void msim_runs_text(FILE *out, const struct msim_runs_figures *f,
                    double horizon_s);
MSIM_MUST_CHECK
enum msim_status msim_runs_json(FILE *out, const struct msim_runs_figures *f,
                                double horizon_s);

#endif
