/*
 * plan/search/plan_guard.c - points of a plan that cannot be as predicted.
 */
#include "plan/search/plan_guard.h"

#include "core/base/hash.h"
#include "plan/describe/strategy.h"

#include <math.h>
#include <stdlib.h>

static msim_guard_marks marks_of(const struct msim_plan_point *p)
{
    msim_guard_marks marks =
        p->marks | msim_guard_check(p->us, p->low_us, p->high_us, p->mfu);

    return isnan(p->peak_gib) && !p->ran ? marks | MSIM_GUARD_BIT(UNKNOWN)
                                         : marks;
}

static struct msim_strategy_answer answer_of(const struct msim_plan_point *p)
{
    uint64_t rest =
        msim_hash_bytes(MSIM_HASH_START, &p->platform, sizeof(p->platform));

    return (struct msim_strategy_answer){
        .strategy = &p->strategy,
        .rest = msim_hash_bytes(rest, p->traced, sizeof(p->traced)),
        .us = p->us,
        .measured = p->measured};
}

enum msim_status msim_plan_guard(struct msim_plan *plan)
{
    struct msim_strategy_answer *a = calloc((size_t)plan->n + 1, sizeof(*a));
    msim_guard_marks *marks = calloc((size_t)plan->n + 1, sizeof(*marks));
    enum msim_status status = a && marks ? MSIM_OK : MSIM_ENOMEM;

    for (uint32_t i = 0; status == MSIM_OK && i < plan->n; i++)
        a[i] = answer_of(&plan->points[i]);
    if (status == MSIM_OK)
        status = msim_strategy_guard(a, plan->n, marks);
    for (uint32_t i = 0; status == MSIM_OK && i < plan->n; i++) {
        plan->points[i].marks = marks[i] | marks_of(&plan->points[i]);
        msim_guard_add(&plan->marked, plan->points[i].marks);
    }
    free(a);
    free(marks);
    return status;
}
