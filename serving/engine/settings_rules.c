/*
 * serving/engine/settings_rules.c - from settings of engines to rules.
 */
#include "serving/engine/replica.h"

static uint32_t cut(int64_t n, int64_t least)
{
    int64_t most = INT32_MAX;

    return (uint32_t)(n < least ? least : n > most ? most : n);
}

static enum msim_batch_policy policy_of(const struct msim_engine_settings *s)
{
    if (s->is_static)
        return MSIM_BATCH_STATIC;
    return s->mixed ? MSIM_BATCH_MIXED : MSIM_BATCH_PREFILL_FIRST;
}

struct msim_replica_rules
msim_replica_rules_of(const struct msim_engine_settings *settings,
                      uint32_t ranks)
{
    enum msim_batch_policy policy = policy_of(settings);
    int64_t tokens = settings->max_num_batched_tokens;

    if (policy == MSIM_BATCH_PREFILL_FIRST)
        tokens /= ranks;
    return (struct msim_replica_rules){
        .policy = policy,
        .chunked_prefill = settings->chunked_prefill,
        .prefix_caching = settings->prefix_caching,
        .by_priority = settings->by_priority,
        .reserve_output = settings->no_evict,
        .wait_tokens =
            cut((int64_t)(settings->wait_tokens * (double)tokens), 0),
        .wait_steps = ranks > 1 ? 0 : cut(settings->wait_steps, 0),
        .max_num_seqs = cut(settings->max_num_seqs, 1),
        .max_num_batched_tokens = cut(tokens, 1),
        .max_model_len = cut(settings->max_model_len, 0),
        .block_size = cut(settings->block_size, 1),
        .ranks = ranks,
        .rank_choice = settings->engine == MSIM_LLM_SGLANG ? MSIM_RANK_ROUND
                                                           : MSIM_RANK_LEAST};
}
