/*
 * plan/outcome/plan_words.h - figures of a plan as people write them.
 */
#ifndef MSIM_PLAN_OUTCOME_PLAN_WORDS_H
#define MSIM_PLAN_OUTCOME_PLAN_WORDS_H
#include "plan/search/recommend.h"

#include <stdio.h>

#define MSIM_PLAN_STRATEGY_TEXT 512

/* "tp 4, pp 2, dp 8, zero 1, micro batch 2, recompute none, bf16", and the
 * techniques that are stated. */
void msim_plan_strategy_text(const struct msim_strategy *s, char *text,
                             size_t size);

/* A figure of a point, with its 90 % interval; all NAN: not known. */
struct msim_plan_figure {
    double middle, low, high;
};

/* `v` of point `p`, which goes with the time of a step. */
struct msim_plan_figure msim_plan_figure_of(const struct msim_plan_point *p,
                                            double v);

/* "335.6 k", "1.23 M", "-" */
void msim_plan_amount_text(double v, char *text, size_t size);

/* "96 %", "above 99 %", "below 1 %" */
void msim_plan_chance_text(double chance, char *text, size_t size);

/* "cost", or "GPU time" where the spec has no price. */
const char *msim_plan_cost_word(const struct msim_plan_point *p);

#endif
