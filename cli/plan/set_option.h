/*
 * cli/plan/set_option.h - `--set MEMBER=VALUE`: a member of a spec from the
 * command line.
 */
#ifndef MSIM_CLI_PLAN_SET_OPTION_H
#define MSIM_CLI_PLAN_SET_OPTION_H
#include "core/base/json.h"

/*
 * What `text` says becomes a member of the object `spec`, instead of one of
 * that name: "gpus=512", "platforms=h100,b200" (an array of both),
 * "limits.days=30" (a member of a member). Values are those of
 * cli/plan/option_values.h. EUSAGE where it says nothing.
 */
MSIM_MUST_CHECK
enum msim_status msim_set_option(cJSON *spec, const char *text,
                                 struct msim_error *err);

#endif
