/*
 * core/report/analyse/prediction.c - the end of a prediction.
 */
#include "core/report/analyse/prediction.h"

#include <math.h>
#include <stdlib.h>

struct msim_rated msim_prediction_rated(const struct msim_prediction *p)
{
    const struct msim_rates *r = &p->rates;
    const struct msim_figure *us = &p->period.us;
    double n = r->per_iteration > 0 ? r->per_iteration * 1e6 : (double)NAN;
    double gpus = p->gpus ? p->gpus : 1;

    return (struct msim_rated){
        .per_second = {n / us->predicted, n / us->high, n / us->low,
                       (double)NAN},
        .cost_usd = r->usd_per_hour > 0
                        ? r->usd_per_hour * gpus * us->predicted / 3.6e9
                        : (double)NAN,
        .joules =
            r->watts > 0 ? r->watts * gpus * us->predicted * 1e-6 : (double)NAN,
        .gpus = gpus};
}

void msim_prediction_free(struct msim_prediction *p)
{
    if (!p)
        return;
    msim_arena_release(&p->arena);
    free(p);
}

void msim_timeline_free(struct msim_timeline *t)
{
    if (!t)
        return;
    msim_arena_release(&t->arena);
    free(t);
}
