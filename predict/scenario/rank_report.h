/*
 * predict/scenario/rank_report.h - what a ranking adds to the report of
 * scenarios side by side.
 */
#ifndef MSIM_PREDICT_SCENARIO_RANK_REPORT_H
#define MSIM_PREDICT_SCENARIO_RANK_REPORT_H
#include "core/base/json.h"
#include "predict/scenario/scenario.h"

/* All of it, as text. */
void msim_ranking_text(const struct msim_scenarios *s, FILE *out);

/* Further columns, and a row's; the base's are empty. */
void msim_ranking_csv_head(FILE *out);
void msim_ranking_csv(const struct msim_scenarios *s,
                      const struct msim_scenario_row *r, FILE *out);

/* Further members of a ranked row. */
void msim_ranking_json(struct msim_json *j, const struct msim_scenarios *s,
                       const struct msim_scenario_row *r);

/* What a ranked row selects, as `--scale` takes it. */
void msim_ranking_select(const struct msim_scenario_row *r, char *text,
                         size_t size);

#endif
