/*
 * cli/serving/learn_requests.h - `learn --requests`: the constants of an engine
 * from a measured run.
 */
#ifndef MSIM_CLI_SERVING_LEARN_REQUESTS_H
#define MSIM_CLI_SERVING_LEARN_REQUESTS_H
#include <stdbool.h>

/* Tune the engine of the application at `app` to the log at `log`, write the
 * file `out` and print what was found, as text or JSON; the exit code. */
int msim_learn_requests(const char *app, const char *log, const char *out,
                        bool json);

#endif
