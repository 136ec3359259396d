/*
 * serving/outcome/serving_outcome_internal.h - what the files of
 * serving/outcome share; no other room includes it.
 */
#ifndef MSIM_SERVING_OUTCOME_SERVING_OUTCOME_INTERNAL_H
#define MSIM_SERVING_OUTCOME_SERVING_OUTCOME_INTERNAL_H
#include "serving/outcome/serving_outcome.h"

/* The parts of an outcome,. */

/* A simulator of what is wished for. */
static inline enum msim_status
msim_outcome_simulator(struct msim_serving **out,
                       const struct msim_serving_wish *w,
                       struct msim_error *err)
{
    return w->deploy ? msim_deploy_simulator(out, w->deploy, err)
                     : msim_serving_new(out, w->app, err);
}

/* End-to-end latency of the measured requests of a class. */
MSIM_MUST_CHECK
enum msim_status msim_outcome_e2e(const struct msim_serving_result *r,
                                  uint32_t cls, struct msim_serving_figure *f);

/* In this order: each reads what the one before it has found. */
MSIM_MUST_CHECK
enum msim_status msim_outcome_classes(struct msim_serving_outcome *o,
                                      const struct msim_serving_wish *w);
MSIM_MUST_CHECK
enum msim_status msim_outcome_stages(struct msim_serving_outcome *o,
                                     const struct msim_serving_wish *w);
MSIM_MUST_CHECK
enum msim_status msim_outcome_warnings(struct msim_serving_outcome *o,
                                       const struct msim_serving_wish *w);

/* What LLM stages can bear, and how sure figures are that hang on them; then
 * the capacity of the whole. */
MSIM_MUST_CHECK
enum msim_status msim_outcome_capacity(struct msim_serving_outcome *o,
                                       const struct msim_serving_wish *w,
                                       struct msim_error *err);

#endif
