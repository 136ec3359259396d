/*
 * predict/scenario/scenario_guard.h - scenarios of a file that cannot be as
 * predicted (core/guard/guard.h).
 *
 *     {"name": "a", "changes": [{"gpu": "h100"}, {"batch": 64}]}
 *     {"name": "b", "changes": [{"gpu": "h100"}, {"batch": 512}]}
 *
 * ask the same but for the batch: b takes no less than a. Likewise micro
 * batches ("accumulate") and recomputation. The base is the scenario without
 * changes.
 */
#ifndef MSIM_PREDICT_SCENARIO_SCENARIO_GUARD_H
#define MSIM_PREDICT_SCENARIO_SCENARIO_GUARD_H
#include "predict/scenario/change.h"

/* Note that `row` has the change `key` of `f`, so that it can be compared. */
void msim_scenario_guard_note(struct msim_scenario_row *row,
                              const struct msim_fields *f, const char *key);

/* Mark and count base and rows, all of which are predicted. `batch` is that of
 * the trace; 0: not known. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_scenarios_guard(struct msim_scenarios *s, int64_t batch);

#endif
