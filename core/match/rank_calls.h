/*
 * core/match/rank_calls.h - the collectives and messages of one rank, as others
 * look for the same.
 */
#ifndef MSIM_CORE_MATCH_RANK_CALLS_H
#define MSIM_CORE_MATCH_RANK_CALLS_H
#include "core/base/vec.h"
#include "core/match/same_calls.h"

/*
 * Add to `out` (struct msim_match_call) those of `t`, which is rank `rank` of
 * `n_ranks` by its place in the job. Spans are 0 before the first step, 2 i + 1
 * of step i, and 2 i + 2 behind it, for calls that are launched before the
 * next. A recording without marks of steps is one.
 */
MSIM_MUST_CHECK
enum msim_status msim_match_rank_calls(const struct msim_trace *t,
                                       uint32_t rank, uint32_t n_ranks,
                                       struct msim_vec *out);

#endif
