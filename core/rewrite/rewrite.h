/*
 * core/rewrite/rewrite.h - another way to train, made of a recorded step:
 * activations computed again, gradients accumulated, parameters shared out.
 *
 * The result is an execution trace of its own, without times: operators of the
 * recorded one once, often or not at all, and those that the change brings. The
 * recorded trace is never edited. What is asked for is done in one order,
 * whatever the order in which it was asked:
 *
 *     more or fewer layers, casts of mixed precision and of 8 bits, recompute,
 *     activations to the host, accumulate, stages of a pipeline, shard over
 *     ranks, the optimizer
 */
#ifndef MSIM_CORE_REWRITE_REWRITE_H
#define MSIM_CORE_REWRITE_REWRITE_H
#include "core/rewrite/rewrite_options.h"

bool msim_rewrite_is_none(const struct msim_rewrite *r);

/* How many traces, one a stage, a recorded one becomes. */
uint32_t msim_rewrite_stages(const struct msim_rewrite *r);

/*
 * The trace of `t` changed so, that of r->parallel.stage where there are
 * several; `strings` is the table of its job. On success
 * the caller owns `*out` (msim_trace_free()). EUSAGE, with the reason in `err`,
 * where `t` cannot be changed so; ENOMEM, ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_rewritten_new(struct msim_trace **out,
                                    const struct msim_trace *t,
                                    struct msim_strtab *strings,
                                    const struct msim_rewrite *r,
                                    struct msim_error *err);

/* Those of all stages, msim_rewrite_stages() of them, whatever
 * r->parallel.stage: what comes before stages is done once. After a failure all
 * of `out` is NULL. */
MSIM_MUST_CHECK
enum msim_status msim_rewritten_stages_new(struct msim_trace **out,
                                           const struct msim_trace *t,
                                           struct msim_strtab *strings,
                                           const struct msim_rewrite *r,
                                           struct msim_error *err);

/*
 * How many micro batches a step of `t` has: forward passes up to the first step
 * of the optimizer; 0: steps have different numbers, or there is no such step.
 * EUSAGE where the trace does not say what its passes are; ENOMEM, ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_rewrite_count_passes(uint32_t *out,
                                           const struct msim_trace *t,
                                           struct msim_strtab *strings,
                                           struct msim_error *err);

/*
 * How many blocks of layers the repetition `block` of `t` has (rewrite_options'
 * layers_block). EUSAGE, with what was found, where there is none; ENOMEM,
 * ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_rewrite_count_layers(uint32_t *out,
                                           const struct msim_trace *t,
                                           struct msim_strtab *strings,
                                           const char *block,
                                           struct msim_error *err);

/*
 * Where DDP's buckets of `t` would have other gradients with the sizes of
 * `view`, a view of it, or `r` changes layers, too, `r` fills them anew.
 * ENOMEM, ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_rewrite_settle_buckets(struct msim_rewrite *r,
                                             const struct msim_trace *t,
                                             const struct msim_trace *view,
                                             struct msim_strtab *strings);

/*
 * A trace that was captured on a CPU, as a GPU runs it (gpu_form.c). Where it
 * would be no different `*out` is NULL: not of a CPU, without ids of tensors or
 * backward, without what the two run in different ways. ENOMEM, ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_gpu_form_new(struct msim_trace **out,
                                   const struct msim_trace *t,
                                   struct msim_strtab *strings);

/* Is that form of other operators, attention or dropout, and not of another
 * optimizer's step alone? */
bool msim_gpu_form_is_other(const struct msim_trace *t);

#endif
