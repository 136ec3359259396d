/*
 * plan/synth/synth.h - execution traces of a described model that was never
 * run: one a rank, in PyTorch's own format.
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
#ifndef MSIM_PLAN_SYNTH_SYNTH_H
#define MSIM_PLAN_SYNTH_SYNTH_H
#include "plan/synth/synth_options.h"

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

#endif
