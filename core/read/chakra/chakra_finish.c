/*
 * core/read/chakra/chakra_finish.c - what a Chakra file becomes once all its
 * nodes are in.
 *
 * Rows get their times. What a trace needs and the format leaves out is made:
 * who launched what, and who waited for whom.
 *
 * Files of other tools' generators state work in place of times. They are laid
 * out like those with durations, for the order alone: one thread launches all
 * of it at once, and the trace counts as one without times.
 *
 * Chakra has no launches. A node on the GPU that no recorded call started gets
 * a call of no length in its caller. If a node of the CPU, or of another
 * stream, depends on one of the GPU, an event is recorded behind that launch
 * and waited for, as a program would have to do it.
 */
#include "core/base/containers.h"
#include "core/read/chakra/read_chakra_internal.h"
#include "core/read/et/read_et.h"
#include "core/trace/trace_columns.h"

#include <stdlib.h>
#include <string.h>

/* The calls that are made, by what they do. */
enum made_call { LAUNCH, COPY, SET, RECORD, WAIT, SYNC, END, MADE_CALLS };

struct finish {
    struct msim_reader *r;
    struct msim_chakra *c;
    struct msim_trace *t;
    struct msim_chakra_node *nodes;
    const uint64_t *deps;
    uint32_t n;
    uint32_t *launch;  /* thread that launched a node of the GPU, or NONE */
    msim_ps *launched; /* when */
    uint32_t *event;   /* correlation of the event behind it; 0: none */
    uint32_t correlation;
    uint32_t names[MADE_CALLS];
    bool stated;     /* work in place of times */
    uint32_t thread; /* that launches all of it */
};

static uint32_t node_of(const struct finish *f, uint64_t id)
{
    return msim_idmap_get(&f->c->ids, id);
}

static bool is_op(const struct msim_chakra_node *n)
{
    return n->row != MSIM_NONE && n->event <= MSIM_CHAKRA_ROOT_EVENT;
}

static bool is_gpu(const struct msim_chakra_node *n)
{
    return n->row != MSIM_NONE && n->event >= MSIM_CHAKRA_KERNEL_EVENT &&
           n->event <= MSIM_CHAKRA_MEMSET_EVENT;
}

/* ---- without times ------------------------------------------------------ */

/* Nothing runs on the GPU: the file has shapes alone, as an execution trace. */
static enum msim_status finish_untimed(struct finish *f)
{
    msim_import_add(&f->t->import, MSIM_IMPORT_UNTIMED, f->t->n_gpu);
    f->t->import.read -= f->t->n_gpu;
    f->t->n_gpu = f->t->n_streams = 0;
    f->t->n_calls = f->t->n_syncs = 0;
    return msim_et_finish(f->r);
}

/* ---- times -------------------------------------------------------------- */

static int fail_no_start(struct finish *f, const struct msim_chakra_node *n)
{
    msim_read_problem(f->r, MSIM_EFORMAT,
                      "node %llu '%.80s' has no start, and others have one",
                      (unsigned long long)n->id,
                      msim_strtab_text(f->r->strings, n->name));
    f->r->problem.offset = n->at;
    return MSIM_EFORMAT;
}

/* Where most nodes have a start, those without one follow their
 * dependencies. */
static void fill_starts(struct finish *f, const uint32_t *order)
{
    for (uint32_t k = 0; k < f->n && !f->c->ours; k++) {
        struct msim_chakra_node *n = &f->nodes[order[k]];

        if (n->start != MSIM_TIME_NONE)
            continue;
        msim_import_add(&f->t->import, MSIM_IMPORT_LAID_OUT, 1);
        n->start = 0;
        for (uint32_t d = 0; d < n->n_deps; d++) {
            uint32_t from = node_of(f, f->deps[n->deps + d]);
            msim_ps end = from == MSIM_NONE
                              ? 0
                              : f->nodes[from].start + f->nodes[from].span;

            n->start = end > n->start && end < INT64_MAX / 4 ? end : n->start;
        }
    }
}

static enum msim_status set_times(struct finish *f)
{
    for (uint32_t i = 0; i < f->n; i++) {
        const struct msim_chakra_node *n = &f->nodes[i];

        if (n->row == MSIM_NONE)
            continue;
        if (n->start == MSIM_TIME_NONE)
            return (enum msim_status)fail_no_start(f, n);
        if (is_op(n)) {
            f->t->ops[n->row].start = n->start;
            f->t->ops[n->row].dur = n->span;
        } else if (is_gpu(n)) {
            f->t->gpu[n->row].start = n->start;
            f->t->gpu[n->row].dur = n->span;
        } else if (n->event == MSIM_CHAKRA_CALL_EVENT) {
            f->t->calls[n->row].start = n->start;
            f->t->calls[n->row].dur = n->span;
        } else {
            f->t->syncs[n->row].start = n->start;
            f->t->syncs[n->row].dur = n->span;
        }
    }
    return MSIM_OK;
}

/* All work is launched before it starts, in `order`: a launch and an event
 * behind it take a picosecond each. */
static enum msim_status launch_first(struct finish *f, const uint32_t *order)
{
    for (uint32_t k = 0; k < f->n; k++) {
        f->nodes[order[k]].start += 2 * (msim_ps)f->n;
        f->launched[order[k]] = 2 * (msim_ps)k;
    }
    return msim_et_thread(f->r, 0, &f->thread);
}

/* What a node of a generated workload has in ctrl_deps is no caller: it waits
 * for that, too. */
static void wait_for_control(struct finish *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (is_gpu(&f->nodes[i]))
            f->nodes[i].n_deps += f->nodes[i].n_ctrl;
}

static void forget_stated(struct msim_trace *t)
{
    t->n_stated = 0;
    for (uint32_t i = 0; i < t->n_gpu; i++)
        t->gpu[i].stated = 0;
}

/* Roots hold the threads of an ET together; a trace with times has no roots. */
static void drop_roots(struct finish *f)
{
    struct msim_et_link *links = msim_et_of(f->r)->links.data;
    uint32_t n = 0;

    for (uint32_t i = 0; i < f->n; i++) {
        struct msim_chakra_node *node = &f->nodes[i];

        if (!is_op(node))
            continue;
        if (node->event == MSIM_CHAKRA_ROOT_EVENT) {
            node->row = MSIM_NONE;
            f->t->import.read--;
            msim_import_add(&f->t->import, MSIM_IMPORT_ROOT, 1);
            continue;
        }
        f->t->ops[n] = f->t->ops[node->row];
        links[n] = links[node->row];
        node->row = n++;
    }
    f->t->n_ops = n;
}

/* ---- launches ----------------------------------------------------------- */

static enum msim_status add_call(struct finish *f, uint32_t name,
                                 uint32_t thread, msim_ps start, msim_ps dur,
                                 uint32_t correlation)
{
    struct msim_trace *t = f->t;

    MSIM_TRY(msim_grow((void **)&t->calls, &t->cap_calls, t->n_calls,
                       sizeof(*t->calls)));
    t->calls[t->n_calls++] = (struct msim_call){.start = start,
                                                .dur = dur,
                                                .name = name,
                                                .thread = thread,
                                                .op = MSIM_NONE,
                                                .gpu = MSIM_NONE,
                                                .correlation = correlation};
    return MSIM_OK;
}

static enum msim_status add_sync(struct finish *f, struct msim_sync s)
{
    struct msim_trace *t = f->t;

    MSIM_TRY(msim_grow((void **)&t->syncs, &t->cap_syncs, t->n_syncs,
                       sizeof(*t->syncs)));
    t->syncs[t->n_syncs++] = s;
    return MSIM_OK;
}

/* The end of an operator's own work. */
static msim_ps work_end(const struct msim_chakra_node *n)
{
    return n->start + (n->own < n->span ? n->own : n->span);
}

/*
 * Who launched node `i`: its caller, else the last node of the CPU that it
 * depends on. The launch lies at the last instant of that node's own work, so
 * that this node is the innermost operator there.
 */
static void find_launch(struct finish *f, uint32_t i)
{
    const struct msim_chakra_node *n = &f->nodes[i], *from = NULL;
    uint32_t p = n->has_parent ? node_of(f, n->parent) : MSIM_NONE;

    f->launch[i] = MSIM_NONE;
    if (p != MSIM_NONE && is_op(&f->nodes[p]))
        from = &f->nodes[p];
    for (uint32_t d = 0; d < n->n_deps && !(p != MSIM_NONE && from); d++) {
        uint32_t k = node_of(f, f->deps[n->deps + d]);

        if (k != MSIM_NONE && is_op(&f->nodes[k]) &&
            (!from || work_end(&f->nodes[k]) > work_end(from)))
            from = &f->nodes[k];
    }
    if (!from) {
        f->launch[i] = f->stated ? f->thread : MSIM_NONE;
        return;
    }
    f->launch[i] = f->t->ops[from->row].thread;
    f->launched[i] =
        work_end(from) > from->start ? work_end(from) - 1 : from->start;
    if (f->launched[i] > n->start)
        f->launched[i] = n->start;
}

/* The event behind the launch of node `i`, recorded when it is first needed. */
static enum msim_status event_of(struct finish *f, uint32_t i, uint32_t *event)
{
    if (!f->event[i] && f->launch[i] != MSIM_NONE) {
        f->event[i] = ++f->correlation;
        MSIM_TRY(add_call(f, f->names[RECORD], f->launch[i],
                          f->launched[i] + f->stated, 0, f->event[i]));
    }
    *event = f->event[i];
    return MSIM_OK;
}

/* Node `i` of the CPU waits for `from` of the GPU before it begins. */
static enum msim_status wait_on_cpu(struct finish *f, uint32_t i, uint32_t from)
{
    const struct msim_chakra_node *n = &f->nodes[i], *g = &f->nodes[from];
    msim_ps end = g->start + g->span, begin = f->launched[from];
    uint32_t event, id;

    MSIM_TRY(event_of(f, from, &event));
    if (!event || end > n->start)
        return MSIM_OK;
    id = ++f->correlation;
    begin = g->start > begin ? g->start : begin;
    MSIM_TRY(add_call(f, f->names[SYNC], f->t->ops[n->row].thread, begin,
                      n->start - begin, id));
    return add_sync(f,
                    (struct msim_sync){.start = begin,
                                       .dur = n->start - begin,
                                       .call = id,
                                       .stream = MSIM_NONE,
                                       .wait_stream = f->t->gpu[g->row].stream,
                                       .record_call = event,
                                       .kind = MSIM_CALL_EVENT_SYNC});
}

/* The stream of node `i` waits for `from` on another one. */
static enum msim_status wait_on_stream(struct finish *f, uint32_t i,
                                       uint32_t from)
{
    const struct msim_gpu *g = &f->t->gpu[f->nodes[i].row];
    const struct msim_gpu *other = &f->t->gpu[f->nodes[from].row];
    uint32_t event, id;

    if (g->stream == other->stream || f->launch[i] == MSIM_NONE)
        return MSIM_OK;
    MSIM_TRY(event_of(f, from, &event));
    if (!event)
        return MSIM_OK;
    id = ++f->correlation;
    MSIM_TRY(add_call(f, f->names[WAIT], f->launch[i], f->launched[i], 0, id));
    return add_sync(f, (struct msim_sync){.start = f->launched[i],
                                          .call = id,
                                          .stream = g->stream,
                                          .wait_stream = other->stream,
                                          .record_call = event,
                                          .kind = MSIM_CALL_STREAM_WAIT});
}

static enum msim_status make_waits(struct finish *f, uint32_t i)
{
    const struct msim_chakra_node *n = &f->nodes[i];
    uint32_t last = MSIM_NONE;

    for (uint32_t d = 0; d < n->n_deps; d++) {
        uint32_t k = node_of(f, f->deps[n->deps + d]);

        if (k == MSIM_NONE || !is_gpu(&f->nodes[k]))
            continue;
        if (is_gpu(n))
            MSIM_TRY(wait_on_stream(f, i, k));
        else if (last == MSIM_NONE ||
                 f->nodes[k].start + f->nodes[k].span >
                     f->nodes[last].start + f->nodes[last].span)
            last = k;
    }
    return is_op(n) && last != MSIM_NONE ? wait_on_cpu(f, i, last) : MSIM_OK;
}

static enum msim_status make_launch(struct finish *f, uint32_t i)
{
    struct msim_gpu *g = &f->t->gpu[f->nodes[i].row];

    if (f->launch[i] == MSIM_NONE)
        return MSIM_OK;
    g->correlation = ++f->correlation;
    return add_call(f,
                    f->names[g->kind == MSIM_GPU_MEMCPY   ? COPY
                             : g->kind == MSIM_GPU_MEMSET ? SET
                                                          : LAUNCH],
                    f->launch[i], f->launched[i], 0, g->correlation);
}

static enum msim_status name_calls(struct finish *f)
{
    static const char *const NAMES[] = {
        "cudaLaunchKernel",     "cudaMemcpyAsync",     "cudaMemsetAsync",
        "cudaEventRecord",      "cudaStreamWaitEvent", "cudaEventSynchronize",
        "cudaDeviceSynchronize"};

    for (unsigned i = 0; i < MADE_CALLS; i++)
        MSIM_TRY(msim_strtab_add(f->r->strings, NAMES[i], strlen(NAMES[i]),
                                 &f->names[i]));
    return MSIM_OK;
}

/*
 * A run that was laid out ends when all its work has ended: its last step that
 * has any work ends with the GPU's. A step in which nothing was timed has no
 * length to speak of and does not count.
 */
#define SHORTEST_STEP MSIM_PS_PER_US

static enum msim_status end_last_step(struct finish *f)
{
    struct msim_chakra_node *last = NULL;
    msim_ps end = 0, host;
    int64_t number;

    for (uint32_t i = 0; i < f->n; i++) {
        struct msim_chakra_node *n = &f->nodes[i];

        if (is_gpu(n) && n->start + n->span > end)
            end = n->start + n->span;
        if (is_op(n) && n->event == MSIM_CHAKRA_ANNOTATION_EVENT &&
            msim_name_step(msim_strtab_text(f->r->strings, n->name), &number) &&
            (!last || n->start > last->start))
            last = n;
    }
    if (!last || last->start + last->span >= end)
        return MSIM_OK;
    host = last->start + last->span;
    last->span = end - last->start;
    f->t->ops[last->row].dur = last->span;
    return add_call(f, f->names[END], f->t->ops[last->row].thread, host,
                    end - host, 0);
}

static void drop_short_steps(struct msim_trace *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_steps; i++)
        if (t->steps[i].dur >= SHORTEST_STEP)
            t->steps[n++] = t->steps[i];
    t->n_steps = n;
}

/* By `order`: a node that waits comes after the nodes that it waits for. */
static enum msim_status make_calls(struct finish *f, const uint32_t *order)
{
    MSIM_TRY(name_calls(f));
    if (!f->c->started)
        MSIM_TRY(end_last_step(f));
    for (uint32_t i = 0; i < f->n; i++)
        if (is_gpu(&f->nodes[i]))
            find_launch(f, i);
    for (uint32_t k = 0; k < f->n; k++) {
        uint32_t i = order[k];

        MSIM_TRY(make_waits(f, i));
        if (is_gpu(&f->nodes[i]))
            MSIM_TRY(make_launch(f, i));
    }
    return MSIM_OK;
}

/* ---- order -------------------------------------------------------------- */

static void place_origin(struct finish *f, msim_ps first)
{
    struct msim_read_result *out = f->r->out;
    int64_t ns = first / 1000 + f->c->base_ns;

    /* A layout begins at 0 on every rank: ranks start together. */
    if (first == INT64_MAX)
        return;
    out->has_origin = true;
    out->origin_us = ns / 1000;
    out->origin_ps = (int32_t)(ns % 1000) * 1000 + (int32_t)(first % 1000);
    if (out->origin_ps < 0) {
        out->origin_us--;
        out->origin_ps += MSIM_PS_PER_US;
    }
}

/* Sorting forgets node ids: rf_id holds the row in the meantime. */
static enum msim_status order_ops(struct finish *f)
{
    struct msim_trace *t = f->t;
    size_t n = (size_t)t->n_ops + 1;
    struct msim_op *before = malloc(n * sizeof(*before));
    enum msim_status status;

    if (!before)
        return MSIM_ENOMEM;
    if (t->n_ops)
        memcpy(before, t->ops, t->n_ops * sizeof(*before));
    for (uint32_t i = 0; i < t->n_ops; i++) {
        t->ops[i].rf_id = i;
        t->ops[i].et_id = i; /* of two that begin and end at the same time */
    }
    status = msim_order_ops(t);
    for (uint32_t i = 0; i < t->n_ops && status == MSIM_OK; i++) {
        const struct msim_op *old = &before[t->ops[i].rf_id];

        t->ops[i].rf_id = old->rf_id;
        t->ops[i].et_id = old->et_id;
    }
    free(before);
    return status;
}

/* Forward threads by number, now that all threads are known. */
static void find_forward(struct finish *f)
{
    const struct msim_et_link *links = msim_et_of(f->r)->links.data;

    for (uint32_t i = 0; i < f->t->n_ops && !f->c->ours; i++)
        if (links[i].fw_tid > 0)
            f->t->ops[i].fw_thread = msim_idmap_get(&msim_et_of(f->r)->threads,
                                                    (uint64_t)links[i].fw_tid);
}

static enum msim_status finish_timed(struct finish *f, const uint32_t *order)
{
    struct msim_trace *t = f->t;
    uint32_t repeated;

    drop_roots(f);
    if (!f->c->started) {
        MSIM_TRY(msim_chakra_layout(f->r, order));
        msim_import_add(&t->import, MSIM_IMPORT_LAID_OUT, f->n);
    }
    if (f->stated)
        MSIM_TRY(launch_first(f, order));
    fill_starts(f, order);
    MSIM_TRY(set_times(f));
    find_forward(f);
    if (!f->c->ours)
        MSIM_TRY(make_calls(f, order));
    place_origin(f, msim_order_from_zero(t));
    t->has_times = !f->stated;
    t->has_et = !f->c->ours || f->c->has_et;
    MSIM_TRY(order_ops(f));
    MSIM_TRY(msim_order_topmost(t));
    MSIM_TRY(msim_order_calls(t));
    MSIM_TRY(msim_order_device(t, &repeated));
    MSIM_TRY(msim_order_comms(t));
    MSIM_TRY(msim_order_gpus(t));
    MSIM_TRY(msim_order_steps(t));
    if (!f->c->started)
        drop_short_steps(t);
    return MSIM_OK;
}

static enum msim_status run(struct finish *f, uint32_t *order)
{
    f->stated = f->c->sized && !f->c->started;
    if (f->stated)
        wait_for_control(f);
    else
        forget_stated(f->t);
    MSIM_TRY(msim_chakra_order(f->r, order));
    if (f->c->ours)
        MSIM_TRY(msim_chakra_sort_comms(f->r));
    return f->c->timed || f->c->started || f->stated ? finish_timed(f, order)
                                                     : finish_untimed(f);
}

enum msim_status msim_chakra_rows(struct msim_reader *r)
{
    struct msim_chakra *c = msim_chakra_of(r);
    struct finish f = {.r = r,
                       .c = c,
                       .t = r->trace,
                       .nodes = c->nodes.data,
                       .deps = c->deps.data,
                       .n = c->nodes.n};
    size_t n = (size_t)c->nodes.n + 1;
    uint32_t *memory = calloc(n * 3, sizeof(*memory));
    enum msim_status status = MSIM_ENOMEM;

    f.launched = calloc(n, sizeof(*f.launched));
    if (memory && f.launched) {
        f.launch = memory + n;
        f.event = memory + n * 2;
        status = run(&f, memory);
    }
    free(memory);
    free(f.launched);
    return status;
}
