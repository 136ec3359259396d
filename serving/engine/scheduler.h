/*
 * serving/engine/scheduler.h - what one rank of an engine runs in a step:
 * sequences that wait and run, and their blocks of the KV cache.
 *
 * Private to this room: replica.c puts ranks together, schedule_POLICY.c decide
 * what a step has. Each of those gives sequences of `running` tokens to compute
 * (`now`); msim_sched_end() is common to all.
 *
 * Tokens of a sequence: `input` + `made` are known, `computed` of them are in
 * the KV cache. It decodes when one token is left to compute, which was made by
 * the step before; what computes more is `prefilling`.
 */
#ifndef MSIM_SERVING_ENGINE_SCHEDULER_H
#define MSIM_SERVING_ENGINE_SCHEDULER_H
#include "serving/engine/batch_rules.h"
#include "serving/engine/kv_cache.h"
#include "serving/llm/llm_step.h"

#define MSIM_NEW_TOKEN_RATIO 0.7 /* schedule_prefill_first.c */

struct msim_seq {
    uint64_t order; /* of arrival; of SGLang's retracted ones, of retraction */
    const uint64_t *hashes;
    uint32_t units, held; /* of the prompt: with a hash; held in the cache */
    uint32_t plain;       /* blocks taken besides */
    uint32_t handle, input, output;
    uint32_t made, computed, now;
    int32_t priority;
    bool prefilling;
    bool prefilled; /* its KV cache comes from elsewhere, when admitted */
    bool done;      /* of a static batch: padding from now on */
    uint32_t spare; /* the next one that is not in use */
};

struct msim_sched {
    const struct msim_replica_rules *rules;
    struct msim_kv_cache kv;
    uint32_t unit_tokens;             /* of a hash */
    uint32_t sequence_blocks, window; /* msim_llm_times, in blocks; tokens */
    struct msim_seq *seqs;
    uint32_t n, cap, spare;
    uint32_t *waiting, n_waiting;  /* a heap: what comes next is first */
    uint32_t *running, n_running;  /* in order of admission */
    struct msim_llm_chunk *chunks; /* of the step */
    struct msim_llm_step step;
    uint64_t next_order;
    uint32_t waited;        /* steps that prompts have waited for others */
    double new_token_ratio; /* of SGLang */
    uint64_t preemptions, prompt_tokens, hit_tokens;
};

MSIM_MUST_CHECK
enum msim_status msim_sched_init(struct msim_sched *s,
                                 const struct msim_replica_rules *rules,
                                 uint32_t kv_blocks);
void msim_sched_release(struct msim_sched *s);

/* ENOMEM changes nothing. The output is one that fits. */
MSIM_MUST_CHECK
enum msim_status msim_sched_add(struct msim_sched *s,
                                const struct msim_llm_request *request,
                                uint32_t output_tokens, uint32_t handle);

/* Decide what runs in the next step; `s->step` describes it. */
void msim_sched_begin(struct msim_sched *s);
/* It ended: first and last tokens, at most one a running sequence, into
 * `tokens`; how many. */
uint32_t msim_sched_end(struct msim_sched *s, struct msim_llm_token *tokens);

/* Let `s->step` be what running sequences compute now. */
void msim_sched_describe(struct msim_sched *s);

/* --- for schedule_POLICY.c --- */

void msim_schedule_mixed(struct msim_sched *s);
void msim_schedule_prefill_first(struct msim_sched *s);
void msim_schedule_static(struct msim_sched *s);

static inline struct msim_seq *msim_sched_next(const struct msim_sched *s)
{
    return &s->seqs[s->waiting[0]];
}

/* Tokens of the sequence that are known and not in the KV cache. */
static inline uint32_t msim_seq_left(const struct msim_seq *q)
{
    return q->input + q->made - q->computed;
}

/* Blocks so that `tokens` of it have room; false: too few are free. */
bool msim_sched_reserve(struct msim_sched *s, struct msim_seq *q,
                        uint32_t tokens);

/* Let it compute `now` tokens, for which it has blocks, in this step. */
void msim_sched_run(struct msim_sched *s, struct msim_seq *q, uint32_t now);

/* What the next one that waits finds in the prefix cache is its own from now
 * on; how many tokens it then has to compute. */
uint32_t msim_sched_open(struct msim_sched *s);
/* That is taken back: it does not fit now. */
void msim_sched_close(struct msim_sched *s);
/* The next one that waits runs from now on. */
struct msim_seq *msim_sched_admit(struct msim_sched *s);

/* Take running[i] off: it waits, with `order`, to be computed again. */
void msim_sched_preempt(struct msim_sched *s, uint32_t i, uint64_t order);

#endif
