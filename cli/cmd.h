/*
 * cli/cmd.h - the verbs of mystique-sim: one row here and one cmd_VERB.c each.
 *
 * A new verb `budget` is the row X(budget, "what it answers") and a file
 * cli/cmd_budget.c (or a room of cli) that defines
 *
 *     int msim_cmd_budget(int argc, char **argv);
 *
 * argv[0] is the verb, or the program's name where no verb was given. The
 * result is the exit code of the process: 0 ok, 1 a check failed, 2 usage, 3
 * bad input, 4 internal. A verb releases what it took, so that a run under a
 * leak checker ends clean.
 */
#ifndef MSIM_CLI_CMD_H
#define MSIM_CLI_CMD_H

/* Verbs in the order of --help, with the line that stands there. */
#define MSIM_VERB_MAP(X)                                                       \
    X(predict, "how long a traced job takes, and where the time goes")         \
    X(whatif, "changes to a traced job, side by side")                         \
    X(synth, "execution traces of a described model")                          \
    X(info, "what is in traces and what is missing")                           \
    X(compare, "what changed from one run to another")                         \
    X(op, "predict single operations from a table")                            \
    X(platforms, "list the known GPUs, or show one")                           \
    X(select, "the few jobs of a fleet that stand for all of it")              \
    X(convert, "write traces as Chakra, for simulators that read it")          \
    X(generate, "write a PyTorch benchmark that does what a trace recorded")   \
    X(replay, "run a traced step on this machine, and time it")                \
    X(validate, "a traced step, its replay and a prediction, side by side")    \
    X(plan, "which GPUs, how many, split how: time, cost and memory")          \
    X(serve, "an application under load: latency, promises, capacity")         \
    X(size, "how many replicas of each stage keep a latency promise")          \
    X(apps, "applications at every point of a sweep: latency, cost, energy")   \
    X(calibrate, "time this machine, and write it as a platform")              \
    X(learn, "what runs of a served application teach of its violations")      \
    X(watch, "a served application's counters: what is about to break")        \
    X(schema, "the JSON Schema of an answer")                                  \
    X(help, "this help, or that of a verb")

#define MSIM_VERB_DECLARE(verb, summary)                                       \
    int msim_cmd_##verb(int argc, char **argv);
MSIM_VERB_MAP(MSIM_VERB_DECLARE)
#undef MSIM_VERB_DECLARE

struct msim_verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
};

/* NULL where there is no such verb. */
const struct msim_verb *msim_verb_find(const char *name);

/* Say that there is no such verb, and which one is near; the exit code. */
int msim_verb_unknown(const char *name);

#endif
