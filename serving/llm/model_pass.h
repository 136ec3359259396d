/*
 * serving/llm/model_pass.h - one pass of an encoder, a reranker or a vision
 * model over a batch: what a stage of kind `model` serves.
 *
 * Of a described model the forward half of the works of plan/parts, of the
 * whole batch at once on one GPU in 16 bits, kernel after kernel, and what the
 * host takes of it. A decoder that embeds or ranks has no logits. Times are
 * tabulated at powers of two of batch and tokens, and in between follow the
 * logarithms.
 */
#ifndef MSIM_SERVING_LLM_MODEL_PASS_H
#define MSIM_SERVING_LLM_MODEL_PASS_H
#include "core/base/status.h"
#include "plan/describe/describe.h"

struct msim_platform; /* models/platform/platform.h */

struct msim_model_pass; /* opaque; not thread-safe: one a thread */

/* `m` and `p` must live as long as the result. ENOMODEL where the platform
 * cannot run it, EUSAGE for a model that has no pass of that kind, ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_model_pass_new(struct msim_model_pass **out,
                                     const struct msim_described *m,
                                     const struct msim_platform *p,
                                     struct msim_error *err);

/* What a pass of `batch` inputs of `tokens` tokens takes, us. */
typedef enum msim_status msim_pass_price(double *us, void *ctx, double batch,
                                         double tokens, struct msim_error *err);

/* Likewise of whoever prices passes; their length does not count where `tokens`
 * is 0, else one of a length near it is tried. `ctx` must live as long. What
 * `price` fails with, ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_model_pass_of(struct msim_model_pass **out,
                                    msim_pass_price *price, void *ctx,
                                    double tokens, struct msim_error *err);
void msim_model_pass_free(struct msim_model_pass *pass); /* accepts NULL */

/* Microseconds of a pass over `batch` inputs of `tokens` tokens each (an image
 * has its own number; there they do not count). */
double msim_model_pass_us(struct msim_model_pass *pass, double batch,
                          double tokens);

/* Does the length of inputs count? */
bool msim_model_pass_has_tokens(const struct msim_model_pass *pass);

/* Multiply all times: recorded passes over the law's. */
void msim_model_pass_correct(struct msim_model_pass *pass, double factor);

/* Half of the 90 % interval of the logarithm of a pass by the law alone. Set by
 * hand: no table has measured passes of served encoders. */
#define MSIM_MODEL_PASS_HALF 0.5

#endif
