/*
 * plan/describe/described.h - a model by its usual numbers.
 *
 * A transformer (decoder, encoder, vision transformer) or a recommendation
 * model (DLRM). What a type does not have is 0.
 */
#ifndef MSIM_PLAN_DESCRIBE_DESCRIBED_H
#define MSIM_PLAN_DESCRIBE_DESCRIBED_H
#include <stdbool.h>
#include <stdint.h>

/* X(name, the word) */
#define MSIM_MODEL_TYPE_MAP(X)                                                 \
    X(DECODER, "decoder")                                                      \
    X(ENCODER, "encoder")                                                      \
    X(VIT, "vit")                                                              \
    X(DLRM, "dlrm")

enum msim_model_type {
#define X(name, text) MSIM_MODEL_##name,
    MSIM_MODEL_TYPE_MAP(X)
#undef X
        MSIM_MODEL_TYPES
};

enum msim_positions {
    MSIM_POSITIONS_ROPE,
    MSIM_POSITIONS_LEARNED,
    MSIM_POSITIONS_ALIBI,
    MSIM_POSITIONS_NONE
};

enum msim_activation {
    MSIM_ACTIVATION_GELU,
    MSIM_ACTIVATION_RELU,
    MSIM_ACTIVATION_SILU
};

/*
 * What is trained on the last layer: the next token (LM); hidden tokens, by a
 * linear layer, an activation and a norm before the logits (MLM); that and
 * whether two sentences belong together (PRETRAINING); a class of the whole
 * sequence, from its first token (CLASSIFIER).
 */
enum msim_model_head {
    MSIM_MODEL_LM,
    MSIM_MODEL_MLM,
    MSIM_MODEL_PRETRAINING,
    MSIM_MODEL_CLASSIFIER
};

/* Which kernels the model's own code calls for attention: those of the GPU's
 * maker (cuDNN's), or FlashAttention of a version, which was written for GPUs
 * before Hopper. */
enum msim_attention_kernel {
    MSIM_ATTENTION_MAKERS,
    MSIM_ATTENTION_FLASH1,
    MSIM_ATTENTION_FLASH2
};

#define MSIM_DLRM_LAYERS 16 /* of one MLP, at most */
#define MSIM_DLRM_TABLES 64 /* kinds of tables, at most */

struct msim_described {
    char name[64];
    enum msim_model_type type;
    bool encoder;   /* attention is not causal */
    bool tied;      /* the head uses the embedding's table */
    bool gated;     /* three matrices in a feed-forward network, else two */
    bool layernorm; /* else RMS norm */
    bool bias;      /* of linear layers */
    bool qk_norm;   /* queries and keys are normalised */
    bool post_norm; /* norms follow the sums, else they precede the layers */
    bool pooler;    /* a linear layer and tanh before the classes */
    enum msim_positions positions;
    enum msim_activation activation; /* where it is not gated */
    int64_t layers, hidden, heads, kv_heads, head_dim;
    int64_t ffn; /* of a dense layer; 0: all layers have experts */
    int64_t vocab;
    enum msim_attention_kernel attention;
    int64_t window, window_every; /* keys that every n-th layer sees; 0: all */
    int64_t window_layers; /* that see so many, evenly spread, where a file
                              lists layers, and window_every is the nearest; 0:
                              by window_every */
    bool gated_attention;  /* what attention gives is gated, by a product as
                              wide as the queries' */
    struct { /* layers whose attention keeps a state of one size, of the gated
                delta rule; layers 0: none */
        int64_t layers, key_heads, value_heads, key_dim, value_dim, conv;
    } linear;
    struct { /* keys are chosen first, by narrow ones (DeepSeek's lightning
                indexer); topk 0: all keys are seen */
        int64_t heads, dim, topk;
    } index;
    struct { /* weights as files have them; bits 0: 16, all of them */
        int64_t bits, activation_bits;
        bool floating, block;          /* fp8 or fp4; scales of blocks */
        bool attention, dense, shared; /* those of attention, of dense layers,
                                          of shared experts, too */
    } stored;
    struct { /* DeepSeek's attention; kv_rank 0: not */
        int64_t q_rank, kv_rank, nope_dim, rope_dim, v_dim;
    } mla;
    struct { /* experts 0: none */
        int64_t experts, topk;
        int64_t ffn;            /* of one expert */
        int64_t shared_experts; /* that every token takes */
        int64_t dense_layers;   /* the first ones, without experts */
    } moe;
    int64_t mtp_layers; /* that predict further tokens */
    enum msim_model_head head;
    int64_t classes;                    /* of a CLASSIFIER */
    int64_t token_types, max_positions; /* rows of tables of an encoder */
    double dropout;                     /* the share that is dropped */
    int64_t context; /* of a decoder: tokens of the longest sequence that its
                        configuration states; 0: it states none */
    struct {         /* VIT: pixels a side */
        int64_t size, patch, channels;
    } image;
    struct {           /* DLRM */
        bool separate; /* tables are looked up one by one, and every rank has
                          all */
        int64_t dense; /* features that are numbers */
        int64_t dim;   /* of a vector, that of every table too */
        int64_t bottom[MSIM_DLRM_LAYERS], top[MSIM_DLRM_LAYERS]; /* outputs */
        uint32_t n_bottom, n_top, n_kinds;
        struct {
            int64_t rows, pooling, count; /* pooling: look-ups a bag */
        } tables[MSIM_DLRM_TABLES];
    } dlrm;
};

/* The type's word. */
const char *msim_model_type_text(enum msim_model_type t);

/* Tokens of an image, with the class token. */
int64_t msim_described_image_tokens(const struct msim_described *m);

/* The tokens of a sequence where `wanted` are asked for: images make as many as
 * they make, and a table of positions has no more than its rows. */
int64_t msim_described_sequence(const struct msim_described *m, int64_t wanted);

/* `usual` tokens, or as many as a decoder's configuration states where they are
 * fewer: of a sequence that nobody asks for. */
int64_t msim_described_usual_sequence(const struct msim_described *m,
                                      int64_t usual);

/* Layers that see a window alone, of those from `from` to before `to`. */
int64_t msim_described_windowed(const struct msim_described *m, int64_t from,
                                int64_t to);

/* Layers that have experts. */
int64_t msim_described_moe_layers(const struct msim_described *m);

/* Tables of a DLRM. */
int64_t msim_described_tables(const struct msim_described *m);

/* Numbers of products before the top MLP: its first layer's inputs. */
int64_t msim_described_interactions(const struct msim_described *m);

/* Parameters of the whole model, by its numbers. */
double msim_described_parameters(const struct msim_described *m);

#endif
