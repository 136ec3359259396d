/*
 * calibrate/serving/serving_fit.h - the constants of the law of served models,
 * from rows of closed loops.
 *
 * Least mean |log(measured / predicted)| of TPOT, and with less weight of TTFT,
 * by calibrate/steps/search.h. An engine's factor of a piece is a common one,
 * times one of the engine, times one of both where rows can tell it.
 */
#ifndef MSIM_CALIBRATE_SERVING_SERVING_FIT_H
#define MSIM_CALIBRATE_SERVING_SERVING_FIT_H
#include "calibrate/serving/serving_rows.h"
#include "serving/llm/llm_law.h"

/* The law of the rows that `use` marks; it has their models, GPUs, engines and
 * types. Without memory it is that of nothing fitted. */
void msim_serving_fit(struct msim_llm_law *law,
                      const struct msim_serving_table *t, const uint8_t *use);

/* What the law says of a row, in closed form. */
void msim_serving_predict(struct msim_closed_loop_answer *out,
                          const struct msim_llm_law *law,
                          const struct msim_serving_row *row);

#endif
