/*
 * calibrate/programs/fit_steps_memory.c - the memory formula's part of
 * msim-fit-steps.
 */
#include "calibrate/programs/fit_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where no peak was measured: an assumption, as a factor both ways. */
#define UNKNOWN 1.3

/* Whether a row's peak is judged: tensor parallel ranks in one node. */
static bool has_peak(const struct msim_steps_run *r, uint32_t i)
{
    const struct msim_step_sample *row = &r->s.rows[i];

    return row->memory_gib > 0 && row->strategy.tp <= 8;
}

/* ---- intervals ----------------------------------------------------------- */

static struct msim_memory_interval interval_of(const struct msim_steps_run *r,
                                               const uint8_t *pick,
                                               const double *residual,
                                               enum msim_memory_class class)
{
    struct msim_memory_interval v = {UNKNOWN, UNKNOWN};
    double *e = calloc(r->s.n + 1, sizeof(*e));
    uint32_t n = 0;

    for (uint32_t i = 0; e && i < r->s.n; i++)
        if (pick[i] && msim_memory_class_of(&r->s.rows[i].strategy) == class)
            e[n++] = residual[i];
    if (n) {
        qsort(e, n, sizeof(*e), msim_steps_by_value);
        v.low = exp(fmax(-msim_steps_quantile(e, n, 0.05), 0));
        v.high = exp(fmax(msim_steps_quantile(e, n, 0.95), 0));
    }
    free(e);
    return v;
}

/* Of the residuals of the rows with `pick`; without any, and for what is unlike
 * all of them, at least the assumption. */
static void set_intervals(struct msim_memory_fit *fit,
                          const struct msim_steps_run *r, const uint8_t *pick,
                          const double *residual)
{
    struct msim_memory_interval *other = &fit->interval[MSIM_MEMORY_OTHER];

    *other = (struct msim_memory_interval){UNKNOWN, UNKNOWN};
    for (int c = 0; c < MSIM_MEMORY_OTHER; c++) {
        fit->interval[c] =
            interval_of(r, pick, residual, (enum msim_memory_class)c);
        other->low = fmax(other->low, fit->interval[c].low);
        other->high = fmax(other->high, fit->interval[c].high);
    }
}

/* ---- fits ---------------------------------------------------------------- */

static void residuals_of(const struct msim_steps_run *r, const uint8_t *pick,
                         double *residual,
                         const struct msim_memory_constants *c)
{
    for (uint32_t i = 0; i < r->s.n; i++)
        if (pick[i])
            residual[i] = msim_memory_residual(&r->s.rows[i], c);
}

/* Keep a fit for the rows of `model`. */
static void keep(struct msim_steps_run *r, const char *model,
                 const struct msim_memory_fit *fit)
{
    struct msim_steps_held *held = &r->held[r->n_held];

    if (r->n_held == MSIM_STEPS_HELD)
        return;
    snprintf(held->model, sizeof(held->model), "%s", model);
    held->fit = *fit;
    r->n_held++;
}

/* Every model with peaks held out in turn; `pick` gets the rows. Its interval
 * is of the rows that the fit saw. */
static void memory_by_model(struct msim_steps_run *r, uint8_t *pick,
                            double *residual)
{
    uint8_t *held = calloc(r->s.n + 1, 1);
    double *seen = calloc(r->s.n + 1, sizeof(*seen));
    struct msim_memory_fit fit;

    for (uint32_t i = 0; held && seen && i < r->s.n; i++) {
        if (pick[i] || !has_peak(r, i))
            continue;
        for (uint32_t j = 0; j < r->s.n; j++) {
            bool same = strcmp(r->s.rows[j].model, r->s.rows[i].model) == 0;

            held[j] = has_peak(r, j) && same;
            r->use[j] = has_peak(r, j) && !same;
            pick[j] |= held[j];
        }
        fit.constants = msim_memory_constants_fit(&r->s, r->use);
        residuals_of(r, held, residual, &fit.constants);
        residuals_of(r, r->use, seen, &fit.constants);
        set_intervals(&fit, r, r->use, seen);
        keep(r, r->s.rows[i].model, &fit);
    }
    free(held);
    free(seen);
}

static void add_memory_fit(cJSON *fits, const char *without, const char *source,
                           const struct msim_memory_fit *f)
{
    cJSON *fit = cJSON_CreateObject(), *object, *interval;
    double values[MSIM_MEMORY_CONSTANTS];

    memcpy(values, &f->constants, sizeof(values));
    cJSON_AddStringToObject(fit, "without", without);
    object = cJSON_AddArrayToObject(fit, "sources");
    if (source)
        cJSON_AddItemToArray(object, cJSON_CreateString(source));
    object = cJSON_AddObjectToObject(fit, "constants");
    for (uint32_t i = 0; i < MSIM_MEMORY_CONSTANTS; i++)
        msim_steps_add_number(object, msim_memory_constant_text(i), values[i]);
    interval = cJSON_AddObjectToObject(fit, "interval");
    for (int c = 0; c < MSIM_MEMORY_CLASSES; c++) {
        object = cJSON_AddObjectToObject(
            interval, msim_memory_class_text((enum msim_memory_class)c));
        msim_steps_add_number(object, "low", f->interval[c].low);
        msim_steps_add_number(object, "high", f->interval[c].high);
    }
    cJSON_AddItemToArray(fits, fit);
}

/* The fits and lines of `source`, which alone has peaks: rows with `all`. */
static void fit_source(struct msim_steps_run *r, cJSON *fits,
                       const char *source, const uint8_t *all, uint8_t *pick,
                       double *residual)
{
    uint8_t *none = calloc(r->s.n + 1, 1);

    r->memory.constants = msim_memory_constants_fit(&r->s, all);
    residuals_of(r, all, residual, &r->memory.constants);
    msim_steps_write_errors(r, "memory", source, "fitted on", all, residual);
    memory_by_model(r, pick, residual);
    msim_steps_write_errors(r, "memory", source, "a model held out", pick,
                            residual);
    set_intervals(&r->memory, r, pick, residual);
    add_memory_fit(fits, "", source, &r->memory);
    r->unseen.constants = msim_memory_constants_start();
    residuals_of(r, pick, residual, &r->unseen.constants);
    msim_steps_write_errors(r, "memory", source, "the source held out", pick,
                            residual);
    if (none)
        set_intervals(&r->unseen, r, none, residual);
    add_memory_fit(fits, source, NULL, &r->unseen);
    free(none);
}

void msim_steps_fit_memory(struct msim_steps_run *r, cJSON *json)
{
    uint8_t *pick = calloc(r->s.n + 1, 1), *all = calloc(r->s.n + 1, 1);
    double *residual = calloc(r->s.n + 1, sizeof(*residual));
    const char *source = NULL;
    cJSON *fits = cJSON_AddArrayToObject(json, "memory");

    for (uint32_t i = 0; pick && all && residual && i < r->s.n; i++) {
        all[i] = has_peak(r, i);
        if (all[i])
            source = r->s.sources[r->s.rows[i].source];
    }
    if (source)
        fit_source(r, fits, source, all, pick, residual);
    free(pick);
    free(all);
    free(residual);
}
