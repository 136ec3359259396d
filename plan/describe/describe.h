/*
 * plan/describe/describe.h - models by their numbers: as users describe them,
 * by name, and as what they come to.
 */
#ifndef MSIM_PLAN_DESCRIBE_DESCRIBE_H
#define MSIM_PLAN_DESCRIBE_DESCRIBE_H
#include "core/base/status.h"
#include "core/json/fields.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- described ----------------------------------------------------------- */
/*
 * A model by its usual numbers.
 *
 * A transformer (decoder, encoder, vision transformer) or a recommendation
 * model (DLRM). What a type does not have is 0.
 */

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
        /* A token's experts are of so many of so many groups (DeepSeek's
         * routing, which keeps a token on few nodes); 0: of all. */
        int64_t topk_groups, groups;
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

/* ---- describe ------------------------------------------------------------ */
/*
 * Reading models by their usual numbers, with no trace.
 *
 * Read from a file of ours (data/models has examples) or from the config.json
 * of a Hugging Face model (Llama, Mistral, Qwen, Mixtral, DeepSeek, GPT-2,
 * BERT, RoBERTa, ViT and others with the same names).
 */

/*
 * Read the model at `path`. EFORMAT names the member, what was found and what
 * was wanted; EIO, ESYNTAX as msim_json_read().
 */
MSIM_MUST_CHECK
enum msim_status msim_described_read(struct msim_described *m, const char *path,
                                     struct msim_error *err);

struct cJSON;
/* The same of an object that stands in `file`, which errors name. */
MSIM_MUST_CHECK
enum msim_status msim_described_parse(struct msim_described *m,
                                      const struct cJSON *object,
                                      const char *file, struct msim_error *err);

struct msim_fields;
/* The same of an object within a file, whose path errors begin with: "model.".
 * A model without a name has that of its member. Errors stay in `f`. */
void msim_described_take(struct msim_described *m, struct msim_fields *f);

/* Whether an object has the members of a model, ours or Hugging Face's. */
bool msim_described_looks(const struct cJSON *object);

/* Whether it is the path of a file: it holds a '/' or ends in .json. */
bool msim_described_is_path(const char *name);

/* Whether it may be a model's name: no path, or one that is not there and has
 * an organisation in front ("Qwen/Qwen3-8B"). */
bool msim_described_may_be_name(const char *name);

/*
 * The model that `name` stands for: a path, else NAME.json in
 * `data_dir`/models, else in `beside` (may be NULL), else what it means of the
 * first ("meta-llama/Llama-3.1-8B-Instruct": "model names").
 * EUNKNOWN says which is near, else lists the known names.
 */
MSIM_MUST_CHECK
enum msim_status msim_described_find(struct msim_described *m, const char *name,
                                     const char *data_dir, const char *beside,
                                     struct msim_error *err);

/* What the file of that model says, as JSON on one line; the caller frees
 * `*json`. */
MSIM_MUST_CHECK
enum msim_status msim_described_source(char **json, const char *name,
                                       const char *data_dir,
                                       struct msim_error *err);

/*
 * Whether `name` stands for a model and not for a trace: a name of
 * `data_dir`/models, or a file of one JSON object of at most 1 MB that says
 * nothing of what traces begin with ("nodes", "traceEvents"). A file that is
 * not there counts as none.
 */
bool msim_described_is(const char *name, const char *data_dir);

/* ---- job model ----------------------------------------------------------- */
/*
 * A described model of another width, of other heads, another MLP, another
 * vocabulary, another depth: the changes that a traced step has by the same
 * names (core/reshape/reshape.h, core/rewrite/layers.c), with the same meaning.
 */

/* X(name) */
#define MSIM_JOB_SIZE_MAP(X) X(hidden) X(heads) X(ffn) X(vocab)

/* `to` 0: as it is; `from` 0: whatever it is. */
struct msim_job_model {
#define X(name)                                                                \
    struct {                                                                   \
        int64_t from, to;                                                      \
    } name;
    MSIM_JOB_SIZE_MAP(X)
#undef X
    int64_t layers; /* 0: as many as they are */
};

bool msim_job_model_is_same(const struct msim_job_model *c);
/* The same but for its depth: kernels of the same sizes, more often or less. */
bool msim_job_model_has_same_sizes(const struct msim_job_model *c);

/* Read the change `key` of `f`, one of those names or "layers". */
void msim_job_model_read(struct msim_job_model *c, struct msim_fields *f,
                         const char *key);

/* The model that it makes of `base`; false, with the reason in `why`: `base`
 * cannot be changed so. */
bool msim_job_model_make(struct msim_described *out,
                         const struct msim_described *base,
                         const struct msim_job_model *c, char *why,
                         size_t size);

/* ---- model names --------------------------------------------------------- */
/*
 * Which file a model's name means.
 *
 * Names are compared without organisation, case and punctuation, so that
 * "meta-llama/Llama-3.1-8B" is llama3.1-8b. `data_dir`/models/names.csv has
 * what makers add to a name of the same shape ("Instruct", "FP8"), and names
 * that begin as another's does (DeepSeek-R1 is DeepSeek-V3).
 */

/* What may follow the name of a file. */
enum msim_model_rest {
    MSIM_MODEL_REST_KNOWN, /* what names.csv has, versions and dates */
    MSIM_MODEL_REST_ANY    /* whatever tables say of a served model */
};

/*
 * The file in `folder` for `name`, into `path`: the longest file name that
 * `name` begins with, as typed, else as names.csv begins it; of a distilled
 * model the student's, which follows "Distill". EUNKNOWN where there is none,
 * EIO where the folder cannot be read. Without names.csv nothing is added.
 */
MSIM_MUST_CHECK
enum msim_status msim_model_name_find(char *path, size_t size,
                                      const char *folder, const char *data_dir,
                                      const char *name,
                                      enum msim_model_rest rest,
                                      struct msim_error *err);

#endif
