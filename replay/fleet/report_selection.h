/*
 * replay/fleet/report_selection.h - a selection as text, JSON, CSV and a chart.
 *
 * docs/json.md has the fields of the schema mystique-sim/selection/1. CSV has
 * a row a job; its columns `job` and `weight` are those of a table of weights
 * (msim_fleet_weigh_by()), so that one makes the other.
 */
#ifndef MSIM_REPLAY_FLEET_REPORT_SELECTION_H
#define MSIM_REPLAY_FLEET_REPORT_SELECTION_H
#include "replay/fleet/selection.h"

#include <stdio.h>

MSIM_MUST_CHECK
enum msim_status msim_selection_text(const struct msim_selection *s, FILE *out);
MSIM_MUST_CHECK
enum msim_status msim_selection_json(const struct msim_selection *s, FILE *out);
MSIM_MUST_CHECK
enum msim_status msim_selection_csv(const struct msim_selection *s, FILE *out);

/* Shares of the fleet beside those of the selection, drawn by gnuplot into
 * `path`: PNG where it ends in .png, else SVG. */
MSIM_MUST_CHECK
enum msim_status msim_selection_chart(const struct msim_selection *s,
                                      const char *path, struct msim_error *err);

/* A kind of time in a report. */
struct msim_kind_row {
    uint32_t kind;
    double fleet, selection; /* shares */
};

/* The kinds that either side has, largest of the fleet first; how many. */
uint32_t msim_selection_kinds(const struct msim_selection *s,
                              struct msim_kind_row rows[MSIM_FAMILY_COUNT + 1]);

/* "these 4 of 38 jobs stand for the fleet: shares within 1.2 points" */
void msim_selection_verdict(const struct msim_selection *s, char *text,
                            size_t size);

/* `name` without the folders that all jobs have in common. */
const char *msim_selection_short(const struct msim_selection *s,
                                 const char *name);

#endif
