/*
 * serving/app/engine_settings.c - what each program does where it is not told.
 *
 * From the programs' own documentation: vLLM 0.10 (engine arguments; V1),
 * SGLang 0.5 (server arguments), TensorRT-LLM 1.0 (LLM API: TorchLlmArgs,
 * KvCacheConfig, SchedulerConfig).
 */
#include "serving/app/engine_settings.h"

static const struct msim_engine_settings DEFAULTS[] = {
    {.engine = MSIM_LLM_VLLM,
     .chunked_prefill = true,
     .mixed = true,
     .prefix_caching = true,
     .max_num_seqs = 256,
     .block_size = 16,
     .gpu_memory_utilization = 0.9},
    {.engine = MSIM_LLM_SGLANG,
     .chunked_prefill = true,
     .prefix_caching = true,
     .max_num_batched_tokens = 8192,
     .block_size = 1,
     .gpu_memory_utilization = 0.88},
    {.engine = MSIM_LLM_TRTLLM,
     .mixed = true,
     .prefix_caching = true,
     .no_evict = true,
     .max_num_seqs = 2048,
     .max_num_batched_tokens = 8192,
     .block_size = 32,
     .gpu_memory_utilization = 0.9,
     .share_is_of_rest = true},
};

/* vLLM: from this memory on a step has 8,192 tokens, below it 2,048. */
#define LARGE_GPU_GIB 70
#define LARGE_TOKENS  8192
#define SMALL_TOKENS  2048
/* SGLang: 512 sequences for each that fills the cache, but within these. */
#define SEQS_A_FULL_ONE 512
#define SEQS_LEAST      2048
#define SEQS_MOST       4096

struct msim_engine_settings msim_engine_settings_of(enum msim_llm_engine e)
{
    return DEFAULTS[e];
}

static int64_t sequences_by_memory(int64_t kv_tokens, int64_t longest)
{
    double n = (double)kv_tokens / (double)(longest > 0 ? longest : 1) *
               SEQS_A_FULL_ONE;

    return n < SEQS_LEAST ? SEQS_LEAST : n > SEQS_MOST ? SEQS_MOST : (int64_t)n;
}

void msim_engine_settings_settle(struct msim_engine_settings *s, double gpu_gib,
                                 int64_t kv_tokens, int64_t longest)
{
    if (s->max_model_len == 0)
        s->max_model_len = longest;
    if (s->max_num_seqs == 0)
        s->max_num_seqs = sequences_by_memory(kv_tokens, s->max_model_len);
    if (s->max_num_batched_tokens == 0)
        s->max_num_batched_tokens =
            gpu_gib >= LARGE_GPU_GIB ? LARGE_TOKENS : SMALL_TOKENS;
    /* Whole prompts only: one must have room in a step. */
    if (!s->chunked_prefill && s->max_num_batched_tokens < s->max_model_len)
        s->max_num_batched_tokens = s->max_model_len;
}
