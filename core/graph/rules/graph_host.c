/*
 * core/graph/rules/graph_host.c - the CPU threads of a rank with times.
 *
 * Each thread is a chain of tasks that covers it from its first event to its
 * last. It is cut where something can begin or be waited for: at runtime calls,
 * at topmost operators, at step marks.
 */
#include "core/base/containers.h"
#include "core/base/units.h"
#include "core/graph/rules/graph_rules.h"

#include <stdlib.h>
#include <string.h>

struct sweep {
    struct msim_graph_builder *b;
    struct msim_rank_tasks *r;
    uint32_t lane, thread;
    uint32_t next_op; /* first op of the thread that has not begun */
    msim_ps *cuts;    /* sorted */
    uint32_t n_cuts, cap_cuts, next_cut;
    msim_ps now;
    msim_ps busy_until; /* end of the topmost operator that is running */
};

static enum msim_status add_cut(struct sweep *s, msim_ps at)
{
    MSIM_TRY(msim_grow((void **)&s->cuts, &s->cap_cuts, s->n_cuts,
                       sizeof(*s->cuts)));
    s->cuts[s->n_cuts++] = at;
    return MSIM_OK;
}

static int compare_ps(const void *a, const void *b)
{
    msim_ps x = *(const msim_ps *)a, y = *(const msim_ps *)b;

    return MSIM_ORDER(x, y);
}

/* Topmost operators; labels do not count, but for those of a data loader. */
static enum msim_status collect_cuts(struct sweep *s)
{
    const struct msim_trace *t = s->r->trace;
    const struct msim_thread *th = &t->threads[s->thread];
    uint32_t i = th->op_begin;

    while (i < th->op_end) {
        const struct msim_op *op = &t->ops[i];

        bool top = op->kind == MSIM_OP_OPERATOR;

        if (top || msim_graph_takes_batch(t, i)) {
            MSIM_TRY(add_cut(s, op->start));
            MSIM_TRY(add_cut(s, op->start + op->dur));
        }
        i = top ? op->end : i + 1;
    }
    for (i = 0; i < t->n_steps; i++) {
        if (t->ops[t->steps[i].op].thread != s->thread)
            continue;
        MSIM_TRY(add_cut(s, t->steps[i].start));
        MSIM_TRY(add_cut(s, t->steps[i].start + t->steps[i].dur));
    }
    if (s->n_cuts)
        qsort(s->cuts, s->n_cuts, sizeof(*s->cuts), compare_ps);
    return MSIM_OK;
}

/* The innermost op that runs at the current instant, or NONE. */
static uint32_t innermost(const struct sweep *s)
{
    const struct msim_trace *t = s->r->trace;
    uint32_t i = s->next_op;

    if (i == t->threads[s->thread].op_begin)
        return MSIM_NONE;
    i--;
    while (i != MSIM_NONE && t->ops[i].start + t->ops[i].dur <= s->now)
        i = t->ops[i].parent;
    return i;
}

/* Begin the ops that start before `until`; note until when they run. */
static void begin_ops(struct sweep *s, msim_ps until)
{
    const struct msim_trace *t = s->r->trace;
    const struct msim_thread *th = &t->threads[s->thread];

    for (; s->next_op < th->op_end; s->next_op++) {
        const struct msim_op *op = &t->ops[s->next_op];

        if (op->start >= until)
            break;
        if (op->kind == MSIM_OP_OPERATOR && s->busy_until < op->start + op->dur)
            s->busy_until = op->start + op->dur;
    }
}

/* One task from the current instant to `until`; none where no time passes. */
static enum msim_status stretch(struct sweep *s, msim_ps until)
{
    struct msim_task_ref ref = {.index = s->next_op,
                                .rank = (uint16_t)s->r->rank};
    uint32_t id;
    bool busy;

    if (until <= s->now)
        return MSIM_OK;
    begin_ops(s, s->now + 1);
    ref.op = innermost(s);
    begin_ops(s, until);
    ref.op_end = s->next_op;
    busy = s->busy_until > s->now;
    MSIM_TRY(msim_builder_task(s->b, busy ? MSIM_TASK_HOST : MSIM_TASK_GAP,
                               s->lane, ref, s->now, until - s->now, &id));
    s->now = until;
    return MSIM_OK;
}

static enum msim_status sweep_to(struct sweep *s, msim_ps until)
{
    while (s->next_cut < s->n_cuts && s->cuts[s->next_cut] < until)
        MSIM_TRY(stretch(s, s->cuts[s->next_cut++]));
    return stretch(s, until);
}

/* Calls in order; one inside another (a driver call) belongs to the outer. */
static enum msim_status sweep_calls(struct sweep *s)
{
    const struct msim_trace *t = s->r->trace;
    const struct msim_thread *th = &t->threads[s->thread];
    uint32_t id = MSIM_NONE;

    for (uint32_t c = th->call_begin; c < th->call_end; c++) {
        const struct msim_call *call = &t->calls[c];
        struct msim_task_ref ref = {c, call->op, MSIM_NONE,
                                    (uint16_t)s->r->rank, 0};

        if (call->start < s->now && id != MSIM_NONE) {
            s->r->of_call[c] = id;
            continue;
        }
        MSIM_TRY(sweep_to(s, call->start));
        MSIM_TRY(msim_builder_task(s->b, MSIM_TASK_CALL, s->lane, ref, s->now,
                                   call->start + call->dur - s->now, &id));
        s->r->of_call[c] = id;
        begin_ops(s, call->start);
        s->now = call->start + call->dur;
    }
    return MSIM_OK;
}

static void thread_span(const struct msim_trace *t, uint32_t thread,
                        msim_ps *from, msim_ps *to)
{
    const struct msim_thread *th = &t->threads[thread];

    *from = INT64_MAX;
    *to = INT64_MIN;
    for (uint32_t i = th->op_begin; i < th->op_end; i++) {
        const struct msim_op *op = &t->ops[i];

        if (op->start < *from)
            *from = op->start;
        if (op->start + op->dur > *to)
            *to = op->start + op->dur;
    }
    for (uint32_t i = th->call_begin; i < th->call_end; i++) {
        const struct msim_call *c = &t->calls[i];

        if (c->start < *from)
            *from = c->start;
        if (c->start + c->dur > *to)
            *to = c->start + c->dur;
    }
}

/* Tasks of one thread, with the edges of its program order. */
static enum msim_status build_thread(struct sweep *s)
{
    const struct msim_trace *t = s->r->trace;
    struct msim_task_ref ref = {MSIM_NONE, MSIM_NONE, MSIM_NONE,
                                (uint16_t)s->r->rank, 0};
    struct msim_graph *g = s->b->g;
    uint32_t first;
    msim_ps to;

    thread_span(t, s->thread, &s->now, &to);
    s->next_op = t->threads[s->thread].op_begin;
    s->busy_until = s->now;
    MSIM_TRY(collect_cuts(s));
    MSIM_TRY(msim_builder_lane(s->b, s->r->rank, s->thread, false, &s->lane));
    /* An anchor: the predecessor of the first task, or of its launch. */
    MSIM_TRY(msim_builder_task(s->b, MSIM_TASK_GAP, s->lane, ref, s->now, 0,
                               &first));
    MSIM_TRY(sweep_calls(s));
    MSIM_TRY(sweep_to(s, to));
    s->r->thread_first[s->thread] = first;
    s->r->thread_end[s->thread] = g->n_tasks;
    for (uint32_t id = first + 1; id < g->n_tasks; id++)
        MSIM_TRY(msim_builder_edge(s->b, MSIM_EDGE_PROGRAM, MSIM_FROM_ORDER,
                                   id - 1, id, 0));
    return MSIM_OK;
}

/* ---- iterations --------------------------------------------------------- */

/*
 * Does all of a task lie in from..to, or more than half? Times may be
 * truncated, and a task that waits at the end of a step may end one
 * microsecond after it.
 */
static bool lies_in(const struct msim_graph_builder *b, uint32_t task,
                    msim_ps from, msim_ps to)
{
    msim_ps start = b->tstart[task], end = b->tend[task];
    msim_ps inside = (end < to ? end : to) - (start > from ? start : from);

    return (start >= from && end <= to) || inside > (end - start) / 2;
}

/* The first and the last task that lie in step `s`, on its thread. Tasks follow
 * each other: those that do not lie in it are at its ends. */
static struct msim_window find_window(const struct msim_graph_builder *b,
                                      const struct msim_rank_tasks *r,
                                      uint32_t s)
{
    const struct msim_step *step = &r->trace->steps[s];
    uint32_t thread = r->trace->ops[step->op].thread;
    uint32_t first = r->thread_first[thread] + 1, end = r->thread_end[thread];
    msim_ps from = step->start, to = from + step->dur;
    uint32_t lo =
        msim_first_after(b->tend, sizeof(msim_ps), first, end, from - 1);
    uint32_t hi = msim_first_after(b->tstart, sizeof(msim_ps), lo, end, to);
    struct msim_window w = {MSIM_NONE, MSIM_NONE, r->rank, 0,
                            s,         to - from, false};

    while (lo < hi && !lies_in(b, lo, from, to))
        lo++;
    while (hi > lo && !lies_in(b, hi - 1, from, to))
        hi--;
    w.empty = lo >= hi;
    if (!w.empty) {
        w.first = lo;
        w.last = hi - 1;
    }
    return w;
}

static enum msim_status whole_trace(struct msim_graph_builder *b,
                                    const struct msim_rank_tasks *r)
{
    const struct msim_trace *t = r->trace;
    struct msim_window w = {MSIM_NONE, MSIM_NONE, r->rank, 0,
                            MSIM_NONE, 0,         false};
    msim_ps from = INT64_MAX, to = INT64_MIN, lo, hi;

    for (uint32_t th = 0; th < t->n_threads; th++) {
        thread_span(t, th, &lo, &hi);
        from = lo < from ? lo : from;
        to = hi > to ? hi : to;
    }
    for (uint32_t i = 0; i < t->n_gpu; i++) {
        if (t->gpu[i].start < from)
            from = t->gpu[i].start;
        if (t->gpu[i].start + t->gpu[i].dur > to)
            to = t->gpu[i].start + t->gpu[i].dur;
    }
    w.measured = to > from ? to - from : 0;
    return msim_builder_window(b, w, -1);
}

static enum msim_status find_windows(struct msim_graph_builder *b,
                                     const struct msim_rank_tasks *r)
{
    const struct msim_trace *t = r->trace;

    if (!t->n_steps)
        return whole_trace(b, r);
    for (uint32_t i = 0; i < t->n_steps; i++)
        MSIM_TRY(
            msim_builder_window(b, find_window(b, r, i), t->steps[i].number));
    return MSIM_OK;
}

enum msim_status msim_graph_host(struct msim_graph_builder *b,
                                 struct msim_rank_tasks *r)
{
    for (uint32_t th = 0; th < r->trace->n_threads; th++) {
        const struct msim_thread *thread = &r->trace->threads[th];
        struct sweep s = {.b = b, .r = r, .thread = th};
        enum msim_status status;

        if (thread->op_begin == thread->op_end &&
            thread->call_begin == thread->call_end)
            continue;
        status = build_thread(&s);
        free(s.cuts);
        MSIM_TRY(status);
    }
    return find_windows(b, r);
}
