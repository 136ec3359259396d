/*
 * calibrate/steps/steps_fit.c - fitting the step law.
 */
#include "calibrate/steps/steps_fit.h"

#include "calibrate/steps/search.h"
#include "core/base/vec.h"
#include "plan/rows/job_prices.h"

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

enum msim_status msim_step_samples_read(struct msim_step_samples *s,
                                        const char *path, const char *data_dir,
                                        struct msim_error *err)
{
    struct msim_job_prices prices = {.data_dir = data_dir};
    struct msim_job_rows table;
    struct msim_job_row row;
    struct msim_terms terms;
    char *const *fields;
    char defaults[256];
    double memory;
    enum msim_status status = msim_job_rows_open(&table, path, data_dir, err);

    while (status == MSIM_OK) {
        status = msim_job_rows_next(&table, &row, &fields, err);
        if (status != MSIM_OK || !fields)
            break;
        status = msim_job_price(&prices, &row, "a100", &terms, &memory,
                                defaults, sizeof(defaults));
        if (status == MSIM_OK && !*row.reason && !row.failed && row.step_ms > 0)
            status = add_row(s, &row, &terms);
    }
    msim_job_rows_release(&table);
    msim_job_prices_release(&prices);
    return status;
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

struct task {
    const struct msim_step_samples *s;
    const uint8_t *use;
    double count[MSIM_STEP_SOURCES];
};

static double badness(const double *at, void *context)
{
    const struct task *k = context;
    struct msim_step_constants c;
    double sum = 0;

    memcpy(&c, at, sizeof(c));
    for (uint32_t i = 0; i < k->s->n; i++) {
        const struct msim_step_sample *row = &k->s->rows[i];

        if (k->use[i])
            sum += fmin(fabs(msim_step_residual(row, &c)), ROW_MOST) /
                   k->count[row->source];
    }
    return sum;
}

struct msim_step_constants
msim_step_constants_fit(const struct msim_step_samples *s, const uint8_t *use)
{
    struct msim_step_constants c = msim_step_constants_start();
    double at[MSIM_STEP_CONSTANTS];
    struct task k = {.s = s, .use = use};
    struct msim_search search = {.at = at,
                                 .n = MSIM_STEP_CONSTANTS,
                                 .ridge = RIDGE,
                                 .badness = badness,
                                 .context = &k};

    for (uint32_t i = 0; i < s->n; i++)
        k.count[s->rows[i].source] += use[i] ? 1 : 0;
    memcpy(at, &c, sizeof(c));
    msim_search_run(&search);
    memcpy(&c, at, sizeof(c));
    return c;
}
