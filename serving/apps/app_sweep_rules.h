/*
 * serving/apps/app_sweep_rules.h - rules of design, tested on the points of a
 * sweep: of how many pairs (or points) a rule speaks, and in how many it holds.
 */
#ifndef MSIM_SERVING_APPS_APP_SWEEP_RULES_H
#define MSIM_SERVING_APPS_APP_SWEEP_RULES_H
#include "serving/apps/app_sweep_run.h"

struct msim_app_sweep_rule {
    const char *text;
    uint32_t holds, of;
};

#define MSIM_APP_SWEEP_RULES 7

void msim_app_sweep_rules(
    struct msim_app_sweep_rule rules[MSIM_APP_SWEEP_RULES],
    const struct msim_app_sweep_runs *r);

#endif
