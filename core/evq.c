#include "core/evq.h"

#include <assert.h>
#include <stdlib.h>

enum msim_status msim_evq_init(struct msim_evq *q, uint32_t capacity)
{
    q->length = 0;
    q->capacity = capacity;
    q->heap = malloc(((size_t)capacity + 1) * sizeof *q->heap);
    return q->heap ? MSIM_OK : MSIM_ENOMEM;
}

void msim_evq_release(struct msim_evq *q)
{
    free(q->heap);
    q->heap = NULL;
}

static bool before(struct msim_event a, struct msim_event b)
{
    return a.time != b.time ? a.time < b.time : a.seq < b.seq;
}

void msim_evq_push(struct msim_evq *q, msim_ps time, uint32_t seq)
{
    struct msim_event e = {time, seq};
    uint32_t i = q->length++;

    assert(q->length <= q->capacity);
    while (i > 0 && before(e, q->heap[(i - 1) / 4])) {
        q->heap[i] = q->heap[(i - 1) / 4];
        i = (i - 1) / 4;
    }
    q->heap[i] = e;
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

struct msim_event msim_evq_pop(struct msim_evq *q)
{
    struct msim_event top = q->heap[0], last;
    uint32_t i = 0, child;

    assert(q->length > 0);
    last = q->heap[--q->length];
    while ((child = 4 * i + 1) < q->length) {
        child = least_child(q, child);
        if (!before(q->heap[child], last))
            break;
        q->heap[i] = q->heap[child];
        i = child;
    }
    q->heap[i] = last;
    return top;
}
