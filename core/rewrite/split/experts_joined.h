/*
 * core/rewrite/split/experts_joined.h - more experts a rank: those of several
 * recorded ranks.
 *
 * Rows are exchanged among fewer ranks, or by one with nobody; more ranks have
 * the same experts, and reduce gradients of these together.
 */
#ifndef MSIM_CORE_REWRITE_SPLIT_EXPERTS_JOINED_H
#define MSIM_CORE_REWRITE_SPLIT_EXPERTS_JOINED_H
#include "core/trace/trace.h"

/* Over how many ranks the experts of `t` are spread already; 0: it has none, or
 * they are on each. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_experts_recorded_ranks(uint32_t *out,
                                             const struct msim_trace *t);

/*
 * A rank of `t` with the experts of `ratio` ranks, which divides the recorded
 * number. On success the caller owns `*out` (msim_trace_free()), and where no
 * rank had the same experts the group of those that do now
 * (expert_lives.h) has no messages yet. EUSAGE, with what was found; ENOMEM,
 * ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_experts_joined_new(struct msim_trace **out,
                                         const struct msim_trace *t,
                                         struct msim_strtab *strings,
                                         uint32_t ratio,
                                         struct msim_error *err);

#endif
