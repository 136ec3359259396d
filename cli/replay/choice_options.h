/*
 * cli/replay/choice_options.h - options that say which part of a traced run is
 * run again: a step, and operators of it.
 */
#ifndef MSIM_CLI_REPLAY_CHOICE_OPTIONS_H
#define MSIM_CLI_REPLAY_CHOICE_OPTIONS_H
#include "cli/options.h"
#include "core/trace/trace.h"
#include "replay/program/choice.h"

/* The words of --kind, ended by NULL. */
extern const char *const MSIM_CHOICE_KINDS[];

/* Take the value of --range. EUSAGE where it is no range. */
MSIM_MUST_CHECK
enum msim_status msim_choice_parse_range(struct msim_choice *c,
                                         const char *value,
                                         struct msim_error *err);

/* The step that --iteration names. EUSAGE where the trace has none such. */
MSIM_MUST_CHECK
enum msim_status msim_choice_find_step(const struct msim_trace *t,
                                       const char *wanted, uint32_t *step,
                                       struct msim_error *err);

/* The rank whose trace is run again: the first with an execution trace, else
 * the first; NULL: there is none. */
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
     .dflt = "the last one with operators; the whole trace where none is "     \
             "marked"},                                                        \
        {.name = "subtree",                                                    \
         .type = MSIM_OPTION_TEXT,                                             \
         .field = offsetof(settings, choice.subtree),                          \
         .metavar = "NAME",                                                    \
         .help = "only operators inside an operator or label of that name (a " \
                 "shell pattern)"},                                            \
        {.name = "range",                                                      \
         .type = MSIM_OPTION_CUSTOM,                                           \
         .parse = (range_parser),                                              \
         .metavar = "A..B",                                                    \
         .help = "only operators from ET node A to node B"},                   \
        {.name = "kind",                                                       \
         .type = MSIM_OPTION_CHOICE,                                           \
         .field = offsetof(settings, choice.kind),                             \
         .choices = MSIM_CHOICE_KINDS,                                         \
         .metavar = "KIND",                                                    \
         .help = "only that kind: compute, communication or copies",           \
         .dflt = "all"},                                                       \
        {.name = "ops",                                                        \
         .type = MSIM_OPTION_TEXT,                                             \
         .field = offsetof(settings, choice.ops),                              \
         .metavar = "GLOB",                                                    \
         .help = "only operators whose names match, such as 'aten::*mm'"},     \
    {                                                                          \
        .name = "exclude", .type = MSIM_OPTION_TEXT,                           \
        .field = offsetof(settings, choice.exclude), .metavar = "GLOB",        \
        .help = "no operators whose names match" left                          \
    }

#endif
