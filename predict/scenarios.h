/*
 * predict/scenarios.h - the durations of a short and of a long run, whose
 * results are the 90 % interval of the prediction.
 *
 * In a scenario all tasks deviate at once. Deviations of one family go
 * together, those of different families do not, and the whole GPU deviates by
 * itself; so the deviation of a sum is less than the sum of the deviations:
 *
 *     share = root of the sum of squares / sum    over families and the GPU
 *     duration = middle + share * (deviation of its family + of the GPU)
 *
 * Where measured jobs tell how long the whole step may take (costs.step), all
 * tasks deviate as the step does.
 *
 * Example: two families of 30 and 40 us beyond the middle are together
 * sqrt(30^2 + 40^2) = 50 us long, not 70: each task deviates by 5/7 of its own.
 */
#ifndef MSIM_PREDICT_SCENARIOS_H
#define MSIM_PREDICT_SCENARIOS_H
#include "predict/cost.h"

/*
 * The durations of the tasks of `g` in the long (`high`) or the short scenario.
 * On success the caller frees `*out`; on failure (ENOMEM) it is NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_scenario_durations(msim_ps **out,
                                         const struct msim_graph *g,
                                         const struct msim_costs *c, bool high);

/*
 * What waits that no trace explains are multiplied by in that scenario, on
 * another GPU than the trace's: those for absent ranks and delays without a
 * cause. In the middle they are as traced. Whoever is waited for works on a GPU
 * of the same kind, or on a host that has not changed. So a wait may go with
 * the GPU's work (kernels and copies), or grow by all that this rank saves:
 *
 *     short: min(1, work / traced)
 *     long:  max(1, work / traced, 1 + work saved / waits)
 *
 * `stretch`: one a kind of edge, as msim_scenario has it.
 */
void msim_scenario_stretch(double *stretch, const struct msim_graph *g,
                           const struct msim_costs *c, bool high);

#endif
