/*
 * cli/plan/grid_option.h - `--grid NAME=VALUE,VALUE`: an axis of a grid of
 * scenarios.
 */
#ifndef MSIM_CLI_PLAN_GRID_OPTION_H
#define MSIM_CLI_PLAN_GRID_OPTION_H
#include "core/base/json.h"

/*
 * One more axis of `*file`, the tree of a file of scenarios; it is made where
 * it is NULL, and the caller's in any case. Values are JSON where all of them
 * are ("batch=8,16"), else words ("gpu=a100,h100", "clock=0.8,1.1GHz").
 */
MSIM_MUST_CHECK
enum msim_status msim_grid_option(cJSON **file, const char *text,
                                  struct msim_error *err);

#endif
