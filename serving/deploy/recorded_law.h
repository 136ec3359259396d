/*
 * serving/deploy/recorded_law.h - what the recorded passes of a stage say of
 * the law of its model.
 */
#ifndef MSIM_SERVING_DEPLOY_RECORDED_LAW_H
#define MSIM_SERVING_DEPLOY_RECORDED_LAW_H
#include "serving/deploy/recorded.h"

struct msim_llm;        /* serving/llm/llm.h */
struct msim_model_pass; /* serving/llm/model_pass.h */

/* Of prompts (of a model stage: of any pass), and of decoding. */
struct msim_recorded_law {
    struct msim_recorded_ratio prefill, decode;
};

/* Passes of `s` against steps of `llm` on `platform`: those of prompts, or
 * those of `decoding`. EFORMAT where a pass is no such step, and as
 * msim_recorded_ratio_find(). */
MSIM_MUST_CHECK
enum msim_status msim_recorded_steps(struct msim_recorded_ratio *out,
                                     const struct msim_stage *s, bool decoding,
                                     const char *platform,
                                     const struct msim_recorder *recorder,
                                     struct msim_llm *llm,
                                     struct msim_error *err);

/* Likewise of a model stage, against passes of its model. */
MSIM_MUST_CHECK
enum msim_status msim_recorded_passes(struct msim_recorded_ratio *out,
                                      const struct msim_stage *s,
                                      const struct msim_recorder *recorder,
                                      struct msim_model_pass *pass,
                                      struct msim_error *err);

/* Half of the 90 % interval of a stage's times, whose law alone has `half`:
 * that of the passes where all that it does was recorded. */
double msim_recorded_half(const struct msim_recorded_law *r, double half);

#endif
