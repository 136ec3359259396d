/*
 * models/estimate/attention_parts.h - attention that no kernel fuses: products,
 * a softmax and casts.
 */
#ifndef MSIM_MODELS_ESTIMATE_ATTENTION_PARTS_H
#define MSIM_MODELS_ESTIMATE_ATTENTION_PARTS_H
#include "core/work/estimate.h"
#include "models/platform/platform.h"

#include <stdio.h>

/* Whether the attention `w` runs so on `p`: on a GPU, with a stack named that
 * has no fused attention. */
bool msim_attention_is_in_parts(const struct msim_platform *p,
                                const struct msim_work *w);

/* The estimate of such an attention: the sum of its parts. Statuses as those of
 * msim_model_predict(). */
MSIM_MUST_CHECK
enum msim_status msim_attention_parts(const struct msim_platform *p,
                                      const struct msim_work *w,
                                      struct msim_estimate *out);

/* Append to `out` how each part is estimated. */
void msim_attention_parts_explain(const struct msim_platform *p,
                                  const struct msim_work *w, FILE *out);

#endif
