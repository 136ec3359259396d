/*
 * predict/write/scenario_write.h - scenarios as execution traces, a folder
 * each.
 */
#ifndef MSIM_PREDICT_WRITE_SCENARIO_WRITE_H
#define MSIM_PREDICT_WRITE_SCENARIO_WRITE_H
#include "core/base/files.h"
#include "predict/pipeline.h"
#include "predict/scenario/scenario.h"

/* ---- scenario folder ----------------------------------------------------- */
/*
 * A folder for each scenario of a file, called as it is.
 *
 *     "batch 64, 2x"  ->  DIR/batch-64--2x
 *
 * What no file system and no shell minds stays: letters, digits, "_", "-" and
 * "."; all else is "-", and so is a "." in front.
 */

/* The folder of the scenario `name`; owned by the caller, NULL: no memory. */
char *msim_scenario_folder(const char *dir, const char *name);

/*
 * Look into all of them before anything is predicted. EUSAGE where two names
 * come to one folder, or a folder holds what msim_folder_look() refuses;
 * ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status
msim_scenario_folders_look(const char *dir, const char *const *names,
                           uint32_t n, const struct msim_folder_kinds *kinds,
                           struct msim_error *err);

/* ---- scenario write ------------------------------------------------------ */
/*
 * The traces that scenarios predict, as execution traces:
 * DIR/SCENARIO/rank-N.et.json.
 *
 * What a scenario changes of the trace is in them: sizes, types, how the model
 * is trained. Other durations, another graph of the same trace and another
 * machine are not the trace's, and are not written.
 */

/* What became of one scenario. */
struct msim_scenario_written {
    char *folder;   /* owned; NULL: nothing was written */
    uint32_t files; /* one a rank */
    uint64_t nodes; /* in all of them */
    char why[256];  /* why nothing was written, or what is not; "": all is */
};

/* What stands in the folder of each scenario must be ours or nothing: EUSAGE,
 * before anything is predicted. */
MSIM_MUST_CHECK
enum msim_status msim_scenarios_write_look(const struct msim_scenarios *s,
                                           const char *dir,
                                           struct msim_error *err);

/* Who writes what the traces of a scenario describe, beside them, where that is
 * known: synth.json, or nothing. */
struct msim_scenario_describer {
    void *own;
    enum msim_status (*write)(void *own, struct msim_folder *folder,
                              const struct msim_step_change *by, uint32_t files,
                              struct msim_error *err);
};

/*
 * Write those of `s`, which was run on `in`; `with` may be NULL. On success
 * `*out` has a row for each of s->rows; msim_scenarios_written_free() releases
 * it. A scenario that cannot be written has a reason, the others go on. EUSAGE,
 * EIO, EWRITE, ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_scenarios_write(
    struct msim_scenario_written **out, const struct msim_scenarios *s,
    const struct msim_inputs *in, const struct msim_scenario_describer *with,
    const char *dir, struct msim_error *err);
void msim_scenarios_written_free(struct msim_scenario_written *rows,
                                 uint32_t n); /* accepts NULL */

#endif
