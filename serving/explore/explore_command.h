/*
 * serving/explore/explore_command.h - a user's program that measures one stage
 * of an application under load, run as a process.
 *
 *     COMMAND --stage S --replicas c --rate r --seconds n --seed s
 *
 * COMMAND is split at blanks; quotes ('...', "...") and backslashes keep them,
 * as in a shell, but no shell runs it, so nothing else in it means anything.
 * What the program prints goes into a file; what it says on standard error is
 * shown. It leads a process group of its own. Not thread-safe.
 */
#ifndef MSIM_SERVING_EXPLORE_EXPLORE_COMMAND_H
#define MSIM_SERVING_EXPLORE_EXPLORE_COMMAND_H
#include "core/base/status.h"

struct msim_explorer {
    char *text;       /* owned; the words point into it */
    char **words;     /* owned; with room for the options and a NULL */
    uint32_t n_words; /* of the command alone */
    double patience;  /* seconds beyond those that are asked for */
};

/* What is asked of a stage. */
struct msim_explore_question {
    const char *stage;
    int64_t replicas;
    double rate, seconds; /* visits a second, seconds of load */
    uint64_t seed;
    double most_rows; /* of an answer; an explorer that prints on is stopped */
};

/* Split `command`. EUSAGE where it is empty or a quote stays open. Release in
 * all cases. */
MSIM_MUST_CHECK
enum msim_status msim_explorer_init(struct msim_explorer *e,
                                    const char *command, double patience,
                                    struct msim_error *err);
void msim_explorer_release(struct msim_explorer *e);

/*
 * Ask, and let the answer be written to the file `path`, which is there. EIO
 * where the program cannot be run, or ends otherwise than with 0 ("ended with
 * exit code 3", "was killed by signal 11"); ELIMIT where it takes `patience`
 * seconds longer than the load does, or prints more than `most_rows` long
 * lines. It is killed then, and what it started, as far as that stayed in its
 * process group; the same where a signal ends this process meanwhile.
 */
MSIM_MUST_CHECK
enum msim_status msim_explorer_ask(const struct msim_explorer *e,
                                   const struct msim_explore_question *q,
                                   const char *path, struct msim_error *err);

#endif
