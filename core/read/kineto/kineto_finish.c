/*
 * core/read/kineto/kineto_finish.c - what a Kineto file becomes once all its
 * events are in.
 */
#include "core/base/sort.h"
#include "core/read/kineto/kineto.h"
#include "core/trace/order.h"

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

/* A process beside another repeats up to half of the numbers; some that were
 * read wrong are no second process. A rule of reading: no time depends on it.
 */
#define REPEATED_MAX 0.25
#define REPEATED_MIN 2

/* Processes that were merged and have one pid, as those of containers and hosts
 * have, cannot be told apart: threads, streams and numbers are the same. */
static enum msim_status check_numbers(struct msim_reader *r,
                                      const struct msim_trace *t,
                                      uint32_t repeated)
{
    uint32_t launches = 0;

    for (uint32_t i = 0; i < t->n_calls; i++)
        launches += t->calls[i].kind == MSIM_CALL_LAUNCH;
    if (repeated < REPEATED_MIN || repeated <= REPEATED_MAX * launches)
        return MSIM_OK;
    return (enum msim_status)msim_read_problem(
        r, MSIM_EFORMAT,
        "%u of %u launches have the correlation id of another launch of "
        "process "
        "%lld: processes with one pid, of several hosts or runs, were merged "
        "into this file; want the file of each, or a pid of its own for each",
        repeated, launches, t->n_threads ? (long long)t->threads[0].pid : -1LL);
}

static enum msim_status order(struct msim_reader *r, struct msim_trace *t)
{
    uint32_t repeated;

    t->has_times = true;
    MSIM_TRY(msim_sort_rows(t->memory, t->n_memory, sizeof(*t->memory),
                            held_before, t->memory));
    MSIM_TRY(msim_order_lanes(t));
    MSIM_TRY(msim_order_ops(t));
    MSIM_TRY(msim_order_topmost(t));
    MSIM_TRY(find_forward(t));
    MSIM_TRY(msim_order_calls(t));
    MSIM_TRY(msim_order_device(t, &repeated));
    MSIM_TRY(check_numbers(r, t, repeated));
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
