/*
 * predict/scenario/list/scenario_grid.h - all combinations of several changes,
 * as scenarios.
 *
 *     {"grid": {"gpu": ["a100", "h100"], "kernels": [1, 0.5]}}
 *
 * has four points, the last axis turning fastest: "gpu a100, kernels 1", "gpu
 * a100, kernels 0.5", ... Each is a scenario as the file could have it:
 *
 *     {"name": "gpu a100, kernels 0.5", "changes": [{"gpu": "a100"},
 *         {"scale": {"select": "kernels", "factor": 0.5}}]}
 *
 * A number for kernels, communication, copies or host is a factor of such
 * durations.
 */
#ifndef MSIM_PREDICT_SCENARIO_LIST_SCENARIO_GRID_H
#define MSIM_PREDICT_SCENARIO_LIST_SCENARIO_GRID_H
#include "core/base/json.h"

#define MSIM_GRID_POINTS 10000 /* more are refused */

struct msim_scenario_grid {
    cJSON *axes;    /* an array of values each; owned. NULL: no grid */
    uint32_t first; /* the scenario that is its first point */
    int width;      /* of the longest name of a point */
};

void msim_scenario_grid_release(struct msim_scenario_grid *g);

/*
 * Take the member "grid" out of a file's tree, where there is one, and put its
 * points behind "scenarios". EFORMAT where it is none, naming `path`. Release
 * in any case.
 */
MSIM_MUST_CHECK
enum msim_status msim_scenario_grid_expand(struct msim_scenario_grid *g,
                                           cJSON *file, const char *path,
                                           struct msim_error *err);

/* The values of scenario `index`, where it is a point: the member "grid". */
void msim_scenario_grid_json(const struct msim_scenario_grid *g, uint32_t index,
                             struct msim_json *j);
/* Columns "grid.gpu" of all axes, each behind a comma; of the base and of
 * scenarios by name they are empty. */
void msim_scenario_grid_csv_head(const struct msim_scenario_grid *g, FILE *out);
void msim_scenario_grid_csv(const struct msim_scenario_grid *g, uint32_t index,
                            FILE *out);
#define MSIM_GRID_BASE UINT32_MAX /* the index of the base */

/* How many characters of names a table shows: all of a point's, which tell it
 * from others. */
#define MSIM_SCENARIO_WIDTH 28
int msim_scenario_grid_width(const struct msim_scenario_grid *g);

#endif
