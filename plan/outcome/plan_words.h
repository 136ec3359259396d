/*
 * plan/outcome/plan_words.h - figures of a plan as people write them.
 */
#ifndef MSIM_PLAN_OUTCOME_PLAN_WORDS_H
#define MSIM_PLAN_OUTCOME_PLAN_WORDS_H
#include "plan/search/recommend.h"

#include <stdio.h>

#define MSIM_PLAN_STRATEGY_TEXT 512

/* "tp 4, pp 2, dp 8, zero 1, micro batch 2, recompute none, bf16", and the
 * techniques that are stated; of a traced step, "batch 32, zero3, amp_bf16". */
void msim_plan_strategy_text(const struct msim_spec *spec,
                             const struct msim_plan_point *p, char *text,
                             size_t size);

#define MSIM_PLAN_PLATFORM_TEXT 192

/* A platform's name in a chart: that of a file may be a long path. */
void msim_plan_platform_text(const struct msim_spec *spec, uint32_t platform,
                             char *text, size_t size);

/* A figure of a point, with its 90 % interval; all NAN: not known. */
struct msim_plan_figure {
    double middle, low, high;
};

/* `v` of point `p`, which goes with the time of a step. */
struct msim_plan_figure msim_plan_figure_of(const struct msim_plan_point *p,
                                            double v);

/* The same of what goes with the inverse of that time, as a rate does. */
struct msim_plan_figure msim_plan_inverse_of(const struct msim_plan_point *p,
                                             double v);

/* "335.6 k", "1.23 M", "-" */
void msim_plan_amount_text(double v, char *text, size_t size);

/* "57.4 GiB", "48 MiB" */
void msim_plan_memory_text(double gib, char *text, size_t size);

/* "171 MWh", "0.25 kWh" */
void msim_plan_energy_text(double kwh, char *text, size_t size);

/* "1.25 s", "340 ms" */
void msim_plan_time_text(double us, char *text, size_t size);

/* "12.3", "0.57", "-" */
void msim_plan_days_text(double days, char *text, size_t size);

/* What GPUs exchange before overlap, and what the step waits of it: "gradients
 * 12 % of the step before overlap, of which it waits for 0 % [0-9]"; "" where
 * nothing is exchanged. */
void msim_plan_exchange_text(const struct msim_spec *spec,
                             const struct msim_plan_point *p, char *text,
                             size_t size);
#define MSIM_PLAN_EXCHANGE_TEXT 128

/* "step", or "latency" of a traced step that answers requests. */
const char *msim_plan_step_word(const struct msim_spec *spec);

/* What MSIM_PLAN_SPLIT says of points: "cannot be split so". */
const char *msim_plan_split_word(const struct msim_spec *spec);

/* "96 %", "above 99 %", "below 1 %" */
void msim_plan_chance_text(double chance, char *text, size_t size);

/* "cost", "cost an hour", or "GPU time" where the spec has no price. */
const char *msim_plan_cost_word(const struct msim_spec *spec,
                                const struct msim_plan_point *p);

/* Of a plan that recommends nothing, in a few words: "no way keeps the limits".
 */
const char *msim_plan_none_word(const struct msim_plan *plan);

/* Why nothing is recommended. */
const char *msim_plan_none_text(const struct msim_plan *plan,
                                const struct msim_spec *spec);

/* ---- which limit of a plan is in the way --------------------------------- */

/*
 * Of a plan whose feasible points all break a limit, a line for each limit of
 * time, cost, throughput and GPUs: how many points keep it, and what comes
 * nearest. One more where each is kept, but not all at once.
 */
void msim_plan_limits_text(const struct msim_plan *plan,
                           const struct msim_spec *spec, FILE *out);

#endif
