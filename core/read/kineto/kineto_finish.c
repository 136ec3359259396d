/*
 * core/read/kineto/kineto_finish.c - what a Kineto file becomes once all its
 * events are in.
 */
#include "core/base/containers.h"
#include "core/read/kineto/read_kineto_internal.h"
#include "core/trace/trace_columns.h"

#include <stdio.h>
#include <stdlib.h>

/* Names of threads that turned out to have events. */
static void label_threads(struct msim_reader *r)
{
    const struct msim_kineto_label *l = msim_kineto_of(r)->labels.data;
    uint32_t i, thread;

    for (i = 0; i < msim_kineto_of(r)->labels.n; i++) {
        thread = msim_idmap_get(&msim_kineto_of(r)->threads,
                                msim_idmap_pair(l[i].pid, l[i].tid));
        if (thread != MSIM_NONE)
            r->trace->threads[thread].name = l[i].name;
    }
}

/*
 * The thread of the forward operator. Kineto numbers threads in another way
 * there, so it is the thread that used the same autograd sequence number
 * without a forward thread.
 */
static enum msim_status find_forward(struct msim_trace *t)
{
    struct msim_idmap forward = {0};
    enum msim_status status = MSIM_OK;
    uint32_t i, *slot;

    for (i = 0; i < t->n_ops && status == MSIM_OK; i++)
        if (t->ops[i].seq >= 0 && t->ops[i].fw_thread == MSIM_NONE)
            status = msim_idmap_put(&forward, (uint64_t)t->ops[i].seq,
                                    t->ops[i].thread, &slot);
    for (i = 0; i < t->n_ops && status == MSIM_OK; i++) {
        struct msim_op *op = &t->ops[i];

        if (op->fw_thread == MSIM_NONE)
            continue;
        op->fw_thread = op->seq >= 0
                            ? msim_idmap_get(&forward, (uint64_t)op->seq)
                            : MSIM_NONE;
        op->scope = 1;
    }
    msim_idmap_release(&forward);
    return status;
}

/* Shift all times so that the first is 0, and note where that was. */
static void shift_to_zero(struct msim_reader *r)
{
    msim_ps first = msim_order_from_zero(r->trace);

    if (first == INT64_MAX)
        return;
    /* Floor division: `first` is negative where the file is out of order. */
    r->out->origin_us = first / MSIM_PS_PER_US;
    r->out->origin_ps = (int32_t)(first % MSIM_PS_PER_US);
    if (r->out->origin_ps < 0) {
        r->out->origin_us--;
        r->out->origin_ps += MSIM_PS_PER_US;
    }
    r->out->has_origin = true;
}

/* The origin so far is relative to the reader's base: make it absolute. */
static void place_origin(struct msim_reader *r)
{
    struct msim_read_result *out = r->out;
    int64_t ns = r->base_ns % 1000;

    if (!out->has_origin)
        return;
    if (__builtin_add_overflow(out->origin_us, msim_kineto_of(r)->base_us,
                               &out->origin_us) ||
        __builtin_add_overflow(out->origin_us, r->base_ns / 1000,
                               &out->origin_us)) {
        out->has_origin = false; /* a clock of no use: times start at 0 */
        return;
    }
    out->origin_ps += (int32_t)(ns * 1000);
    if (out->origin_ps >= MSIM_PS_PER_US) {
        out->origin_ps -= MSIM_PS_PER_US;
        out->origin_us++;
    } else if (out->origin_ps < 0) {
        out->origin_ps += MSIM_PS_PER_US;
        out->origin_us--;
    }
}

static bool held_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_memory_total *x =
        (const struct msim_memory_total *)ctx + a;
    const struct msim_memory_total *y =
        (const struct msim_memory_total *)ctx + b;

    if (x->device != y->device)
        return x->device < y->device;
    return x->at != y->at ? x->at < y->at : a < b;
}

/* ---- is it one process? ---------------------------------------------------
 */

/* No process does any of this; a few records that were read wrong are no second
 * one. A rule of reading: no time depends on it. */
#define TWICE_MAX 0.05
#define TWICE_MIN 2

/* Processes that were merged and have one pid, as those of containers and hosts
 * have, cannot be told apart: threads, streams and numbers are the same. */
static enum msim_status
fail_merged(struct msim_reader *r, const struct msim_trace *t, const char *what)
{
    return (enum msim_status)msim_read_problem(
        r, MSIM_EFORMAT,
        "%s of process %lld: processes with one pid, of several hosts or runs, "
        "or one twice, were merged into this file; want the file of each, or a "
        "pid of its own for each",
        what, t->n_threads ? (long long)t->threads[0].pid : -1LL);
}

/* Does a thread launch while it is in another launch of the same name? Calls
 * are sorted; a call of the driver is inside one of the runtime. */
static bool is_inside(const struct msim_call *before, const struct msim_call *c)
{
    return before->thread == c->thread && before->name == c->name &&
           msim_call_starts_work(c->kind) &&
           c->start < before->start + before->dur;
}

static enum msim_status check_launches(struct msim_reader *r,
                                       const struct msim_trace *t,
                                       uint32_t repeated)
{
    uint32_t launches = 0, inside = 0;
    char what[96];

    for (uint32_t i = 0; i < t->n_calls; i++) {
        launches += msim_call_starts_work(t->calls[i].kind);
        inside += i > 0 && is_inside(&t->calls[i - 1], &t->calls[i]);
    }
    if (repeated >= TWICE_MIN && repeated > TWICE_MAX * launches)
        snprintf(what, sizeof(what),
                 "%u of %u launches have the correlation id of another launch",
                 repeated, launches);
    else if (inside >= TWICE_MIN && inside > TWICE_MAX * launches)
        snprintf(what, sizeof(what),
                 "%u of %u launches begin inside another of their thread",
                 inside, launches);
    else
        return MSIM_OK;
    return fail_merged(r, t, what);
}

/* Marks in whole microseconds may touch: by up to so much of the later one. */
#define TOUCH_MAX 0.05

/* Do two marks of one thread overlap, of which neither is in the other? */
static bool crosses(const struct msim_op *a, const struct msim_op *b)
{
    msim_ps by = a->start + a->dur - b->start;

    return a->thread == b->thread && a->start < b->start &&
           a->start + a->dur < b->start + b->dur &&
           (double)by > TOUCH_MAX * (double)b->dur;
}

static int by_thread(const void *a, const void *b)
{
    const struct msim_op *x = a, *y = b;

    if (x->thread != y->thread)
        return MSIM_ORDER(x->thread, y->thread);
    return MSIM_ORDER(x->start, y->start);
}

static enum msim_status find_marks(const struct msim_trace *t,
                                   struct msim_vec *marks)
{
    int64_t number;

    for (uint32_t i = 0; i < t->n_ops; i++) {
        struct msim_op *m;

        if (!msim_name_step(msim_trace_text(t, t->ops[i].name), &number))
            continue;
        m = msim_vec_add(marks, sizeof(*m));
        if (!m)
            return MSIM_ENOMEM;
        *m = t->ops[i];
    }
    if (marks->n)
        qsort(marks->data, marks->n, sizeof(struct msim_op), by_thread);
    return MSIM_OK;
}

/* Before rows are nested: that cuts what overlaps. */
static enum msim_status check_marks(struct msim_reader *r,
                                    const struct msim_trace *t)
{
    struct msim_vec marks = {0};
    enum msim_status status = find_marks(t, &marks);
    const struct msim_op *m = marks.data;
    uint32_t crossed = 0;

    for (uint32_t i = 1; i < marks.n; i++)
        crossed += crosses(&m[i - 1], &m[i]);
    if (status == MSIM_OK && crossed >= TWICE_MIN &&
        crossed > TWICE_MAX * marks.n)
        status = fail_merged(r, t, "marks of steps overlap on one thread");
    free(marks.data);
    return status;
}

/* ---- all of it ------------------------------------------------------------
 */

static enum msim_status order(struct msim_reader *r, struct msim_trace *t)
{
    uint32_t repeated;

    t->has_times = true;
    MSIM_TRY(msim_sort_rows(t->memory, t->n_memory, sizeof(*t->memory),
                            held_before, t->memory));
    MSIM_TRY(msim_order_lanes(t));
    MSIM_TRY(check_marks(r, t));
    MSIM_TRY(msim_order_ops(t));
    MSIM_TRY(msim_order_topmost(t));
    MSIM_TRY(find_forward(t));
    MSIM_TRY(msim_order_calls(t));
    MSIM_TRY(msim_order_device(t, &repeated));
    MSIM_TRY(check_launches(r, t, repeated));
    MSIM_TRY(msim_order_comms(t));
    MSIM_TRY(msim_order_gpus(t));
    return msim_order_steps(t);
}

enum msim_status msim_kineto_finish(struct msim_reader *r)
{
    msim_kineto_end_all(r);
    shift_to_zero(r);
    place_origin(r);
    label_threads(r);
    MSIM_TRY(msim_kineto_split(r));
    for (uint32_t i = 0; i < r->out->n_others; i++)
        MSIM_TRY(order(r, r->out->others[i]));
    return order(r, r->trace);
}
