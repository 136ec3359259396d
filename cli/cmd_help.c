#include "cli/cmd_help.h"

#include "cli/cmd.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/predict_options.h"

#include <string.h>

const struct msim_verb MSIM_VERBS[] = {
    {"predict", msim_cmd_predict,
     "how long a traced job takes, and where the time goes"},
    {"info", msim_cmd_info, "what is in traces and what is missing"},
    {"compare", msim_cmd_compare, "what changed from one run to another"},
    {"op", msim_cmd_op, "predict single operations from a table"},
    {"platforms", msim_cmd_platforms, "list the known GPUs, or show one"},
    {"convert", msim_cmd_convert,
     "write traces as Chakra, for simulators that read it"},
    {"calibrate", msim_cmd_calibrate,
     "time this machine, and write it as a platform"},
    {"help", msim_cmd_help, "this help, or that of a verb"},
    {NULL, NULL, NULL},
};

const struct msim_verb *msim_verb_find(const char *name)
{
    for (const struct msim_verb *v = MSIM_VERBS; v->name; v++)
        if (strcmp(v->name, name) == 0)
            return v;
    return NULL;
}

int msim_verb_unknown(const char *name)
{
    const char *words[sizeof(MSIM_VERBS) / sizeof(MSIM_VERBS[0])];
    const char *near;
    size_t n = 0;

    for (const struct msim_verb *v = MSIM_VERBS; v->name; v++)
        words[n++] = v->name;
    near = msim_nearest_word(name, words, n);
    if (near)
        msim_message("unknown verb '%s', did you mean '%s'?", name, near);
    else
        msim_message("'%s' is neither a verb nor a file, see "
                     "'mystique-sim --help'",
                     name);
    return MSIM_EXIT_USAGE;
}

void msim_help_print(FILE *out)
{
    fputs("usage: mystique-sim [predict] [OPTION]... TRACE|DIR...\n"
          "       mystique-sim VERB [OPTION]... ARGUMENT...\n"
          "\n"
          "PyTorch execution traces (ET, Kineto, Chakra) in, predicted run "
          "time out.\n"
          "\n"
          "verbs:\n",
          out);
    for (const struct msim_verb *v = MSIM_VERBS; v->name; v++)
        fprintf(out, "  %-12s%s\n", v->name, v->summary);
    fputs("\n"
          "'mystique-sim VERB --help' lists the options of a verb. Exit codes: "
          "0 ok, 1 a\ncheck failed, 2 usage, 3 bad input, 4 internal.\n"
          "\n"
          "options of predict:\n",
          out);
    msim_predict_options_help(out);
}

int msim_cmd_help(int argc, char **argv)
{
    const struct msim_verb *verb;
    char help[] = "--help";

    if (argc < 2 || strcmp(argv[1], "help") == 0 || argv[1][0] == '-') {
        msim_help_print(stdout);
        return MSIM_EXIT_OK;
    }
    verb = msim_verb_find(argv[1]);
    if (!verb)
        return msim_verb_unknown(argv[1]);
    return verb->run(2, (char *[]){argv[1], help, NULL});
}
