/*
 * serving/apps/sweep_rules.h - rules of design, tested on the points of a
 * sweep: of how many pairs (or points) a rule speaks, and in how many it holds.
 */
#ifndef MSIM_SERVING_APPS_SWEEP_RULES_H
#define MSIM_SERVING_APPS_SWEEP_RULES_H
#include "serving/apps/sweep_run.h"

struct msim_sweep_rule {
    const char *text;
    uint32_t holds, of;
};

#define MSIM_SWEEP_RULES 7

void msim_sweep_rules(struct msim_sweep_rule rules[MSIM_SWEEP_RULES],
                      const struct msim_sweep_runs *r);

#endif
