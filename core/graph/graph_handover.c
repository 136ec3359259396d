/*
 * Threads that hand work to each other: the main thread to autograd's, and
 * that back. No trace records it, so it is inferred from who was idle while
 * whom was busy.
 */
#include "core/graph/graph_builder.h"

/*
 * Between operators a thread is either busy with what no one recorded (the
 * interpreter) or idle until another thread hands work over. It is taken to
 * be idle if it was for longer than this, and another thread was busy until
 * shortly before it went on. An order above what autograd's own bookkeeping
 * takes between two nodes.
 */
#define IDLE_MIN (30 * (msim_ps)MSIM_PS_PER_US)

static bool is_busy(const struct msim_graph_builder *b, uint32_t task)
{
    return b->g->kind[task] != MSIM_TASK_GAP;
}

/* Last busy task of `thread` that ends at or before `at`, or NONE. One that
 * takes no time and lies at `at` may as well have come after it. */
static uint32_t last_busy(const struct msim_graph_builder *b,
                          const struct msim_rank_tasks *r, uint32_t thread,
                          msim_ps at)
{
    uint32_t lo = r->thread_first[thread], hi = r->thread_end[thread];

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (b->tend[mid] <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    while (lo > r->thread_first[thread])
        if (is_busy(b, --lo) && b->tstart[lo] < at)
            return lo;
    return MSIM_NONE;
}

/*
 * Who handed work to `thread` at `at`: the other thread that was busy last,
 * among those that run operators. NONE if none was busy after `since`.
 */
static uint32_t giver(const struct msim_graph_builder *b,
                      const struct msim_rank_tasks *r, uint32_t thread,
                      msim_ps since, msim_ps at)
{
    const struct msim_trace *t = r->trace;
    uint32_t best = MSIM_NONE;

    for (uint32_t u = 0; u < t->n_threads; u++) {
        uint32_t task;

        if (u == thread || t->threads[u].op_begin == t->threads[u].op_end)
            continue;
        task = last_busy(b, r, u, at);
        if (task == MSIM_NONE || b->tend[task] <= since)
            continue;
        if (best == MSIM_NONE || b->tend[task] > b->tend[best])
            best = task;
    }
    return best;
}

/* A gap that was a wait keeps as work only what followed the hand-over. */
static enum msim_status link_gap(struct msim_graph_builder *b,
                                 const struct msim_rank_tasks *r,
                                 uint32_t thread, uint32_t gap)
{
    msim_ps length = b->tend[gap] - b->tstart[gap], tail;
    uint32_t from;

    if (length < IDLE_MIN || b->g->traced[gap] < length)
        return MSIM_OK; /* short, or known to have waited for something else */
    from = giver(b, r, thread, b->tstart[gap], b->tend[gap]);
    if (from == MSIM_NONE)
        return MSIM_OK;
    tail = b->tend[gap] - b->tend[from];
    /* The giver was busy for most of the gap, or this was no wait for it. */
    if (tail > length / 2)
        return MSIM_OK;
    b->g->traced[gap] = tail;
    b->g->copied[MSIM_COPIED_HANDOVER] += tail;
    return msim_builder_edge(b, MSIM_EDGE_HANDOVER, MSIM_FROM_TIMES, from, gap,
                             0);
}

/* A thread's first task: at its traced time, or when it was handed work. */
static enum msim_status link_first(struct msim_graph_builder *b,
                                   const struct msim_rank_tasks *r,
                                   uint32_t thread)
{
    uint32_t first = r->thread_first[thread];
    uint32_t from = giver(b, r, thread, INT64_MIN, b->tstart[first]);

    if (from == MSIM_NONE)
        return msim_builder_release(b, first, b->tstart[first] + r->base,
                                    false);
    b->g->traced[first] = b->tstart[first] - b->tend[from];
    b->g->copied[MSIM_COPIED_HANDOVER] += b->g->traced[first];
    return msim_builder_edge(b, MSIM_EDGE_HANDOVER, MSIM_FROM_TIMES, from,
                             first, 0);
}

enum msim_status msim_graph_handover(struct msim_graph_builder *b,
                                     struct msim_rank_tasks *r)
{
    for (uint32_t th = 0; th < r->trace->n_threads; th++) {
        if (r->thread_first[th] == r->thread_end[th])
            continue;
        MSIM_TRY(link_first(b, r, th));
        for (uint32_t id = r->thread_first[th] + 1; id < r->thread_end[th];
             id++)
            if (!is_busy(b, id))
                MSIM_TRY(link_gap(b, r, th, id));
    }
    return MSIM_OK;
}
