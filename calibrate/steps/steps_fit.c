/*
 * calibrate/steps/steps_fit.c - fitting the step law.
 */
#include "calibrate/steps/steps_fit.h"

#include "core/base/vec.h"
#include "plan/rows/job_prices.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_min.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS   8    /* over all constants */
#define STEPS    14   /* of Brent's method, for each */
#define REACH    1.8  /* a constant moves by this factor's exponential */
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
                                    .us = row->step_ms * 1000,
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
    enum msim_status status = msim_job_rows_open(&table, path, data_dir, err);

    while (status == MSIM_OK) {
        status = msim_job_rows_next(&table, &row, &fields, err);
        if (status != MSIM_OK || !fields)
            break;
        status = msim_job_price(&prices, &row, "a100", &terms, defaults,
                                sizeof(defaults));
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

struct search {
    const struct msim_step_samples *s;
    const uint8_t *use;
    double count[MSIM_STEP_SOURCES];
    double start[MSIM_STEP_CONSTANTS], at[MSIM_STEP_CONSTANTS];
    uint32_t which; /* the constant that moves */
};

static double badness(struct search *k)
{
    struct msim_step_constants c;
    double sum = 0;

    memcpy(&c, k->at, sizeof(c));
    for (uint32_t i = 0; i < k->s->n; i++) {
        const struct msim_step_sample *row = &k->s->rows[i];

        if (k->use[i])
            sum += fmin(fabs(msim_step_residual(row, &c)), ROW_MOST) /
                   k->count[row->source];
    }
    for (uint32_t i = 0; i < MSIM_STEP_CONSTANTS; i++) {
        double far = log(k->at[i] / k->start[i]);

        sum += RIDGE * far * far;
    }
    return sum;
}

static double along(double x, void *context)
{
    struct search *k = context;

    k->at[k->which] = exp(x);
    return badness(k);
}

/* Move one constant to the least badness that is near. */
static void move(struct search *k, gsl_min_fminimizer *m)
{
    gsl_function f = {.function = along, .params = k};
    double was = k->at[k->which], now = along(log(was), k);
    double least = log(was), value = now;
    double reach = REACH;

    /* Brent's method wants a middle below both ends: look for one. */
    for (int i = -6; i <= 6; i++) {
        double x = log(was) + reach * i / 6, v = along(x, k);

        if (v < value) {
            value = v;
            least = x;
        }
    }
    if (gsl_min_fminimizer_set(m, &f, least, least - reach / 6,
                               least + reach / 6) == GSL_SUCCESS) {
        for (int i = 0; i < STEPS; i++)
            if (gsl_min_fminimizer_iterate(m) != GSL_SUCCESS)
                break;
        least = gsl_min_fminimizer_x_minimum(m);
    }
    k->at[k->which] = along(least, k) <= now ? exp(least) : was;
}

struct msim_step_constants
msim_step_constants_fit(const struct msim_step_samples *s, const uint8_t *use)
{
    struct msim_step_constants start = msim_step_constants_start();
    gsl_min_fminimizer *m = gsl_min_fminimizer_alloc(gsl_min_fminimizer_brent);
    struct search k = {.s = s, .use = use};

    memcpy(k.start, &start, sizeof(start));
    memcpy(k.at, &start, sizeof(start));
    for (uint32_t i = 0; i < s->n; i++)
        k.count[s->rows[i].source] += use[i] ? 1 : 0;
    gsl_set_error_handler_off();
    for (int round = 0; m && round < ROUNDS; round++)
        for (k.which = 0; k.which < MSIM_STEP_CONSTANTS; k.which++)
            move(&k, m);
    if (m)
        gsl_min_fminimizer_free(m);
    memcpy(&start, k.at, sizeof(start));
    return start;
}
