/*
 * plan/describe/describe_hub.c - the config.json of a Hugging Face model.
 *
 * What a file leaves out is what the classes of that model_type have
 * (transformers, configuration_bert.py and others): data/models/types.csv.
 */
#include "plan/describe/describe_internal.h"

#include <string.h>

bool msim_described_is_hub(const cJSON *json)
{
    return cJSON_HasObjectItem(json, "vocab_size") ||
           cJSON_HasObjectItem(json, "model_type");
}

/* The first of `keys` that says something, else the first: its name today. */
static const char *first_of(const struct msim_fields *f,
                            const char *const *keys)
{
    size_t i = 0;

    while (keys[i] && !msim_field_json(f, keys[i]))
        i++;
    return keys[keys[i] ? i : 0];
}

/* One number, or the same for each layer (Hunyuan's). What may be none may be
 * 0. */
static int64_t same_of(struct msim_fields *f, const char *key, int64_t missing)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(f->object, key), *item;

    if (!cJSON_IsArray(list) || !cJSON_IsNumber(list->child))
        return msim_field_int(f, key, missing != 0, missing);
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsNumber(item) ||
            item->valuedouble != list->child->valuedouble ||
            !(item->valuedouble >= 1) || item->valuedouble > INT32_MAX) {
            msim_field_refuse(f, key,
                              "a whole number from 1, or the same of "
                              "every layer");
            return 1;
        }
    }
    return (int64_t)list->child->valuedouble;
}

static int64_t int_of(struct msim_fields *f, int64_t missing,
                      const char *const *keys)
{
    return same_of(f, first_of(f, keys), missing);
}
#define INT_OF(f, missing, ...)                                                \
    int_of(f, missing, (const char *const[]){__VA_ARGS__, NULL})

static bool is_one_of(const char *word, const char *const *words)
{
    for (size_t i = 0; word && words[i]; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}
#define IS(word, ...) is_one_of(word, (const char *const[]){__VA_ARGS__, NULL})

/* ---- decoders ------------------------------------------------------------ */

/* Shared experts as whole ones of an expert's width, where a file has their
 * width alone; `untold` where it has neither. */
static int64_t shared_experts(const struct msim_described *m,
                              struct msim_fields *f, int64_t untold)
{
    static const char *const KEYS[] = {"n_shared_experts", "num_shared_experts",
                                       "num_shared_expert",
                                       "moe_num_shared_experts", NULL};
    const char *key = first_of(f, KEYS);
    int64_t width = msim_field_int(f, "shared_expert_intermediate_size", 0,
                                   untold * m->moe.ffn);
    int64_t n = m->moe.ffn > 0 ? (width + m->moe.ffn - 1) / m->moe.ffn : 0;

    return cJSON_IsArray(cJSON_GetObjectItem(f->object, key))
               ? same_of(f, key, n)
               : msim_field_int(f, key, 0, n);
}

/* Every n-th layer has experts, but for those that a list names. */
static int64_t dense_layers(const struct msim_described *m,
                            struct msim_fields *f)
{
    static const char *const FIRST[] = {"first_k_dense_replace",
                                        "moe_layer_start_index", NULL};
    int64_t every = INT_OF(f, 1, "decoder_sparse_step",
                           "interleave_moe_layer_step", "moe_layer_freq");
    int listed =
        cJSON_GetArraySize(cJSON_GetObjectItem(f->object, "mlp_only_layers"));

    return msim_field_int(f, first_of(f, FIRST), 0,
                          m->layers - m->layers / every + listed);
}

/* Experts by a name that nobody knows are no dense layers. */
static void refuse_experts(struct msim_fields *f)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, f->object)
    {
        if (cJSON_IsNumber(item) && item->valuedouble > 1 && item->string &&
            strstr(item->string, "experts") &&
            !strstr(item->string, "experts_per_tok")) {
            msim_field_refuse(f, item->string,
                              "experts as num_experts, num_local_experts, "
                              "n_routed_experts or moe_num_experts");
            return;
        }
    }
}

static void read_moe(struct msim_described *m, struct msim_fields *f,
                     const struct msim_model_family *family)
{
    static const char *const GROUPS[] = {"n_group", "num_expert_group", NULL};

    m->moe.experts = INT_OF(f, 0, "num_local_experts", "num_experts",
                            "n_routed_experts", "moe_num_experts");
    if (m->moe.experts == 0) {
        refuse_experts(f);
        return;
    }
    m->moe.topk = INT_OF(f, 2, "num_experts_per_tok", "experts_per_token",
                         "moe_k", "moe_topk");
    m->moe.ffn = INT_OF(f, MSIM_FIELD_WANTED, "moe_intermediate_size",
                        "intermediate_size");
    m->moe.groups = int_of(f, 0, GROUPS);
    m->moe.topk_groups = INT_OF(f, 0, "topk_group");
    m->moe.shared_experts = shared_experts(m, f, family->shared_experts);
    m->moe.dense_layers = dense_layers(m, f);
    if (m->moe.topk > m->moe.experts)
        msim_field_refuse(f, "num_experts_per_tok",
                          "at most the number of experts");
    if (m->moe.groups > m->moe.experts)
        msim_field_refuse(f, first_of(f, GROUPS),
                          "at most the number of experts");
    if (m->moe.groups && m->moe.topk_groups > m->moe.groups)
        msim_field_refuse(f, "topk_group", "at most the number of groups");
    if (m->moe.dense_layers > m->layers)
        msim_field_refuse(f, "first_k_dense_replace",
                          "at most \"num_hidden_layers\"");
}

static void read_mla(struct msim_described *m, struct msim_fields *f)
{
    if (!cJSON_HasObjectItem(f->object, "kv_lora_rank"))
        return;
    m->mla.q_rank = msim_field_int(f, "q_lora_rank", 1, 0);
    m->mla.kv_rank = msim_field_int(f, "kv_lora_rank", 1, MSIM_FIELD_WANTED);
    m->mla.nope_dim =
        msim_field_int(f, "qk_nope_head_dim", 1, MSIM_FIELD_WANTED);
    m->mla.rope_dim =
        msim_field_int(f, "qk_rope_head_dim", 1, MSIM_FIELD_WANTED);
    m->mla.v_dim = msim_field_int(f, "v_head_dim", 1, MSIM_FIELD_WANTED);
}

/* ---- encoders ------------------------------------------------------------ */

/* "gelu", "gelu_new", "gelu_fast" are one kernel. */
static enum msim_activation activation_of(const struct msim_fields *f)
{
    static const char *const KEYS[] = {"hidden_act", "activation_function",
                                       "hidden_activation", "activation", NULL};
    const char *word = msim_json_get_text(f->object, first_of(f, KEYS));

    return IS(word, "relu", "relu2")   ? MSIM_ACTIVATION_RELU
           : IS(word, "silu", "swish") ? MSIM_ACTIVATION_SILU
                                       : MSIM_ACTIVATION_GELU;
}

/* Does the name of the class that the file is of hold `word`? */
static bool is_class(const struct msim_fields *f, const char *word)
{
    const cJSON *list = cJSON_GetObjectItem(f->object, "architectures");
    const char *name = cJSON_GetStringValue(cJSON_GetArrayItem(list, 0));

    return name && strstr(name, word) != NULL;
}

/* id2label names the classes; a class without it has two. */
static int64_t classes_of(struct msim_fields *f)
{
    int n = cJSON_GetArraySize(cJSON_GetObjectItem(f->object, "id2label"));

    return msim_field_int(f, "num_labels", 1, n > 0 ? n : 2);
}

static void read_encoder(struct msim_described *m, struct msim_fields *f)
{
    m->type = MSIM_MODEL_ENCODER;
    m->positions = MSIM_POSITIONS_LEARNED;
    m->post_norm = m->pooler = true;
    m->max_positions = msim_field_int(f, "max_position_embeddings", 1, 512);
    m->token_types = msim_field_int(f, "type_vocab_size", 0, 2);
    m->classes = 2;
    m->head = MSIM_MODEL_MLM;
    if (is_class(f, "ForPreTraining"))
        m->head = MSIM_MODEL_PRETRAINING;
    if (is_class(f, "ForSequenceClassification")) {
        m->head = MSIM_MODEL_CLASSIFIER;
        m->classes = classes_of(f);
    }
}

static void read_vit(struct msim_described *m, struct msim_fields *f)
{
    m->type = MSIM_MODEL_VIT;
    m->positions = MSIM_POSITIONS_LEARNED;
    m->head = MSIM_MODEL_CLASSIFIER;
    m->image.size = msim_field_int(f, "image_size", 1, 224);
    m->image.patch = msim_field_int(f, "patch_size", 1, 16);
    m->image.channels = msim_field_int(f, "num_channels", 1, 3);
    m->classes = classes_of(f);
}

/* A share from 0, or `missing`. */
static double share_of(const struct msim_fields *f, const char *key,
                       double missing)
{
    double v = msim_json_get_number(f->object, key, missing);

    return v > 0 && v < 1 ? v : 0;
}

/* ---- all ----------------------------------------------------------------- */

/* Keys and values, where they have fewer heads: Falcon's and StarCoder's files
 * say by a flag that there is one of each, or that another member counts. */
static int64_t kv_heads_of(const struct msim_described *m,
                           struct msim_fields *f)
{
    if (msim_json_get_true(f->object, "new_decoder_architecture"))
        return INT_OF(f, m->heads, "num_kv_heads");
    if (msim_json_get_true(f->object, "multi_query"))
        return 1;
    return INT_OF(f, m->heads, "num_key_value_heads");
}

/* Members by their names today, and before. */
static void read_sizes(struct msim_described *m, struct msim_fields *f)
{
    m->layers = INT_OF(f, MSIM_FIELD_WANTED, "num_hidden_layers", "n_layer",
                       "n_layers", "num_layers");
    m->hidden = INT_OF(f, MSIM_FIELD_WANTED, "hidden_size", "n_embd", "n_embed",
                       "dim", "d_model");
    m->heads = INT_OF(f, MSIM_FIELD_WANTED, "num_attention_heads", "n_head",
                      "n_heads", "num_heads");
    m->kv_heads = kv_heads_of(m, f);
    m->head_dim = msim_field_int(f, "head_dim", 1, 0);
    m->ffn =
        INT_OF(f, 4 * m->hidden, "intermediate_size_mlp", "intermediate_size",
               "ffn_hidden_size", "ffn_dim", "hidden_dim", "n_inner");
    if (m->type != MSIM_MODEL_VIT)
        m->vocab = INT_OF(f, MSIM_FIELD_WANTED, "vocab_size");
}

/* The row of the file's type. A stack of layers alone: not a model of two, nor
 * one of a type that nobody looked at. */
static const struct msim_model_family *family_of(struct msim_fields *f)
{
    const char *type = msim_json_get_text(f->object, "model_type");
    const struct msim_model_family *family = msim_model_family_find(type);

    if (msim_json_get_true(f->object, "is_encoder_decoder"))
        msim_field_refuse(f, "is_encoder_decoder",
                          "false: a model is one stack of layers");
    if (!family)
        msim_field_refuse(f, "model_type",
                          "one of data/models/types.csv: llama, mistral, "
                          "qwen3, gemma3, gpt2, bert, vit, ...");
    return family;
}

static void read_stack(struct msim_described *m, struct msim_fields *f,
                       struct msim_fields *outer)
{
    const struct msim_model_family *family = family_of(f);

    if (!family)
        return;
    m->encoder = family->stack == MSIM_FAMILY_STACK_BERT ||
                 family->stack == MSIM_FAMILY_STACK_VIT;
    m->gated = family->gated;
    m->layernorm = family->layernorm;
    m->bias = family->bias;
    m->qk_norm = family->qk_norm;
    m->positions = family->positions;
    m->tied = msim_field_bool(f, "tie_word_embeddings", family->tied);
    m->activation = activation_of(f);
    if (family->stack == MSIM_FAMILY_STACK_BERT)
        read_encoder(m, f);
    if (family->stack == MSIM_FAMILY_STACK_VIT)
        read_vit(m, f);
    if (m->encoder)
        m->dropout =
            share_of(f, "hidden_dropout_prob",
                     family->stack == MSIM_FAMILY_STACK_BERT ? 0.1 : 0);
    read_sizes(m, f);
    read_moe(m, f, family);
    read_mla(m, f);
    m->mtp_layers =
        msim_field_int(f, "num_nextn_predict_layers", 0,
                       msim_field_int(f, "mtp_num_hidden_layers", 0, 0));
    if (!m->encoder)
        msim_described_read_served(m, f, outer);
    if (f->status == MSIM_OK)
        msim_described_check(m, f);
}

/* Models that see have the stack that reads as a member; what they see with is
 * not described. */
void msim_described_read_hub(struct msim_described *m, struct msim_fields *f)
{
    const cJSON *text = cJSON_GetObjectItem(f->object, "text_config");
    const struct msim_model_family *family = family_of(f);
    struct msim_fields in;

    if (!family)
        return;
    if (family->stack != MSIM_FAMILY_STACK_WITHIN &&
        !cJSON_HasObjectItem(text, "num_hidden_layers")) {
        read_stack(m, f, f);
        return;
    }
    in = msim_fields_open(f, "text_config");
    if (in.object)
        read_stack(m, &in, f);
    else
        msim_field_refuse(f, "text_config", "the stack of layers that reads");
    msim_fields_close(f, &in);
}
