/*
 * plan/describe/describe_dlrm.c - reading a recommendation model.
 *
 * Naumov et al., "Deep Learning Recommendation Model for Personalization and
 * Recommendation Systems", 2019: an MLP of the dense features and a bag of rows
 * of every table make vectors of one width; their dot products, beside the
 * MLP's vector, go through another MLP to one logit.
 */
#include "plan/describe/describe_internal.h"

#include <stdio.h>

/* The most that counts of elements have room for, all together. */
#define MOST_WIDTH  1000000
#define MOST_DIM    10000
#define MOST_ROWS   1e13
#define MOST_TABLES 10000 /* of a kind */

/* A whole number from 1 to `most`. */
static int64_t bounded(struct msim_fields *f, const char *key, int64_t missing,
                       int64_t most)
{
    int64_t v = msim_field_int(f, key, 1, missing);
    char want[48];

    (void)snprintf(want, sizeof(want), "at most %lld", (long long)most);
    if (f->status == MSIM_OK && v > most)
        msim_field_refuse(f, key, want);
    return v;
}

/* Outputs of an MLP's layers: [512, 256, 64]. */
static uint32_t read_mlp(struct msim_fields *f, const char *key, int64_t *out)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(f->object, key);
    const cJSON *item;
    uint32_t n = 0;

    cJSON_ArrayForEach(item, list)
    {
        double v = cJSON_IsNumber(item) ? item->valuedouble : 0;

        if (n == MSIM_DLRM_LAYERS || v < 1 || v > MOST_WIDTH ||
            v != (double)(int64_t)v)
            break;
        out[n++] = (int64_t)v;
    }
    if (!cJSON_IsArray(list) || n == 0 || item)
        msim_field_refuse(
            f, key,
            "1 to 16 whole numbers from 1 to 1000000, the outputs of its "
            "layers: [512, 256, 64]");
    return n;
}

static void read_table(struct msim_described *m, struct msim_fields *f,
                       const cJSON *item, uint32_t i)
{
    static const char *const KEYS[] = {"rows", "pooling", "count", NULL};
    struct msim_fields in =
        msim_fields_of(cJSON_IsObject(item) ? item : NULL, f->file, f->err);

    (void)snprintf(in.path, sizeof(in.path), "tables[%u].", i);
    in.status = f->status;
    msim_fields_only(&in, KEYS);
    m->dlrm.tables[i].rows = msim_field_int(&in, "rows", 1, MSIM_FIELD_WANTED);
    m->dlrm.tables[i].pooling = bounded(&in, "pooling", 1, MOST_DIM);
    m->dlrm.tables[i].count = bounded(&in, "count", 1, MOST_TABLES);
    msim_fields_close(f, &in);
}

static void read_tables(struct msim_described *m, struct msim_fields *f)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(f->object, "tables");
    const cJSON *item;
    double rows = 0;

    if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) < 1 ||
        cJSON_GetArraySize(list) > MSIM_DLRM_TABLES) {
        msim_field_refuse(f, "tables",
                          "a list of 1 to 64 objects: [{\"rows\": 100000, "
                          "\"pooling\": 8, \"count\": 26}]");
        return;
    }
    cJSON_ArrayForEach(item, list) read_table(m, f, item, m->dlrm.n_kinds++);
    for (uint32_t i = 0; i < m->dlrm.n_kinds; i++)
        rows +=
            (double)m->dlrm.tables[i].rows * (double)m->dlrm.tables[i].count;
    if (f->status == MSIM_OK && rows > MOST_ROWS)
        msim_field_refuse(f, "tables", "at most 10^13 rows together");
}

void msim_described_read_dlrm(struct msim_described *m, struct msim_fields *f)
{
    static const char *const KEYS[] = {"name",   "type",    "dense",
                                       "dim",    "bottom",  "top",
                                       "tables", "lookups", NULL};
    static const char *const LOOKUPS[] = {"fused", "separate", NULL};

    msim_fields_only(f, KEYS);
    m->bias = true;
    m->dlrm.dense = bounded(f, "dense", MSIM_FIELD_WANTED, MOST_WIDTH);
    m->dlrm.dim = bounded(f, "dim", MSIM_FIELD_WANTED, MOST_DIM);
    m->dlrm.n_bottom = read_mlp(f, "bottom", m->dlrm.bottom);
    m->dlrm.n_top = read_mlp(f, "top", m->dlrm.top);
    m->dlrm.separate = msim_field_word(f, "lookups", LOOKUPS, 0) == 1;
    read_tables(m, f);
    if (f->status == MSIM_OK &&
        m->dlrm.bottom[m->dlrm.n_bottom - 1] != m->dlrm.dim)
        msim_field_refuse(f, "bottom",
                          "\"dim\" last: its vector meets those of tables");
    if (f->status == MSIM_OK && m->dlrm.top[m->dlrm.n_top - 1] != 1)
        msim_field_refuse(f, "top", "1 last: a click's logit");
}
