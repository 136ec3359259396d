/*
 * plan/describe/describe_served.c - what serving asks of a config.json beyond
 * its sizes.
 *
 * Names are those of the classes in transformers and, of quantisation, of what
 * wrote the weights: DeepSeek's "fp8", OpenAI's "mxfp4", compressed-tensors,
 * NVIDIA's ModelOpt, AWQ, GPTQ.
 */
#include "plan/describe/describe_internal.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* ---- layers -------------------------------------------------------------- */

/* How many of the layers that a file lists are of that kind; -1: no list. */
static int64_t listed(const struct msim_fields *f, const char *kind)
{
    const cJSON *list = cJSON_GetObjectItem(f->object, "layer_types"), *item;
    int64_t n = 0;

    if (!cJSON_IsArray(list))
        return -1;
    cJSON_ArrayForEach(item, list)
    {
        const char *word = cJSON_GetStringValue(item);

        n += word && strcmp(word, kind) == 0;
    }
    return n;
}

/* A list shorter than the layers repeats. */
static int64_t layers_of(const struct msim_described *m,
                         const struct msim_fields *f, const char *kind)
{
    int64_t n = listed(f, kind);
    int size =
        cJSON_GetArraySize(cJSON_GetObjectItem(f->object, "layer_types"));

    return n > 0 ? n * m->layers / size : n;
}

/* Windows of `n` layers, as wide as member `key` says. */
static void set_windows(struct msim_described *m, struct msim_fields *f,
                        const char *key, int64_t n)
{
    m->window = msim_field_int(f, key, 1, 0);
    m->window_layers = n < m->layers ? n : 0;
    m->window_every = (int64_t)llround((double)m->layers / (double)n);
}

/* Does no member say that windows are off? */
static bool has_windows(const struct msim_fields *f)
{
    const cJSON *window = cJSON_GetObjectItem(f->object, "sliding_window");
    const cJSON *use = cJSON_GetObjectItem(f->object, "use_sliding_window");

    return cJSON_IsNumber(window) && !cJSON_IsFalse(use);
}

/* Llama 4's chunks: a token sees those of its chunk before it. All layers but
 * every fourth, which has no positions either. */
static void read_chunks(struct msim_described *m, struct msim_fields *f)
{
    int64_t n = layers_of(m, f, "chunked_attention");
    int64_t every = msim_field_int(f, "no_rope_layer_interval", 1, 4);

    if (n < 0)
        n = m->layers - m->layers / every;
    if (n > 0)
        set_windows(m, f, "attention_chunk_size", n);
}

static void read_windows(struct msim_described *m, struct msim_fields *f)
{
    int64_t n = layers_of(m, f, "sliding_attention"), every;

    if (cJSON_IsNumber(
            cJSON_GetObjectItem(f->object, "attention_chunk_size"))) {
        read_chunks(m, f);
        return;
    }
    if (!has_windows(f) || n == 0)
        return;
    /* Gemma 3 before it listed layers: all but every n-th. */
    every = msim_field_int(f, "sliding_window_pattern", 1, 0);
    if (n < 0)
        n = every > 1 ? m->layers - m->layers / every : m->layers;
    if (n > 0)
        set_windows(m, f, "sliding_window", n);
}

static void read_linear(struct msim_described *m, struct msim_fields *f)
{
    int64_t every = msim_field_int(f, "full_attention_interval", 1, 4);
    int64_t n = layers_of(m, f, "linear_attention");

    if (!cJSON_HasObjectItem(f->object, "linear_num_value_heads"))
        return;
    m->linear.layers = n >= 0 ? n : m->layers - m->layers / every;
    m->linear.key_heads = msim_field_int(f, "linear_num_key_heads", 1, 16);
    m->linear.value_heads = msim_field_int(f, "linear_num_value_heads", 1, 32);
    m->linear.key_dim = msim_field_int(f, "linear_key_head_dim", 1, 128);
    m->linear.value_dim = msim_field_int(f, "linear_value_head_dim", 1, 128);
    m->linear.conv = msim_field_int(f, "linear_conv_kernel_dim", 1, 4);
}

static void read_index(struct msim_described *m, struct msim_fields *f)
{
    if (!cJSON_HasObjectItem(f->object, "index_topk"))
        return;
    m->index.topk = msim_field_int(f, "index_topk", 1, 0);
    m->index.heads = msim_field_int(f, "index_n_heads", 1, MSIM_FIELD_WANTED);
    m->index.dim = msim_field_int(f, "index_head_dim", 1, MSIM_FIELD_WANTED);
}

/* ---- how weights are stored ---------------------------------------------- */

/* Is a text of the list `key` about `part`? Lists name modules, or have
 * patterns of them. */
static bool names(const cJSON *q, const char *key, const char *part)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, cJSON_GetObjectItem(q, key))
    {
        const char *text = cJSON_GetStringValue(item);

        if (text && strstr(text, part))
            return true;
    }
    return false;
}

static bool is_left_out(const cJSON *q, const char *part)
{
    return names(q, "ignore", part) ||
           names(q, "modules_to_not_convert", part) ||
           names(q, "exclude_modules", part);
}

/* How many bits a number is stored in. False: nobody stores it so. */
static bool read_bits(int64_t *bits, const cJSON *o, int missing)
{
    double v = msim_json_get_number(
        o, cJSON_HasObjectItem(o, "num_bits") ? "num_bits" : "bits", missing);

    *bits = v == 4 ? 4 : v == 8 ? 8 : 16;
    return v == 4 || v == 8 || v == 16;
}

/* compressed-tensors: the first group's weights and activations. */
static bool read_groups(struct msim_described *m, const cJSON *q)
{
    const cJSON *groups = cJSON_GetObjectItem(q, "config_groups");
    const cJSON *group = groups ? groups->child : NULL;
    const cJSON *w = cJSON_GetObjectItem(group, "weights");
    const cJSON *a = cJSON_GetObjectItem(group, "input_activations");
    const char *type = msim_json_get_text(w, "type");
    const char *strategy = msim_json_get_text(w, "strategy");

    m->stored.floating = type && strcmp(type, "float") == 0;
    m->stored.block = strategy && strcmp(strategy, "block") == 0;
    return read_bits(&m->stored.bits, w, 8) && m->stored.bits < 16 &&
           read_bits(&m->stored.activation_bits, a, 16);
}

static bool is_word(const char *a, const char *b)
{
    return a && strcasecmp(a, b) == 0;
}

/* Bits of weights and of what they are multiplied with, by the method. False:
 * it is not known. */
static bool read_method(struct msim_described *m, const cJSON *q)
{
    const char *method = msim_json_get_text(q, "quant_method");
    const char *algorithm = msim_json_get_text(q, "quant_algo");
    bool four = is_word(algorithm, "NVFP4") || is_word(algorithm, "FP4");

    m->stored.activation_bits = 16;
    if (is_word(method, "fp8") || is_word(method, "fbgemm_fp8") ||
        is_word(algorithm, "FP8")) {
        m->stored.bits = m->stored.activation_bits = 8;
        m->stored.floating = true;
        m->stored.block = cJSON_HasObjectItem(q, "weight_block_size");
        return true;
    }
    if (is_word(method, "mxfp4") || four) {
        m->stored.bits = 4;
        m->stored.activation_bits = four ? 4 : 16;
        m->stored.floating = true;
        return true;
    }
    if (is_word(method, "compressed-tensors"))
        return read_groups(m, q);
    if (is_word(method, "awq") || is_word(method, "gptq"))
        return read_bits(&m->stored.bits, q, 4) && m->stored.bits < 16;
    if (is_word(method, "bitsandbytes")) {
        m->stored.bits = msim_json_get_true(q, "load_in_4bit") ? 4 : 8;
        return true;
    }
    return false;
}

static void read_stored(struct msim_described *m, struct msim_fields *f)
{
    const cJSON *q = cJSON_GetObjectItem(f->object, "quantization_config");

    if (!cJSON_IsObject(q))
        return;
    if (!read_method(m, q)) {
        msim_field_refuse(
            f, "quantization_config",
            "a quant_method of fp8, fbgemm_fp8, mxfp4, modelopt, "
            "compressed-tensors, awq, gptq or bitsandbytes, with 4 "
            "or 8 bits");
        return;
    }
    m->stored.attention = !is_left_out(q, "self_attn");
    m->stored.shared = !is_left_out(q, "shared_expert");
    m->stored.dense = !is_left_out(q, "up_proj") && !is_left_out(q, "up|") &&
                      !is_left_out(q, "mlp.gate_up");
}

/* ---- context ------------------------------------------------------------- */

/* What YaRN makes of the context of pretraining, as vLLM reads it. */
static double stretched(const struct msim_fields *f)
{
    const cJSON *by = cJSON_GetObjectItem(f->object, "rope_scaling");
    const char *type = msim_json_get_text(by, "rope_type");

    if (!type)
        type = msim_json_get_text(by, "type");
    if (!type || strcmp(type, "yarn") != 0)
        return 0;
    return msim_json_get_number(by, "original_max_position_embeddings", 0) *
           msim_json_get_number(by, "factor", 1);
}

static void read_context(struct msim_described *m, struct msim_fields *f)
{
    double yarn = stretched(f);

    m->context = msim_field_int(f, "max_position_embeddings", 1,
                                msim_field_int(f, "n_positions", 1, 0));
    if (m->context > 0 && yarn > (double)m->context && yarn <= INT32_MAX)
        m->context = (int64_t)yarn;
}

void msim_described_read_served(struct msim_described *m, struct msim_fields *f,
                                struct msim_fields *outer)
{
    read_windows(m, f);
    read_linear(m, f);
    read_index(m, f);
    read_context(m, f);
    m->qk_norm = m->qk_norm || msim_json_get_true(f->object, "use_qk_norm") ||
                 msim_json_get_true(f->object, "qk_layernorm");
    m->gated_attention = msim_json_get_true(f->object, "attn_output_gate");
    read_stored(m, f);
    if (m->stored.bits == 0 && outer != f)
        read_stored(m, outer);
}
