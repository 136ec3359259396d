/*
 * core/fold/twin.c - traces of two ranks that are equal.
 */
#include "core/fold/fold.h"

#include "core/trace/trace_columns.h"

#include <stdlib.h>
#include <string.h>

static bool same_bytes(const void *a, const void *b, size_t n)
{
    return n == 0 || memcmp(a, b, n) == 0;
}

static bool same_gpu(const struct msim_gpu_properties *a,
                     const struct msim_gpu_properties *b)
{
    return a->name == b->name && a->memory_bytes == b->memory_bytes &&
           a->sms == b->sms && a->cc_major == b->cc_major &&
           a->cc_minor == b->cc_minor;
}

static bool same_facts(const struct msim_trace *a, const struct msim_trace *b)
{
    return a->strings == b->strings && a->world_size == b->world_size &&
           a->host == b->host &&
           same_gpu(&a->gpu_properties, &b->gpu_properties) &&
           a->has_times == b->has_times && a->has_et == b->has_et &&
           a->has_gpu_events == b->has_gpu_events &&
           a->cpu_only == b->cpu_only && a->tf32 == b->tf32 &&
           a->gpus == b->gpus && a->clock_shift == b->clock_shift &&
           a->unlinked_gpu == b->unlinked_gpu && !a->et && !b->et &&
           !a->source && !b->source;
}

bool msim_traces_equal(const struct msim_trace *a, const struct msim_trace *b)
{
    bool same = same_facts(a, b);

#define X(field, type)                                                         \
    same = same && a->n_##field == b->n_##field &&                             \
           same_bytes(a->field, b->field, a->n_##field * sizeof(type));
    MSIM_TRACE_COLUMNS(X)
#undef X
    return same;
}

bool msim_trace_is_any_rank(const struct msim_trace *t)
{
    for (uint32_t i = 0; i < t->n_groups; i++) {
        const struct msim_group *g = &t->groups[i];

        if (g->completed || (!g->count && g->size && g->size != t->world_size))
            return false;
    }
    return t->rank >= 0 && !t->has_et && !msim_has_messages(t);
}

static bool is_listed(const struct msim_trace *t, uint32_t group)
{
    const struct msim_group *g = &t->groups[group];

    for (uint32_t i = 0; i < g->count; i++)
        if (t->group_ranks[g->first + i] == t->rank)
            return true;
    return false;
}

bool msim_traces_listed_alike(const struct msim_trace *a,
                              const struct msim_trace *b)
{
    for (uint32_t i = 0; i < a->n_groups; i++)
        if (is_listed(a, i) != is_listed(b, i))
            return false;
    return true;
}

enum msim_status msim_trace_copy(struct msim_trace **out,
                                 const struct msim_trace *t, int64_t rank)
{
    struct msim_trace *c = calloc(1, sizeof(*c));
    bool whole = true;

    *out = NULL;
    if (!c)
        return MSIM_ENOMEM;
    *c = *t;
    c->rank = rank;
    c->et = NULL;
    c->source = NULL;
    c->source_len = c->source_cap = 0;
#define X(field, type)                                                         \
    c->field = malloc(((size_t)t->n_##field + 1) * sizeof(type));              \
    c->cap_##field = t->n_##field;                                             \
    whole = whole && c->field;                                                 \
    if (c->field && t->n_##field)                                              \
        memcpy(c->field, t->field, t->n_##field * sizeof(type));
    MSIM_TRACE_COLUMNS(X)
#undef X
    if (whole) {
        *out = c;
        return MSIM_OK;
    }
    msim_trace_free(c);
    return MSIM_ENOMEM;
}
