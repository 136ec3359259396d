/*
 * plan/search/plan_platforms.h - the platforms of a spec, with their networks.
 */
#ifndef MSIM_PLAN_SEARCH_PLAN_PLATFORMS_H
#define MSIM_PLAN_SEARCH_PLAN_PLATFORMS_H
#include "models/platform/platform.h"
#include "plan/search/spec.h"

struct msim_plan_platforms {
    struct msim_platform *of[MSIM_SPEC_PLATFORMS];
    struct msim_network networks[MSIM_SPEC_PLATFORMS];
};

/* EUNKNOWN names the member of the spec, and what is known. Release in any
 * case. */
MSIM_MUST_CHECK
enum msim_status msim_plan_platforms_load(struct msim_plan_platforms *out,
                                          const struct msim_spec *spec,
                                          const char *data_dir,
                                          struct msim_error *err);
void msim_plan_platforms_release(struct msim_plan_platforms *p);

#endif
