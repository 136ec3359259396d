/*
 * plan/describe/strategy_guard.h - strategies that differ in one respect alone,
 * and what their steps must keep (core/guard/guard.h).
 *
 *     recompute     more of it takes no less
 *     gpus          for the same batch: more of them do not gain more than
 *                   their number
 *     micro_batch   as many micro batches of more samples take no less
 *     grad_accum    more micro batches of as many samples take no less
 *     sequence      longer ones take no less
 */
#ifndef MSIM_PLAN_DESCRIBE_STRATEGY_GUARD_H
#define MSIM_PLAN_DESCRIBE_STRATEGY_GUARD_H
#include "core/guard/guard.h"
#include "plan/describe/strategy.h"

/* The step of a complete strategy. */
struct msim_strategy_answer {
    const struct msim_strategy *strategy;
    uint64_t rest; /* a hash of all else that must be the same: the GPU, say */
    double us;
    bool measured; /* msim_guard_answer's */
};

/* Mark those that contradict others: `marks[i]` is that of `of[i]`. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_strategy_guard(const struct msim_strategy_answer *of,
                                     uint32_t n, msim_guard_marks *marks);

#endif
