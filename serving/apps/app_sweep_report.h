/*
 * serving/apps/app_sweep_report.h - a sweep as text, JSON, CSV and a chart.
 */
#ifndef MSIM_SERVING_APPS_APP_SWEEP_REPORT_H
#define MSIM_SERVING_APPS_APP_SWEEP_REPORT_H
#include "serving/apps/app_sweep_rules.h"

#include <stdio.h>

/* How the two files of a folder begin: told from those of others. */
#define MSIM_APP_SWEEP_JSON_MARK "{\n  \"schema\": \"mystique-sim/apps/1\""
#define MSIM_APP_SWEEP_CSV_MARK  "app,scheduler,platform,rate,replicas,feasible"

/* The points that nothing beats, by application and rate, and the rules. */
void msim_app_sweep_text(const struct msim_app_sweep_runs *r, FILE *out);
/* Schema mystique-sim/apps/1. */
MSIM_MUST_CHECK
enum msim_status msim_app_sweep_json(const struct msim_app_sweep_runs *r,
                                     FILE *out);
/* A line a point. */
void msim_app_sweep_csv(const struct msim_app_sweep_runs *r, FILE *out);
/* Cost against p99 of every feasible point; a line joins those that nothing
 * beats at one rate. */
MSIM_MUST_CHECK
enum msim_status msim_app_sweep_chart(const struct msim_app_sweep_runs *r,
                                      const char *path, struct msim_error *err);

#endif
