/*
 * calibrate/steps/memory_fit.c - fitting the memory formula.
 */
#include "calibrate/steps/memory_fit.h"

#include "calibrate/steps/search.h"

#include <math.h>
#include <string.h>

#define ROW_MOST 0.69 /* log 2 */
#define RIDGE    0.0003
#define GIB      1073741824.0

double msim_memory_residual(const struct msim_step_sample *row,
                            const struct msim_memory_constants *c)
{
    struct msim_memory m = msim_memory_of(&row->described, &row->strategy, c);

    return log(row->memory_gib * GIB / m.peak);
}

struct task {
    const struct msim_step_samples *s;
    const uint8_t *use;
};

static double badness(const double *at, void *context)
{
    const struct task *k = context;
    struct msim_memory_constants c;
    double sum = 0;
    uint32_t n = 0;

    memcpy(&c, at, sizeof(c));
    for (uint32_t i = 0; i < k->s->n; i++) {
        if (!k->use[i] || k->s->rows[i].memory_gib <= 0)
            continue;
        sum += fmin(fabs(msim_memory_residual(&k->s->rows[i], &c)), ROW_MOST);
        n++;
    }
    return n ? sum / n : 0;
}

struct msim_memory_constants
msim_memory_constants_fit(const struct msim_step_samples *s, const uint8_t *use)
{
    struct msim_memory_constants c = msim_memory_constants_start();
    double at[MSIM_MEMORY_CONSTANTS];
    struct task k = {s, use};
    struct msim_search search = {.at = at,
                                 .n = MSIM_MEMORY_CONSTANTS,
                                 .ridge = RIDGE,
                                 .badness = badness,
                                 .context = &k};

    memcpy(at, &c, sizeof(c));
    msim_search_run(&search);
    memcpy(&c, at, sizeof(c));
    return c;
}
