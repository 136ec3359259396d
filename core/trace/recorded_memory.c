/*
 * core/trace/recorded_memory.c - rows are by device and time; each holds until
 * the next of its device.
 */
#include "core/trace/trace_columns.h"

static msim_ps end_of(const struct msim_trace *t, uint32_t i)
{
    bool last =
        i + 1 == t->n_memory || t->memory[i + 1].device != t->memory[i].device;

    return last ? INT64_MAX : t->memory[i + 1].at;
}

static const struct msim_recorded_memory NOTHING = {.reserved =
                                                        MSIM_BYTES_UNKNOWN};

static void raise_to(struct msim_recorded_memory *m,
                     const struct msim_memory_total *total)
{
    if (total->allocated > m->allocated)
        m->allocated = total->allocated;
    if (total->reserved != MSIM_BYTES_UNKNOWN &&
        (m->reserved == MSIM_BYTES_UNKNOWN || total->reserved > m->reserved))
        m->reserved = total->reserved;
}

/* Totals come with every allocation and every release: they are true at once,
 * however soon the next one follows. */
static bool is_within(const struct msim_time_range *r, msim_ps at, msim_ps end)
{
    return r->from < end || r->from <= at;
}

static uint32_t count_devices(const struct msim_trace *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_memory; i++)
        n += end_of(t, i) == INT64_MAX;
    return n;
}

enum msim_status msim_recorded_memory_find(const struct msim_trace *t,
                                           const struct msim_time_range *ranges,
                                           uint32_t n, struct msim_arena *arena,
                                           struct msim_recorded_list *out)
{
    struct msim_recorded_memory now = NOTHING;
    uint32_t range = 0;
    bool known = false;

    *out = (struct msim_recorded_list){
        msim_arena_alloc(arena, (count_devices(t) + 1) * sizeof(*out->of)), 0};
    if (!out->of)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_memory; i++) {
        const struct msim_memory_total *total = &t->memory[i];
        msim_ps end = end_of(t, i);

        while (range < n && ranges[range].to <= total->at)
            range++;
        if (range < n && is_within(&ranges[range], total->at, end)) {
            raise_to(&now, total);
            known = true;
        }
        if (end != INT64_MAX)
            continue;
        now.device = total->device;
        if (known)
            out->of[out->n++] = now;
        now = NOTHING;
        known = false;
        range = 0;
    }
    return MSIM_OK;
}
