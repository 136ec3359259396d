/*
 * plan/synth/synth.h - execution traces of a described job in PyTorch's format.
 */
#ifndef MSIM_PLAN_SYNTH_SYNTH_H
#define MSIM_PLAN_SYNTH_SYNTH_H
#include "core/base/files.h"
#include "core/base/json.h"
#include "plan/describe/describe.h"
#include "plan/describe/strategy.h"

/* ---- synth options ------------------------------------------------------- */
/* Which described job is written. */

struct msim_synth_options {
    const struct msim_described *model;
    const struct msim_strategy *strategy; /* complete */
    uint64_t given;     /* of the strategy, as bits of enum msim_given */
    const char *source; /* the model's file: JSON on one line */
    const struct msim_job_model *changes; /* of that one, in this order, which
                                             make `model` */
    uint32_t n_changes;
    bool every_rank;
};

/* ---- synth --------------------------------------------------------------- */
/*
 * Execution traces of a described model that was never run: one a rank, in
 * PyTorch's own format.
 *
 * A step of training, as a rank of a pipeline stage runs it: micro batches in
 * one-forward-one-backward order (interleaved with vp), activations sent and
 * received between stages, gradients summed over data parallel ranks, AdamW.
 * Parameters and activations are in the strategy's precision, gradients, master
 * weights and states in fp32; with ZeRO a rank has its share of states (1), of
 * gradients (2), of parameters (3), and gathers layers as it needs them. Ranks
 * of one stage do alike: by default the first of each stage is written, which
 * stands for all.
 */

struct msim_synth_result {
    uint32_t files;
    int64_t ranks_a_file; /* that each stands for */
    uint64_t nodes;       /* in all */
};

/* Where traces go, one after the other. */
struct msim_synth_place {
    void *own;
    /* Bytes of the trace that is called `name` go to write() of `*trace`. */
    enum msim_status (*begin)(void **trace, void *own, const char *name,
                              struct msim_error *err);
    enum msim_status (*write)(void *trace, const char *bytes, size_t n);
    /* Once for each that was begun, and where that failed; its status. */
    enum msim_status (*end)(void *trace, enum msim_status status,
                            struct msim_error *err);
};

/*
 * The step of a described job: the trace of each rank that is asked for. All
 * verbs have the job's graph from here: `synth` as files, others in memory
 * (plan/simulate). EUSAGE where a strategy cannot be written; what `to` says;
 * ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_synth_make(const struct msim_synth_options *o,
                                 const struct msim_synth_place *to,
                                 struct msim_synth_result *out,
                                 struct msim_error *err);

/*
 * Write DIR/rank-R.et.json for each rank that is asked for, and DIR/synth.json,
 * which says what they are of and what they stand for (files.h): model
 * and strategy as they were given, which plan/written reads again. EUSAGE
 * where a strategy cannot be written, or DIR holds traces of others; EIO;
 * EWRITE; ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_synth_write(const char *dir,
                                  const struct msim_synth_options *o,
                                  struct msim_synth_result *out,
                                  struct msim_error *err);

/* ---- synth manifest ------------------------------------------------------ */
/*
 * synth.json: what written traces are of, and what they stand for, so that
 * plan/written can read the job again.
 *
 *     {"described": {"model": ..., "changes": [{"hidden": 1536}],
 *                    "strategy": {"gpus": "8", ...}}, "ranks_a_file": 8, ...}
 *
 * `model` is as its file has it; `changes`, where there are any, make the
 * model of it that the traces are of (plan/describe/describe.h).
 */

/* Write it into a folder that was begun; each file stands for `a_file` ranks.
 * EIO, EWRITE, ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_synth_manifest(struct msim_folder *folder,
                                     const struct msim_synth_options *o,
                                     int64_t a_file, struct msim_error *err);

#endif
