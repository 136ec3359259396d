/* serving/app/engine_settings.c and serving/engine/settings_rules.c: defaults
 * of each engine, those that go with the machine, and the rules they make. */
#include "serving/app/app.h"
#include "serving/engine/replica.h"
#include "tests/check.h"

/* Documented defaults: vLLM batches 256 sequences and, by GPU, 8,192 or 2,048
 * tokens; SGLang chunks of 8,192 and sequences by memory; TensorRT-LLM 2,048
 * and 8,192, whole prompts. */
static void test_engine_settings__by_program(void)
{
    struct msim_engine_settings s = msim_engine_settings_of(MSIM_LLM_VLLM);

    CHECK_INT(s.engine, MSIM_LLM_VLLM);
    CHECK(s.chunked_prefill && s.mixed && s.prefix_caching && !s.no_evict);
    CHECK_INT(s.max_num_seqs, 256);
    CHECK_INT(s.max_num_batched_tokens, 0);
    CHECK_INT(s.block_size, 16);
    s = msim_engine_settings_of(MSIM_LLM_SGLANG);
    CHECK_INT(s.engine, MSIM_LLM_SGLANG);
    CHECK(s.chunked_prefill && !s.mixed);
    CHECK_INT(s.max_num_seqs, 0);
    CHECK_INT(s.max_num_batched_tokens, 8192);
    s = msim_engine_settings_of(MSIM_LLM_TRTLLM);
    CHECK_INT(s.engine, MSIM_LLM_TRTLLM);
    CHECK(!s.chunked_prefill && s.mixed && s.no_evict && s.share_is_of_rest);
    CHECK_INT(s.max_num_seqs, 2048);
    CHECK_INT(s.block_size, 32);
}

static struct msim_engine_settings settled(enum msim_llm_engine e, double gib,
                                           int64_t kv_tokens, int64_t longest)
{
    struct msim_engine_settings s = msim_engine_settings_of(e);

    msim_engine_settings_settle(&s, gib, kv_tokens, longest);
    return s;
}

/* vLLM: 8,192 tokens from 70 GiB on. */
static void test_engine_settings__by_memory_of_the_gpu(void)
{
    CHECK_INT(settled(MSIM_LLM_VLLM, 69.9, 1, 1).max_num_batched_tokens, 2048);
    CHECK_INT(settled(MSIM_LLM_VLLM, 70, 1, 1).max_num_batched_tokens, 8192);
    CHECK_INT(settled(MSIM_LLM_VLLM, 70, 1, 500).max_model_len, 500);
}

/* SGLang: 512 for each longest sequence in the cache, 2,048 to 4,096. */
static void test_engine_settings__by_memory_of_the_cache(void)
{
    CHECK_INT(settled(MSIM_LLM_SGLANG, 70, 1000, 1000).max_num_seqs, 2048);
    CHECK_INT(settled(MSIM_LLM_SGLANG, 70, 5000, 1000).max_num_seqs, 2560);
    CHECK_INT(settled(MSIM_LLM_SGLANG, 70, 9000, 1000).max_num_seqs, 4096);
    CHECK_INT(settled(MSIM_LLM_SGLANG, 70, 6, 1).max_num_seqs, 3072);
    /* the longest is not stated */
    CHECK_INT(settled(MSIM_LLM_SGLANG, 70, 6, 0).max_num_seqs, 3072);
}

/* What is set stays; a step without chunks has room for one prompt. */
static void test_engine_settings__what_is_set_stays(void)
{
    struct msim_engine_settings s = msim_engine_settings_of(MSIM_LLM_TRTLLM);

    s.max_model_len = 8193;
    s.max_num_seqs = 3;
    msim_engine_settings_settle(&s, 80, 1, 500000);
    CHECK_INT(s.max_model_len, 8193);
    CHECK_INT(s.max_num_seqs, 3);
    CHECK_INT(s.max_num_batched_tokens, 8193);
    s.max_model_len = 8000;
    s.max_num_batched_tokens = 8100;
    msim_engine_settings_settle(&s, 80, 1, 500000);
    CHECK_INT(s.max_num_batched_tokens, 8100);
    s.chunked_prefill = true;
    s.max_num_batched_tokens = 100;
    msim_engine_settings_settle(&s, 80, 1, 500000);
    CHECK_INT(s.max_num_batched_tokens, 100);
}

/* ---- rules --------------------------------------------------------------- */

static void test_settings_rules__members(void)
{
    struct msim_engine_settings s = {.engine = MSIM_LLM_VLLM,
                                     .mixed = true,
                                     .chunked_prefill = true,
                                     .no_evict = true,
                                     .max_num_seqs = 5,
                                     .max_num_batched_tokens = 1000,
                                     .max_model_len = 70,
                                     .block_size = 16,
                                     .wait_steps = 9,
                                     .wait_tokens = 0.25};
    struct msim_replica_rules r = msim_replica_rules_of(&s, 1);

    CHECK_INT(r.policy, MSIM_BATCH_MIXED);
    CHECK(r.chunked_prefill && r.reserve_output);
    CHECK(!r.prefix_caching && !r.by_priority);
    CHECK_INT(r.max_num_seqs, 5);
    CHECK_INT(r.max_num_batched_tokens, 1000);
    CHECK_INT(r.max_model_len, 70);
    CHECK_INT(r.block_size, 16);
    CHECK_INT(r.wait_tokens, 250);
    CHECK_INT(r.wait_steps, 9);
    CHECK_INT(r.ranks, 1);
    CHECK_INT(r.rank_choice, MSIM_RANK_LEAST);
    s.chunked_prefill = s.no_evict = false;
    s.prefix_caching = s.by_priority = true;
    r = msim_replica_rules_of(&s, 2); /* ranks in step do not wait */
    CHECK(!r.chunked_prefill && !r.reserve_output);
    CHECK(r.prefix_caching && r.by_priority);
    CHECK_INT(r.wait_steps, 0);
    CHECK_INT(r.max_num_batched_tokens, 1000);
    CHECK_INT(r.ranks, 2);
}

/* SGLang's ranks share the chunk. */
static void test_settings_rules__policies(void)
{
    struct msim_engine_settings s = {.engine = MSIM_LLM_SGLANG,
                                     .max_num_batched_tokens = 1000};
    struct msim_replica_rules r = msim_replica_rules_of(&s, 4);

    CHECK_INT(r.policy, MSIM_BATCH_PREFILL_FIRST);
    CHECK_INT(r.max_num_batched_tokens, 250);
    CHECK_INT(r.rank_choice, MSIM_RANK_ROUND);
    s.mixed = true;
    r = msim_replica_rules_of(&s, 4);
    CHECK_INT(r.policy, MSIM_BATCH_MIXED);
    CHECK_INT(r.max_num_batched_tokens, 1000);
    s.is_static = true;
    s.mixed = false;
    r = msim_replica_rules_of(&s, 4);
    CHECK_INT(r.policy, MSIM_BATCH_STATIC);
    CHECK_INT(r.max_num_batched_tokens, 1000);
}

/* Numbers beyond what a rule holds, and below what it may be. */
static void test_settings_rules__are_cut(void)
{
    const int64_t big = INT32_MAX + INT64_C(1);
    struct msim_engine_settings s = {.max_num_seqs = big,
                                     .mixed = true,
                                     .max_num_batched_tokens = 2 * big,
                                     .max_model_len = big,
                                     .block_size = big,
                                     .wait_steps = big,
                                     .wait_tokens = 1};
    struct msim_replica_rules r = msim_replica_rules_of(&s, 1);

    CHECK_INT(r.max_num_seqs, INT32_MAX);
    CHECK_INT(r.max_num_batched_tokens, INT32_MAX);
    CHECK_INT(r.max_model_len, INT32_MAX);
    CHECK_INT(r.block_size, INT32_MAX);
    CHECK_INT(r.wait_steps, INT32_MAX);
    CHECK_INT(r.wait_tokens, INT32_MAX);
    s = (struct msim_engine_settings){0};
    r = msim_replica_rules_of(&s, 1);
    CHECK_INT(r.max_num_seqs, 1);
    CHECK_INT(r.max_num_batched_tokens, 1);
    CHECK_INT(r.max_model_len, 0);
    CHECK_INT(r.block_size, 1);
    CHECK_INT(r.wait_steps, 0);
    CHECK_INT(r.wait_tokens, 0);
}

int main(void)
{
    RUN(test_engine_settings__by_program);
    RUN(test_engine_settings__by_memory_of_the_gpu);
    RUN(test_engine_settings__by_memory_of_the_cache);
    RUN(test_engine_settings__what_is_set_stays);
    RUN(test_settings_rules__members);
    RUN(test_settings_rules__policies);
    RUN(test_settings_rules__are_cut);
    return check_summary();
}
