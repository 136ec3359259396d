/*
 * predict/scenario/scenario_guard.c - scenarios that cannot be as predicted.
 */
#include "predict/scenario/scenario_internal.h"

#include "core/base/hash.h"

#include <stdlib.h>
#include <string.h>

static const char *const CHANGES[MSIM_SCENARIO_AXES] = {"batch", "accumulate",
                                                        "recompute"};
static const enum msim_guard GUARDS[MSIM_SCENARIO_AXES] = {
    MSIM_GUARD_LARGER, MSIM_GUARD_LARGER, MSIM_GUARD_RECOMPUTE};

/* Hashes are added up: the order of changes does not matter. */
void msim_scenario_guard_note(struct msim_scenario_row *row,
                              const struct msim_fields *f, const char *key)
{
    uint64_t *at = &row->asks.rest;
    char *text = cJSON_PrintUnformatted(f->object);

    for (int k = 0; k < MSIM_SCENARIO_AXES; k++)
        if (!strcmp(key, CHANGES[k]))
            at = &row->asks.of[k];
    *at += msim_hash_text(MSIM_HASH_START, text ? text : "");
    free(text);
}

/* How much the row has along an axis; 0: not known. */
static double size_of(const struct msim_scenario_row *row, int axis,
                      int64_t batch)
{
    const struct msim_reshape *r = &row->settings.reshape;
    const struct msim_rewrite *w = &row->settings.rewrite;
    int64_t from;

    switch (axis) {
    case 0:
        if (!row->asks.of[0] || !r->n_axes || r->axes[0].every)
            return 1;
        from = r->axes[0].from ? r->axes[0].from : batch;
        return from ? (double)r->axes[0].to / (double)from : 0;
    case 1:
        return w->accumulate ? w->accumulate : 1;
    default:
        return 1 + msim_rewrite_again(w);
    }
}

/* Of what is the same in two rows that differ along the axis. */
static uint64_t kind_of(const struct msim_scenario_row *row, int axis)
{
    uint64_t parts[MSIM_SCENARIO_AXES + 1] = {row->asks.rest};

    for (int k = 0; k < MSIM_SCENARIO_AXES; k++)
        parts[k + 1] = k == axis ? 0 : row->asks.of[k];
    return msim_hash_bytes(MSIM_HASH_START, parts, sizeof(parts));
}

/* The base, then the rows. */
static struct msim_scenario_row *row_at(struct msim_scenarios *s, uint32_t i)
{
    return i ? &s->rows[i - 1] : &s->base;
}

static void compare(struct msim_scenarios *s, int axis, int64_t batch,
                    struct msim_guard_answer *a, msim_guard_marks *marks)
{
    uint32_t n = 0;

    /* what the base was asked to be is not the traced batch */
    if (axis == 0 && s->base.settings.reshape.n_axes)
        return;
    for (uint32_t i = 0; i <= s->n; i++) {
        const struct msim_scenario_row *row = row_at(s, i);
        double size = *row->reason ? 0 : size_of(row, axis, batch);

        if (size > 0)
            a[n++] = (struct msim_guard_answer){kind_of(row, axis), size,
                                                row->period.predicted, 0, i};
    }
    msim_guard_compare(a, n, GUARDS[axis], marks);
}

enum msim_status msim_scenarios_guard(struct msim_scenarios *s, int64_t batch)
{
    struct msim_guard_answer *a = calloc((size_t)s->n + 1, sizeof(*a));
    msim_guard_marks *marks = calloc((size_t)s->n + 1, sizeof(*marks));
    bool room = a && marks;

    for (int axis = 0; room && s->from_file && axis < MSIM_SCENARIO_AXES;
         axis++)
        compare(s, axis, batch, a, marks);
    for (uint32_t i = 0; room && i <= s->n; i++) {
        struct msim_scenario_row *row = row_at(s, i);

        if (*row->reason)
            continue;
        row->marks |= marks[i];
        msim_guard_add(&s->marked, row->marks);
    }
    free(a);
    free(marks);
    return room ? MSIM_OK : MSIM_ENOMEM;
}
