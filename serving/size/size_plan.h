/*
 * serving/size/size_plan.h - a sizing as PLAN.json (schema
 * mystique-sim/serving-plan/1), or as text for people.
 */
#ifndef MSIM_SERVING_SIZE_SIZE_PLAN_H
#define MSIM_SERVING_SIZE_SIZE_PLAN_H
#include "serving/explore/explore.h"
#include "serving/size/sizing.h"

#include <stdio.h>

/* A sizing, what it is of, and what was spent on it. */
struct msim_size_plan {
    const struct msim_sizing *sizing;
    const struct msim_stage_demand *load;
    const struct msim_explored *explored;
};

/* Through a sink of core/base/json.h. */
MSIM_MUST_CHECK
enum msim_status
msim_size_plan_json(const struct msim_size_plan *p,
                    enum msim_status (*sink)(void *, const char *, size_t),
                    void *ctx);
/* The same into the file `path`. */
MSIM_MUST_CHECK
enum msim_status msim_size_plan_save(const struct msim_size_plan *p,
                                     const char *path, struct msim_error *err);

void msim_size_plan_text(const struct msim_size_plan *p, FILE *out);

#endif
