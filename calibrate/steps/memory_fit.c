/*
 * calibrate/steps/memory_fit.c - fitting the memory formula.
 */
#include "calibrate/steps/steps_fit.h"

#include "core/base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROW_MOST 0.69 /* log 2 */
#define RIDGE    0.0003

double msim_memory_residual(const struct msim_step_sample *row,
                            const struct msim_memory_constants *c)
{
    struct msim_memory m = msim_memory_of(&row->described, &row->strategy, c);

    return log(row->memory_gib * MSIM_GIB / m.peak);
}

struct task {
    const struct msim_step_samples *s;
    const uint32_t *row;
    uint32_t n;
};

static void residuals(double *out, const double *at, void *context)
{
    const struct task *k = context;
    struct msim_memory_constants c;

    memcpy(&c, at, sizeof(c));
    for (uint32_t i = 0; i < k->n; i++)
        out[i] = msim_memory_residual(&k->s->rows[k->row[i]], &c);
}

struct msim_memory_constants
msim_memory_constants_fit(const struct msim_step_samples *s, const uint8_t *use)
{
    struct msim_memory_constants c = msim_memory_constants_start();
    double at[MSIM_MEMORY_CONSTANTS];
    double *weight = calloc((size_t)s->n + 1, sizeof(*weight));
    uint32_t *row = calloc((size_t)s->n + 1, sizeof(*row));
    struct task k = {.s = s, .row = row};
    struct msim_search search = {.at = at,
                                 .n = MSIM_MEMORY_CONSTANTS,
                                 .weight = weight,
                                 .most = ROW_MOST,
                                 .ridge = RIDGE,
                                 .residuals = residuals,
                                 .context = &k};

    for (uint32_t i = 0; row && i < s->n; i++)
        if (use[i] && s->rows[i].memory_gib > 0)
            row[k.n++] = i;
    for (uint32_t i = 0; weight && i < k.n; i++)
        weight[i] = 1.0 / k.n;
    search.rows = k.n;
    memcpy(at, &c, sizeof(c));
    if (row && weight)
        msim_search_run(&search);
    memcpy(&c, at, sizeof(c));
    free(row);
    free(weight);
    return c;
}
