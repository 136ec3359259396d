/*
 * serving/llm/model_pass.h - one pass of an encoder, a reranker or a vision
 * model over a batch: what a stage of kind `model` serves.
 *
 * The forward half of the works of plan/parts, of the whole batch at once on
 * one GPU in 16 bits, kernel after kernel, and what the host takes of it. A
 * decoder that embeds or ranks has no logits. Times are tabulated at powers of
 * two of batch and tokens, and in between follow the logarithms.
 */
#ifndef MSIM_SERVING_LLM_MODEL_PASS_H
#define MSIM_SERVING_LLM_MODEL_PASS_H
#include "core/base/status.h"
#include "plan/describe/described.h"

struct msim_platform; /* models/platform/platform.h */

struct msim_model_pass; /* opaque; not thread-safe: one a thread */

/* `m` and `p` must live as long as the result. ENOMODEL where the platform
 * cannot run it, EUSAGE for a model that has no pass of that kind, ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_model_pass_new(struct msim_model_pass **out,
                                     const struct msim_described *m,
                                     const struct msim_platform *p,
                                     struct msim_error *err);
void msim_model_pass_free(struct msim_model_pass *pass); /* accepts NULL */

/* Microseconds of a pass over `batch` inputs of `tokens` tokens each (an image
 * has its own number; there they do not count). */
double msim_model_pass_us(struct msim_model_pass *pass, double batch,
                          double tokens);

/* A recorded pass corrects all: its time over the law's. What is not positive
 * is ignored. */
void msim_model_pass_measured(struct msim_model_pass *pass, double batch,
                              double tokens, double us);

/* Half of the 90 % interval of the logarithm of a pass. */
double msim_model_pass_half(const struct msim_model_pass *pass);

#endif
