/*
 * calibrate/programs/fit_steps_memory.c - the memory formula's part of
 * msim-fit-steps.
 */
#include "calibrate/programs/fit_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether a row's peak is judged: tensor parallel ranks in one node. */
static bool has_peak(const struct msim_steps_run *r, uint32_t i)
{
    const struct msim_step_sample *row = &r->s.rows[i];

    return row->memory_gib > 0 && row->strategy.tp <= 8;
}

static void memory_residuals(struct msim_steps_run *r, const uint8_t *use,
                             const uint8_t *pick, double *residual,
                             struct msim_memory_constants *c)
{
    *c = msim_memory_constants_fit(&r->s, use);
    for (uint32_t i = 0; i < r->s.n; i++)
        if (pick[i])
            residual[i] = msim_memory_residual(&r->s.rows[i], c);
}

/* Every model with peaks held out in turn; `pick` gets the rows. */
static void memory_by_model(struct msim_steps_run *r, uint8_t *pick,
                            double *residual)
{
    uint8_t *held = calloc(r->s.n + 1, 1);
    struct msim_memory_constants c;

    for (uint32_t i = 0; held && i < r->s.n; i++) {
        if (pick[i] || !has_peak(r, i))
            continue;
        for (uint32_t j = 0; j < r->s.n; j++) {
            bool same = strcmp(r->s.rows[j].model, r->s.rows[i].model) == 0;

            held[j] = has_peak(r, j) && same;
            r->use[j] = has_peak(r, j) && !same;
            pick[j] |= held[j];
        }
        memory_residuals(r, r->use, held, residual, &c);
    }
    free(held);
}

static void add_memory_fit(cJSON *fits, const char *without, const char *source,
                           const struct msim_memory_constants *c, double low,
                           double high)
{
    cJSON *fit = cJSON_CreateObject(), *object, *interval;
    double values[MSIM_MEMORY_CONSTANTS];

    memcpy(values, c, sizeof(values));
    cJSON_AddStringToObject(fit, "without", without);
    object = cJSON_AddArrayToObject(fit, "sources");
    if (source)
        cJSON_AddItemToArray(object, cJSON_CreateString(source));
    object = cJSON_AddObjectToObject(fit, "constants");
    for (uint32_t i = 0; i < MSIM_MEMORY_CONSTANTS; i++)
        msim_steps_add_number(object, msim_memory_constant_text(i), values[i]);
    interval = cJSON_AddObjectToObject(fit, "interval");
    msim_steps_add_number(interval, "low", low);
    msim_steps_add_number(interval, "high", high);
    cJSON_AddItemToArray(fits, fit);
}

/* One fit on all peaks, with the interval of models held out; one without the
 * source that alone has peaks: where the constants begin. */
void msim_steps_fit_memory(struct msim_steps_run *r, cJSON *json)
{
    uint8_t *pick = calloc(r->s.n + 1, 1), *all = calloc(r->s.n + 1, 1);
    double *residual = calloc(r->s.n + 1, sizeof(*residual));
    struct msim_memory_constants c, start = msim_memory_constants_start();
    const char *source = NULL;
    double *e = calloc(r->s.n + 1, sizeof(*e));
    cJSON *fits = cJSON_AddArrayToObject(json, "memory");
    uint32_t n = 0;

    for (uint32_t i = 0; pick && all && residual && e && i < r->s.n; i++) {
        all[i] = has_peak(r, i);
        if (all[i])
            source = r->s.sources[r->s.rows[i].source];
    }
    if (source) {
        memory_residuals(r, all, all, residual, &c);
        msim_steps_write_errors(r, "memory", source, "fitted on", all,
                                residual);
        memory_by_model(r, pick, residual);
        msim_steps_write_errors(r, "memory", source, "a model held out", pick,
                                residual);
        for (uint32_t i = 0; i < r->s.n; i++)
            if (pick[i])
                e[n++] = residual[i];
        qsort(e, n, sizeof(*e), msim_steps_by_value);
        add_memory_fit(fits, "", source, &c,
                       exp(fmax(-msim_steps_quantile(e, n, 0.05), 0)),
                       exp(fmax(msim_steps_quantile(e, n, 0.95), 0)));
        n = 0;
        for (uint32_t i = 0; i < r->s.n; i++)
            if (pick[i])
                e[n++] = residual[i] =
                    msim_memory_residual(&r->s.rows[i], &start);
        msim_steps_write_errors(r, "memory", source, "the source held out",
                                pick, residual);
        qsort(e, n, sizeof(*e), msim_steps_by_value);
        add_memory_fit(fits, source, NULL, &start,
                       exp(fmax(-msim_steps_quantile(e, n, 0.05), 0)),
                       exp(fmax(msim_steps_quantile(e, n, 0.95), 0)));
    }
    free(pick);
    free(all);
    free(residual);
    free(e);
}
