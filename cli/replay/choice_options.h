/*
 * cli/replay/choice_options.h - options that say which part of a traced run is
 * run again: a step, and operators of it.
 */
#ifndef MSIM_CLI_REPLAY_CHOICE_OPTIONS_H
#define MSIM_CLI_REPLAY_CHOICE_OPTIONS_H
#include "cli/choice_rows.h"
#include "core/trace/trace_steps.h"

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

#endif
