/*
 * serving/engine/deployment.h - replicas of an LLM engine on one clock:
 * replicas that do all, or replicas that prefill and replicas that decode, with
 * the KV cache sent from one to the other.
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
#ifndef MSIM_SERVING_ENGINE_DEPLOYMENT_H
#define MSIM_SERVING_ENGINE_DEPLOYMENT_H
#include "core/base/units.h"
#include "serving/engine/replica.h"

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
