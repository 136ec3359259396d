/*
 * tests/trace_checks.h - what core/trace/trace.h promises of every loaded
 * trace.
 *
 * For unit tests and fuzzing alike: the first broken promise is described,
 * NULL says that all hold.
 */
#ifndef MSIM_TESTS_TRACE_CHECKS_H
#define MSIM_TESTS_TRACE_CHECKS_H
#include "core/job/job.h"

#define PROMISE(holds)                                                         \
    do {                                                                       \
        if (!(holds))                                                          \
            return #holds;                                                     \
    } while (0)

static inline bool index_ok(uint32_t i, uint32_t n)
{
    return i == MSIM_NONE || i < n;
}

/* Children of a list stay inside it; blocks inside the column. */
static inline const char *check_block(const struct msim_trace *t,
                                      uint32_t block, uint32_t *tensors)
{
    const struct msim_arg_block *b;
    uint32_t i;

    if (block == MSIM_NONE)
        return NULL;
    PROMISE(block < t->n_blocks);
    b = &t->blocks[block];
    PROMISE(b->count <= t->n_args && b->first <= t->n_args - b->count);
    for (i = 0; i < b->count; i++) {
        const struct msim_arg *a = &t->args[b->first + i];

        PROMISE(a->kind <= MSIM_ARG_LIST);
        PROMISE(a->kind != MSIM_ARG_LIST ||
                (a->v.i >= 0 && (uint64_t)a->v.i < b->count - i));
        PROMISE(a->kind != MSIM_ARG_LIST || a->n <= a->v.i);
        PROMISE(a->kind != MSIM_ARG_STR ||
                (uint64_t)a->v.i < msim_strtab_count(t->strings));
        PROMISE(a->kind != MSIM_ARG_TENSOR ||
                (a->v.i >= 0 && (uint64_t)a->v.i + a->n <= t->n_dims));
        *tensors += a->kind == MSIM_ARG_TENSOR;
    }
    return NULL;
}

/* Strides of the tensors of a block, whose ids begin at `id`. */
static inline const char *check_strides(const struct msim_trace *t,
                                        uint32_t block, uint32_t id)
{
    const struct msim_arg_block *b;

    if (block == MSIM_NONE || id == MSIM_NONE || t->n_tensor_strides == 0)
        return NULL;
    b = &t->blocks[block];
    for (uint32_t i = 0; i < b->count; i++) {
        const struct msim_arg *a = &t->args[b->first + i];

        if (a->kind != MSIM_ARG_TENSOR)
            continue;
        PROMISE(t->tensor_strides[id] == MSIM_NONE ||
                (uint64_t)t->tensor_strides[id] + a->n <= t->n_dims);
        id++;
    }
    return NULL;
}

static inline const char *check_details(const struct msim_trace *t)
{
    PROMISE(t->n_tensor_strides == 0 || t->n_tensor_strides == t->n_tensor_ids);
    for (uint32_t i = 0; i < t->n_ranges; i++) {
        const struct msim_tensor_range *r = &t->ranges[i];

        PROMISE(r->id < t->n_tensor_ids && r->low <= r->high);
        PROMISE(i == 0 || r[-1].id < r->id);
    }
    return NULL;
}

static inline const char *check_op(const struct msim_trace *t, uint32_t i)
{
    const struct msim_op *op = &t->ops[i], *before = op - 1;
    uint32_t ins = 0, outs = 0;
    const char *broken;

    PROMISE(op->parent == MSIM_NONE || op->parent < i);
    PROMISE(op->end > i && op->end <= t->n_ops);
    PROMISE(op->thread < t->n_threads);
    PROMISE(op->kind <= MSIM_OP_ROOT);
    PROMISE(index_ok(op->fw_thread, t->n_threads));
    PROMISE(index_ok(op->comm, t->n_comms));
    PROMISE(op->name < msim_strtab_count(t->strings));
    PROMISE(op->schema < msim_strtab_count(t->strings));
    if (op->parent != MSIM_NONE) {
        PROMISE(op->end <= t->ops[op->parent].end);
        PROMISE(op->thread == t->ops[op->parent].thread);
    }
    if (i) {
        PROMISE(before->thread <= op->thread);
        PROMISE(!t->has_times || before->thread != op->thread ||
                before->start <= op->start);
    }
    PROMISE(t->has_times == (op->start != MSIM_TIME_NONE));
    PROMISE(!t->has_times || op->dur >= 0);
    broken = check_block(t, op->args, &ins);
    if (!broken)
        broken = check_block(t, op->outs, &outs);
    if (broken)
        return broken;
    PROMISE(op->ids == MSIM_NONE || op->ids + ins <= t->n_tensor_ids);
    PROMISE(op->out_ids == MSIM_NONE || op->out_ids + outs <= t->n_tensor_ids);
    broken = check_strides(t, op->args, op->ids);
    return broken ? broken : check_strides(t, op->outs, op->out_ids);
}

static inline const char *check_host(const struct msim_trace *t)
{
    uint32_t i;

    for (i = 0; i < t->n_ops; i++) {
        const char *broken = check_op(t, i);

        if (broken)
            return broken;
    }
    for (i = 0; i < t->n_calls; i++) {
        const struct msim_call *c = &t->calls[i];

        PROMISE(c->thread < t->n_threads);
        PROMISE(index_ok(c->op, t->n_ops));
        PROMISE(c->op == MSIM_NONE || t->ops[c->op].thread == c->thread);
        PROMISE(index_ok(c->gpu, t->n_gpu));
        PROMISE(c->dur >= 0 && c->kind <= MSIM_CALL_FREE);
        PROMISE(i == 0 || c[-1].thread < c->thread ||
                (c[-1].thread == c->thread && c[-1].start <= c->start));
    }
    for (i = 0; i < t->n_steps; i++) {
        PROMISE(t->steps[i].op < t->n_ops);
        PROMISE(i == 0 || t->steps[i - 1].start <= t->steps[i].start);
    }
    return NULL;
}

static inline const char *check_ranges(const struct msim_trace *t)
{
    uint32_t i, k;

    for (i = 0; i < t->n_threads; i++) {
        const struct msim_thread *th = &t->threads[i];

        PROMISE(th->op_begin <= th->op_end && th->op_end <= t->n_ops);
        PROMISE(th->call_begin <= th->call_end && th->call_end <= t->n_calls);
        for (k = th->op_begin; k < th->op_end; k++)
            PROMISE(t->ops[k].thread == i);
        for (k = th->call_begin; k < th->call_end; k++)
            PROMISE(t->calls[k].thread == i);
    }
    for (i = 0; i < t->n_streams; i++) {
        const struct msim_stream *s = &t->streams[i];

        PROMISE(s->gpu_begin <= s->gpu_end && s->gpu_end <= t->n_gpu);
        for (k = s->gpu_begin; k < s->gpu_end; k++)
            PROMISE(t->gpu[k].stream == i);
    }
    return NULL;
}

static inline const char *check_device(const struct msim_trace *t)
{
    uint64_t unlinked = 0;
    uint32_t i;

    for (i = 0; i < t->n_gpu; i++) {
        const struct msim_gpu *g = &t->gpu[i];

        PROMISE(g->stream < t->n_streams && g->dur >= 0);
        PROMISE(index_ok(g->call, t->n_calls) && index_ok(g->op, t->n_ops));
        PROMISE(index_ok(g->comm, t->n_comms));
        PROMISE(index_ok(g->config, t->n_configs));
        PROMISE(g->call != MSIM_NONE || g->op == MSIM_NONE);
        /* Communication that only its kernel's name shows has no row. */
        PROMISE(g->kind == MSIM_GPU_COMM || g->comm == MSIM_NONE);
        PROMISE(i == 0 || g[-1].stream < g->stream ||
                (g[-1].stream == g->stream && g[-1].start <= g->start));
        unlinked += g->call == MSIM_NONE;
    }
    PROMISE(unlinked == t->unlinked_gpu);
    for (i = 0; i < t->n_syncs; i++) {
        const struct msim_sync *s = &t->syncs[i];

        PROMISE(index_ok(s->call, t->n_calls));
        PROMISE(index_ok(s->record_call, t->n_calls));
        PROMISE(index_ok(s->stream, t->n_streams));
        PROMISE(index_ok(s->wait_stream, t->n_streams));
    }
    return NULL;
}

static inline const char *check_comms(const struct msim_trace *t)
{
    uint32_t i;

    for (i = 0; i < t->n_comms; i++) {
        const struct msim_comm *c = &t->comms[i];

        PROMISE(index_ok(c->group, t->n_groups));
        PROMISE(index_ok(c->op, t->n_ops));
        PROMISE(c->op == MSIM_NONE || t->ops[c->op].comm == i);
        PROMISE(c->collective <= MSIM_COLL_WAIT);
    }
    for (i = 0; i < t->n_groups; i++) {
        const struct msim_group *g = &t->groups[i];

        PROMISE(g->count <= t->n_group_ranks);
        PROMISE(g->first <= t->n_group_ranks - g->count);
    }
    return NULL;
}

/* The first promise of trace.h that `t` breaks, or NULL. */
static inline const char *trace_broken(const struct msim_trace *t)
{
    const char *broken = check_details(t);

    if (!broken)
        broken = check_host(t);
    if (!broken)
        broken = check_ranges(t);
    if (!broken)
        broken = check_device(t);
    return broken ? broken : check_comms(t);
}

static inline const char *job_broken(const struct msim_job *job)
{
    uint32_t i;

    for (i = 0; i < job->n_ranks; i++) {
        const char *broken = trace_broken(job->ranks[i]);

        if (broken)
            return broken;
    }
    return NULL;
}

#undef PROMISE
#endif
