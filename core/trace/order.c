/*
 * core/trace/order.c - rows in order, and what follows from order.
 */
#include "core/trace/trace_columns.h"

#include "core/base/containers.h"

#include <stdlib.h>
#include <string.h>

msim_ps msim_order_from_zero(struct msim_trace *t)
{
    msim_ps first = INT64_MAX;
    uint32_t i;

    for (i = 0; i < t->n_ops; i++)
        first = t->ops[i].start < first ? t->ops[i].start : first;
    for (i = 0; i < t->n_calls; i++)
        first = t->calls[i].start < first ? t->calls[i].start : first;
    for (i = 0; i < t->n_gpu; i++)
        first = t->gpu[i].start < first ? t->gpu[i].start : first;
    for (i = 0; i < t->n_syncs; i++)
        first = t->syncs[i].start < first ? t->syncs[i].start : first;
    if (first == INT64_MAX)
        return first;
    for (i = 0; i < t->n_ops; i++)
        t->ops[i].start -= first;
    for (i = 0; i < t->n_calls; i++)
        t->calls[i].start -= first;
    for (i = 0; i < t->n_gpu; i++)
        t->gpu[i].start -= first;
    for (i = 0; i < t->n_syncs; i++)
        t->syncs[i].start -= first;
    for (i = 0; i < t->n_memory; i++)
        t->memory[i].at -= first;
    return first;
}

/* ---- threads and streams ------------------------------------------------ */

static bool thread_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_thread *all = ctx, *x = &all[a], *y = &all[b];

    return x->pid != y->pid ? x->pid < y->pid : x->tid < y->tid;
}

static bool stream_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_stream *all = ctx, *x = &all[a], *y = &all[b];

    return x->device != y->device ? x->device < y->device : x->id < y->id;
}

/* Put `n` rows into order. Returns the new index of each row, owned by the
 * caller (free()), or NULL: out of memory. */
static uint32_t *put_in_order(void *rows, uint32_t n, size_t size,
                              msim_before *less)
{
    uint32_t *place = malloc(((size_t)n + 1) * sizeof(*place));
    uint32_t *index = malloc((2 * (size_t)n + 1) * sizeof(*index));

    for (uint32_t i = 0; index && i < n; i++)
        index[i] = i;
    if (index && place) {
        msim_sort_index(index, index + n, n, less, rows);
        for (uint32_t i = 0; i < n; i++)
            place[index[i]] = i;
    }
    free(index);
    if (!index || !place || msim_sort_rows(rows, n, size, less, rows)) {
        free(place);
        return NULL;
    }
    return place;
}

static enum msim_status order_threads(struct msim_trace *t)
{
    uint32_t *place = put_in_order(t->threads, t->n_threads,
                                   sizeof(*t->threads), thread_before);

    if (!place)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_ops; i++)
        t->ops[i].thread = place[t->ops[i].thread];
    for (uint32_t i = 0; i < t->n_calls; i++)
        t->calls[i].thread = place[t->calls[i].thread];
    free(place);
    return MSIM_OK;
}

static uint32_t placed(const uint32_t *place, uint32_t stream)
{
    return stream == MSIM_NONE ? stream : place[stream];
}

static enum msim_status order_streams(struct msim_trace *t)
{
    uint32_t *place = put_in_order(t->streams, t->n_streams,
                                   sizeof(*t->streams), stream_before);

    if (!place)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_gpu; i++)
        t->gpu[i].stream = place[t->gpu[i].stream];
    for (uint32_t i = 0; i < t->n_syncs; i++) {
        t->syncs[i].stream = placed(place, t->syncs[i].stream);
        t->syncs[i].wait_stream = placed(place, t->syncs[i].wait_stream);
    }
    free(place);
    return MSIM_OK;
}

enum msim_status msim_order_lanes(struct msim_trace *t)
{
    MSIM_TRY(order_threads(t));
    return order_streams(t);
}

/* ---- operators ---------------------------------------------------------- */

static bool op_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_trace *t = ctx;
    const struct msim_op *x = &t->ops[a], *y = &t->ops[b];

    if (x->start != y->start)
        return x->start < y->start;
    if (x->dur != y->dur)
        return x->dur > y->dur;
    if (x->et_id != y->et_id)
        return x->et_id < y->et_id;
    return x->name != y->name &&
           strcmp(msim_trace_text(t, x->name), msim_trace_text(t, y->name)) < 0;
}

static uint32_t op_thread(const void *ctx, uint32_t i)
{
    const struct msim_trace *t = ctx;

    return t->ops[i].thread;
}

/*
 * Did operator `i`, which has no duration and follows `p` in order, run within
 * the last microsecond of `p`, whose end was truncated? It may also have come
 * after `p`. In traces that have an ET it is nearly always the callee
 * (aten::item > aten::_local_scalar_dense).
 */
static bool in_last_instant(const struct msim_op *op, const struct msim_op *p,
                            msim_ps p_end)
{
    return op->dur == 0 && p->dur > 0 && op->start == p_end &&
           p_end % MSIM_PS_PER_US == p->start % MSIM_PS_PER_US;
}

/*
 * Where operator `i` belongs, given the innermost one that may still be open.
 * Old files truncate time stamps to the microsecond, so siblings may overlap
 * and a child may end one microsecond after its parent. The side that has more
 * of the operator decides, and the rest is cut.
 */
static uint32_t place_op(struct msim_trace *t, uint32_t i, uint32_t top)
{
    struct msim_op *op = &t->ops[i];
    msim_ps end = op->start + op->dur;

    while (top != MSIM_NONE) {
        const struct msim_op *p = &t->ops[top];
        msim_ps p_end = p->start + p->dur;

        if (op->start < p->start)
            op->start = p->start;
        if (op->start < p_end && end <= p_end)
            break;
        if (top == i - 1 && in_last_instant(op, p, p_end))
            break;
        if (op->start < p_end && end - p_end <= p_end - op->start) {
            end = p_end;
            break;
        }
        if (op->start < p_end)
            op->start = p_end;
        t->ops[top].end = i;
        top = p->parent;
    }
    op->dur = end > op->start ? end - op->start : 0;
    op->parent = top;
    return i;
}

static void close_ops(struct msim_trace *t, uint32_t top, uint32_t end)
{
    for (; top != MSIM_NONE; top = t->ops[top].parent)
        t->ops[top].end = end;
}

enum msim_status msim_order_ops(struct msim_trace *t)
{
    uint32_t i, top = MSIM_NONE;

    MSIM_TRY(msim_sort_groups(t->ops, t->n_ops, sizeof(*t->ops), op_thread,
                              t->n_threads, op_before, t));
    for (i = 0; i < t->n_ops; i++) {
        if (i && t->ops[i].thread != t->ops[i - 1].thread) {
            close_ops(t, top, i);
            top = MSIM_NONE;
        }
        top = place_op(t, i, top);
        t->ops[i].et_id = 0;
    }
    close_ops(t, top, t->n_ops);
    return MSIM_OK;
}

enum msim_status msim_order_topmost(struct msim_trace *t)
{
    uint32_t *top = realloc(t->topmost, ((size_t)t->n_ops + 1) * sizeof(*top));

    if (!top)
        return MSIM_ENOMEM;
    t->topmost = top;
    t->n_topmost = t->cap_topmost = t->n_ops;
    for (uint32_t i = 0; i < t->n_ops; i++) {
        const struct msim_op *op = &t->ops[i];

        top[i] = op->parent == MSIM_NONE ? MSIM_NONE : top[op->parent];
        if (top[i] == MSIM_NONE && op->kind == MSIM_OP_OPERATOR)
            top[i] = i;
    }
    return MSIM_OK;
}

void msim_order_thread_ranges(struct msim_trace *t)
{
    uint32_t i, k;

    for (k = 0; k < t->n_threads; k++) {
        struct msim_thread *th = &t->threads[k];

        th->op_begin = th->op_end = th->call_begin = th->call_end = 0;
    }
    for (i = 0; i < t->n_ops; i++) {
        struct msim_thread *th = &t->threads[t->ops[i].thread];

        if (th->op_end == 0)
            th->op_begin = i;
        th->op_end = i + 1;
    }
    for (i = 0; i < t->n_calls; i++) {
        struct msim_thread *th = &t->threads[t->calls[i].thread];

        if (th->call_end == 0)
            th->call_begin = i;
        th->call_end = i + 1;
    }
}

/* ---- calls -------------------------------------------------------------- */

static bool call_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_trace *t = ctx;
    const struct msim_call *x = &t->calls[a], *y = &t->calls[b];

    if (x->start != y->start)
        return x->start < y->start;
    if (x->dur != y->dur)
        return x->dur > y->dur;
    return x->correlation < y->correlation;
}

static uint32_t call_thread(const void *ctx, uint32_t i)
{
    const struct msim_trace *t = ctx;

    return t->calls[i].thread;
}

/*
 * The innermost operator from `op` outwards that holds most of the call. The
 * climb is bounded: an operator so deep that does not enclose the call is not
 * nested.
 */
static uint32_t holder(const struct msim_trace *t, uint32_t op,
                       const struct msim_call *c)
{
    msim_ps end = c->start + c->dur;
    int steps;

    for (steps = 0; op != MSIM_NONE && steps < 256; steps++) {
        msim_ps op_end = t->ops[op].start + t->ops[op].dur;

        if (end <= op_end ||
            (c->start < op_end && end - op_end <= op_end - c->start))
            return op;
        op = t->ops[op].parent;
    }
    return MSIM_NONE;
}

static void find_ops(struct msim_trace *t, const struct msim_thread *th)
{
    uint32_t i, next = th->op_begin, top = MSIM_NONE;

    for (i = th->call_begin; i < th->call_end; i++) {
        struct msim_call *c = &t->calls[i];

        for (; next < th->op_end && t->ops[next].start <= c->start; next++)
            top = next;
        /* An operator that ended before this call has ended before all later
         * calls. */
        while (top != MSIM_NONE &&
               t->ops[top].start + t->ops[top].dur < c->start)
            top = t->ops[top].parent;
        c->op = holder(t, top, c);
    }
}

enum msim_status msim_order_calls(struct msim_trace *t)
{
    uint32_t k;

    MSIM_TRY(msim_sort_groups(t->calls, t->n_calls, sizeof(*t->calls),
                              call_thread, t->n_threads, call_before, t));
    msim_order_thread_ranges(t);
    for (k = 0; k < t->n_threads; k++)
        find_ops(t, &t->threads[k]);
    return MSIM_OK;
}

/* ---- steps -------------------------------------------------------------- */

static bool step_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_trace *t = ctx;

    if (t->steps[a].start != t->steps[b].start)
        return t->steps[a].start < t->steps[b].start;
    if (t->steps[a].node_from != t->steps[b].node_from)
        return t->steps[a].node_from < t->steps[b].node_from;
    return t->steps[a].op < t->steps[b].op;
}

/* When a step ends: in time, or in nodes of its thread. */
static int64_t step_end(const struct msim_trace *t, const struct msim_step *s)
{
    return t->has_times ? s->start + s->dur
                        : (int64_t)t->ops[t->ops[s->op].end - 1].et_id;
}

/* Has a thread a mark that begins before one of another thread has ended? */
static bool marks_overlap(const struct msim_trace *t)
{
    int64_t end = INT64_MIN;
    uint32_t thread = MSIM_NONE;

    for (uint32_t i = 0; i < t->n_steps; i++) {
        const struct msim_step *s = &t->steps[i];
        int64_t begin = t->has_times ? s->start : (int64_t)s->node_from;

        if (begin < end && t->ops[s->op].thread != thread)
            return true;
        if (step_end(t, s) > end) {
            end = step_end(t, s);
            thread = t->ops[s->op].thread;
        }
    }
    return false;
}

/* What a thread with marks does. */
struct stepping {
    uint64_t marks, launches, ops; /* ops in its marks */
    msim_ps time;                  /* of its marks */
};

static bool is_busier(const struct stepping *a, const struct stepping *b)
{
    if (!a->marks || !b->marks)
        return a->marks > b->marks;
    if (a->launches != b->launches)
        return a->launches > b->launches;
    return a->ops != b->ops ? a->ops > b->ops : a->time > b->time;
}

/* Of the threads with marks: that which starts most work of the GPU, else has
 * most operators, or most time, in its marks. */
static enum msim_status busiest_thread(const struct msim_trace *t,
                                       uint32_t *best)
{
    struct stepping *of = calloc((size_t)t->n_threads + 1, sizeof(*of));

    *best = 0;
    if (!of)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        const struct msim_op *op = &t->ops[t->steps[i].op];

        of[op->thread].marks++;
        of[op->thread].ops += op->end - t->steps[i].op - 1;
        of[op->thread].time += t->has_times ? op->dur : 0;
    }
    for (uint32_t i = 0; i < t->n_calls; i++)
        of[t->calls[i].thread].launches += t->calls[i].gpu != MSIM_NONE;
    for (uint32_t i = 1; i < t->n_threads; i++)
        if (is_busier(&of[i], &of[*best]))
            *best = i;
    free(of);
    return MSIM_OK;
}

/*
 * Threads that mark steps of their own beside those of the run (a loader, an
 * evaluation, a second engine) would cut its iterations up: where marks of two
 * threads overlap, those of the busiest one are the steps.
 */
static enum msim_status keep_one_thread(struct msim_trace *t)
{
    uint32_t thread, n = 0;

    if (!marks_overlap(t))
        return MSIM_OK;
    MSIM_TRY(busiest_thread(t, &thread));
    for (uint32_t i = 0; i < t->n_steps; i++)
        if (t->ops[t->steps[i].op].thread == thread)
            t->steps[n++] = t->steps[i];
    t->n_steps = n;
    return MSIM_OK;
}

/* Of an execution trace, where steps stand in the order of their nodes. */
static void end_nodes(struct msim_trace *t)
{
    uint32_t next = MSIM_NONE;

    for (uint32_t i = t->n_steps; i-- > 0;) {
        struct msim_step *s = &t->steps[i];

        if (i + 1 < t->n_steps && s[1].node_from > s->node_from)
            next = s[1].node_from;
        s->node_to = s->node_from ? next : 0;
    }
}

enum msim_status msim_order_steps(struct msim_trace *t)
{
    struct msim_step step;
    uint32_t i, end = 0;

    for (i = 0; i < t->n_ops; i++) {
        if (i < end || t->ops[i].kind != MSIM_OP_ANNOTATION ||
            !msim_name_step(msim_trace_text(t, t->ops[i].name), &step.number))
            continue;
        step.start = t->ops[i].start;
        step.dur = t->ops[i].dur;
        step.op = i;
        step.node_from = t->ops[i].et_id;
        end = t->ops[i].end;
        MSIM_TRY(msim_grow((void **)&t->steps, &t->cap_steps, t->n_steps,
                           sizeof(*t->steps)));
        t->steps[t->n_steps++] = step;
    }
    MSIM_TRY(msim_sort_rows(t->steps, t->n_steps, sizeof(*t->steps),
                            step_before, t));
    MSIM_TRY(keep_one_thread(t));
    end_nodes(t);
    return MSIM_OK;
}
