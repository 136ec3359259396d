/* cli/plan/option_values.h - options whose values become JSON: --grid, --set.
 */
#ifndef MSIM_CLI_PLAN_OPTION_VALUES_H
#define MSIM_CLI_PLAN_OPTION_VALUES_H
#include "core/base/json.h"

/* The caller's list of what stands between commas: JSON where all of it is
 * ("8,16"), else words ("a100,h100"). NULL: no memory. */
cJSON *msim_option_values(const char *text);

/* ---- --grid NAME=VALUE,VALUE: an axis of scenarios ----------------------- */

/*
 * One more axis of `*file`, the tree of a file of scenarios; it is made where
 * it is NULL, and the caller's in any case. Values are JSON where all of them
 * are ("batch=8,16"), else words ("gpu=a100,h100", "clock=0.8,1.1GHz").
 */
MSIM_MUST_CHECK
enum msim_status msim_grid_option(cJSON **file, const char *text,
                                  struct msim_error *err);

/* ---- --set MEMBER=VALUE: a member of a spec ------------------------------ */

/*
 * What `text` says becomes a member of the object `spec`, instead of one of
 * that name: "gpus=512", "platforms=h100,b200" (an array of both),
 * "limits.days=30" (a member of a member). Values are those of
 * msim_option_values(). EUSAGE where it says nothing.
 */
MSIM_MUST_CHECK
enum msim_status msim_set_option(cJSON *spec, const char *text,
                                 struct msim_error *err);

#endif
