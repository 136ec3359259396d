/*
 * cli/cmd.h - the verbs of mystique-sim, one cmd_VERB.c each.
 *
 * argv[0] is the verb (or the program's name where no verb was given), and
 * the result is the process's exit code: 0 ok, 1 a check failed, 2 usage,
 * 3 bad input, 4 internal. A verb releases what it took, so that a run under
 * a leak checker ends clean.
 */
#ifndef MSIM_CLI_CMD_H
#define MSIM_CLI_CMD_H

int msim_cmd_predict(int argc, char **argv);
int msim_cmd_calibrate(int argc, char **argv);
int msim_cmd_compare(int argc, char **argv);
int msim_cmd_info(int argc, char **argv);
int msim_cmd_op(int argc, char **argv);
int msim_cmd_platforms(int argc, char **argv);
int msim_cmd_convert(int argc, char **argv);

#endif
