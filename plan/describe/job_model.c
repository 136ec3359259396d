/*
 * plan/describe/job_model.c - a described model of other sizes.
 */
#include "plan/describe/describe.h"

#include <stdio.h>
#include <string.h>

#define SIZE_MOST   1000000000
#define LAYERS_MOST 10000

bool msim_job_model_has_same_sizes(const struct msim_job_model *c)
{
#define X(name)                                                                \
    if (c->name.to)                                                            \
        return false;
    MSIM_JOB_SIZE_MAP(X)
#undef X
    return true;
}

bool msim_job_model_is_same(const struct msim_job_model *c)
{
    return msim_job_model_has_same_sizes(c) && c->layers == 0;
}

static void read_size(struct msim_fields *f, const char *key, int64_t *from,
                      int64_t *to)
{
    static const char *const KEYS[] = {"from", "to", NULL};
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(f->object, key);
    struct msim_fields in;

    if (*to)
        msim_field_refuse(f, key, "each size once a scenario");
    *from = 0;
    if (cJSON_IsNumber(item)) {
        *to = msim_field_int(f, key, 1, 1);
    } else if (!cJSON_IsObject(item)) {
        msim_field_refuse(f, key, "a number, or {\"from\": 8, \"to\": 64}");
    } else {
        in = msim_fields_open(f, key);
        msim_fields_only(&in, KEYS);
        *from = msim_field_int(&in, "from", 1, 0);
        *to = msim_field_int(&in, "to", 1, MSIM_FIELD_WANTED);
        msim_fields_close(f, &in);
    }
    if (*to > SIZE_MOST || *from > SIZE_MOST)
        msim_field_refuse(f, key, "sizes of at most 1,000,000,000");
}

static int64_t read_number(struct msim_fields *f, const char *key)
{
    const cJSON *item = msim_field_json(f, key);

    if (!cJSON_IsNumber(item) || item->valuedouble <= LAYERS_MOST)
        return msim_field_int(f, key, 1, MSIM_FIELD_WANTED);
    msim_field_refuse(f, key, "at most 10,000 layers");
    return 1;
}

/* A described model has one repetition, which a trace calls "blocks". */
static void read_layers(struct msim_fields *f, const char *key, int64_t *to)
{
    static const char *const KEYS[] = {"block", "to", NULL};
    static const char *const BLOCKS[] = {"blocks", NULL};
    struct msim_fields in;

    if (*to)
        msim_field_refuse(f, key, "the number of layers once a scenario");
    if (!cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(f->object, key))) {
        *to = read_number(f, key);
    } else {
        in = msim_fields_open(f, key);
        msim_fields_only(&in, KEYS);
        (void)msim_field_word(&in, "block", BLOCKS, 0);
        *to = read_number(&in, "to");
        msim_fields_close(f, &in);
    }
}

void msim_job_model_read(struct msim_job_model *c, struct msim_fields *f,
                         const char *key)
{
#define X(name)                                                                \
    if (strcmp(key, #name) == 0)                                               \
        read_size(f, key, &c->name.from, &c->name.to);
    MSIM_JOB_SIZE_MAP(X)
#undef X
    if (strcmp(key, "layers") == 0)
        read_layers(f, key, &c->layers);
}

/* `*size` times num / den; false: that is no whole number. */
static bool scale(int64_t *size, int64_t num, int64_t den)
{
    int64_t all;

    if (__builtin_mul_overflow(*size, num, &all) || all % den != 0)
        return false;
    *size = all / den;
    return true;
}

static bool refuse(char *why, size_t size, const char *name, int64_t from,
                   int64_t is)
{
    snprintf(why, size, "%s: the model's is %lld, not %lld", name,
             (long long)is, (long long)from);
    return false;
}

/* Heads of several sizes do not follow from the width. */
static bool has_other_heads(const struct msim_described *m)
{
    return m->mla.kv_rank || m->linear.layers || m->index.topk;
}

/* Each head is as wide as what is left of the width; MLPs go with it. */
static bool follow(struct msim_described *m, const struct msim_described *base,
                   const struct msim_job_model *c, char *why, size_t size)
{
    if ((c->hidden.to || c->heads.to) && has_other_heads(base)) {
        snprintf(why, size,
                 "the model has heads of several sizes, which do "
                 "not follow from its width");
        return false;
    }
    if (!scale(&m->head_dim, m->hidden, base->hidden) ||
        !scale(&m->head_dim, base->heads, m->heads)) {
        snprintf(why, size,
                 "heads do not divide the width: %lld heads in a width of %lld",
                 (long long)m->heads, (long long)m->hidden);
        return false;
    }
    if (!scale(&m->kv_heads, m->heads, base->heads)) {
        snprintf(why, size,
                 "kv_heads of %lld would be of %lld * %lld / %lld, which is no "
                 "whole number",
                 (long long)base->kv_heads, (long long)base->kv_heads,
                 (long long)m->heads, (long long)base->heads);
        return false;
    }
    if (c->ffn.to || (scale(&m->ffn, m->hidden, base->hidden) &&
                      scale(&m->moe.ffn, m->hidden, base->hidden)))
        return true;
    snprintf(why, size, "ffn of %lld would be no whole number",
             (long long)base->ffn);
    return false;
}

/* More layers are more of those that there are, of which there must be one
 * kind, but for dense ones before those with experts. */
static bool deepen(struct msim_described *m, int64_t layers, char *why,
                   size_t size)
{
    if (!layers || layers == m->layers)
        return true;
    if (m->window_layers || m->linear.layers) {
        snprintf(why, size,
                 "the model has layers of several kinds, of which none is "
                 "repeated alone");
        return false;
    }
    if (layers <= m->moe.dense_layers) {
        snprintf(why, size,
                 "the first %lld layers have no experts; want more layers than "
                 "those, found %lld",
                 (long long)m->moe.dense_layers, (long long)layers);
        return false;
    }
    m->layers = layers;
    return true;
}

bool msim_job_model_make(struct msim_described *out,
                         const struct msim_described *base,
                         const struct msim_job_model *c, char *why, size_t size)
{
    *out = *base;
#define X(name)                                                                \
    if (c->name.from && c->name.from != base->name)                            \
        return refuse(why, size, #name, c->name.from, base->name);             \
    if (c->name.to)                                                            \
        out->name = c->name.to;
    MSIM_JOB_SIZE_MAP(X)
#undef X
    return msim_job_model_is_same(c) || (follow(out, base, c, why, size) &&
                                         deepen(out, c->layers, why, size));
}
