/*
 * cli/choice_rows.h - rows of the options that choose a part of a traced run,
 * which mean the same wherever they are.
 */
#ifndef MSIM_CLI_CHOICE_ROWS_H
#define MSIM_CLI_CHOICE_ROWS_H
#include "cli/options.h"
#include "core/trace/trace_steps.h"

/* `member` of the settings is the struct msim_choice; `range_parser` takes
 * --range. */
#define MSIM_OPTION_PART_ROWS(settings, member, range_parser)                  \
    {.name = "subtree",                                                        \
     .type = MSIM_OPTION_TEXT,                                                 \
     .field = offsetof(settings, member.subtree),                              \
     .metavar = "NAME",                                                        \
     .help = "only operators inside an operator or label of that name (a "     \
             "shell pattern)"},                                                \
        {.name = "range",                                                      \
         .type = MSIM_OPTION_CUSTOM,                                           \
         .parse = (range_parser),                                              \
         .metavar = "A..B",                                                    \
         .help = "only operators from ET node A to node B"},                   \
    {                                                                          \
        .name = "kind", .type = MSIM_OPTION_CHOICE,                            \
        .field = offsetof(settings, member.kind),                              \
        .choices = MSIM_CHOICE_KINDS, .metavar = "KIND",                       \
        .help = "only that kind: compute, communication or copies",            \
        .dflt = "all"                                                          \
    }

/* `left` is what the help adds. */
#define MSIM_OPTION_EXCLUDE_ROW(settings, member, left)                        \
    {                                                                          \
        .name = "exclude", .type = MSIM_OPTION_TEXT,                           \
        .field = offsetof(settings, member.exclude), .metavar = "GLOB",        \
        .help = "no operators whose names match" left                          \
    }

#endif
