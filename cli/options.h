/*
 * cli/options.h - command lines from a table, and the rows of options that
 * several verbs have.
 */
#ifndef MSIM_CLI_OPTIONS_H
#define MSIM_CLI_OPTIONS_H
#include "core/base/status.h"
#include "core/base/texts.h"
#include "core/trace/trace_steps.h"

#include <stddef.h>
#include <stdio.h>

/* ---- options ------------------------------------------------------------- */
/*
 * Command lines from a table.
 *
 * A verb describes its options once; the same table parses the arguments and
 * prints --help. `--name value` and `--name=value` mean the same, options and
 * operands may be mixed, `--` ends the options and `-` alone is an operand
 * (standard input). Every verb has --help and --version besides its own.
 *
 * A verb looks like this:
 *
 *     static const struct msim_option OPTIONS[] = {
 *         {.name = "json", .type = MSIM_OPTION_FLAG,
 *          .field = offsetof(struct settings, json),
 *          .help = "print JSON instead of text"},
 *     };
 *     static const struct msim_command COMMAND = {
 *         .name = "info", .operands = "TRACE...", .min_operands = 1, ...
 *     };
 *     struct settings s = {0};
 *     struct msim_cli_operands files;
 *     int rc = msim_command_start(&COMMAND, argc, argv, &s, &files);
 *     if (rc >= 0)
 *         return rc;
 */

enum msim_option_type {
    MSIM_OPTION_FLAG,   /* bool: true once given */
    MSIM_OPTION_ONE_OF, /* an enum: `value` once given; options of one field
                           exclude each other, 0 is none of them */
    MSIM_OPTION_TEXT,   /* const char *: points into argv */
    MSIM_OPTION_COUNT,  /* uint32_t within min..max */
    MSIM_OPTION_CHOICE, /* an enum: the index of the word in `choices` */
    MSIM_OPTION_CUSTOM, /* `parse` takes the value; may be given repeatedly */
};

struct msim_option {
    const char *name; /* without the leading --, or - for a single letter */
    enum msim_option_type type;
    size_t field;        /* offsetof() in the verb's settings */
    const char *metavar; /* "NAME|FILE"; what takes no value has none */
    const char *help;    /* one sentence; a newline is a blank */
    const char *dflt;    /* shown as [default: ...]; NULL: nothing to show */
    uint32_t min, max;   /* COUNT */
    int value;           /* ONE_OF: not 0 */
    const char *const *choices; /* CHOICE: words, ended by NULL */
    /* CUSTOM: store `value` in `field`, which is the settings themselves where
     * `field` is 0; on failure EUSAGE and `err` says what was wanted. */
    enum msim_status (*parse)(void *field, const char *value,
                              struct msim_error *err);
};

/* An option whose value is `member` of the verb's settings, and the options of
 * a command. */
#define MSIM_OPTION(settings, member, kind, word, ...)                         \
    {                                                                          \
        .name = (word), .type = MSIM_OPTION_##kind,                            \
        .field = offsetof(settings, member), __VA_ARGS__                       \
    }
#define MSIM_OPTIONS(of)                                                       \
    .options = (of), .n_options = sizeof(of) / sizeof((of)[0])

struct msim_command {
    const char *name;     /* "info" */
    const char *operands; /* "TRACE|DIR..." as shown after the options */
    const char *summary;  /* what the verb is for */
    const struct msim_option *options;
    size_t n_options;
    const char *const *examples;    /* full command lines, ended by NULL */
    const char *const *axes;        /* of whatif --grid, ended by NULL */
    int min_operands, max_operands; /* max 0: any number */
};

/* How a report is written: --json, --csv, --markdown, else text. */
enum msim_output {
    MSIM_OUTPUT_TEXT,
    MSIM_OUTPUT_JSON,
    MSIM_OUTPUT_CSV,
    MSIM_OUTPUT_MARKDOWN
};

/* Rows that several verbs have; `member` is a bool or a uint32_t of their
 * settings. */
#define MSIM_OPTION_SALVAGE_ROW(settings, member)                              \
    {                                                                          \
        .name = "salvage", .type = MSIM_OPTION_FLAG,                           \
        .field = offsetof(settings, member),                                   \
        .help = "keep the complete records of a broken or cut file",           \
    }
#define MSIM_OPTION_THREADS_ROW(settings, member)                              \
    {                                                                          \
        .name = "threads", .type = MSIM_OPTION_COUNT,                          \
        .field = offsetof(settings, member), .metavar = "N", .min = 1,         \
        .max = 64, .help = "threads to use; the result does not depend on it", \
        .dflt = "2",                                                           \
    }

#define MSIM_OPTION_CHART_ROW(settings, member)                                \
    {                                                                          \
        .name = "chart", .type = MSIM_OPTION_TEXT,                             \
        .field = offsetof(settings, member), .metavar = "FILE.svg|png",        \
        .help = "draw the result with gnuplot",                                \
    }

#define MSIM_OPTION_MARKDOWN_ROW(settings, member)                             \
    {                                                                          \
        .name = "markdown", .type = MSIM_OPTION_ONE_OF,                        \
        .field = offsetof(settings, member), .value = MSIM_OUTPUT_MARKDOWN,    \
        .help = "print Markdown, for a pull request, instead of text"          \
    }
#define MSIM_OPTION_HTML_ROW(settings, member)                                 \
    {                                                                          \
        .name = "html", .type = MSIM_OPTION_TEXT,                              \
        .field = offsetof(settings, member), .metavar = "FILE",                \
        .help = "write the answer as one page for a browser, which loads "     \
                "nothing from elsewhere",                                      \
    }

/* Rows for a struct msim_clock_wish of the settings. */
#define MSIM_OPTION_CLOCK_ROW(parser)                                          \
    {                                                                          \
        .name = "clock", .type = MSIM_OPTION_CUSTOM, .parse = (parser),        \
        .metavar = "MHZ|SHARE",                                                \
        .help =                                                                \
            "SM clock of the GPU, in megahertz or as a share of its usual "    \
            "one (1100, 1.1GHz, 0.8): the time of arithmetic and of the L2 "   \
            "cache changes with it, that of device memory and links does not", \
        .dflt = "the usual one: the data sheet's boost clock",                 \
    }
#define MSIM_OPTION_POWER_CAP_ROW(parser)                                      \
    {                                                                          \
        .name = "power-cap", .type = MSIM_OPTION_CUSTOM, .parse = (parser),    \
        .metavar = "WATT",                                                     \
        .help = "power limit of the GPU: the clock falls to what the power "   \
                "allows under full load",                                      \
        .dflt = "the data sheet's",                                            \
    }

/* What is left when the options are taken away; points into argv. */
struct msim_cli_operands {
    char **items;
    int n;
};

/*
 * Parse a verb's arguments into `settings`, which hold the defaults before.
 * argv is reordered: operands come first. Returns -1 when the verb is to go
 * on; else the exit code, after printing help or the version to standard
 * output (0) or saying on standard error what is wrong (2).
 */
int msim_command_start(const struct msim_command *c, int argc, char **argv,
                       void *settings, struct msim_cli_operands *operands);

/* EUSAGE where the value of --chart ends neither in .svg nor in .png. */
MSIM_MUST_CHECK
enum msim_status msim_option_check_chart(const char *value,
                                         struct msim_error *err);

/* EUSAGE where the value of --html, which may be NULL, is no file. */
MSIM_MUST_CHECK
enum msim_status msim_option_check_html(const char *value,
                                        struct msim_error *err);

/* The part of --help that lists the options and the examples. */
void msim_command_help_options(const struct msim_command *c, FILE *out);

/* For the help of what takes a platform that prices work. */
#define MSIM_PLATFORM_STACK_HELP                                               \
    "a name may end in a stack\n"                                              \
    "(h100@pytorch-2.9), of those that 'platforms NAME' lists"

/* ---- choice rows --------------------------------------------------------- */
/*
 * Rows of the options that choose a part of a traced run, which mean the same
 * wherever they are.
 */

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
