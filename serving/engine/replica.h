/*
 * serving/engine/replica.h - replicas of an LLM engine: how they batch, one as
 * a state machine, several on one clock.
 */
#ifndef MSIM_SERVING_ENGINE_REPLICA_H
#define MSIM_SERVING_ENGINE_REPLICA_H
#include "core/base/status.h"
#include "core/base/units.h"
#include "serving/app/app.h"
#include "serving/llm/llm.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- batch rules --------------------------------------------------------- */
/* How an LLM engine batches, what it is asked for, and what it answers. */

enum msim_batch_policy {
    /* vLLM V1: one budget of tokens a step, first for what runs, then for
     * prompts that wait; without memory the last one to arrive is preempted and
     * computed again. With reserve_output and without chunked_prefill it is
     * TensorRT-LLM's in-flight batching. */
    MSIM_BATCH_MIXED,
    /* SGLang: prompts that wait and fit are computed first, in steps of their
     * own; what runs decodes between them. */
    MSIM_BATCH_PREFILL_FIRST,
    /* A batch is made of what waits, computed to the end of its longest
     * sequence, and only then is there another. */
    MSIM_BATCH_STATIC,
};

enum msim_rank_choice { /* of data parallel ranks, for a request */
                        /* vLLM: fewest running plus four times the waiting. */
                        MSIM_RANK_LEAST,
                        MSIM_RANK_ROUND,
};

struct msim_replica_rules {
    enum msim_batch_policy policy;
    bool chunked_prefill;
    bool prefix_caching;
    bool by_priority;    /* else in order of arrival */
    bool reserve_output; /* GUARANTEED_NO_EVICT: admitted with all its blocks */
    /* MSIM_BATCH_MIXED (TensorRT-LLM's batch waiting): while others decode,
     * prompts wait until they and those are so many tokens of a step, or for so
     * many steps; 0: they do not. */
    uint32_t wait_tokens, wait_steps;
    uint32_t max_num_seqs;           /* of a rank */
    uint32_t max_num_batched_tokens; /* of a rank's step; of SGLang the chunk */
    uint32_t max_model_len; /* input and output; 0: what memory holds */
    uint32_t block_size;    /* tokens of a block of the KV cache */
    uint32_t hash_tokens;   /* tokens that a hash of a request's prefix stands
                             * for, whole blocks; 0: block_size */
    /* Data parallel attention whose ranks step together, because experts are
     * spread over all of them: a step is as long as the slowest rank's. Ranks
     * that do not need each other are replicas of their own. */
    uint32_t ranks; /* 1 or more */
    enum msim_rank_choice rank_choice;
};

struct msim_llm_request {
    uint32_t input_tokens, output_tokens; /* 1 or more */
    int32_t priority;                     /* 0 is served first */
    /* The prompt is computed already, its KV cache comes from another replica,
     * as does the first token: `output_tokens` counts it, though it is not made
     * here. */
    bool prefilled;
    /* Hashes of the prompt's first whole units of hash_tokens; each stands for
     * its unit and all before it. The caller's, until the request has ended. */
    const uint64_t *hashes;
    uint32_t n_hashes;
};

/* A first or a last token that came out; those between are not told. */
struct msim_llm_token {
    uint32_t handle;
    bool first, last;
};

/* ---- settings rules ------------------------------------------------------ */
/* The rules that an engine's settings make. */

/*
 * The rules of a replica with settled settings, whose data parallel attention
 * has `ranks` ranks in step (1: none). Settings are those of one rank, but for
 * SGLang's chunk, which its ranks share (--enable-dp-attention divides
 * chunked_prefill_size by dp_size). Numbers beyond what a rule holds are cut.
 */
struct msim_replica_rules
msim_replica_rules_of(const struct msim_engine_settings *settings,
                      uint32_t ranks);

/* ---- replica ------------------------------------------------------------- */
/*
 * One replica of an LLM engine as a state machine.
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

/* How many tokens of its output a request that it takes is given. */
uint32_t msim_replica_output(const struct msim_replica *r,
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

/* ---- deployment ---------------------------------------------------------- */
/*
 * Replicas of an LLM engine on one clock: replicas that do all, or replicas
 * that prefill and replicas that decode, with the KV cache sent from one to the
 * other.
 *
 * The caller has the clock: it adds requests at times that never go back, asks
 * when something happens next, and lets it happen. What is added at one time is
 * seen together by a replica that was idle, and what is added when a step ends
 * is seen by the next one.
 *
 *     msim_deployment_add(d, now, &request, handle, MSIM_NONE);
 *     at = msim_deployment_next(d);           MSIM_TIME_NONE: nothing runs
 *     tokens = msim_deployment_step(d, &n);   at that time
 *
 * Disaggregated: a prompt is computed on a prefill replica; its KV cache,
 * input_tokens x kv_token_bytes, goes over that replica's link, one request
 * after the other; then the first token comes out, and the request waits for a
 * place on the decode replica with the fewest requests. Programs differ in
 * which side makes the first token (vLLM's decode side computes the prompt's
 * last token again); with all of them the answer comes from the decode side.
 *
 * A request is on its way for `arrival_us` (HTTP, tokens of its text), and then
 * waits at its replica.
 *
 * Not thread-safe. Memory grows with the requests in flight.
 */

struct msim_replica_group {
    const struct msim_replica_rules *rules;
    const struct msim_llm_times *times; /* one for each replica */
    uint32_t replicas;
};

struct msim_deployment_setup {
    struct msim_replica_group serve;  /* all, or prefill alone */
    struct msim_replica_group decode; /* 0 replicas: not disaggregated */
    double kv_token_bytes;
    double kv_transfer_gbps; /* GB/s of a prefill replica's link; 0: no time */
    double arrival_us; /* from msim_deployment_add() until a replica has it */
};

struct msim_deployment; /* opaque */

/* Fails as msim_replica_new(). What groups point to but `times` (whose ctx must
 * live as long) need not outlive the call. */
MSIM_MUST_CHECK
enum msim_status msim_deployment_new(struct msim_deployment **out,
                                     const struct msim_deployment_setup *setup);
void msim_deployment_free(struct msim_deployment *d); /* accepts NULL */

/*
 * A request at `now`, to serve replica `replica`, or with MSIM_NONE to the one
 * with the fewest requests (the first of those). `request->hashes` stay the
 * caller's until it has ended. Fails as msim_replica_add().
 */
MSIM_MUST_CHECK
enum msim_status msim_deployment_add(struct msim_deployment *d, msim_ps now,
                                     const struct msim_llm_request *request,
                                     uint32_t handle, uint32_t replica);

/* As msim_replica_output(), of all replicas that a request goes through. */
uint32_t msim_deployment_output(const struct msim_deployment *d,
                                const struct msim_llm_request *request);

/* When something happens next; MSIM_TIME_NONE: not before a request comes. */
msim_ps msim_deployment_next(const struct msim_deployment *d);

/* Let it happen: `*n` first and last tokens, which may be none; valid until
 * the next call. There must be something. */
const struct msim_llm_token *msim_deployment_step(struct msim_deployment *d,
                                                  uint32_t *n);

/* Kept up to date by what is added and what happens: replicas where something
 * runs; requests that wait, at any replica or at one, those on their way to it
 * among them. */
uint32_t msim_deployment_running(const struct msim_deployment *d);
uint32_t msim_deployment_waiting(const struct msim_deployment *d);
uint32_t msim_deployment_waiting_at(const struct msim_deployment *d,
                                    uint32_t replica);
/* Of the first `n` that serve, the first with the fewest requests, those on
 * their way to it among them, as whoever sent them knows. */
uint32_t msim_deployment_least(const struct msim_deployment *d, uint32_t n);
/* The replica where the last step, or the last request, changed something. */
uint32_t msim_deployment_changed(const struct msim_deployment *d);

/* Of a replica: of `serve`, and behind those of `decode`. */
const struct msim_replica *
msim_deployment_replica(const struct msim_deployment *d, uint32_t replica);

#endif
