/* cli/plan/option_values.h - values of an option, as a list of JSON. */
#ifndef MSIM_CLI_PLAN_OPTION_VALUES_H
#define MSIM_CLI_PLAN_OPTION_VALUES_H
#include "core/base/json.h"

/* The caller's list of what stands between commas: JSON where all of it is
 * ("8,16"), else words ("a100,h100"). NULL: no memory. */
cJSON *msim_option_values(const char *text);

#endif
