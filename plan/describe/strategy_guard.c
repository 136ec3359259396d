/*
 * plan/describe/strategy_guard.c - what steps of like strategies must keep.
 */
#include "plan/describe/strategy.h"

#include "core/base/hash.h"

#include <stdlib.h>

enum axis { AGAIN, GPUS, MICRO_BATCH, GRAD_ACCUM, SEQUENCE, AXES };

static const enum msim_guard GUARDS[AXES] = {
    [AGAIN] = MSIM_GUARD_RECOMPUTE,    [GPUS] = MSIM_GUARD_SCALING,
    [MICRO_BATCH] = MSIM_GUARD_LARGER, [GRAD_ACCUM] = MSIM_GUARD_LARGER,
    [SEQUENCE] = MSIM_GUARD_LARGER,
};

/* Set what differs along the axis to 0; its size. */
static double take_size(struct msim_strategy *s, enum axis axis)
{
    double size = 0;

    switch (axis) {
    case AGAIN:
        size = (double)msim_again_of(s);
        msim_again_set_nothing(s);
        break;
    case GPUS:
        size = (double)s->gpus;
        s->gpus = s->nodes = s->dp = s->grad_accum = 0;
        break;
    case MICRO_BATCH:
        size = (double)s->micro_batch;
        s->micro_batch = s->global_batch = 0;
        break;
    case GRAD_ACCUM:
        size = (double)s->grad_accum;
        s->grad_accum = s->global_batch = 0;
        break;
    case SEQUENCE:
        size = (double)s->sequence;
        s->sequence = 0;
        break;
    case AXES:
        break;
    }
    return size;
}

static struct msim_guard_answer answer_of(const struct msim_strategy_answer *of,
                                          enum axis axis, uint32_t index)
{
    struct msim_strategy rest = *of->strategy;
    double size = take_size(&rest, axis);

    return (struct msim_guard_answer){
        .kind = msim_hash_bytes(of->rest, &rest, sizeof(rest)),
        .size = size,
        .us = axis == GPUS ? of->us * size : of->us,
        .measured = of->measured,
        .index = index};
}

enum msim_status msim_strategy_guard(const struct msim_strategy_answer *of,
                                     uint32_t n, msim_guard_marks *marks)
{
    struct msim_guard_answer *a = calloc((size_t)n + 1, sizeof(*a));

    if (!a)
        return MSIM_ENOMEM;
    for (enum axis axis = AGAIN; axis < AXES; axis++) {
        bool differ = false;

        for (uint32_t i = 0; i < n; i++) {
            a[i] = answer_of(&of[i], axis, i);
            differ |= a[i].size != a[0].size;
        }
        if (differ)
            msim_guard_compare(a, n, GUARDS[axis], marks);
    }
    free(a);
    return MSIM_OK;
}
