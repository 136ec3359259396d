/*
 * core/base/evq.c - the pending-event queue of one simulation.
 */
#include "core/base/evq.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum msim_status msim_evq_init(struct msim_evq *q, uint32_t capacity)
{
    q->length = 0;
    q->capacity = capacity;
    q->heap = malloc(((size_t)capacity + 1) * sizeof(*q->heap));
    q->place = malloc(((size_t)capacity + 1) * sizeof(*q->place));
    if (!q->heap || !q->place) {
        msim_evq_release(q);
        return MSIM_ENOMEM;
    }
    msim_evq_clear(q);
    return MSIM_OK;
}

void msim_evq_release(struct msim_evq *q)
{
    free(q->heap);
    free(q->place);
    q->heap = NULL;
    q->place = NULL;
}

void msim_evq_clear(struct msim_evq *q)
{
    q->length = 0;
    memset(q->place, 0xff, (size_t)q->capacity * sizeof(*q->place));
}

static bool before(struct msim_event a, struct msim_event b)
{
    return a.time != b.time ? a.time < b.time : a.seq < b.seq;
}

static void put(struct msim_evq *q, uint32_t i, struct msim_event e)
{
    q->heap[i] = e;
    q->place[e.seq] = i;
}

/* Place `e` at the hole `i` or above it. */
static void sift_up(struct msim_evq *q, uint32_t i, struct msim_event e)
{
    while (i > 0 && before(e, q->heap[(i - 1) / 4])) {
        put(q, i, q->heap[(i - 1) / 4]);
        i = (i - 1) / 4;
    }
    put(q, i, e);
}

/* The smallest of up to four children that start at `first`. */
static uint32_t least_child(const struct msim_evq *q, uint32_t first)
{
    uint32_t end = first + 4 < q->length ? first + 4 : q->length;
    uint32_t least = first;

    for (uint32_t c = first + 1; c < end; c++)
        if (before(q->heap[c], q->heap[least]))
            least = c;
    return least;
}

/* Place `e` at the hole `i` or below it. */
static void sift_down(struct msim_evq *q, uint32_t i, struct msim_event e)
{
    uint32_t child;

    while ((child = 4 * i + 1) < q->length) {
        child = least_child(q, child);
        if (!before(q->heap[child], e))
            break;
        put(q, i, q->heap[child]);
        i = child;
    }
    put(q, i, e);
}

/* Place `e` at the hole `i`, wherever it belongs from there. */
static void settle(struct msim_evq *q, uint32_t i, struct msim_event e)
{
    if (i > 0 && before(e, q->heap[(i - 1) / 4]))
        sift_up(q, i, e);
    else
        sift_down(q, i, e);
}

void msim_evq_push(struct msim_evq *q, msim_ps time, uint32_t seq)
{
    struct msim_event e = {time, seq};

    assert(seq < q->capacity);
    if (q->place[seq] == MSIM_NONE)
        sift_up(q, q->length++, e);
    else
        settle(q, q->place[seq], e);
}

/* Take the event at `i` out. */
static void cut(struct msim_evq *q, uint32_t i)
{
    struct msim_event last = q->heap[--q->length];

    q->place[q->heap[i].seq] = MSIM_NONE;
    if (i < q->length)
        settle(q, i, last);
}

void msim_evq_drop(struct msim_evq *q, uint32_t seq)
{
    if (q->place[seq] != MSIM_NONE)
        cut(q, q->place[seq]);
}

struct msim_event msim_evq_pop(struct msim_evq *q)
{
    struct msim_event top = q->heap[0];

    assert(q->length > 0);
    cut(q, 0);
    return top;
}
