/*
 * calibrate/steps/steps_fit.c - fitting the step law.
 */
#include "calibrate/steps/steps_fit.h"

#include "core/base/containers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROW_MOST 0.69 /* log 2 */
#define RIDGE    0.002

/* ---- rows ---------------------------------------------------------------- */

static uint32_t source_index(struct msim_step_samples *s, const char *name)
{
    uint32_t i = 0;

    while (i < s->n_sources && strcmp(s->sources[i], name) != 0)
        i++;
    if (i == s->n_sources && i < MSIM_STEP_SOURCES)
        snprintf(s->sources[s->n_sources++], sizeof(s->sources[0]), "%s", name);
    return i < MSIM_STEP_SOURCES ? i : MSIM_STEP_SOURCES - 1;
}

static enum msim_status add_row(struct msim_step_samples *s,
                                const struct msim_job_row *row,
                                const struct msim_terms *terms)
{
    struct msim_step_sample *to;

    MSIM_TRY(msim_grow((void **)&s->rows, &s->cap, s->n, sizeof(*s->rows)));
    to = &s->rows[s->n++];
    *to = (struct msim_step_sample){.terms = *terms,
                                    .described = *row->model,
                                    .strategy = row->strategy,
                                    .us = row->step_ms * 1000,
                                    .memory_gib = row->memory_gib,
                                    .gpus = (double)row->strategy.gpus};
    to->source = source_index(s, row->source ? row->source : "unnamed");
    if (row->model == &row->by_numbers)
        snprintf(to->model, sizeof(to->model), "hidden %lld",
                 (long long)row->model->hidden);
    else
        snprintf(to->model, sizeof(to->model), "%.47s", row->model->name);
    return MSIM_OK;
}

enum msim_status msim_priced_rows_each(const char *path, const char *data_dir,
                                       msim_priced_row_use *use, void *ctx,
                                       struct msim_error *err)
{
    struct msim_job_prices prices = {.data_dir = data_dir};
    struct msim_job_rows table;
    struct msim_job_row row;
    struct msim_job_priced priced;
    char *const *fields;
    enum msim_status status = msim_job_rows_open(&table, path, data_dir, err);

    while (status == MSIM_OK) {
        status = msim_job_rows_next(&table, &row, &fields, err);
        if (status != MSIM_OK || !fields)
            break;
        status = msim_job_price(&prices, &row, "a100", &priced);
        if (status == MSIM_OK)
            status = use(ctx, &row, &priced);
    }
    msim_job_rows_release(&table);
    msim_job_prices_release(&prices);
    return status;
}

static enum msim_status add_measured(void *samples,
                                     const struct msim_job_row *row,
                                     const struct msim_job_priced *priced)
{
    if (*row->reason || row->failed || !(row->step_ms > 0))
        return MSIM_OK;
    return add_row(samples, row, &priced->terms);
}

enum msim_status msim_step_samples_read(struct msim_step_samples *s,
                                        const char *path, const char *data_dir,
                                        struct msim_error *err)
{
    return msim_priced_rows_each(path, data_dir, add_measured, s, err);
}

void msim_step_samples_release(struct msim_step_samples *s)
{
    free(s->rows);
    *s = (struct msim_step_samples){0};
}

/* ---- fitting ------------------------------------------------------------- */

double msim_step_residual(const struct msim_step_sample *row,
                          const struct msim_step_constants *c)
{
    return log(row->us / msim_step_us(&row->terms, c, NULL));
}

/* Whether two rows differ in little but layers, GPUs and micro batches. */
static bool is_near_duplicate(const struct msim_step_sample *a,
                              const struct msim_step_sample *b)
{
    const struct msim_strategy *x = &a->strategy, *y = &b->strategy;

    return a->source == b->source && strcmp(a->model, b->model) == 0 &&
           a->terms.platform == b->terms.platform &&
           a->terms.again_word == b->terms.again_word &&
           x->precision == y->precision && x->tp == y->tp && x->pp == y->pp &&
           x->zero == y->zero && x->micro_batch == y->micro_batch &&
           x->sequence == y->sequence;
}

struct task {
    const struct msim_step_samples *s;
    const uint32_t *row;
    uint32_t n;
};

/* Near-duplicates count as the root of their number, sources alike. */
static void weigh(double *weight, const struct task *k)
{
    double sum[MSIM_STEP_SOURCES] = {0};

    for (uint32_t i = 0; i < k->n; i++) {
        const struct msim_step_sample *of = &k->s->rows[k->row[i]];
        uint32_t same = 0;

        for (uint32_t j = 0; j < k->n; j++)
            same += is_near_duplicate(of, &k->s->rows[k->row[j]]);
        weight[i] = 1 / sqrt(same);
        sum[of->source] += weight[i];
    }
    for (uint32_t i = 0; i < k->n; i++)
        weight[i] /= sum[k->s->rows[k->row[i]].source];
}

static void residuals(double *out, const double *at, void *context)
{
    const struct task *k = context;
    struct msim_step_constants c;

    memcpy(&c, at, sizeof(c));
    for (uint32_t i = 0; i < k->n; i++)
        out[i] = msim_step_residual(&k->s->rows[k->row[i]], &c);
}

struct msim_step_constants
msim_step_constants_fit(const struct msim_step_samples *s, const uint8_t *use)
{
    struct msim_step_constants c = msim_step_constants_start();
    double at[MSIM_STEP_CONSTANTS];
    double *weight = calloc((size_t)s->n + 1, sizeof(*weight));
    uint32_t *row = calloc((size_t)s->n + 1, sizeof(*row));
    struct task k = {.s = s, .row = row};
    struct msim_search search = {.at = at,
                                 .n = MSIM_STEP_CONSTANTS,
                                 .weight = weight,
                                 .most = ROW_MOST,
                                 .ridge = RIDGE,
                                 .residuals = residuals,
                                 .context = &k};

    for (uint32_t i = 0; row && i < s->n; i++)
        if (use[i])
            row[k.n++] = i;
    search.rows = k.n;
    memcpy(at, &c, sizeof(c));
    if (row && weight) {
        weigh(weight, &k);
        msim_search_run(&search);
    }
    memcpy(&c, at, sizeof(c));
    free(row);
    free(weight);
    return c;
}
