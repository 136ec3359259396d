/*
 * plan/search/plan_point.c - values of points, and why points were left out.
 */
#include "plan/search/plan.h"

#include "core/base/containers.h"

#include <string.h>

void msim_plan_point_put(struct msim_plan_point *p,
                         const struct msim_spec_dimension *d, int64_t v)
{
    if (d->place < MSIM_GIVEN_COUNT)
        msim_strategy_put(&p->strategy, (enum msim_given)d->place, v);
    else
        p->traced[d->place - MSIM_GIVEN_COUNT] = v;
}

int64_t msim_plan_point_value(const struct msim_plan_point *p,
                              const struct msim_spec_dimension *d)
{
    return d->place < MSIM_GIVEN_COUNT
               ? msim_strategy_value(&p->strategy, (enum msim_given)d->place)
               : p->traced[d->place - MSIM_GIVEN_COUNT];
}

enum msim_status msim_plan_refuse(struct msim_plan_refusals *r,
                                  const struct msim_plan_refusal *why)
{
    uint32_t i = 0;

    while (i < r->n && strcmp(r->of[i].text, why->text) != 0)
        i++;
    if (i < r->n) {
        r->of[i].points += why->points;
    } else if (i == MSIM_PLAN_REFUSALS) {
        r->others += why->points;
    } else {
        MSIM_TRY(msim_grow((void **)&r->of, &r->cap, r->n, sizeof(*r->of)));
        r->of[r->n++] = *why;
    }
    return MSIM_OK;
}
