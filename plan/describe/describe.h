/*
 * plan/describe/describe.h - a transformer by its usual numbers, with no trace.
 *
 * Read from a file of ours (data/models has examples) or from the config.json
 * of a Hugging Face model (Llama, Mistral, Qwen, Mixtral, DeepSeek, GPT-2 and
 * others with the same names).
 */
#ifndef MSIM_PLAN_DESCRIBE_DESCRIBE_H
#define MSIM_PLAN_DESCRIBE_DESCRIBE_H
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum msim_positions {
    MSIM_POSITIONS_ROPE,
    MSIM_POSITIONS_LEARNED,
    MSIM_POSITIONS_ALIBI,
    MSIM_POSITIONS_NONE
};

struct msim_described {
    char name[64];
    bool encoder;   /* attention is not causal */
    bool tied;      /* the head uses the embedding's table */
    bool gated;     /* three matrices in a feed-forward network, else two */
    bool layernorm; /* else RMS norm */
    bool bias;      /* of linear layers */
    bool qk_norm;   /* queries and keys are normalised */
    enum msim_positions positions;
    int64_t layers, hidden, heads, kv_heads, head_dim;
    int64_t ffn; /* of a dense layer; 0: all layers have experts */
    int64_t vocab;
    int64_t window, window_every; /* keys that every n-th layer sees; 0: all */
    struct {                      /* DeepSeek's attention; kv_rank 0: not */
        int64_t q_rank, kv_rank, nope_dim, rope_dim, v_dim;
    } mla;
    struct { /* experts 0: none */
        int64_t experts, topk;
        int64_t ffn;            /* of one expert */
        int64_t shared_experts; /* that every token takes */
        int64_t dense_layers;   /* the first ones, without experts */
    } moe;
    int64_t mtp_layers; /* that predict further tokens */
};

/*
 * Read the model at `path`. EFORMAT names the member, what was found and what
 * was wanted; EIO, ESYNTAX as msim_json_read().
 */
MSIM_MUST_CHECK
enum msim_status msim_described_read(struct msim_described *m, const char *path,
                                     struct msim_error *err);

/*
 * The model that `name` stands for: a path where it holds a '/' or ends in
 * .json, else NAME.json in `data_dir`/models, else in `beside` (may be NULL).
 * EUNKNOWN lists the known names.
 */
MSIM_MUST_CHECK
enum msim_status msim_described_find(struct msim_described *m, const char *name,
                                     const char *data_dir, const char *beside,
                                     struct msim_error *err);

/* Parameters of the whole model, by its numbers. */
double msim_described_parameters(const struct msim_described *m);

/* Layers that have experts. */
int64_t msim_described_moe_layers(const struct msim_described *m);

#endif
