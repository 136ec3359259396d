/*
 * cli/replay/cli_replay_internal.h - what the files of cli/replay share; no
 * other room includes it.
 */
#ifndef MSIM_CLI_REPLAY_CLI_REPLAY_INTERNAL_H
#define MSIM_CLI_REPLAY_CLI_REPLAY_INTERNAL_H
#include "cli/options.h"
#include "cli/plan/validate_rows.h"
#include "core/trace/trace_steps.h"
#include "models/platform/platform.h"
#include "replay/program/program.h"

/* ---- choice options ------------------------------------------------------ */
/*
 * Options that say which part of a traced run is run again: a step, and
 * operators of it.
 */

/*
 * The step that `--iteration` names: `wanted`; NULL: the one that stands for
 * the run (core/trace/trace_steps.h), NONE where none is marked. EUSAGE where
 * the trace has none such; EFORMAT where it is in the Kineto trace and not in
 * the execution trace beside it; ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_choice_find_step(const struct msim_trace *t,
                                       const char *wanted, uint32_t *step,
                                       struct msim_error *err);

/*
 * What of a rank is run again: its execution trace, which has each node once
 * however often a Kineto trace beside it saw it; without one the trace itself.
 */
static inline const struct msim_trace *
msim_choice_rank(const struct msim_trace *t)
{
    return t->et ? t->et : t;
}

/* That of the first rank with an execution trace, else of the first; NULL:
 * there is none. */
struct msim_job;
const struct msim_trace *msim_choice_trace(const struct msim_job *job);

/* Rows for a struct msim_choice `choice` and a text `iteration` of the
 * settings; `range_parser` takes --range, `left` is what --exclude adds. */
#define MSIM_OPTION_CHOICE_ROWS(settings, range_parser, left)                  \
    {.name = "iteration",                                                      \
     .type = MSIM_OPTION_TEXT,                                                 \
     .field = offsetof(settings, iteration),                                   \
     .metavar = "N",                                                           \
     .help = "the step ProfilerStep#N, else the N-th step from zero",          \
     .dflt = "the last whole one; the whole trace where none is marked"},      \
        MSIM_OPTION_PART_ROWS(settings, choice, range_parser),                 \
        {.name = "ops",                                                        \
         .type = MSIM_OPTION_TEXT,                                             \
         .field = offsetof(settings, choice.ops),                              \
         .metavar = "GLOB",                                                    \
         .help = "only operators whose names match, such as 'aten::*mm'"},     \
        MSIM_OPTION_EXCLUDE_ROW(settings, choice, left)

/* ---- delays -------------------------------------------------------------- */
/*
 * How long the collectives of a program take in the whole job: what a benchmark
 * of one rank alone waits instead of running them.
 */

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

/* ---- validate trace ------------------------------------------------------ */
/*
 * `validate --rows --trace`: a table of jobs, each as changes of one traced
 * step, beside what was measured.
 */

/* Print the report of the table of `v`, each row as changes of `trace`. */
MSIM_MUST_CHECK
enum msim_status msim_validate_trace(const struct msim_validate_rows *v,
                                     const char *trace, struct msim_error *err);

#endif
