/*
 * cli/cmd_help.h - help on the program as a whole, and on single verbs.
 */
#ifndef MSIM_CLI_CMD_HELP_H
#define MSIM_CLI_CMD_HELP_H
#include <stdio.h>

struct msim_verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary; /* one line for the list of verbs */
};

/* Ended by a verb without a name. */
extern const struct msim_verb MSIM_VERBS[];

/* NULL where there is no such verb. */
const struct msim_verb *msim_verb_find(const char *name);

/* Say that there is no such verb; the exit code. */
int msim_verb_unknown(const char *name);

/* `mystique-sim --help` */
void msim_help_print(FILE *out);

/* `mystique-sim help [VERB]` */
int msim_cmd_help(int argc, char **argv);

#endif
