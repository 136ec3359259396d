/*
 * serving/engine/replica.h - one replica of an LLM engine as a state machine.
 *
 * What runs in a step is decided as vLLM V1, SGLang or TensorRT-LLM decide it
 * (enum msim_batch_policy); how long the step takes is asked of the caller's
 * struct msim_llm_times. A replica knows no clock: it is told to begin a step,
 * answers how long it takes, and is told that the step has ended. Requests may
 * be added at any time; those added during a step wait for the next.
 *
 *     msim_replica_add(r, &request, handle);
 *     us = msim_replica_begin(r);       0: nothing to do until the next add
 *     tokens = msim_replica_end(r, &n); us later
 *
 * A step costs O(sequences that run), besides what arrives and leaves. Memory
 * grows with the requests that are waiting or running at one time, in
 * msim_replica_add() alone. The same calls give the same answers, bit for bit.
 * Not thread-safe.
 */
#ifndef MSIM_SERVING_ENGINE_REPLICA_H
#define MSIM_SERVING_ENGINE_REPLICA_H
#include "core/base/status.h"
#include "serving/engine/batch_rules.h"
#include "serving/llm/llm_step.h"

struct msim_replica_figures {
    uint64_t steps, preemptions;
    uint64_t step_seqs;                 /* sequences of all steps, summed */
    double busy_us;                     /* steps, summed */
    uint64_t prompt_tokens, hit_tokens; /* of prompts begun; from the cache */
    double kv_peak_share;               /* of the fullest rank */
};

struct msim_replica; /* opaque */

/*
 * `times` is kept; what it points to must live as long. `kv_tokens` of it are
 * the replica's, spread evenly over its ranks. On success `*out` is the
 * caller's. EUSAGE where a number is 0 that may not be, or a rank has no block.
 */
MSIM_MUST_CHECK
enum msim_status msim_replica_new(struct msim_replica **out,
                                  const struct msim_replica_rules *rules,
                                  const struct msim_llm_times *times);
void msim_replica_free(struct msim_replica *r); /* accepts NULL */

/*
 * The request waits from now on; `handle` is the caller's name for it. An
 * output that max_model_len or memory cannot hold is cut, as engines do; ELIMIT
 * where the prompt alone does not fit. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_replica_add(struct msim_replica *r,
                                  const struct msim_llm_request *request,
                                  uint32_t handle);

/* Whether msim_replica_add() would take it: OK, ELIMIT or EUSAGE. */
MSIM_MUST_CHECK
enum msim_status msim_replica_check(const struct msim_replica *r,
                                    const struct msim_llm_request *request);

/* Begin a step with what there is now: its duration in us, or 0 where nothing
 * can run. After each begin that is not 0 comes one end. */
double msim_replica_begin(struct msim_replica *r);

/* The step has ended: `*n` tokens, in order of ranks and of their sequences;
 * valid until the next call. */
const struct msim_llm_token *msim_replica_end(struct msim_replica *r,
                                              uint32_t *n);

/* Requests that wait, and that run. */
uint32_t msim_replica_waiting(const struct msim_replica *r);
uint32_t msim_replica_running(const struct msim_replica *r);
void msim_replica_figures_of(const struct msim_replica *r,
                             struct msim_replica_figures *figures);

#endif
