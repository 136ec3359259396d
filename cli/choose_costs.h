/*
 * cli/choose_costs.h - where the durations of a session come from: `--costs`,
 * `--platform` and `--source-platform` against what the traces say.
 */
#ifndef MSIM_CLI_CHOOSE_COSTS_H
#define MSIM_CLI_CHOOSE_COSTS_H
#include "cli/session.h"

/*
 * Set `s->costs`, and load the platforms that these need and that are not
 * loaded yet; the options and the job are there. EUSAGE or EFORMAT say what is
 * missing.
 */
MSIM_MUST_CHECK
enum msim_status msim_choose_costs(struct msim_session *s, const char *data,
                                   struct msim_error *err);

/* Do the traces of all ranks hold times? */
bool msim_all_have_times(const struct msim_job *job);

#endif
