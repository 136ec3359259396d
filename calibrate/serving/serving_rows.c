/*
 * calibrate/serving/serving_rows.c - rows of measured servers, priced.
 */
#include "calibrate/serving/serving_fit.h"

#include "core/base/containers.h"
#include "core/base/texts.h"
#include "models/platform/platform.h"
#include "serving/llm/llm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct msim_serving_table *t;
    uint32_t ttft, tpot; /* columns; UINT32_MAX: none */
    struct msim_estimate_cache cache[MSIM_SERVING_NAMES]; /* of a GPU */
};

static uint32_t column(const struct msim_point_table *t, const char *name)
{
    for (uint32_t i = 0; i < t->columns; i++)
        if (strcmp(t->header[i], name) == 0)
            return i;
    return UINT32_MAX;
}

/* What was measured; 0: nothing. */
static double measured(const struct msim_point_row *row, uint32_t c)
{
    const char *text = c == UINT32_MAX ? "" : row->fields[c];
    double v = 0;

    return msim_decimal_real(text, strlen(text), &v) && isfinite(v) && v > 0
               ? v
               : 0;
}

/* Place of `name`, without a file's ending, in a list that grows by it. */
static enum msim_status place(uint32_t *at, char names[MSIM_SERVING_NAMES][64],
                              uint32_t *n, const char *name,
                              struct msim_error *err)
{
    char text[64];
    char *end;

    snprintf(text, sizeof(text), "%.63s", name);
    end = strstr(text, ".json");
    if (end)
        *end = '\0';
    for (*at = 0; *at < *n; ++*at)
        if (strcmp(names[*at], text) == 0)
            return MSIM_OK;
    if (*n == MSIM_SERVING_NAMES)
        return msim_fail(err, MSIM_ELIMIT, NULL, MSIM_OFFSET_NONE,
                         "more than %d models or GPUs", MSIM_SERVING_NAMES);
    memcpy(names[(*n)++], text, sizeof(text));
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

static enum msim_status price_row(struct msim_serving_row *row,
                                  struct msim_estimate_cache *cache,
                                  struct msim_error *err)
{
    struct msim_loop_sum prefill, decode;

    msim_loop_prefill(&prefill, &row->rank, &row->loop);
    msim_loop_decode(&decode, &row->rank, &row->loop);
    MSIM_TRY(price(&row->prefill, &prefill, &row->rank, cache, err));
    return price(&row->decode, &decode, &row->rank, cache, err);
}

static enum msim_status make_row(struct reader *r, struct msim_serving_row *row,
                                 const struct msim_point_row *of,
                                 struct msim_error *err)
{
    const struct msim_point_world world = {
        r->t->points.law, &of->model->described, of->platform->platform};
    const struct msim_served_point *p = &of->point;
    struct msim_serving_table *t = r->t;
    struct msim_llm_memory memory;
    struct msim_llm_setup setup;

    memset(row, 0, sizeof(*row));
    row->of = of;
    row->engine = p->engine;
    MSIM_TRY(
        place(&row->model, t->models, &t->n_models, world.model->name, err));
    MSIM_TRY(place(&row->gpu, t->gpus, &t->n_gpus,
                   msim_platform_name(world.platform), err));
    msim_point_setup(&setup, p, &p->serve, &world);
    MSIM_TRY(msim_llm_rank_init(&row->rank, &setup, err));
    row->dense = row->rank.dense;
    row->experts = row->rank.experts;
    MSIM_TRY(msim_llm_memory_make(&memory, &row->rank, err));
    row->loop = msim_closed_loop_of(
        &row->rank, memory.kv_tokens, 0, msim_tokens_mean(p->prompts),
        msim_tokens_mean(p->outputs), (double)p->clients);
    row->tpot_ms = measured(of, r->tpot);
    row->ttft_ms = measured(of, r->ttft);
    return price_row(row, &r->cache[row->gpu], err);
}

/* ---- all of them --------------------------------------------------------- */

static void note_failure(struct msim_serving_table *t, const char *why)
{
    if (t->failed++ == 0)
        snprintf(t->why, sizeof(t->why), "%.250s", why);
}

static enum msim_status add_row(struct reader *r,
                                const struct msim_point_row *of)
{
    struct msim_serving_table *t = r->t;
    struct msim_error why = {0};
    enum msim_status status;

    if (of->answer.reason[0]) {
        note_failure(t, of->answer.reason);
        return MSIM_OK;
    }
    if (of->point.decode.workers > 0) {
        t->left_out++;
        return MSIM_OK;
    }
    MSIM_TRY(msim_grow((void **)&t->rows, &t->cap, t->n, sizeof(*t->rows)));
    status = make_row(r, &t->rows[t->n], of, &why);
    if (status == MSIM_ENOMEM)
        return status;
    if (status == MSIM_OK)
        t->n++;
    else
        note_failure(t, why.text);
    return MSIM_OK;
}

enum msim_status msim_serving_rows_read(struct msim_serving_table *t,
                                        const char *path, const char *data,
                                        const char *models,
                                        struct msim_error *err)
{
    struct reader *r = calloc(1, sizeof(*r));
    enum msim_status status;

    memset(t, 0, sizeof(*t));
    if (!r)
        return MSIM_ENOMEM;
    r->t = t;
    status = msim_point_table_read(&t->points, path, models, data, err);
    if (status == MSIM_OK) {
        r->ttft = column(&t->points, "ttft_ms");
        r->tpot = column(&t->points, "tpot_ms");
    }
    for (uint32_t i = 0; status == MSIM_OK && i < t->points.n; i++)
        status = add_row(r, &t->points.rows[i]);
    for (uint32_t i = 0; i < MSIM_SERVING_NAMES; i++)
        msim_estimate_cache_release(&r->cache[i]);
    free(r);
    return status;
}

void msim_serving_rows_release(struct msim_serving_table *t)
{
    msim_point_table_release(&t->points);
    free(t->rows);
    memset(t, 0, sizeof(*t));
}
