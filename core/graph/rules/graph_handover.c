/*
 * core/graph/rules/graph_handover.c - threads that hand work to each other: the
 * main thread to autograd's thread, and that one back.
 *
 * No trace records it, so it is inferred from which thread was idle while which
 * other was busy.
 */
#include "core/base/units.h"
#include "core/graph/rules/graph_rules.h"

#include <stdlib.h>

/*
 * Between operators a thread either does work that nothing records (the
 * interpreter) or is idle until another thread hands work over. It counts as
 * idle if the gap is longer than this and another thread was busy until
 * shortly before the gap ended. The figure is ten times what autograd's own
 * bookkeeping takes between two nodes.
 */
#define IDLE_MIN (30 * (msim_ps)MSIM_PS_PER_US)

static bool is_busy(const struct msim_graph_builder *b, uint32_t task)
{
    return b->g->kind[task] != MSIM_TASK_GAP;
}

struct handover {
    struct msim_graph_builder *b;
    const struct msim_rank_tasks *r;
    struct msim_keyed *busy; /* tasks of threads that run operators, by end */
    uint32_t n_busy;
};

static enum msim_status find_busy(struct handover *h)
{
    const struct msim_graph_builder *b = h->b;
    const struct msim_trace *t = h->r->trace;

    h->busy = malloc(((size_t)b->g->n_tasks + 1) * sizeof(*h->busy));
    if (!h->busy)
        return MSIM_ENOMEM;
    for (uint32_t u = 0; u < t->n_threads; u++) {
        if (t->threads[u].op_begin == t->threads[u].op_end)
            continue;
        for (uint32_t id = h->r->thread_first[u]; id < h->r->thread_end[u];
             id++)
            if (is_busy(b, id))
                h->busy[h->n_busy++] = (struct msim_keyed){b->tend[id], id};
    }
    msim_keyed_sort(h->busy, h->n_busy);
    return MSIM_OK;
}

/* How many busy tasks have ended by `at`. */
static uint32_t ended_by(const struct handover *h, msim_ps at)
{
    return msim_first_after(&h->busy->key, sizeof(*h->busy), 0, h->n_busy, at);
}

/*
 * The task that handed work to the thread of `task` at `at`: of other threads
 * that run operators, the one that was busy last; of several the first. NONE
 * if none was busy after `since`. A task that takes no time and lies at `at`
 * does not count: it may have come after.
 */
static uint32_t giver(const struct handover *h, uint32_t task, msim_ps since,
                      msim_ps at)
{
    const uint32_t *lane = h->b->g->lane;
    uint32_t best = MSIM_NONE;

    for (uint32_t k = ended_by(h, at); k-- > 0;) {
        uint32_t id = h->busy[k].index;

        if (h->busy[k].key <= since ||
            (best != MSIM_NONE && h->busy[k].key < h->b->tend[best]))
            break;
        if (lane[id] != lane[task] && h->b->tstart[id] < at &&
            (best == MSIM_NONE || lane[id] < lane[best]))
            best = id;
    }
    return best;
}

/* A gap that was a wait keeps as work only the time after the hand-over. */
static enum msim_status link_gap(const struct handover *h, uint32_t gap)
{
    struct msim_graph_builder *b = h->b;
    msim_ps length = b->tend[gap] - b->tstart[gap], tail;
    uint32_t from;

    if (length < IDLE_MIN || b->g->traced[gap] < length)
        return MSIM_OK; /* short, or known to have waited for something else */
    from = giver(h, gap, b->tstart[gap], b->tend[gap]);
    if (from == MSIM_NONE)
        return MSIM_OK;
    tail = b->tend[gap] - b->tend[from];
    /* The other thread was busy for most of the gap, or the gap was no wait
     * for it. */
    if (tail > length / 2)
        return MSIM_OK;
    b->g->traced[gap] = tail;
    b->g->copied[MSIM_COPIED_HANDOVER] += tail;
    return msim_builder_edge(b, MSIM_EDGE_HANDOVER, MSIM_FROM_TIMES, from, gap,
                             0);
}

/* A thread's first task starts at its traced time, or when work was handed to
 * it. */
static enum msim_status link_first(const struct handover *h, uint32_t first)
{
    struct msim_graph_builder *b = h->b;
    uint32_t from = giver(h, first, INT64_MIN, b->tstart[first]);

    if (from == MSIM_NONE)
        return msim_builder_release(b, first, b->tstart[first] + h->r->base,
                                    false);
    b->g->traced[first] = b->tstart[first] - b->tend[from];
    b->g->copied[MSIM_COPIED_HANDOVER] += b->g->traced[first];
    return msim_builder_edge(b, MSIM_EDGE_HANDOVER, MSIM_FROM_TIMES, from,
                             first, 0);
}

static enum msim_status link_threads(struct handover *h)
{
    const struct msim_rank_tasks *r = h->r;

    MSIM_TRY(find_busy(h));
    for (uint32_t th = 0; th < r->trace->n_threads; th++) {
        if (r->thread_first[th] == r->thread_end[th])
            continue;
        MSIM_TRY(link_first(h, r->thread_first[th]));
        for (uint32_t id = r->thread_first[th] + 1; id < r->thread_end[th];
             id++)
            if (!is_busy(h->b, id))
                MSIM_TRY(link_gap(h, id));
    }
    return MSIM_OK;
}

enum msim_status msim_graph_handover(struct msim_graph_builder *b,
                                     struct msim_rank_tasks *r)
{
    struct handover h = {.b = b, .r = r};
    enum msim_status status = link_threads(&h);

    free(h.busy);
    return status;
}
