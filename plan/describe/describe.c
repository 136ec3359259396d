/*
 * plan/describe/describe.c - reading described models.
 */

#include "core/base/texts.h"
#include "core/json/fields.h"
#include "plan/describe/describe_internal.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const TYPES[] = {
#define X(name, text) text,
    MSIM_MODEL_TYPE_MAP(X)
#undef X
        NULL};
static const char *const ATTENTIONS[] = {"makers", "flash1", "flash2", NULL};
static const char *const NORMS[] = {"rmsnorm", "layernorm", NULL};
static const char *const POSITIONS[] = {"rope", "learned", "alibi", "none",
                                        NULL};
static const char *const ACTIVATIONS[] = {"gelu", "relu", "silu", NULL};
static const char *const NORM_PLACES[] = {"pre", "post", NULL};
static const char *const HEADS[] = {"lm", "mlm", "pretraining", "classifier",
                                    NULL};

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
    static const char *const KEYS[] = {
        "experts",      "topk",   "ffn",         "shared_experts",
        "dense_layers", "groups", "topk_groups", NULL};
    struct msim_fields in = msim_fields_open(f, "moe");

    if (in.object) {
        msim_fields_only(&in, KEYS);
        m->moe.experts = msim_field_int(&in, "experts", 1, MSIM_FIELD_WANTED);
        m->moe.topk = msim_field_int(&in, "topk", 1, MSIM_FIELD_WANTED);
        m->moe.ffn = msim_field_int(&in, "ffn", 1, MSIM_FIELD_WANTED);
        m->moe.shared_experts = msim_field_int(&in, "shared_experts", 0, 0);
        m->moe.dense_layers = msim_field_int(&in, "dense_layers", 0, 0);
        m->moe.groups = msim_field_int(&in, "groups", 0, 0);
        m->moe.topk_groups = msim_field_int(&in, "topk_groups", 0, 0);
        if (m->moe.topk > m->moe.experts)
            msim_field_refuse(&in, "topk", "at most the number of experts");
        if (m->moe.groups > m->moe.experts)
            msim_field_refuse(&in, "groups", "at most the number of experts");
        if (m->moe.topk_groups > m->moe.groups)
            msim_field_refuse(&in, "topk_groups", "at most \"groups\"");
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

/* What all transformers have, with what `m` holds already where a member is
 * missing. */
static void read_layers(struct msim_described *m, struct msim_fields *f)
{
    m->gated = msim_field_bool(f, "gated", m->gated);
    m->layernorm = msim_field_word(f, "norm", NORMS, m->layernorm) == 1;
    m->bias = msim_field_bool(f, "bias", m->bias);
    m->qk_norm = msim_field_bool(f, "qk_norm", false);
    m->attention = (enum msim_attention_kernel)msim_field_word(
        f, "attention", ATTENTIONS, MSIM_ATTENTION_MAKERS);
    m->activation = (enum msim_activation)msim_field_word(
        f, "activation", ACTIVATIONS, MSIM_ACTIVATION_GELU);
    m->layers = msim_field_int(f, "layers", 1, MSIM_FIELD_WANTED);
    m->hidden = msim_field_int(f, "hidden", 1, MSIM_FIELD_WANTED);
    m->heads = msim_field_int(f, "heads", 1, MSIM_FIELD_WANTED);
    m->kv_heads = msim_field_int(f, "kv_heads", 1, m->heads);
    m->head_dim = msim_field_int(f, "head_dim", 1, 0);
}

static void read_tokens(struct msim_described *m, struct msim_fields *f)
{
    m->tied = msim_field_bool(f, "tied_embeddings", m->tied);
    m->positions = (enum msim_positions)msim_field_word(
        f, "positions", POSITIONS, (int)m->positions);
    m->vocab = msim_field_int(f, "vocab", 1, MSIM_FIELD_WANTED);
}

static void read_decoder(struct msim_described *m, struct msim_fields *f)
{
    static const char *const KEYS[] = {
        "name",       "type",      "tied_embeddings", "gated",
        "norm",       "bias",      "positions",       "activation",
        "layers",     "hidden",    "heads",           "kv_heads",
        "head_dim",   "ffn",       "vocab",           "window",
        "mla",        "moe",       "qk_norm",         "attention_sinks",
        "mtp_layers", "attention", "context",         NULL};

    msim_fields_only(f, KEYS);
    m->gated = true;
    (void)msim_field_bool(f, "attention_sinks", false);
    read_layers(m, f);
    read_tokens(m, f);
    m->mtp_layers = msim_field_int(f, "mtp_layers", 0, 0);
    m->context = msim_field_int(f, "context", 1, 0);
    read_mla(m, f);
    read_window(m, f);
    read_moe(m, f);
    m->ffn =
        msim_field_int(f, "ffn", 1, m->moe.experts ? 0 : MSIM_FIELD_WANTED);
}

static double read_dropout(struct msim_fields *f)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(f->object, "dropout");
    double v = item ? cJSON_GetNumberValue(item) : 0;

    if (v >= 0 && v < 1)
        return v;
    msim_field_refuse(f, "dropout", "a share from 0 to below 1");
    return 0;
}

/* What is missing is as in BERT. */
static void read_encoder(struct msim_described *m, struct msim_fields *f)
{
    static const char *const KEYS[] = {
        "name",   "type",      "tied_embeddings", "gated",      "norm",
        "bias",   "positions", "activation",      "layers",     "hidden",
        "heads",  "kv_heads",  "head_dim",        "ffn",        "vocab",
        "window", "qk_norm",   "dropout",         "norm_place", "token_types",
        "head",   "classes",   "max_positions",   "pooler",     "attention",
        NULL};

    msim_fields_only(f, KEYS);
    m->encoder = m->tied = m->layernorm = m->bias = true;
    m->positions = MSIM_POSITIONS_LEARNED;
    read_layers(m, f);
    read_tokens(m, f);
    read_window(m, f);
    m->ffn = msim_field_int(f, "ffn", 1, MSIM_FIELD_WANTED);
    m->post_norm = msim_field_word(f, "norm_place", NORM_PLACES, 1) == 1;
    m->token_types = msim_field_int(f, "token_types", 0, 2);
    m->max_positions = msim_field_int(f, "max_positions", 1, 512);
    m->dropout = read_dropout(f);
    m->head =
        (enum msim_model_head)msim_field_word(f, "head", HEADS, MSIM_MODEL_MLM);
    m->pooler = msim_field_bool(f, "pooler", true);
    m->classes = msim_field_int(f, "classes", 1, 2);
}

/* What is missing is as in the first vision transformers. */
static void read_vit(struct msim_described *m, struct msim_fields *f)
{
    static const char *const KEYS[] = {
        "name",       "type",    "gated",    "norm",      "bias",
        "activation", "layers",  "hidden",   "heads",     "ffn",
        "head_dim",   "qk_norm", "kv_heads", "image",     "channels",
        "classes",    "dropout", "patch",    "attention", NULL};

    msim_fields_only(f, KEYS);
    m->encoder = m->layernorm = m->bias = true;
    m->positions = MSIM_POSITIONS_LEARNED;
    m->head = MSIM_MODEL_CLASSIFIER;
    read_layers(m, f);
    m->ffn = msim_field_int(f, "ffn", 1, MSIM_FIELD_WANTED);
    m->dropout = read_dropout(f);
    m->image.size = msim_field_int(f, "image", 1, MSIM_FIELD_WANTED);
    m->image.patch = msim_field_int(f, "patch", 1, MSIM_FIELD_WANTED);
    m->image.channels = msim_field_int(f, "channels", 1, 3);
    m->classes = msim_field_int(f, "classes", 1, MSIM_FIELD_WANTED);
}

static void read_own(struct msim_described *m, struct msim_fields *f)
{
    static void (*const READERS[])(struct msim_described *,
                                   struct msim_fields *) = {
        [MSIM_MODEL_DECODER] = read_decoder,
        [MSIM_MODEL_ENCODER] = read_encoder,
        [MSIM_MODEL_VIT] = read_vit,
        [MSIM_MODEL_DLRM] = msim_described_read_dlrm};

    m->type = (enum msim_model_type)msim_field_word(f, "type", TYPES,
                                                    MSIM_MODEL_DECODER);
    READERS[m->type](m, f);
    if (f->status == MSIM_OK)
        msim_described_check(m, f);
}

/* ---- both ---------------------------------------------------------------- */

/* Its own, else the file's, or that of the member that holds it. */
static void name_of(struct msim_described *m, const struct msim_fields *f)
{
    const char *name = msim_json_get_text(f->object, "name");
    const char *slash = strrchr(f->file, '/');

    if (!name && *f->path)
        snprintf(m->name, sizeof(m->name), "%.*s", (int)strlen(f->path) - 1,
                 f->path);
    else
        snprintf(m->name, sizeof(m->name), "%s",
                 name    ? name
                 : slash ? slash + 1
                         : f->file);
}

bool msim_described_looks(const cJSON *object)
{
    return cJSON_IsObject(object) && (msim_described_is_hub(object) ||
                                      (cJSON_HasObjectItem(object, "hidden") &&
                                       cJSON_HasObjectItem(object, "heads")));
}

enum msim_status msim_described_parse(struct msim_described *m,
                                      const cJSON *object, const char *file,
                                      struct msim_error *err)
{
    struct msim_fields f =
        msim_fields_of(cJSON_IsObject(object) ? object : NULL, file, err);

    *m = (struct msim_described){0};
    if (!f.object)
        return msim_fail(err, MSIM_EFORMAT, file, MSIM_OFFSET_NONE,
                         "this is not a JSON object, want one model");
    msim_described_take(m, &f);
    return f.status;
}

void msim_described_take(struct msim_described *m, struct msim_fields *f)
{
    *m = (struct msim_described){0};
    if (msim_described_is_hub(f->object))
        msim_described_read_hub(m, f);
    else
        read_own(m, f);
    name_of(m, f);
}

enum msim_status msim_described_read(struct msim_described *m, const char *path,
                                     struct msim_error *err)
{
    enum msim_status status;
    cJSON *json;

    *m = (struct msim_described){0};
    MSIM_TRY(msim_json_read(&json, path, err));
    status = msim_described_parse(m, json, path, err);
    cJSON_Delete(json);
    return status;
}

bool msim_described_is_path(const char *name)
{
    size_t n = strlen(name);

    return strchr(name, '/') || (n > 5 && strcmp(name + n - 5, ".json") == 0);
}

bool msim_described_may_be_name(const char *name)
{
    const char *slash = strchr(name, '/');

    if (!msim_described_is_path(name))
        return true;
    return slash && slash > name && *name != '.' && !strchr(slash + 1, '/') &&
           !msim_described_is_path(slash + 1) && access(name, F_OK) != 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* " a b c": the models of a folder, in order; in `near` which of them `typed`
 * looks like. */
static void list_models(char *text, size_t size, char *near, size_t near_size,
                        const char *folder, const char *typed)
{
    const char *likely;
    char *names[256];
    size_t n = 0;
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
    likely = msim_nearest_word(typed, (const char *const *)names, n);
    near[0] = '\0';
    if (likely)
        snprintf(near, near_size, " (did you mean %s?)", likely);
    for (size_t i = 0; i < n; i++) {
        size_t used = strlen(text);

        snprintf(text + used, size - used, " %s", names[i]);
        free(names[i]);
    }
}

/* Whether the name means one of our models: as makers and people write it. */
static bool is_meant(char *path, size_t size, const char *name,
                     const char *data_dir)
{
    struct msim_error why = {0};
    char folder[1024];

    snprintf(folder, sizeof(folder), "%s/models", data_dir);
    return msim_model_name_find(path, size, folder, data_dir, name,
                                MSIM_MODEL_REST_KNOWN, &why) == MSIM_OK;
}

/* The file of a model. */
static enum msim_status find(char *path, size_t size, const char *name,
                             const char *data_dir, const char *beside,
                             struct msim_error *err)
{
    char known[800], near[100];

    if (!msim_described_may_be_name(name)) {
        snprintf(path, size, "%s", name);
        return MSIM_OK;
    }
    snprintf(path, size, "%s/models/%s.json", data_dir, name);
    if (access(path, R_OK) != 0 && beside)
        snprintf(path, size, "%s/%s.json", beside, name);
    if (access(path, R_OK) == 0 || is_meant(path, size, name, data_dir))
        return MSIM_OK;
    if (msim_described_is_path(name)) { /* rather a file that is not there */
        snprintf(path, size, "%s", name);
        return MSIM_OK;
    }
    snprintf(path, size, "%s/models", data_dir);
    list_models(known, sizeof(known), near, sizeof(near), path, name);
    return msim_fail(
        err, MSIM_EUNKNOWN, NULL, MSIM_OFFSET_NONE,
        "no model '%.64s'%s, want a file or %s%s", name, near,
        *near ? "a name of data/models" : "one of:", *near ? "" : known);
}

enum msim_status msim_described_find(struct msim_described *m, const char *name,
                                     const char *data_dir, const char *beside,
                                     struct msim_error *err)
{
    char path[PATH_MAX];

    MSIM_TRY(find(path, sizeof(path), name, data_dir, beside, err));
    return msim_described_read(m, path, err);
}

enum msim_status msim_described_source(char **json, const char *name,
                                       const char *data_dir,
                                       struct msim_error *err)
{
    char path[PATH_MAX];
    cJSON *object;

    *json = NULL;
    MSIM_TRY(find(path, sizeof(path), name, data_dir, NULL, err));
    MSIM_TRY(msim_json_read(&object, path, err));
    *json = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    return *json ? MSIM_OK : MSIM_ENOMEM;
}

#define MODEL_MOST (1 << 20) /* bytes: configurations are small */

bool msim_described_is(const char *name, const char *data_dir)
{
    struct msim_error why = {0};
    struct stat info;
    char path[1400];
    cJSON *json;
    bool is;

    if (stat(name, &info) != 0)
        return msim_described_may_be_name(name) &&
               is_meant(path, sizeof(path), name, data_dir);
    if (!S_ISREG(info.st_mode) || info.st_size > MODEL_MOST ||
        msim_json_read(&json, name, &why) != MSIM_OK)
        return false;
    is = cJSON_IsObject(json) && !cJSON_HasObjectItem(json, "nodes") &&
         !cJSON_HasObjectItem(json, "traceEvents");
    cJSON_Delete(json);
    return is;
}
