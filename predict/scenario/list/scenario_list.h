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
#include "core/json/fields.h"
#include "predict/scenario/list/scenario_grid.h"

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
