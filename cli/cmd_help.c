/*
 * cli/cmd_help.c - `help`: the program as a whole, and its verbs.
 */
#include "cli/cmd.h"
#include "cli/options.h"
#include "cli/predict_options.h"
#include "core/base/print.h"
#include "core/report/words/glossary.h"

#include <string.h>

static const struct msim_verb VERBS[] = {
#define ROW(verb, summary) {#verb, msim_cmd_##verb, summary},
    MSIM_VERB_MAP(ROW)
#undef ROW
};

#define N_VERBS (sizeof(VERBS) / sizeof(VERBS[0]))

const struct msim_verb *msim_verb_find(const char *name)
{
    for (size_t i = 0; i < N_VERBS; i++)
        if (strcmp(VERBS[i].name, name) == 0)
            return &VERBS[i];
    return NULL;
}

int msim_verb_unknown(const char *name)
{
    const char *words[N_VERBS];
    const char *near;

    for (size_t i = 0; i < N_VERBS; i++)
        words[i] = VERBS[i].name;
    near = msim_nearest_word(name, words, N_VERBS);
    if (near)
        msim_message("unknown verb '%s', did you mean '%s'?", name, near);
    else
        msim_message("'%s' is neither a verb nor a file, see "
                     "'mystique-sim --help'",
                     name);
    return MSIM_EXIT_USAGE;
}

static void print_help(FILE *out)
{
    fputs("usage: mystique-sim [predict] [OPTION]... TRACE|DIR...\n"
          "       mystique-sim VERB [OPTION]... ARGUMENT...\n"
          "\n"
          "PyTorch execution traces (ET, Kineto, Chakra) in, predicted run "
          "time out.\n"
          "\n"
          "verbs:\n",
          out);
    for (size_t i = 0; i < N_VERBS; i++)
        msim_print(out, "  %-12s%s\n", VERBS[i].name, VERBS[i].summary);
    fputs("\n"
          "'mystique-sim help report' explains every word of a report.\n"
          "'mystique-sim VERB --help' lists the options of a verb. Exit codes: "
          "0 ok, 1 a\ncheck failed or nothing could be answered, 2 usage, 3 "
          "bad input, 4 internal.\n"
          "\n"
          "options of predict:\n",
          out);
    msim_predict_options_help(out);
}

int msim_cmd_help(int argc, char **argv)
{
    const struct msim_verb *verb;
    char help[] = "--help";

    if (argc > 2) {
        msim_message("got '%s' behind '%s', want one verb or 'report'", argv[2],
                     argv[1]);
        return MSIM_EXIT_USAGE;
    }
    if (argc < 2 || strcmp(argv[1], "help") == 0 || argv[1][0] == '-') {
        print_help(stdout);
        return MSIM_EXIT_OK;
    }
    if (strcmp(argv[1], "report") == 0)
        return msim_status_exit(msim_report_words(stdout));
    verb = msim_verb_find(argv[1]);
    if (!verb)
        return msim_verb_unknown(argv[1]);
    return verb->run(2, (char *[]){argv[1], help, NULL});
}
