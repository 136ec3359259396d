/*
 * serving/engine/replica_internal.h - what the files of serving/engine share;
 * no other room includes it.
 */
#ifndef MSIM_SERVING_ENGINE_REPLICA_INTERNAL_H
#define MSIM_SERVING_ENGINE_REPLICA_INTERNAL_H
#include "core/base/status.h"
#include "core/base/units.h"
#include "serving/engine/replica.h"
#include "serving/llm/llm.h"

/* ---- kv cache ------------------------------------------------------------ */
/*
 * The blocks of one rank's KV cache, and what prefixes of prompts free ones
 * still hold.
 *
 * Blocks are counted, not numbered: a sequence that has n tokens computed takes
 * ceil(n / block_size) of them. What is cached are units of `unit_blocks`
 * blocks, each known by a hash that stands for its tokens and all before them.
 * A unit that nobody holds is free and cached at once: the oldest free blocks
 * are handed out first, and only then does a unit forget its prefix. That is
 * what vLLM V1 does (its design page "Automatic Prefix Caching": one queue of
 * free blocks, least recently used at its head; blocks of a sequence are freed
 * from the last to the first).
 *
 *     free 5: [2 plain][unit A: 1][2 plain]     take 3: the first two, and A
 *
 * All calls are O(1) for each block or unit they are about. Nothing allocates
 * after msim_kv_init().
 */

struct msim_kv_cache {
    uint32_t total, free; /* blocks */
    uint32_t peak;        /* most that were not free */
    uint32_t unit_blocks; /* of one unit; 0: prefixes are not cached */
    /* private: */
    struct msim_kv_entry *entries;
    uint32_t n, spare;       /* entries in use once, and a list of those free */
    uint32_t oldest, newest; /* the queue of free blocks */
    uint32_t *table, mask;   /* entry + 1 by hash; 0: none */
};

/* ENOMEM leaves nothing to release. */
MSIM_MUST_CHECK
enum msim_status msim_kv_init(struct msim_kv_cache *kv, uint32_t total_blocks,
                              uint32_t unit_blocks);
void msim_kv_release(struct msim_kv_cache *kv);

/* How many of the first of `n` units are cached. */
uint32_t msim_kv_hits(const struct msim_kv_cache *kv, const uint64_t *hashes,
                      uint32_t n);

/* One holder more of units that are cached; they are not free then. */
void msim_kv_hold(struct msim_kv_cache *kv, const uint64_t *hashes, uint32_t n);

/* Take plain blocks; false, and nothing has changed, where too few are free. */
bool msim_kv_take(struct msim_kv_cache *kv, uint32_t blocks);

/* `unit_blocks` of the plain ones that the caller took become the unit `hash`,
 * held once. Where another sequence made it meanwhile, that one is held, and
 * the caller's blocks are free. */
void msim_kv_keep(struct msim_kv_cache *kv, uint64_t hash);

/* Give back plain blocks, and then the units, the last one first. */
void msim_kv_give(struct msim_kv_cache *kv, uint32_t plain,
                  const uint64_t *hashes, uint32_t n);

/* ---- scheduler ----------------------------------------------------------- */
/*
 * What one rank of an engine runs in a step: sequences that wait and run, and
 * their blocks of the KV cache.
 *
 * Private to this room: replica.c puts ranks together, schedule_POLICY.c decide
 * what a step has. Each of those gives sequences of `running` tokens to compute
 * (`now`); msim_sched_end() is common to all.
 *
 * Tokens of a sequence: `input` + `made` are known, `computed` of them are in
 * the KV cache. It decodes when one token is left to compute, which was made by
 * the step before; what computes more is `prefilling`.
 */

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
