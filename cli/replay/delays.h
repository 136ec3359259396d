/*
 * cli/replay/delays.h - how long the collectives of a program take in the whole
 * job: what a benchmark of one rank alone waits instead of running them.
 */
#ifndef MSIM_CLI_REPLAY_DELAYS_H
#define MSIM_CLI_REPLAY_DELAYS_H
#include "models/platform/platform.h"
#include "replay/program/program.h"

/*
 * Microseconds of each collective of `p`, in order: predicted for `platform`,
 * or, where it is NULL, as `timed` measured them: the rank of the job, of which
 * the program has the execution trace alone. Where that saw a node several
 * times, the mean. `*out` is owned by the caller; NULL where there is no
 * collective, or a measured time is missing. ENOMEM, or what the models say.
 */
MSIM_MUST_CHECK
enum msim_status msim_delays_find(double **out, const struct msim_program *p,
                                  const struct msim_trace *timed,
                                  const struct msim_platform *platform,
                                  struct msim_error *err);

#endif
