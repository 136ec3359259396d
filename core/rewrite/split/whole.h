/*
 * core/rewrite/split/whole.h - the stages of a recorded pipeline as one rank
 * that has all layers.
 *
 *     stage 0   F0 send F1 send recv B0 recv B1 step       F0 F0' B0' B0
 *     stage 1   recv F0' B0' send recv F1' B1' send step   F1 F1' B1' B1 step
 *
 * Micro batches run one after the other, forward and backward; what one stage
 * sent is what the next one reads. Lists of the optimizer are those of all
 * stages.
 */
#ifndef MSIM_CORE_REWRITE_SPLIT_WHOLE_H
#define MSIM_CORE_REWRITE_SPLIT_WHOLE_H
#include "core/trace/trace.h"

/* How many stages of one pipeline are among traces `ts`, each with a message
 * to the next; 0: none are. */
uint32_t msim_whole_stages(const struct msim_trace *const *ts, uint32_t n);

/* That of traces `ts`, one a stage, in whatever order. On success the caller
 * owns `*out` (msim_trace_free()). EUSAGE where they are not all stages of one
 * pipeline, or exchange more than messages, with the reason in `err`; ENOMEM,
 * ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_whole_new(struct msim_trace **out,
                                const struct msim_trace *const *ts, uint32_t n,
                                struct msim_strtab *strings,
                                struct msim_error *err);

#endif
