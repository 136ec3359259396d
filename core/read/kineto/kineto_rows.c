/*
 * core/read/kineto/kineto_rows.c - the row that each event of a Kineto trace
 * becomes.
 */
#include "core/base/containers.h"
#include "core/read/kineto/read_kineto_internal.h"
#include "core/trace/trace_columns.h"

#include <stdio.h>
#include <string.h>

/* The times of an event that can be, on the trace's clock. */
static void event_times(const struct msim_reader *r, msim_ps *start,
                        msim_ps *dur)
{
    const struct msim_kineto *k = msim_kineto_of(r);

    *start = (k->ev.ts_us - k->base_us) * MSIM_PS_PER_US + k->ev.ts_ps;
    *dur = k->ev.dur_us * MSIM_PS_PER_US + k->ev.dur_ps;
}

static enum msim_status thread_of(struct msim_reader *r, uint32_t *thread)
{
    struct msim_kineto *k = msim_kineto_of(r);
    struct msim_trace *t = r->trace;
    uint32_t *slot;

    *thread = k->thread; /* nearly always the same as before */
    if (*thread != MSIM_NONE && t->threads[*thread].tid == k->ev.tid &&
        t->threads[*thread].pid == k->ev.pid)
        return MSIM_OK;
    MSIM_TRY(msim_grow((void **)&t->threads, &t->cap_threads, t->n_threads,
                       sizeof(*t->threads)));
    MSIM_TRY(msim_idmap_put(&k->threads, msim_idmap_pair(k->ev.pid, k->ev.tid),
                            t->n_threads, &slot));
    *thread = k->thread = *slot;
    if (*thread == t->n_threads)
        t->threads[t->n_threads++] =
            (struct msim_thread){.pid = k->ev.pid, .tid = k->ev.tid};
    return MSIM_OK;
}

static enum msim_status stream_of(struct msim_reader *r, int64_t device,
                                  int64_t id, uint32_t *stream)
{
    struct msim_kineto *k = msim_kineto_of(r);
    struct msim_trace *t = r->trace;
    uint32_t *slot;

    MSIM_TRY(msim_grow((void **)&t->streams, &t->cap_streams, t->n_streams,
                       sizeof(*t->streams)));
    MSIM_TRY(msim_idmap_put(&k->streams, msim_idmap_pair(device, id),
                            t->n_streams, &slot));
    *stream = *slot;
    if (*stream == t->n_streams)
        t->streams[t->n_streams++] =
            (struct msim_stream){.device = device, .id = id};
    return MSIM_OK;
}

/* Groups without a name are told apart by how many ranks they have. */
static enum msim_status name_by_size(struct msim_reader *r, int64_t size,
                                     uint32_t *name)
{
    char text[40];
    int len = snprintf(text, sizeof(text), "%lld ranks", (long long)size);

    return msim_strtab_add(r->strings, text, (size_t)len, name);
}

/* A call's empty list, with a start of 0 and a stride of 1, is of all ranks or
 * of a group whose ranks its writer did not know. */
static void doubt_empty_list(struct msim_group_spec *g, uint32_t world)
{
    if (g->ranks.n || !g->listed || g->size == world)
        return;
    g->listed = false;
    g->stride = 0;
}

static enum msim_status add_comm(struct msim_reader *r, uint32_t *comm)
{
    const struct msim_kineto_event *ev = &msim_kineto_of(r)->ev;
    struct msim_group_spec *g = &msim_kineto_of(r)->group;
    struct msim_trace *t = r->trace;
    uint32_t group = MSIM_NONE;
    int64_t peer = ev->dst_rank >= 0 && ev->collective == MSIM_COLL_SEND
                       ? ev->dst_rank
                       : ev->src_rank;

    if (!ev->has_group && ev->group_size > 0)
        MSIM_TRY(name_by_size(r, ev->group_size, &g->name));
    if (ev->has_group || ev->group_size > 0) {
        if (ev->group_size > 0 && ev->group_size < UINT32_MAX)
            g->size = (uint32_t)ev->group_size;
        doubt_empty_list(g, t->world_size);
        MSIM_TRY(msim_group_define(r, g, &group));
    }
    MSIM_TRY(msim_grow((void **)&t->comms, &t->cap_comms, t->n_comms,
                       sizeof(*t->comms)));
    t->comms[t->n_comms] = (struct msim_comm){
        .in_elems = ev->in_elems,
        .out_elems = ev->out_elems,
        .sequence = ev->comm_seq,
        .peer = peer >= 0 && peer <= INT32_MAX ? (int32_t)peer : -1,
        .group = group,
        .op = MSIM_NONE,
        .collective = ev->collective,
        .dtype = ev->dtype,
    };
    *comm = t->n_comms++;
    return MSIM_OK;
}

static enum msim_status add_op(struct msim_reader *r)
{
    const struct msim_kineto_event *ev = &msim_kineto_of(r)->ev;
    struct msim_trace *t = r->trace;
    struct msim_op op = msim_op_empty();
    int64_t step;

    op.name = ev->name;
    op.rf_id = (uint64_t)ev->rf_id;
    /* The order in which it began, for equal times. */
    op.et_id = (uint32_t)ev->external;
    event_times(r, &op.start, &op.dur);
    MSIM_TRY(thread_of(r, &op.thread));
    if (ev->cat == MSIM_KCAT_ANNOTATION ||
        msim_name_step(msim_strtab_text(r->strings, ev->name), &step)) {
        op.kind = MSIM_OP_ANNOTATION;
        op.scope = 7;
    }
    if (ev->seq >= 0 && ev->seq <= INT32_MAX)
        op.seq = (int32_t)ev->seq;
    /* Resolved by sequence number once all are in; see kineto_finish.c. */
    if ((ev->have & MSIM_KHAVE_FWD) && ev->fwd_thread > 0)
        op.fw_thread = 0;
    if (msim_kineto_of(r)->alike.args != MSIM_NONE)
        op.args = msim_kineto_of(r)->alike.args;
    else if (ev->have & MSIM_KHAVE_ARGS)
        MSIM_TRY(msim_kineto_args(r, &op.args));
    if (ev->have & MSIM_KHAVE_COMM)
        MSIM_TRY(add_comm(r, &op.comm));
    MSIM_TRY(
        msim_grow((void **)&t->ops, &t->cap_ops, t->n_ops, sizeof(*t->ops)));
    t->ops[t->n_ops++] = op;
    return MSIM_OK;
}

/* Ids of a recording lie close together: where some have more than 32 bits, the
 * others are near 0 or near 2^32, and none is here. */
#define LONG_FROM (UINT32_C(1) << 31)

/* A number that joins a call with what it started; 0 and -1 are none. Those of
 * more than 32 bits are numbered in their order. */
static enum msim_status correlation(struct msim_reader *r, int64_t id,
                                    uint32_t *number)
{
    struct msim_kineto *k = msim_kineto_of(r);
    uint32_t *slot;

    *number = id >= 0 && id <= UINT32_MAX ? (uint32_t)id : 0;
    if (*number == id || id == -1)
        return MSIM_OK;
    MSIM_TRY(msim_idmap_put(&k->correlations, (uint64_t)id, k->n_correlations,
                            &slot));
    k->n_correlations += *slot == k->n_correlations;
    *number = LONG_FROM + *slot;
    return MSIM_OK;
}

static enum msim_status add_call(struct msim_reader *r)
{
    const struct msim_kineto_event *ev = &msim_kineto_of(r)->ev;
    struct msim_trace *t = r->trace;
    struct msim_call c = {.name = ev->name, .op = MSIM_NONE, .gpu = MSIM_NONE};

    MSIM_TRY(correlation(r, ev->correlation, &c.correlation));
    event_times(r, &c.start, &c.dur);
    MSIM_TRY(thread_of(r, &c.thread));
    MSIM_TRY(msim_grow((void **)&t->calls, &t->cap_calls, t->n_calls,
                       sizeof(*t->calls)));
    t->calls[t->n_calls++] = c;
    return MSIM_OK;
}

static enum msim_status note_thread(struct msim_reader *r,
                                    struct msim_vec *before)
{
    uint32_t *thread = msim_vec_add(before, sizeof(*thread));

    if (!thread)
        return MSIM_ENOMEM;
    *thread = msim_kineto_of(r)->thread;
    return MSIM_OK;
}

static enum msim_status add_gpu(struct msim_reader *r)
{
    const struct msim_kineto_event *ev = &msim_kineto_of(r)->ev;
    struct msim_trace *t = r->trace;
    struct msim_gpu g = {.name = ev->name,
                         .bytes = ev->bytes > 0 ? (uint64_t)ev->bytes : 0,
                         .call = MSIM_NONE,
                         .op = MSIM_NONE,
                         .comm = MSIM_NONE,
                         .config = MSIM_NONE};

    MSIM_TRY(correlation(r, ev->correlation, &g.correlation));
    event_times(r, &g.start, &g.dur);
    MSIM_TRY(stream_of(r, ev->device >= 0 ? ev->device : ev->pid,
                       ev->stream >= 0 ? ev->stream : ev->tid, &g.stream));
    if (ev->cat == MSIM_KCAT_KERNEL) {
        g.kind = MSIM_GPU_KERNEL;
        if (ev->have & MSIM_KHAVE_GRID)
            MSIM_TRY(msim_read_config(r->trace, &msim_kineto_of(r)->configs,
                                      &ev->config, &g.config));
        if (ev->have & MSIM_KHAVE_COMM) {
            g.kind = MSIM_GPU_COMM;
            MSIM_TRY(add_comm(r, &g.comm));
        }
    } else if (ev->cat == MSIM_KCAT_MEMSET) {
        g.kind = MSIM_GPU_MEMSET;
    } else {
        g.kind = MSIM_GPU_MEMCPY;
        g.copy_kind = (uint8_t)msim_name_copy(
            msim_strtab_text(r->strings, ev->name), &g.pageable);
    }
    MSIM_TRY(
        msim_grow((void **)&t->gpu, &t->cap_gpu, t->n_gpu, sizeof(*t->gpu)));
    t->gpu[t->n_gpu++] = g;
    return note_thread(r, &msim_kineto_of(r)->before_gpu);
}

/* -1 means no stream; some writers print it unsigned. */
static bool names_stream(int64_t stream)
{
    return stream >= 0 && stream != UINT32_MAX;
}

static enum msim_status add_sync(struct msim_reader *r)
{
    const struct msim_kineto_event *ev = &msim_kineto_of(r)->ev;
    struct msim_trace *t = r->trace;
    int64_t device = ev->device >= 0 ? ev->device : ev->pid;
    /* Correlations for now; msim_order_device() turns them into calls. */
    struct msim_sync s = {
        .stream = MSIM_NONE, .wait_stream = MSIM_NONE, .kind = ev->sync_kind};

    MSIM_TRY(correlation(r, ev->correlation, &s.call));
    MSIM_TRY(correlation(r, ev->record_correlation, &s.record_call));
    if (s.kind == MSIM_CALL_OTHER)
        s.kind = (uint8_t)msim_name_sync(
            msim_strtab_text(r->strings, ev->name),
            strlen(msim_strtab_text(r->strings, ev->name)));
    event_times(r, &s.start, &s.dur);
    if (names_stream(ev->stream))
        MSIM_TRY(stream_of(r, device, ev->stream, &s.stream));
    if (names_stream(ev->wait_stream))
        MSIM_TRY(stream_of(r, device, ev->wait_stream, &s.wait_stream));
    MSIM_TRY(msim_grow((void **)&t->syncs, &t->cap_syncs, t->n_syncs,
                       sizeof(*t->syncs)));
    t->syncs[t->n_syncs++] = s;
    return note_thread(r, &msim_kineto_of(r)->before_sync);
}

static enum msim_status add_row(struct msim_reader *r)
{
    switch (msim_kineto_of(r)->ev.cat) {
    case MSIM_KCAT_OP:
    case MSIM_KCAT_ANNOTATION:
        return add_op(r);
    case MSIM_KCAT_CALL:
        return add_call(r);
    case MSIM_KCAT_SYNC:
        return add_sync(r);
    default:
        return add_gpu(r);
    }
}

static enum msim_status row(struct msim_reader *r)
{
    struct msim_kineto *k = msim_kineto_of(r);
    const struct msim_kineto_event *ev = &k->ev;
    bool makes = msim_kineto_makes_row(ev);

    if (ev->ph == 'E') {
        msim_kineto_end(r);
        return MSIM_OK;
    }
    if (ev->ph == 'i' && msim_kineto_is_of_use(k))
        return msim_kineto_add_memory(r);
    if (ev->ph == 'M' && msim_kineto_is_of_use(k)) {
        r->trace->import.read++; /* a thread's name, which is kept */
        return MSIM_OK;
    }
    if (!makes)
        MSIM_TRY(msim_kineto_unread(r));
    else if (!msim_kineto_sound(r))
        makes = false;
    if (makes) {
        k->n_rows++;
        r->trace->import.read++;
        MSIM_TRY(add_row(r));
    }
    return ev->ph == 'B' ? msim_kineto_begin(r, makes) : MSIM_OK;
}

enum msim_status msim_kineto_event_end(struct msim_reader *r)
{
    r->trace->import.records++;
    MSIM_TRY(row(r));
    r->complete++;
    return MSIM_OK;
}
