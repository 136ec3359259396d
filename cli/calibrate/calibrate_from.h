/*
 * cli/calibrate/calibrate_from.h - `calibrate --from`: a platform from traces.
 */
#ifndef MSIM_CLI_CALIBRATE_CALIBRATE_FROM_H
#define MSIM_CLI_CALIBRATE_CALIBRATE_FROM_H
#include "cli/options.h"

#include <stdbool.h>

/* Learn from the trace `first` and the others, write the platform `out`, print
 * the errors that remain, as text or JSON. Returns the exit code. `base` may be
 * NULL. */
int msim_calibrate_from(const char *first, const struct msim_cli_operands *more,
                        const char *base, const char *out, bool json);

#endif
