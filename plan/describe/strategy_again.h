/*
 * plan/describe/strategy_again.h - what backward computes again instead of
 * keeping it, of described jobs. Memory, time and written traces ask that;
 * which word of a strategy stands for it is known here alone.
 */
#ifndef MSIM_PLAN_DESCRIBE_STRATEGY_AGAIN_H
#define MSIM_PLAN_DESCRIBE_STRATEGY_AGAIN_H
#include "plan/describe/strategy.h"

/* From what takes the least time to what holds the least. */
enum msim_again {
    MSIM_AGAIN_NOTHING,
    MSIM_AGAIN_OPERATORS, /* of a layer, which keep much and take little */
    MSIM_AGAIN_LAYERS     /* all of a layer: its input alone is kept */
};

enum msim_again msim_again_of(const struct msim_strategy *s);

/* All that holds less: layers are computed again. `text`, if not NULL, says it
 * ("recompute full"); false: they are already. */
bool msim_again_most(struct msim_strategy *s, char *text, size_t size);

/* Nothing; and what jobs that do not say so compute again. */
void msim_again_set_nothing(struct msim_strategy *s);
void msim_again_set_usual(struct msim_strategy *s);

#endif
