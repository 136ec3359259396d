/*
 * predict/scenario/list/scenario_list.h - the file of scenarios, whatever its
 * changes mean: names, and for each a list of changes with one member.
 *
 *     {"scenarios": [{"name": "a", "changes": [{"gpu": "h100"}]}]}
 *
 * calls count(1), begin(0, "a"), change("gpu"), end(). The reader of a traced
 * job and that of a described one read the same file.
 */
#ifndef MSIM_PREDICT_SCENARIO_LIST_SCENARIO_LIST_H
#define MSIM_PREDICT_SCENARIO_LIST_SCENARIO_LIST_H
#include "core/base/json.h"
#include "core/json/fields.h"

/* ---- scenario grid ------------------------------------------------------- */
/*
 * All combinations of several changes, as scenarios.
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

/* ---- scenario list ------------------------------------------------------- */

/* The file, or a tree that stands for one. */
struct msim_scenario_source {
    const char *path; /* of a tree what errors call it */
    cJSON *tree;      /* NULL: the file's; else the caller's, and changed */
};

struct msim_scenario_reader {
    void *ctx;                /* the first argument of each call */
    const char *const *names; /* of the changes that are accepted; the end is
                                 NULL */
    enum msim_status (*count)(void *ctx, uint32_t n); /* scenarios */
    enum msim_status (*begin)(void *ctx, uint32_t index, const char *name);
    /* `f` is the change, an object with the member `key` alone; what is wrong
     * with it is refused there. */
    void (*change)(void *ctx, struct msim_fields *f, const char *key);
    void (*end)(void *ctx); /* of a scenario */
};

/* Read `from`; `grid` has what of it is a grid, released in any case. EFORMAT
 * names the member by its path, what was found and what is accepted; ENOMEM; or
 * what a call returns. */
MSIM_MUST_CHECK
enum msim_status
msim_scenario_list_read(const struct msim_scenario_reader *r,
                        const struct msim_scenario_source *from,
                        struct msim_scenario_grid *grid,
                        struct msim_error *err);

#endif
