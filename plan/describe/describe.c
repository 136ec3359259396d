/*
 * plan/describe/describe.c - reading described models.
 */
#include "plan/describe/describe.h"

#include "core/json/fields.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const TYPES[] = {"decoder", "encoder", NULL};
static const char *const NORMS[] = {"rmsnorm", "layernorm", NULL};
static const char *const POSITIONS[] = {"rope", "learned", "alibi", "none",
                                        NULL};
static const char *const ACTIVATIONS[] = {"gelu", "relu", "silu", NULL};

/* ---- our own form -------------------------------------------------------- */

static void read_mla(struct msim_described *m, struct msim_fields *f)
{
    static const char *const KEYS[] = {"q_rank",   "kv_rank", "nope_dim",
                                       "rope_dim", "v_dim",   NULL};
    struct msim_fields in = msim_fields_open(f, "mla");

    if (in.object) {
        msim_fields_only(&in, KEYS);
        m->mla.q_rank = msim_field_int(&in, "q_rank", 0, 0);
        m->mla.kv_rank = msim_field_int(&in, "kv_rank", 1, MSIM_FIELD_WANTED);
        m->mla.nope_dim = msim_field_int(&in, "nope_dim", 1, MSIM_FIELD_WANTED);
        m->mla.rope_dim = msim_field_int(&in, "rope_dim", 1, MSIM_FIELD_WANTED);
        m->mla.v_dim = msim_field_int(&in, "v_dim", 1, MSIM_FIELD_WANTED);
    }
    msim_fields_close(f, &in);
}

static void read_moe(struct msim_described *m, struct msim_fields *f)
{
    static const char *const KEYS[] = {"experts",        "topk",         "ffn",
                                       "shared_experts", "dense_layers", NULL};
    struct msim_fields in = msim_fields_open(f, "moe");

    if (in.object) {
        msim_fields_only(&in, KEYS);
        m->moe.experts = msim_field_int(&in, "experts", 1, MSIM_FIELD_WANTED);
        m->moe.topk = msim_field_int(&in, "topk", 1, MSIM_FIELD_WANTED);
        m->moe.ffn = msim_field_int(&in, "ffn", 1, MSIM_FIELD_WANTED);
        m->moe.shared_experts = msim_field_int(&in, "shared_experts", 0, 0);
        m->moe.dense_layers = msim_field_int(&in, "dense_layers", 0, 0);
        if (m->moe.topk > m->moe.experts)
            msim_field_refuse(&in, "topk", "at most the number of experts");
        if (m->moe.dense_layers > m->layers)
            msim_field_refuse(&in, "dense_layers", "at most \"layers\"");
    }
    msim_fields_close(f, &in);
}

static void read_window(struct msim_described *m, struct msim_fields *f)
{
    static const char *const KEYS[] = {"size", "every", NULL};
    struct msim_fields in = msim_fields_open(f, "window");

    if (in.object) {
        msim_fields_only(&in, KEYS);
        m->window = msim_field_int(&in, "size", 1, MSIM_FIELD_WANTED);
        m->window_every = msim_field_int(&in, "every", 1, 1);
    }
    msim_fields_close(f, &in);
}

static void read_own(struct msim_described *m, struct msim_fields *f)
{
    static const char *const KEYS[] = {
        "name",       "type",   "tied_embeddings", "gated",
        "norm",       "bias",   "positions",       "activation",
        "layers",     "hidden", "heads",           "kv_heads",
        "head_dim",   "ffn",    "vocab",           "window",
        "mla",        "moe",    "qk_norm",         "attention_sinks",
        "mtp_layers", NULL};

    msim_fields_only(f, KEYS);
    m->encoder = msim_field_word(f, "type", TYPES, 0) == 1;
    m->tied = msim_field_bool(f, "tied_embeddings", false);
    m->gated = msim_field_bool(f, "gated", true);
    m->layernorm = msim_field_word(f, "norm", NORMS, 0) == 1;
    m->positions =
        (enum msim_positions)msim_field_word(f, "positions", POSITIONS, 0);
    (void)msim_field_word(f, "activation", ACTIVATIONS, 0);
    (void)msim_field_bool(f, "attention_sinks", false);
    m->bias = msim_field_bool(f, "bias", false);
    m->qk_norm = msim_field_bool(f, "qk_norm", false);
    m->layers = msim_field_int(f, "layers", 1, MSIM_FIELD_WANTED);
    m->hidden = msim_field_int(f, "hidden", 1, MSIM_FIELD_WANTED);
    m->heads = msim_field_int(f, "heads", 1, MSIM_FIELD_WANTED);
    m->kv_heads = msim_field_int(f, "kv_heads", 1, m->heads);
    m->head_dim = msim_field_int(f, "head_dim", 1, 0);
    m->vocab = msim_field_int(f, "vocab", 1, MSIM_FIELD_WANTED);
    m->mtp_layers = msim_field_int(f, "mtp_layers", 0, 0);
    read_mla(m, f);
    read_window(m, f);
    read_moe(m, f);
    m->ffn =
        msim_field_int(f, "ffn", 1, m->moe.experts ? 0 : MSIM_FIELD_WANTED);
}

/* ---- Hugging Face's ------------------------------------------------------ */

/* The first of `keys` that the object has, else the last. */
static const char *first_of(const struct msim_fields *f,
                            const char *const *keys)
{
    size_t i = 0;

    while (keys[i + 1] && !cJSON_HasObjectItem(f->object, keys[i]))
        i++;
    return keys[i];
}

static int64_t int_of(struct msim_fields *f, int64_t missing,
                      const char *const *keys)
{
    return msim_field_int(f, first_of(f, keys), 1, missing);
}
#define INT_OF(f, missing, ...)                                                \
    int_of(f, missing, (const char *const[]){__VA_ARGS__, NULL})

static void read_hub_moe(struct msim_described *m, struct msim_fields *f)
{
    m->moe.experts =
        INT_OF(f, 0, "num_local_experts", "num_experts", "n_routed_experts");
    if (m->moe.experts == 0)
        return;
    m->moe.topk = INT_OF(f, 2, "num_experts_per_tok", "experts_per_token");
    m->moe.ffn = INT_OF(f, MSIM_FIELD_WANTED, "moe_intermediate_size",
                        "intermediate_size");
    m->moe.shared_experts = msim_field_int(f, "n_shared_experts", 0, 0);
    m->moe.dense_layers = msim_field_int(f, "first_k_dense_replace", 0, 0);
}

static void read_hub_mla(struct msim_described *m, struct msim_fields *f)
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

static void read_hub(struct msim_described *m, struct msim_fields *f)
{
    const char *type = msim_json_get_text(f->object, "model_type");
    bool gpt2 = type && strcmp(type, "gpt2") == 0;
    bool bert =
        type && (strcmp(type, "bert") == 0 || strcmp(type, "roberta") == 0);
    bool old = gpt2 || bert || (type && strcmp(type, "opt") == 0) ||
               (type && strcmp(type, "gpt_neox") == 0);

    m->encoder = bert;
    m->gated = !old;
    m->layernorm = m->bias = old;
    m->positions = gpt2 || bert ? MSIM_POSITIONS_LEARNED : MSIM_POSITIONS_ROPE;
    m->tied = msim_field_bool(f, "tie_word_embeddings", gpt2 || bert);
    m->layers = INT_OF(f, MSIM_FIELD_WANTED, "num_hidden_layers", "n_layer");
    m->hidden = INT_OF(f, MSIM_FIELD_WANTED, "hidden_size", "n_embd");
    m->heads = INT_OF(f, MSIM_FIELD_WANTED, "num_attention_heads", "n_head");
    m->kv_heads = INT_OF(f, m->heads, "num_key_value_heads");
    m->head_dim = INT_OF(f, 0, "head_dim");
    m->vocab = INT_OF(f, MSIM_FIELD_WANTED, "vocab_size");
    m->ffn = INT_OF(f, 4 * m->hidden, "intermediate_size", "n_inner");
    read_hub_moe(m, f);
    read_hub_mla(m, f);
    m->mtp_layers = msim_field_int(f, "num_nextn_predict_layers", 0, 0);
}

/* ---- both ---------------------------------------------------------------- */

static void name_of(struct msim_described *m, const struct msim_fields *f,
                    const char *path)
{
    const char *name = msim_json_get_text(f->object, "name");
    const char *slash = strrchr(path, '/');

    snprintf(m->name, sizeof(m->name), "%s",
             name    ? name
             : slash ? slash + 1
                     : path);
}

static void check(struct msim_described *m, struct msim_fields *f)
{
    if (m->head_dim == 0 && !m->mla.kv_rank) {
        m->head_dim = m->hidden / m->heads;
        if (m->hidden % m->heads != 0)
            msim_field_refuse(f, "heads",
                              "a divisor of \"hidden\", or \"head_dim\"");
    }
    if (m->kv_heads > 0 && m->heads % m->kv_heads != 0)
        msim_field_refuse(f, "kv_heads", "a divisor of \"heads\"");
}

enum msim_status msim_described_read(struct msim_described *m, const char *path,
                                     struct msim_error *err)
{
    struct msim_fields f;
    cJSON *json;

    *m = (struct msim_described){0};
    MSIM_TRY(msim_json_read(&json, path, err));
    f = msim_fields_of(cJSON_IsObject(json) ? json : NULL, path, err);
    if (!f.object)
        f.status = msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                             "this is not a JSON object, want one model");
    else if (cJSON_HasObjectItem(json, "vocab_size"))
        read_hub(m, &f);
    else
        read_own(m, &f);
    if (f.status == MSIM_OK)
        check(m, &f);
    if (f.object)
        name_of(m, &f, path);
    cJSON_Delete(json);
    return f.status;
}

static bool is_path(const char *name)
{
    size_t n = strlen(name);

    return strchr(name, '/') || (n > 5 && strcmp(name + n - 5, ".json") == 0);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* " a b c": the models of a folder, in order. */
static void list_models(char *text, size_t size, const char *folder)
{
    char *names[256];
    size_t n = 0, used = 0;
    struct dirent *entry;
    DIR *d = opendir(folder);

    text[0] = '\0';
    while (d && (entry = readdir(d)) && n < 256) {
        char *dot = strstr(entry->d_name, ".json");

        if (dot &&
            (names[n] = strndup(entry->d_name, (size_t)(dot - entry->d_name))))
            n++;
    }
    if (d)
        closedir(d);
    qsort(names, n, sizeof(names[0]), by_text);
    for (size_t i = 0; i < n; i++) {
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, " %s", names[i]);
        free(names[i]);
    }
}

enum msim_status msim_described_find(struct msim_described *m, const char *name,
                                     const char *data_dir, const char *beside,
                                     struct msim_error *err)
{
    char path[1400], known[800];

    if (is_path(name))
        return msim_described_read(m, name, err);
    snprintf(path, sizeof(path), "%s/models/%s.json", data_dir, name);
    if (access(path, R_OK) != 0 && beside)
        snprintf(path, sizeof(path), "%s/%s.json", beside, name);
    if (access(path, R_OK) == 0)
        return msim_described_read(m, path, err);
    snprintf(path, sizeof(path), "%s/models", data_dir);
    list_models(known, sizeof(known), path);
    return msim_fail(err, MSIM_EUNKNOWN, NULL, MSIM_OFFSET_NONE,
                     "no model '%.64s', want a file or one of:%s", name, known);
}

/* ---- figures ------------------------------------------------------------- */

int64_t msim_described_moe_layers(const struct msim_described *m)
{
    return m->moe.experts ? m->layers - m->moe.dense_layers : 0;
}

static double attention_parameters(const struct msim_described *m)
{
    double h = (double)m->hidden;
    double heads = (double)m->heads;

    if (m->mla.kv_rank) {
        double qk = (double)(m->mla.nope_dim + m->mla.rope_dim);
        double q = m->mla.q_rank ? (h + heads * qk) * (double)m->mla.q_rank
                                 : h * heads * qk;

        return q + h * (double)(m->mla.kv_rank + m->mla.rope_dim) +
               (double)m->mla.kv_rank * heads *
                   (double)(m->mla.nope_dim + m->mla.v_dim) +
               heads * (double)m->mla.v_dim * h;
    }
    return h * (double)m->head_dim * (2 * heads + 2 * (double)m->kv_heads);
}

double msim_described_parameters(const struct msim_described *m)
{
    double h = (double)m->hidden, matrices = m->gated ? 3 : 2;
    double experts = (double)msim_described_moe_layers(m);
    double dense = (double)m->layers - experts;
    double expert = matrices * h * (double)m->moe.ffn;

    return (double)m->layers * (attention_parameters(m) + 2 * h) +
           dense * matrices * h * (double)m->ffn +
           experts *
               (expert * (double)(m->moe.experts + m->moe.shared_experts) +
                h * (double)m->moe.experts) +
           h * (double)m->vocab * (m->tied ? 1 : 2) + h;
}
