/*
 * core/base/evq.c - the pending-event queue of one simulation.
 */
#include "core/base/containers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Children of an event, and what stands behind the last one. */
#define WAYS 4

enum msim_status msim_evq_init(struct msim_evq *q, uint32_t capacity)
{
    q->length = 0;
    q->capacity = capacity;
    q->slots = malloc(((size_t)capacity + WAYS + 1) * sizeof(*q->slots));
    q->place = malloc(((size_t)capacity + 1) * sizeof(*q->place));
    if (!q->slots || !q->place) {
        msim_evq_release(q);
        return MSIM_ENOMEM;
    }
    msim_evq_clear(q);
    return MSIM_OK;
}

void msim_evq_release(struct msim_evq *q)
{
    free(q->slots);
    free(q->place);
    q->slots = NULL;
    q->place = NULL;
}

static const struct msim_event NEVER = {INT64_MAX, UINT32_MAX};

void msim_evq_clear(struct msim_evq *q)
{
    q->length = 0;
    q->hole = false;
    for (uint32_t i = 0; i < WAYS; i++)
        q->slots[i] = NEVER;
    memset(q->place, 0xff, (size_t)q->capacity * sizeof(*q->place));
}

/* Without a jump: which of two it is cannot be foreseen. */
static bool before(struct msim_event a, struct msim_event b)
{
    return (a.time < b.time) | ((a.time == b.time) & (a.seq < b.seq));
}

/* Where the heap ends, the hole included. */
static uint32_t end_of(const struct msim_evq *q)
{
    return q->length + q->hole;
}

static void put(struct msim_evq *q, uint32_t i, struct msim_event e)
{
    q->slots[i] = e;
    q->place[e.seq] = i;
}

/* Place `e` at the hole `i` or above it. */
static void sift_up(struct msim_evq *q, uint32_t i, struct msim_event e)
{
    while (i > 0 && before(e, q->slots[(i - 1) / WAYS])) {
        put(q, i, q->slots[(i - 1) / WAYS]);
        i = (i - 1) / WAYS;
    }
    put(q, i, e);
}

/* The least of the four children that start at `first`. */
static uint32_t least_child(const struct msim_evq *q, uint32_t first)
{
    const struct msim_event *c = &q->slots[first];
    uint32_t a = before(c[1], c[0]), b = 2 + before(c[3], c[2]);

    return first + (before(c[b], c[a]) ? b : a);
}

/* Place `e` at the hole `i` or below it. */
static void sift_down(struct msim_evq *q, uint32_t i, struct msim_event e)
{
    uint32_t child, end = end_of(q);

    while ((child = WAYS * i + 1) < end) {
        child = least_child(q, child);
        if (!before(q->slots[child], e))
            break;
        put(q, i, q->slots[child]);
        i = child;
    }
    put(q, i, e);
}

/* Place `e` at the hole `i`, wherever it belongs from there. */
static void settle(struct msim_evq *q, uint32_t i, struct msim_event e)
{
    if (i > 0 && before(e, q->slots[(i - 1) / WAYS]))
        sift_up(q, i, e);
    else
        sift_down(q, i, e);
}

void msim_evq_push(struct msim_evq *q, msim_ps time, uint32_t seq)
{
    struct msim_event e = {time, seq};

    assert(seq < q->capacity);
    if (q->place[seq] != MSIM_NONE) {
        settle(q, q->place[seq], e);
        return;
    }
    q->length++;
    if (q->hole) {
        q->hole = false;
        sift_down(q, 0, e);
        return;
    }
    q->slots[q->length + WAYS - 1] = NEVER;
    sift_up(q, q->length - 1, e);
}

/* Take the last event out of the heap, which is one shorter then. */
static struct msim_event take_last(struct msim_evq *q)
{
    uint32_t last = end_of(q) - 1;
    struct msim_event e = q->slots[last];

    q->slots[last] = NEVER;
    return e;
}

void msim_evq_drop(struct msim_evq *q, uint32_t seq)
{
    uint32_t i = q->place[seq];
    struct msim_event last;

    if (i == MSIM_NONE)
        return;
    last = take_last(q);
    q->length--;
    q->place[seq] = MSIM_NONE;
    if (i < end_of(q))
        settle(q, i, last);
}

/* Fill the hole with what stands last. */
static void close_hole(struct msim_evq *q)
{
    struct msim_event last = take_last(q);

    q->hole = false;
    sift_down(q, 0, last);
}

struct msim_event msim_evq_first(const struct msim_evq *q)
{
    assert(q->length > 0);
    return q->slots[q->hole ? least_child(q, 1) : 0];
}

struct msim_event msim_evq_pop(struct msim_evq *q)
{
    struct msim_event top;

    assert(q->length > 0);
    if (q->hole)
        close_hole(q);
    top = q->slots[0];
    q->place[top.seq] = MSIM_NONE;
    q->slots[0] = (struct msim_event){INT64_MIN, 0};
    q->hole = true;
    q->length--;
    return top;
}
