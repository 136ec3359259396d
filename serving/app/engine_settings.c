/*
 * serving/app/engine_settings.c - defaults that go with the machine.
 */
#include "serving/app/app.h"

struct msim_engine_settings msim_engine_settings_of(enum msim_llm_engine e)
{
    return msim_engine_table[e].settings;
}

static int64_t sequences_by_memory(const struct msim_engine_defaults *of,
                                   int64_t kv_tokens, int64_t longest)
{
    double n = (double)kv_tokens / (double)(longest > 0 ? longest : 1) *
               (double)of->seqs_a_full_cache;

    return n < (double)of->seqs_least  ? of->seqs_least
           : n > (double)of->seqs_most ? of->seqs_most
                                       : (int64_t)n;
}

void msim_engine_settings_settle(struct msim_engine_settings *s, double gpu_gib,
                                 int64_t kv_tokens, int64_t longest)
{
    const struct msim_engine_defaults *of = &msim_engine_table[s->engine];

    if (s->max_model_len == 0)
        s->max_model_len = longest;
    if (s->max_num_seqs == 0)
        s->max_num_seqs = sequences_by_memory(of, kv_tokens, s->max_model_len);
    if (s->max_num_batched_tokens == 0)
        s->max_num_batched_tokens = gpu_gib >= of->large_gpu_gib
                                        ? of->large_gpu_tokens
                                        : of->small_gpu_tokens;
    /* Whole prompts only: one must have room in a step. */
    if (!s->chunked_prefill && s->max_num_batched_tokens < s->max_model_len)
        s->max_num_batched_tokens = s->max_model_len;
}
