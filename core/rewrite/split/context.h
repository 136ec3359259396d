/*
 * core/rewrite/split/context.h - a recorded step as one of several context
 * parallel ranks runs it: each has so many tokens of every sequence, and keys
 * and values of all of them for attention.
 *
 *     linear      S / n tokens                 linear     S / n
 *     all_gather  keys and values of S         all_gather keys and values of S
 *     attention                                attention  backward
 *     linear      S / n                        reduce_scatter their gradients
 *                                              linear     S / n
 *
 * A rank has two pieces of a sequence, one from each end, so that all have as
 * many pairs of the causal half: S^2 / n of S^2, those of a sequence that is
 * shorter by the root of n. As such its attention stands in the trace, as in
 * what is written of a described job (plan/synth).
 */
#ifndef MSIM_CORE_REWRITE_SPLIT_CONTEXT_H
#define MSIM_CORE_REWRITE_SPLIT_CONTEXT_H
#include "core/rewrite/weave/weave.h"

/* `t` with sequences of one rank of `ranks`. On success the caller owns `*out`
 * (msim_trace_free()). EUSAGE where `t` cannot be split so, with the reason in
 * `err`; ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_context_shorten_new(struct msim_trace **out,
                                          const struct msim_trace *t,
                                          struct msim_strtab *strings,
                                          uint32_t ranks,
                                          struct msim_error *err);

/* Attention of such a trace, and what `ranks` ranks exchange for it, each
 * `step` behind the one before. EUSAGE where it does not stand by itself;
 * ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_context_exchange(struct msim_weave *w, uint32_t ranks,
                                       uint32_t step);

#endif
