/*
 * core/trace/step.c - which operators are a step's.
 */
#include "core/trace/trace_steps.h"

#include "core/base/containers.h"

#include <stdlib.h>

struct msim_step_window msim_step_window_of(const struct msim_trace *t,
                                            uint32_t step)
{
    const struct msim_step *s;

    if (step == MSIM_NONE)
        return (struct msim_step_window){INT64_MIN, INT64_MAX};
    s = &t->steps[step];
    if (!t->has_times)
        return (struct msim_step_window){s->node_from, s->node_to};
    return (struct msim_step_window){s->start, s->start + s->dur};
}

uint32_t msim_steps_begun(const struct msim_trace *t, int64_t at)
{
    uint32_t lo = 0, hi = t->n_steps;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (msim_step_window_of(t, mid).from <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

uint32_t msim_step_at(const struct msim_trace *t, int64_t at)
{
    uint32_t begun = msim_steps_begun(t, at);
    struct msim_step_window w;

    if (begun == 0)
        return MSIM_NONE;
    w = msim_step_window_of(t, begun - 1);
    return msim_step_holds(&w, at) ? begun - 1 : MSIM_NONE;
}

bool msim_steps_alike(const struct msim_trace *a, const struct msim_trace *b)
{
    if (a->n_steps != b->n_steps)
        return false;
    for (uint32_t s = 0; s < a->n_steps; s++)
        if (a->steps[s].number != b->steps[s].number)
            return false;
    return true;
}

/* ---- the step that stands for a run -------------------------------------- */

static int by_moment(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return MSIM_ORDER(x, y);
}

/* How many of `n` sorted moments are before `at`. */
static uint32_t before(const int64_t *moments, uint32_t n, int64_t at)
{
    uint32_t lo = 0, hi = n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (moments[mid] < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static uint32_t ops_in(const struct msim_trace *t, uint32_t step,
                       const int64_t *moments, uint32_t n)
{
    struct msim_step_window w = msim_step_window_of(t, step);
    uint32_t from = before(moments, n, w.from), to = before(moments, n, w.to);

    return to > from ? to - from : 0;
}

enum msim_status msim_step_settled(const struct msim_trace *t, uint32_t *step)
{
    int64_t *moments = malloc(((size_t)t->n_ops + 1) * sizeof(*moments));
    uint32_t n = 0, most = 1;

    *step = MSIM_NONE;
    if (!moments)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_ops; i++)
        if (t->ops[i].kind == MSIM_OP_OPERATOR)
            moments[n++] = msim_moment(t, i);
    qsort(moments, n, sizeof(*moments), by_moment);
    for (uint32_t i = 0; i < t->n_steps; i++)
        if (ops_in(t, i, moments, n) > most)
            most = ops_in(t, i, moments, n);
    for (uint32_t i = t->n_steps; i-- > 0 && *step == MSIM_NONE;)
        if (2 * (uint64_t)ops_in(t, i, moments, n) >= most)
            *step = i;
    free(moments);
    return MSIM_OK;
}
