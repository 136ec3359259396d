/*
 * predict/scenario/scenario_internal.h - what the files of predict/scenario
 * share; no other room includes it.
 */
#ifndef MSIM_PREDICT_SCENARIO_SCENARIO_INTERNAL_H
#define MSIM_PREDICT_SCENARIO_SCENARIO_INTERNAL_H
#include "core/base/json.h"
#include "predict/inputs.h"
#include "predict/scenario/scenario.h"

/* ---- rank report --------------------------------------------------------- */
/* What a ranking adds to the report of scenarios side by side. */

/* All of it, as text. */
void msim_ranking_text(const struct msim_scenarios *s, FILE *out);

/* Further columns, and a row's; the base's are empty. */
void msim_ranking_csv_head(FILE *out);
void msim_ranking_csv(const struct msim_scenarios *s,
                      const struct msim_scenario_row *r, FILE *out);

/* Further members of a ranked row. */
void msim_ranking_json(struct msim_json *j, const struct msim_scenarios *s,
                       const struct msim_scenario_row *r);

/* ---- scenario guard ------------------------------------------------------ */
/*
 * Scenarios of a file that cannot be as predicted (core/guard/guard.h).
 *
 *     {"name": "a", "changes": [{"gpu": "h100"}, {"batch": 64}]}
 *     {"name": "b", "changes": [{"gpu": "h100"}, {"batch": 512}]}
 *
 * ask the same but for the batch: b takes no less than a. Likewise micro
 * batches ("accumulate") and recomputation. The base is the scenario without
 * changes.
 */

/* Note that `row` has the change `key` of `f`, so that it can be compared. */
void msim_scenario_guard_note(struct msim_scenario_row *row,
                              const struct msim_fields *f, const char *key);

/* Mark and count base and rows, all of which are predicted. `batch` is that of
 * the trace; 0: not known. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_scenarios_guard(struct msim_scenarios *s, int64_t batch);

/* ---- scenario same ------------------------------------------------------- */
/* Changes that change nothing. */

/* What a scenario asks for and is so already is no change, and is dropped: what
 * a job in 16 bits keeps in 32, gradients and states, it keeps on purpose.
 * EUSAGE where the traces say that they cannot be so. */
MSIM_MUST_CHECK
enum msim_status msim_scenario_drop_same(struct msim_scenario_row *row,
                                         const struct msim_inputs *in,
                                         const struct msim_target *to,
                                         struct msim_error *err);

#endif
