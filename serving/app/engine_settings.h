/*
 * serving/app/engine_settings.h - how an LLM engine was told to batch, under
 * one set of names for vLLM V1, SGLang and TensorRT-LLM.
 *
 * Each program's own argument names are read as well. What a file does not say
 * is that program's default. Two defaults go with the machine; they are 0 here
 * until msim_engine_settings_settle() has seen it.
 */
#ifndef MSIM_SERVING_APP_ENGINE_SETTINGS_H
#define MSIM_SERVING_APP_ENGINE_SETTINGS_H
#include "serving/llm/llm_words.h"

#include <stdbool.h>
#include <stdint.h>

struct msim_engine_settings {
    enum msim_llm_engine engine;
    bool is_static;       /* a batch is served to its end before the next */
    bool chunked_prefill; /* a prompt may be computed in parts */
    bool mixed;           /* prompts and single tokens in one step; else steps
                             of prompts come first */
    bool prefix_caching;
    bool by_priority; /* of classes; else in order of arrival */
    bool no_evict;    /* room for the whole answer is kept from the start, so
                         that nothing is preempted */
    int64_t max_num_seqs;           /* 0: by memory, until settled */
    int64_t max_num_batched_tokens; /* of a step; 0: likewise */
    int64_t block_size;             /* tokens of a block of KV cache */
    int64_t max_model_len;          /* 0: the model's, until settled */
    int64_t wait_steps; /* of TensorRT-LLM: steps that prompts wait for more, */
    double wait_tokens; /* until there are tokens for that share of a step */
    double gpu_memory_utilization; /* share of the memory for weights,
                                      workspace and KV cache */
    bool share_is_of_rest; /* ... for the KV cache, of what weights leave */
    double context_gib;    /* of CUDA's context, NCCL and its own buffers */
    int64_t profiled_seqs; /* whose logits its step of profiling has */
};

/* What a program does untold: a row of data/engines/defaults.csv. */
struct msim_engine_defaults {
    struct msim_engine_settings settings;
    /* max_num_batched_tokens, where it is 0: of GPUs from that memory on, of
     * smaller ones */
    double large_gpu_gib;
    int64_t large_gpu_tokens, small_gpu_tokens;
    /* max_num_seqs, where it is 0: for each longest sequence that the KV cache
     * holds, and within which limits */
    int64_t seqs_a_full_cache, seqs_least, seqs_most;
    /* Of closed loops whose table says one length: outputs are even from that
     * part below to that part above, as sequences get out of step. */
    double output_spread;
};

/* By engine; cmake/engine_rows.py makes C of the rows. */
extern const struct msim_engine_defaults msim_engine_table[MSIM_LLM_ENGINES];

/* Defaults of that program; settle them. */
struct msim_engine_settings msim_engine_settings_of(enum msim_llm_engine e);

/*
 * Put the defaults that go with the machine in place of 0: `gpu_gib` is the
 * memory of one GPU, `kv_tokens` what the KV cache of a replica holds,
 * `longest` the model's longest sequence (0: not stated). What is set stays.
 */
void msim_engine_settings_settle(struct msim_engine_settings *s, double gpu_gib,
                                 int64_t kv_tokens, int64_t longest);

#endif
