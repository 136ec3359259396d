/*
 * calibrate/steps/steps_interval.c - quantiles of residuals.
 */
#include "calibrate/steps/steps_interval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN 0.693 /* log 2 */

struct weighted {
    double value, weight;
    uint32_t source;
};

static int by_value(const void *a, const void *b)
{
    double x = ((const struct weighted *)a)->value,
           y = ((const struct weighted *)b)->value;

    return (x > y) - (x < y);
}

static double quantile(const struct weighted *sorted, uint32_t n, double q)
{
    double all = 0, sum = 0;
    uint32_t i = 0;

    for (uint32_t j = 0; j < n; j++)
        all += sorted[j].weight;
    while (i + 1 < n && sum + sorted[i].weight < q * all)
        sum += sorted[i++].weight;
    return sorted[i].value;
}

/* Sources count alike. */
static void weigh(struct weighted *w, uint32_t n)
{
    double count[MSIM_STEP_SOURCES] = {0};

    for (uint32_t i = 0; i < n; i++)
        count[w[i].source]++;
    for (uint32_t i = 0; i < n; i++)
        w[i].weight = 1 / count[w[i].source];
}

static bool is_same_model(const struct msim_step_samples *s, uint32_t a,
                          uint32_t b)
{
    return s->rows[a].source == s->rows[b].source &&
           strcmp(s->rows[a].model, s->rows[b].model) == 0;
}

/* Of jobs that are like some row, a fit without a source says what the one on
 * all says of other sources. */
static bool counts(const struct msim_left_over *o, int class, uint32_t without)
{
    if ((int)o->class != class)
        return false;
    return o->without == without ||
           (class != MSIM_STEP_CLASS_UNLIKE && o->without == MSIM_NO_SOURCE &&
            o->source != without);
}

enum msim_status msim_step_interval_of(struct msim_step_interval *out,
                                       const struct msim_left_overs *l,
                                       const struct msim_step_samples *s,
                                       uint32_t without, uint32_t judged)
{
    struct weighted *w = calloc((size_t)l->n + 1, sizeof(*w));

    if (!w)
        return MSIM_ENOMEM;
    for (int class = 0; class < MSIM_STEP_CLASSES; class ++) {
        uint32_t n = 0;

        for (uint32_t i = 0; i < l->n; i++) {
            const struct msim_left_over *o = &l->of[i];

            if (counts(o, class, without) &&
                (judged == UINT32_MAX || !is_same_model(s, o->row, judged)))
                w[n++] = (struct weighted){.value = o->residual,
                                           .source = o->source};
        }
        weigh(w, n);
        qsort(w, n, sizeof(*w), by_value);
        out->low[class] = n ? fmax(-quantile(w, n, 0.05), 0) : UNKNOWN;
        out->high[class] = n ? fmax(quantile(w, n, 0.95), 0) : UNKNOWN;
        out->rows[class] = n;
    }
    free(w);
    return MSIM_OK;
}
