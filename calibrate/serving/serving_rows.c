/*
 * calibrate/serving/serving_rows.c - rows of measured servers, priced.
 */
#include "calibrate/serving/serving_rows.h"

#include "core/base/vec.h"
#include "models/platform/platform.h"
#include "plan/describe/describe.h"
#include "serving/llm/llm_memory.h"
#include "serving/llm/model_find.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* X(column) */
#define COLUMNS(X)                                                             \
    X(backend)                                                                 \
    X(model)                                                                   \
    X(platform)                                                                \
    X(isl)                                                                     \
    X(osl)                                                                     \
    X(batch_size)                                                              \
    X(tp_size)                                                                 \
    X(pp_size)                                                                 \
    X(attention_dp_size)                                                       \
    X(moe_tp_size)                                                             \
    X(moe_ep_size)                                                             \
    X(gemm_quant)                                                              \
    X(moe_quant)                                                               \
    X(ttft_ms)                                                                 \
    X(tpot_ms)

enum column {
#define X(name) COLUMN_##name,
    COLUMNS(X)
#undef X
        COLUMN_COUNT
};

static const char *const NAMES[] = {
#define X(name) #name,
    COLUMNS(X)
#undef X
};

/* What is open while a table is read: models and platforms by their places in
 * the table's lists. */
struct reader {
    struct msim_serving_table *t;
    const char *data, *models;
    uint32_t column[COLUMN_COUNT];
    char *const *fields;
    struct msim_described model[MSIM_SERVING_NAMES];
    struct msim_platform *gpu[MSIM_SERVING_NAMES];
    struct msim_estimate_cache cache[MSIM_SERVING_NAMES]; /* of a platform */
    uint32_t opened_models, opened_gpus;
    char model_names[MSIM_SERVING_NAMES][64];
    char gpu_names[MSIM_SERVING_NAMES][64];
};

static const char *text(const struct reader *r, enum column c)
{
    return r->column[c] == UINT32_MAX ? "" : r->fields[r->column[c]];
}

static double number(const struct reader *r, enum column c)
{
    return strtod(text(r, c), NULL);
}

static int64_t size_of(const struct reader *r, enum column c)
{
    double v = number(r, c);

    return v >= 1 && v < 1e6 ? (int64_t)v : 0;
}

static enum msim_status find_columns(struct reader *r,
                                     const struct msim_csv *csv,
                                     const char *path, struct msim_error *err)
{
    for (int c = 0; c < COLUMN_COUNT; c++)
        r->column[c] = msim_csv_find(csv, NAMES[c]);
    for (int c = 0; c <= COLUMN_batch_size; c++)
        if (r->column[c] == UINT32_MAX)
            return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                             "no column '%s'", NAMES[c]);
    return MSIM_OK;
}

/* ---- models and platforms ------------------------------------------------ */

/* Place of `name` among `n` names, or n. */
static uint32_t place(char names[MSIM_SERVING_NAMES][64], uint32_t n,
                      const char *name)
{
    uint32_t i = 0;

    while (i < n && strncmp(names[i], name, 63) != 0)
        i++;
    return i;
}

static void put_name(char name[64], const char *from)
{
    snprintf(name, 64, "%.63s", from);
}

/* "folder/llama-3.1-8b.json" is llama-3.1-8b. */
static void put_file(char name[64], const char *path)
{
    const char *slash = strrchr(path, '/');
    char *end;

    put_name(name, slash ? slash + 1 : path);
    end = strstr(name, ".json");
    if (end)
        *end = '\0';
}

static enum msim_status open_model(struct reader *r, uint32_t *at,
                                   struct msim_error *err)
{
    struct msim_serving_table *t = r->t;
    char path[PATH_MAX];
    uint32_t n = r->opened_models;

    *at = place(r->model_names, n, text(r, COLUMN_model));
    if (*at < n)
        return MSIM_OK;
    if (n == MSIM_SERVING_NAMES)
        return msim_fail(err, MSIM_ELIMIT, NULL, MSIM_OFFSET_NONE,
                         "more than %d models", MSIM_SERVING_NAMES);
    MSIM_TRY(msim_llm_model_find(path, sizeof(path), r->models,
                                 text(r, COLUMN_model), err));
    MSIM_TRY(msim_described_read(&r->model[n], path, err));
    put_name(r->model_names[n], text(r, COLUMN_model));
    put_file(t->models[n], path);
    t->n_models = r->opened_models = n + 1;
    return MSIM_OK;
}

static enum msim_status open_gpu(struct reader *r, uint32_t *at,
                                 struct msim_error *err)
{
    struct msim_serving_table *t = r->t;
    uint32_t n = r->opened_gpus;

    *at = place(r->gpu_names, n, text(r, COLUMN_platform));
    if (*at < n)
        return MSIM_OK;
    if (n == MSIM_SERVING_NAMES)
        return msim_fail(err, MSIM_ELIMIT, NULL, MSIM_OFFSET_NONE,
                         "more than %d GPUs", MSIM_SERVING_NAMES);
    MSIM_TRY(
        msim_platform_load(&r->gpu[n], r->data, text(r, COLUMN_platform), err));
    put_name(r->gpu_names[n], text(r, COLUMN_platform));
    put_name(t->gpus[n], msim_platform_name(r->gpu[n]));
    t->n_gpus = r->opened_gpus = n + 1;
    return MSIM_OK;
}

/* ---- a row --------------------------------------------------------------- */

static enum msim_status price(struct msim_serving_sum *to,
                              const struct msim_loop_sum *sum,
                              const struct msim_llm_rank *rank,
                              struct msim_estimate_cache *cache,
                              struct msim_error *err)
{
    memset(to, 0, sizeof(*to));
    to->steps = sum->steps;
    to->seqs = sum->seqs;
    for (uint32_t i = 0; i < sum->n; i++) {
        const struct msim_loop_term *term = &sum->of[i];
        struct msim_llm_pieces p;

        MSIM_TRY(msim_llm_price_part(&p, rank, cache, term->part, term->a,
                                     term->b, err));
        for (int k = 0; k < MSIM_LLM_PIECES; k++)
            for (int q = 0; q < MSIM_QUANTS; q++)
                to->pieces.us[k][q] += term->times * p.us[k][q];
    }
    return MSIM_OK;
}

static enum msim_status read_setup(struct reader *r, struct msim_llm_setup *s,
                                   struct msim_error *err)
{
    *s = (struct msim_llm_setup){
        .engine = msim_llm_engine_parse(text(r, COLUMN_backend)),
        .products = msim_quant_parse(text(r, COLUMN_gemm_quant)),
        .experts = msim_quant_parse(text(r, COLUMN_moe_quant)),
        .tp = size_of(r, COLUMN_tp_size),
        .pp = size_of(r, COLUMN_pp_size),
        .dp = size_of(r, COLUMN_attention_dp_size),
        .ep = size_of(r, COLUMN_moe_ep_size),
        .moe_tp = size_of(r, COLUMN_moe_tp_size)};
    if (s->engine == MSIM_LLM_ENGINES || s->products == MSIM_QUANTS ||
        s->experts == MSIM_QUANTS)
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "no engine or type of weights '%s %s %s'",
                         text(r, COLUMN_backend), text(r, COLUMN_gemm_quant),
                         text(r, COLUMN_moe_quant));
    return MSIM_OK;
}

static enum msim_status read_row(struct reader *r, struct msim_serving_row *row,
                                 struct msim_error *err)
{
    struct msim_loop_sum prefill, decode;
    struct msim_llm_memory memory;
    struct msim_llm_setup setup;
    struct msim_llm_rank rank;

    memset(row, 0, sizeof(*row));
    MSIM_TRY(read_setup(r, &setup, err));
    MSIM_TRY(open_model(r, &row->model, err));
    MSIM_TRY(open_gpu(r, &row->gpu, err));
    setup.model = &r->model[row->model];
    setup.platform = r->gpu[row->gpu];
    MSIM_TRY(msim_llm_rank_init(&rank, &setup, err));
    row->engine = setup.engine;
    row->dense = rank.dense;
    row->experts = rank.experts;
    row->rank = rank;
    MSIM_TRY(msim_llm_memory_make(&memory, &rank, err));
    row->loop = msim_closed_loop_of(
        &rank, memory.kv_tokens, 0, number(r, COLUMN_isl),
        number(r, COLUMN_osl), number(r, COLUMN_batch_size));
    row->tpot_ms = number(r, COLUMN_tpot_ms);
    row->ttft_ms = number(r, COLUMN_ttft_ms);
    msim_loop_prefill(&prefill, &rank, &row->loop);
    msim_loop_decode(&decode, &rank, &row->loop);
    MSIM_TRY(price(&row->prefill, &prefill, &rank, &r->cache[row->gpu], err));
    return price(&row->decode, &decode, &rank, &r->cache[row->gpu], err);
}

/* ---- all of them --------------------------------------------------------- */

static enum msim_status add_row(struct reader *r)
{
    struct msim_serving_table *t = r->t;
    struct msim_error why = {0};

    if (!(number(r, COLUMN_batch_size) > 0)) {
        t->left_out++;
        return MSIM_OK;
    }
    MSIM_TRY(msim_grow((void **)&t->rows, &t->cap, t->n, sizeof(*t->rows)));
    if (read_row(r, &t->rows[t->n], &why) == MSIM_OK) {
        t->n++;
        return MSIM_OK;
    }
    if (why.status == MSIM_ENOMEM)
        return MSIM_ENOMEM;
    if (t->failed++ == 0)
        snprintf(t->why, sizeof(t->why), "%.250s", why.text);
    return MSIM_OK;
}

static enum msim_status read_all(struct reader *r, struct msim_csv *csv,
                                 const char *path, struct msim_error *err)
{
    MSIM_TRY(find_columns(r, csv, path, err));
    for (;;) {
        MSIM_TRY(msim_csv_next(csv, &r->fields, err));
        if (!r->fields)
            return MSIM_OK;
        MSIM_TRY(add_row(r));
    }
}

enum msim_status msim_serving_rows_read(struct msim_serving_table *t,
                                        const char *path, const char *data,
                                        const char *models,
                                        struct msim_error *err)
{
    struct reader *r = calloc(1, sizeof(*r));
    struct msim_csv *csv = NULL;
    enum msim_status status;

    memset(t, 0, sizeof(*t));
    if (!r)
        return MSIM_ENOMEM;
    r->t = t;
    r->data = data;
    r->models = models;
    status = msim_csv_open(&csv, path, err);
    if (status == MSIM_OK)
        status = read_all(r, csv, path, err);
    msim_csv_close(csv);
    for (uint32_t i = 0; i < r->opened_gpus; i++) {
        msim_estimate_cache_release(&r->cache[i]);
        msim_platform_free(r->gpu[i]);
    }
    free(r);
    return status;
}

void msim_serving_rows_release(struct msim_serving_table *t)
{
    free(t->rows);
    memset(t, 0, sizeof(*t));
}
