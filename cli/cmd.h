/*
 * cli/cmd.h - what all verbs share: their table, messages, folders of data,
 * loading, progress.
 */
#ifndef MSIM_CLI_CMD_H
#define MSIM_CLI_CMD_H
#include "cli/options.h"
#include "core/base/status.h"
#include "plan/written/written_job.h"
#include "predict/pipeline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* ---- cmd ----------------------------------------------------------------- */
/*
 * The verbs of mystique-sim: one row here and one cmd_VERB.c each.
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

/* ---- message ------------------------------------------------------------- */
/*
 * What goes to standard error, and the exit codes.
 *
 * Every line starts with `mystique-sim: `, so that it can be told from the
 * output of other programs in a pipe. Texts are written as core/base/print.h
 * says, since the name of a file may hold anything.
 */

/* `mystique-sim: TEXT` */
void msim_message(const char *fmt, ...) MSIM_PRINTF(1, 2);

/* `mystique-sim: warning: TEXT` */
void msim_message_warning(const char *fmt, ...) MSIM_PRINTF(1, 2);

/*
 * Show `n` warnings. Where the report holds them, too (`in_report`), and goes
 * to the same terminal, they are not shown a second time.
 */
void msim_message_warnings(const char *const *warnings, uint32_t n,
                           bool in_report);

/*
 * Show the error as `FILE:OFFSET: TEXT`, as far as these are known, and return
 * its exit code. Where `err` is NULL or empty the sentence of the status is
 * shown. A failure of standard output is left to main().
 */
int msim_message_error(enum msim_status status, const struct msim_error *err);

/* ---- datadir ------------------------------------------------------------- */
/*
 * Where platforms/ and hosts/ are.
 *
 * The first of these folders that holds a platforms/ folder: $MSIM_DATA;
 * share/mystique-sim of the prefix that the program lies in; data/ beside the
 * program's folder; the source tree's data/; the installed place. The program's
 * own place comes before the fixed ones, so that a copied installation and a
 * build tree each find their own data.
 */

/* On failure EUNKNOWN, and `err` says what to do. */
MSIM_MUST_CHECK
enum msim_status msim_datadir_find(char *path, size_t size,
                                   struct msim_error *err);

/* ---- load ---------------------------------------------------------------- */
/* Traces loaded for a verb, with progress shown while that takes long. */

/*
 * msim_job_load() of the operands; `opt` without its progress, which is the
 * terminal's.
 */
MSIM_MUST_CHECK
enum msim_status msim_load_job(struct msim_job **out,
                               const struct msim_cli_operands *files,
                               const struct msim_load_options *opt,
                               struct msim_error *err);

/* msim_predict_load() from the program's data folder; the settings' own `data`
 * and progress are not looked at. */
MSIM_MUST_CHECK
enum msim_status msim_load_prediction(struct msim_inputs *in,
                                      struct msim_target *to,
                                      const struct msim_predict_settings *s,
                                      struct msim_error *err);

/* Take the value of an option --communication into a struct msim_load_options,
 * which `value` must outlive. EUSAGE where it is empty or one too many. */
MSIM_MUST_CHECK
enum msim_status msim_communication_parse(void *load, const char *value,
                                          struct msim_error *err);

/* `member` of the settings is the struct msim_load_options. */
#define MSIM_OPTION_COMMUNICATION_ROW(settings, member)                        \
    {                                                                          \
        .name = "communication", .type = MSIM_OPTION_CUSTOM,                   \
        .field = offsetof(settings, member),                                   \
        .parse = msim_communication_parse, .metavar = "GLOB",                  \
        .help = "count kernels whose names match GLOB as communication, "      \
                "besides those of NCCL, DeepEP and other libraries that are "  \
                "known; may be repeated",                                      \
    }

/* ---- progress ------------------------------------------------------------ */
/*
 * One line on a terminal while long work runs.
 *
 * Nothing is shown in the first second, and nothing at all where standard
 * error is not a terminal. Updates come from one thread.
 */

struct msim_progress {
    const char *what; /* "reading", "simulating" */
    struct timespec start, last;
    bool terminal, shown;
};

/* `what` must outlive the progress. */
void msim_progress_start(struct msim_progress *p, const char *what);

/*
 * `done` of `total` (0: not known) are through, in bytes. `progress` is a
 * struct msim_progress: this fits msim_load_options.progress.
 */
void msim_progress_bytes(void *progress, uint64_t done, uint64_t total);

/* The same for `done` of `total` files: fits msim_fleet_options.before. */
void msim_progress_count(void *progress, uint32_t done, uint32_t total);

/* The same for parts of equal work, with the time that is left: fits
 * msim_plan_options.progress. */
void msim_progress_parts(void *progress, uint32_t done, uint32_t total);

/* Remove the line again; call it before any other message. */
void msim_progress_end(struct msim_progress *p);

/* ---- written ------------------------------------------------------------- */
/*
 * What is known of a job whose traces `synth` wrote, for the verbs that predict
 * from traces.
 */

/* msim_written_job_let_know() from the program's data folder. */
MSIM_MUST_CHECK
enum msim_status msim_written_settings(struct msim_written_job *job,
                                       struct msim_predict_settings *s,
                                       struct msim_error *err);

#endif
