/*
 * serving/llm/llm.h - a served model: what it takes of its GPUs' memory, and
 * the times of its steps.
 *
 * A described model on a platform under an engine, split over tp x pp ranks
 * (attention over tp, or sequences over dp groups of tp ranks; experts over
 * ep x moe_tp of all tp x dp ranks). The works of a step (step_works.h) are
 * priced by the platform's models and summed by kind; the law (llm_law.h) has
 * a factor for each kind, and the host's time a step and a sequence.
 */
#ifndef MSIM_SERVING_LLM_LLM_H
#define MSIM_SERVING_LLM_LLM_H
#include "core/base/status.h"
#include "serving/llm/llm_setup.h"
#include "serving/llm/llm_step.h"

struct msim_llm; /* opaque; not thread-safe: one a thread */

/*
 * ECHECK where the model does not fit its GPUs ("needs 131.4 GiB, has 72.0
 * GiB"); EUSAGE where it cannot be split so; ENOMODEL where the platform cannot
 * run its works; ENOMEM. On success `*out` is the caller's.
 */
MSIM_MUST_CHECK
enum msim_status msim_llm_new(struct msim_llm **out,
                              const struct msim_llm_setup *setup,
                              struct msim_error *err);
void msim_llm_free(struct msim_llm *m); /* accepts NULL */

/* For an engine; valid as long as `m`. */
struct msim_llm_times msim_llm_times_of(struct msim_llm *m);
const struct msim_llm_memory *msim_llm_memory_of(const struct msim_llm *m);

/* Half of the 90 % interval of the logarithm of a figure. */
double msim_llm_half(const struct msim_llm *m, enum msim_llm_figure f);
/* Whether the law's constants saw rows of this model or this GPU. */
bool msim_llm_uses_rows(const struct msim_llm *m);

#endif
