/*
 * tests/unit/same_trace.h - two traces of different jobs, column by column.
 */
#ifndef MSIM_TESTS_UNIT_SAME_TRACE_H
#define MSIM_TESTS_UNIT_SAME_TRACE_H
#include "core/trace/trace.h"

#include "tests/check.h"

static inline const char *text(const struct msim_trace *t, uint32_t id)
{
    return msim_trace_text(t, id);
}

/* Argument lists; text has other numbers in another job. */
static inline bool same_args(const struct msim_trace *a, uint32_t x,
                             const struct msim_trace *b, uint32_t y)
{
    const struct msim_arg *p, *q;

    if (x == MSIM_NONE || y == MSIM_NONE)
        return x == y;
    if (a->blocks[x].count != b->blocks[y].count)
        return false;
    p = a->args + a->blocks[x].first;
    q = b->args + b->blocks[y].first;
    for (uint32_t i = 0; i < a->blocks[x].count; i++, p++, q++) {
        if (p->kind != q->kind || p->n != q->n || p->dtype != q->dtype ||
            p->device != q->device)
            return false;
        if (p->kind == MSIM_ARG_TENSOR
                ? p->n && memcmp(msim_arg_dims(a, p), msim_arg_dims(b, q),
                                 p->n * sizeof(int64_t))
            : p->kind == MSIM_ARG_STR
                ? strcmp(text(a, (uint32_t)p->v.i), text(b, (uint32_t)q->v.i))
                : p->v.i != q->v.i)
            return false;
    }
    return true;
}

#define SAME(field) CHECK_INT(x->field, y->field)

static inline void same_ops(const struct msim_trace *a,
                            const struct msim_trace *b)
{
    CHECK_UINT(a->n_ops, b->n_ops);
    for (uint32_t i = 0; i < a->n_ops && i < b->n_ops; i++) {
        const struct msim_op *x = &a->ops[i], *y = &b->ops[i];

        CHECK_STR(text(a, x->name), text(b, y->name));
        SAME(start), SAME(dur), SAME(rf_id), SAME(parent), SAME(end);
        SAME(thread), SAME(comm), SAME(et_id), SAME(seq), SAME(fw_thread);
        SAME(kind), SAME(scope);
        CHECK(same_args(a, x->args, b, y->args));
        CHECK(same_args(a, x->outs, b, y->outs));
        if (!a->has_et)
            continue;
        CHECK((x->ids == MSIM_NONE) == (y->ids == MSIM_NONE));
        CHECK(x->ids == MSIM_NONE || y->ids == MSIM_NONE ||
              !memcmp(&a->tensor_ids[x->ids], &b->tensor_ids[y->ids],
                      sizeof(*a->tensor_ids)));
    }
}

static inline void same_host(const struct msim_trace *a,
                             const struct msim_trace *b)
{
    same_ops(a, b);
    CHECK_UINT(a->n_calls, b->n_calls);
    for (uint32_t i = 0; i < a->n_calls && i < b->n_calls; i++) {
        const struct msim_call *x = &a->calls[i], *y = &b->calls[i];

        CHECK_STR(text(a, x->name), text(b, y->name));
        SAME(start), SAME(dur), SAME(thread), SAME(op), SAME(correlation);
        SAME(gpu), SAME(kind);
    }
    CHECK_UINT(a->n_threads, b->n_threads);
    for (uint32_t i = 0; i < a->n_threads && i < b->n_threads; i++) {
        const struct msim_thread *x = &a->threads[i], *y = &b->threads[i];

        CHECK_STR(text(a, x->name), text(b, y->name));
        SAME(pid), SAME(tid), SAME(op_begin), SAME(op_end);
        SAME(call_begin), SAME(call_end);
    }
    CHECK_UINT(a->n_steps, b->n_steps);
    for (uint32_t i = 0; i < a->n_steps && i < b->n_steps; i++) {
        const struct msim_step *x = &a->steps[i], *y = &b->steps[i];

        SAME(start), SAME(dur), SAME(number), SAME(op);
    }
}

static inline void same_device(const struct msim_trace *a,
                               const struct msim_trace *b)
{
    CHECK_UINT(a->n_gpu, b->n_gpu);
    for (uint32_t i = 0; i < a->n_gpu && i < b->n_gpu; i++) {
        const struct msim_gpu *x = &a->gpu[i], *y = &b->gpu[i];

        CHECK_STR(text(a, x->name), text(b, y->name));
        SAME(start), SAME(dur), SAME(bytes), SAME(stream), SAME(call), SAME(op);
        SAME(comm), SAME(correlation), SAME(kind), SAME(copy_kind);
        SAME(pageable), SAME(in_graph);
        CHECK((x->config == MSIM_NONE) == (y->config == MSIM_NONE));
        CHECK(x->config == MSIM_NONE || y->config == MSIM_NONE ||
              !memcmp(&a->configs[x->config], &b->configs[y->config],
                      sizeof(*a->configs)));
    }
    CHECK_UINT(a->n_syncs, b->n_syncs);
    for (uint32_t i = 0; i < a->n_syncs && i < b->n_syncs; i++) {
        const struct msim_sync *x = &a->syncs[i], *y = &b->syncs[i];

        SAME(start), SAME(dur), SAME(call), SAME(stream), SAME(wait_stream);
        SAME(record_call), SAME(kind);
    }
    CHECK_UINT(a->n_streams, b->n_streams);
    for (uint32_t i = 0; i < a->n_streams && i < b->n_streams; i++) {
        const struct msim_stream *x = &a->streams[i], *y = &b->streams[i];

        SAME(device), SAME(id), SAME(gpu_begin), SAME(gpu_end);
    }
}

static inline void same_comms(const struct msim_trace *a,
                              const struct msim_trace *b)
{
    CHECK_UINT(a->n_comms, b->n_comms);
    for (uint32_t i = 0; i < a->n_comms && i < b->n_comms; i++) {
        const struct msim_comm *x = &a->comms[i], *y = &b->comms[i];

        SAME(in_elems), SAME(out_elems), SAME(sequence), SAME(peer);
        SAME(group), SAME(op), SAME(collective), SAME(dtype);
    }
    CHECK_UINT(a->n_groups, b->n_groups);
    for (uint32_t i = 0; i < a->n_groups && i < b->n_groups; i++) {
        const struct msim_group *x = &a->groups[i], *y = &b->groups[i];

        CHECK_STR(text(a, x->name), text(b, y->name));
        SAME(size), SAME(count);
        CHECK(x->count != y->count || !x->count ||
              !memcmp(a->group_ranks + x->first, b->group_ranks + y->first,
                      x->count * sizeof(*a->group_ranks)));
    }
}

static inline void check_same_trace(const struct msim_trace *x,
                                    const struct msim_trace *y)
{
    same_host(x, y);
    same_device(x, y);
    same_comms(x, y);
    SAME(rank), SAME(world_size), SAME(has_times), SAME(has_et);
    SAME(has_gpu_events), SAME(cpu_only), SAME(unlinked_gpu);
    SAME(clock_shift);
    CHECK_STR(text(x, x->host), text(y, y->host));
    CHECK_STR(text(x, x->gpu_properties.name), text(y, y->gpu_properties.name));
    SAME(gpu_properties.memory_bytes), SAME(gpu_properties.sms);
    SAME(gpu_properties.cc_major), SAME(gpu_properties.cc_minor);
}

#undef SAME
#endif
