/*
 * core/report/analyse/prediction.c - the end of a prediction.
 */
#include "core/report/analyse/prediction.h"

#include <stdlib.h>

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
