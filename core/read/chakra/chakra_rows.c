/*
 * core/read/chakra/chakra_rows.c - the row that each node of a Chakra file
 * becomes.
 *
 * A node of this project's files has its kind in the attribute `event`. In
 * other files a node is an operator; or, if it ran on the GPU, a collective by
 * its type, a copy by its name, else a kernel.
 */
#include "core/base/containers.h"
#include "core/read/chakra/read_chakra_internal.h"
#include "core/read/et/read_et.h"
#include "core/trace/trace_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum node_type {
    MEM_LOAD = 2,
    MEM_STORE = 3,
    COMP = 4,
    COMM_SEND = 5,
    COMM_RECV = 6,
    COMM_COLL = 7
};

static int64_t number_of(const struct msim_chakra_attrs *a,
                         enum msim_chakra_word word, int64_t otherwise)
{
    return a->has[word] ? a->number[word] : otherwise;
}

static const char *text_of(const struct msim_chakra_attrs *a,
                           enum msim_chakra_word word)
{
    return a->has[word] ? a->text[word] : "";
}

static uint64_t count_of(const struct msim_chakra_attrs *a,
                         enum msim_chakra_word word)
{
    int64_t n = number_of(a, word, 0);

    return n > 0 ? (uint64_t)n : 0;
}

static uint32_t small(int64_t n)
{
    return n > 0 && n < UINT32_MAX ? (uint32_t)n : 0;
}

/* ---- what a node is ----------------------------------------------------- */

static uint8_t event_of_text(const char *text)
{
    for (unsigned i = 0; i < MSIM_CHAKRA_EVENTS; i++)
        if (!strcmp(text, msim_chakra_event_text((enum msim_chakra_event)i)))
            return (uint8_t)i;
    return MSIM_CHAKRA_MADE_EVENT;
}

/* A node that says how many operations it does, or bytes it moves, in place of
 * a time: generators of workloads write those, of devices alone. */
static bool states_work(const struct msim_chakra_attrs *a, uint32_t type)
{
    return (type == COMP && count_of(a, MSIM_CHAKRA_NUM_OPS)) ||
           ((type == MEM_LOAD || type == MEM_STORE) &&
            count_of(a, MSIM_CHAKRA_TENSOR_SIZE));
}

static uint8_t event_of(const struct msim_reader *r, const char *name,
                        uint32_t type)
{
    const struct msim_chakra_attrs *a = &msim_chakra_of(r)->attrs;
    bool comm = type >= COMM_SEND && type <= COMM_COLL;

    if (msim_chakra_of(r)->ours)
        return event_of_text(text_of(a, MSIM_CHAKRA_EVENT));
    /* Without is_cpu_op other readers take a node for one of the CPU; but a
     * collective cannot be one. */
    if (number_of(a, MSIM_CHAKRA_IS_CPU_OP, !comm) && !states_work(a, type)) {
        if (msim_name_is_root(name))
            return MSIM_CHAKRA_ROOT_EVENT;
        return number_of(a, MSIM_CHAKRA_SCOPE, 0) == 7
                   ? MSIM_CHAKRA_ANNOTATION_EVENT
                   : MSIM_CHAKRA_OPERATOR_EVENT;
    }
    if (comm)
        return MSIM_CHAKRA_COMM_EVENT;
    if (!strncmp(name, "Memset", 6))
        return MSIM_CHAKRA_MEMSET_EVENT;
    return type == MEM_LOAD || type == MEM_STORE || !strncmp(name, "Memcpy", 6)
               ? MSIM_CHAKRA_MEMCPY_EVENT
               : MSIM_CHAKRA_KERNEL_EVENT;
}

/* ---- threads and streams ------------------------------------------------ */

static enum msim_status thread_of(struct msim_reader *r, uint32_t *thread)
{
    const struct msim_chakra_attrs *a = &msim_chakra_of(r)->attrs;
    int64_t index = number_of(a, MSIM_CHAKRA_THREAD, -1);

    if (!msim_chakra_of(r)->ours)
        return msim_et_thread(r, number_of(a, MSIM_CHAKRA_TID, 0), thread);
    if (index < 0 || index >= r->trace->n_threads)
        return (enum msim_status)msim_read_problem(
            r, MSIM_EFORMAT, "'thread' is %lld, and the file has %u threads",
            (long long)index, r->trace->n_threads);
    *thread = (uint32_t)index;
    return MSIM_OK;
}

static enum msim_status stream_at(struct msim_reader *r, int64_t device,
                                  int64_t id, uint32_t *stream)
{
    struct msim_trace *t = r->trace;
    uint32_t *slot;

    MSIM_TRY(msim_grow((void **)&t->streams, &t->cap_streams, t->n_streams,
                       sizeof(*t->streams)));
    MSIM_TRY(msim_idmap_put(&msim_chakra_of(r)->streams,
                            msim_idmap_pair(device, id), t->n_streams, &slot));
    *stream = *slot;
    if (*stream == t->n_streams)
        t->streams[t->n_streams++] =
            (struct msim_stream){.device = device, .id = id};
    return MSIM_OK;
}

/*
 * Older files have the stream in `tid`. Made-up files have neither, and run
 * collectives, what is sent and what is received at the same time as
 * computation.
 */
static enum msim_status stream_of(struct msim_reader *r, uint8_t event,
                                  uint32_t type, uint32_t *stream)
{
    const struct msim_chakra_attrs *a = &msim_chakra_of(r)->attrs;
    int64_t made = event != MSIM_CHAKRA_COMM_EVENT ? 0
                   : type == COMM_SEND             ? 2
                   : type == COMM_RECV             ? 3
                                                   : 1;
    int64_t id = number_of(a, MSIM_CHAKRA_TID, made);

    return stream_at(r, number_of(a, MSIM_CHAKRA_DEVICE, 0),
                     number_of(a, MSIM_CHAKRA_STREAM, id), stream);
}

/* ---- collectives -------------------------------------------------------- */

static enum msim_status group_of(struct msim_reader *r, uint32_t *group)
{
    const char *name = text_of(&msim_chakra_of(r)->attrs, MSIM_CHAKRA_PG_NAME);
    uint32_t id;

    *group = MSIM_NONE;
    if (!name[0])
        return MSIM_OK;
    MSIM_TRY(msim_strtab_add(r->strings, name, strlen(name), &id));
    return msim_group_get(r, id, group);
}

static uint8_t collective_of(const struct msim_reader *r, uint32_t type,
                             const char *name)
{
    const struct msim_chakra_attrs *a = &msim_chakra_of(r)->attrs;
    enum msim_collective c = MSIM_COLL_UNKNOWN;
    const char *text = text_of(a, MSIM_CHAKRA_COLLECTIVE);

    if (text[0])
        c = msim_name_collective(text, strlen(text));
    else if (type == COMM_SEND || type == COMM_RECV)
        c = type == COMM_SEND ? MSIM_COLL_SEND : MSIM_COLL_RECV;
    else if (a->has[MSIM_CHAKRA_COMM_TYPE])
        c = msim_chakra_collective(a->number[MSIM_CHAKRA_COMM_TYPE]);
    else if (!msim_chakra_of(r)->ours)
        c = msim_name_collective(name, strlen(name));
    return (uint8_t)c;
}

/* comm_size has only bytes; the inputs may have the type. */
static enum msim_status size_in_bytes(struct msim_reader *r,
                                      struct msim_comm *c)
{
    uint64_t bytes = count_of(&msim_chakra_of(r)->attrs, MSIM_CHAKRA_COMM_SIZE);
    struct msim_et_size in = {0};
    uint32_t block, ids = MSIM_NONE, each;

    MSIM_TRY(msim_et_args(r, &msim_et_of(r)->in, &block, &ids, &in));
    c->dtype = in.dtype ? in.dtype : MSIM_DT_U8;
    each = msim_dtype_bytes((enum msim_dtype)c->dtype);
    c->in_elems = each ? bytes / each : 0;
    c->out_elems = c->in_elems;
    return MSIM_OK;
}

static enum msim_status fill_comm(struct msim_reader *r, uint32_t type,
                                  const char *name, struct msim_comm *c)
{
    const struct msim_chakra_attrs *a = &msim_chakra_of(r)->attrs;
    const char *dtype = text_of(a, MSIM_CHAKRA_DTYPE);
    int64_t peer = number_of(a, MSIM_CHAKRA_COMM_PEER, -1);

    if (type == COMM_SEND || type == COMM_RECV)
        peer = number_of(
            a, type == COMM_SEND ? MSIM_CHAKRA_COMM_DST : MSIM_CHAKRA_COMM_SRC,
            peer);
    *c = (struct msim_comm){
        .sequence = number_of(a, MSIM_CHAKRA_COMM_SEQ, -1),
        .peer = peer >= 0 && peer <= INT32_MAX ? (int32_t)peer : -1,
        .op = MSIM_NONE,
        .collective = collective_of(r, type, name),
        .dtype = (uint8_t)msim_name_dtype(dtype, strlen(dtype)),
        .in_elems = count_of(a, MSIM_CHAKRA_IN_ELEMS),
        .out_elems = count_of(a, MSIM_CHAKRA_OUT_ELEMS),
    };
    if (!msim_chakra_of(r)->ours)
        MSIM_TRY(size_in_bytes(r, c));
    return group_of(r, &c->group);
}

/* The row of the collective that the current node belongs to. */
static enum msim_status comm_of(struct msim_reader *r, uint32_t type,
                                const char *name, uint32_t *comm)
{
    struct msim_trace *t = r->trace;
    int64_t number = number_of(&msim_chakra_of(r)->attrs, MSIM_CHAKRA_COMM, -1),
            *kept;
    struct msim_comm row;
    uint32_t *slot;

    MSIM_TRY(msim_grow((void **)&t->comms, &t->cap_comms, t->n_comms,
                       sizeof(*t->comms)));
    *comm = t->n_comms;
    if (msim_chakra_of(r)->ours) {
        MSIM_TRY(msim_idmap_put(&msim_chakra_of(r)->comms, (uint64_t)number,
                                t->n_comms, &slot));
        *comm = *slot;
        if (*comm < t->n_comms)
            return MSIM_OK;
        kept = msim_vec_add(&msim_chakra_of(r)->numbers, sizeof(*kept));
        if (!kept)
            return MSIM_ENOMEM;
        *kept = number;
    }
    MSIM_TRY(fill_comm(r, type, name, &row));
    t->comms[t->n_comms++] = row;
    return MSIM_OK;
}

static bool by_number(const void *ctx, uint32_t a, uint32_t b)
{
    const int64_t *numbers = ctx;

    return numbers[a] < numbers[b];
}

/* Collectives in the order of the trace that was written. */
enum msim_status msim_chakra_sort_comms(struct msim_reader *r)
{
    struct msim_trace *t = r->trace;
    uint32_t n = t->n_comms, *order = malloc(((size_t)n + 1) * 3 * sizeof(n));
    struct msim_comm *rows = malloc(((size_t)n + 1) * sizeof(*rows));
    uint32_t *place = order + n;

    if (!order || !rows) {
        free(order);
        free(rows);
        return MSIM_ENOMEM;
    }
    for (uint32_t i = 0; i < n; i++) {
        order[i] = i;
        rows[i] = t->comms[i];
    }
    msim_sort_index(order, place, n, by_number,
                    msim_chakra_of(r)->numbers.data);
    for (uint32_t i = 0; i < n; i++) {
        t->comms[i] = rows[order[i]];
        place[order[i]] = i;
    }
    for (uint32_t i = 0; i < t->n_ops; i++)
        if (t->ops[i].comm != MSIM_NONE)
            t->ops[i].comm = place[t->ops[i].comm];
    for (uint32_t i = 0; i < t->n_gpu; i++)
        if (t->gpu[i].comm != MSIM_NONE)
            t->gpu[i].comm = place[t->gpu[i].comm];
    free(order);
    free(rows);
    return MSIM_OK;
}

/* ---- rows --------------------------------------------------------------- */

static enum msim_status op_values(struct msim_reader *r, struct msim_op *op)
{
    struct msim_et *e = msim_et_of(r);
    struct msim_et_size in = {0}, out = {0};
    const char *name = msim_strtab_text(r->strings, op->name);

    if (e->node.has_inputs)
        MSIM_TRY(msim_et_args(r, &e->in, &op->args, &op->ids, &in));
    if (e->node.has_outputs)
        MSIM_TRY(msim_et_args(r, &e->out, &op->outs, &op->out_ids, &out));
    /* Only an ET identifies tensors: other ids are placeholders. */
    if (msim_chakra_of(r)->ours && !op->et_id)
        op->ids = op->out_ids = MSIM_NONE;
    if (msim_chakra_of(r)->ours)
        return msim_chakra_of(r)->attrs.has[MSIM_CHAKRA_COMM]
                   ? comm_of(r, 0, name, &op->comm)
                   : MSIM_OK;
    if (!strcmp(name, "record_param_comms"))
        return msim_et_add_comm(r, op, &in, &out, &op->comm);
    return MSIM_OK;
}

/* The thread of the forward operator; a foreign file's number is resolved when
 * all threads are known. */
static uint32_t forward_thread(const struct msim_reader *r)
{
    int64_t i = number_of(&msim_chakra_of(r)->attrs, MSIM_CHAKRA_FW_THREAD, -1);

    return msim_chakra_of(r)->ours && i >= 0 && i < r->trace->n_threads
               ? (uint32_t)i
               : MSIM_NONE;
}

static enum msim_status add_op(struct msim_reader *r,
                               struct msim_chakra_node *n)
{
    const struct msim_chakra_attrs *a = &msim_chakra_of(r)->attrs;
    int64_t seq = number_of(a, MSIM_CHAKRA_SEQ_ID, -1);
    int64_t scope = number_of(a, MSIM_CHAKRA_SCOPE, 0);
    struct msim_trace *t = r->trace;
    struct msim_et_link *link;
    struct msim_op op = msim_op_empty();

    op.name = n->name;
    op.rf_id = (uint64_t)number_of(a, MSIM_CHAKRA_RF_ID, 0);
    op.et_id =
        small(msim_chakra_of(r)->ours ? number_of(a, MSIM_CHAKRA_ET_ID, 0)
                                      : (int64_t)n->id);
    op.seq = seq >= 0 && seq <= INT32_MAX ? (int32_t)seq : -1;
    op.scope = scope >= 0 && scope < 256 ? (uint8_t)scope : 0;
    op.fw_thread = forward_thread(r);
    op.kind = n->event == MSIM_CHAKRA_ROOT_EVENT         ? MSIM_OP_ROOT
              : n->event == MSIM_CHAKRA_ANNOTATION_EVENT ? MSIM_OP_ANNOTATION
                                                         : MSIM_OP_OPERATOR;
    /* The process root only holds all threads together. */
    if (op.kind == MSIM_OP_ROOT && !n->has_parent && !msim_chakra_of(r)->ours)
        return MSIM_OK;
    MSIM_TRY(thread_of(r, &op.thread));
    MSIM_TRY(op_values(r, &op));
    MSIM_TRY(msim_et_groups(r, &op));
    MSIM_TRY(
        msim_grow((void **)&t->ops, &t->cap_ops, t->n_ops, sizeof(*t->ops)));
    link = msim_vec_add(&msim_et_of(r)->links, sizeof(*link));
    if (!link)
        return MSIM_ENOMEM;
    *link = (struct msim_et_link){
        n->id, n->parent, number_of(a, MSIM_CHAKRA_FW_TID, 0), n->has_parent};
    n->row = t->n_ops;
    t->ops[t->n_ops++] = op;
    return MSIM_OK;
}

static enum msim_status add_call(struct msim_reader *r,
                                 struct msim_chakra_node *n)
{
    struct msim_trace *t = r->trace;
    struct msim_call c = {.name = n->name,
                          .op = MSIM_NONE,
                          .gpu = MSIM_NONE,
                          .correlation =
                              small(number_of(&msim_chakra_of(r)->attrs,
                                              MSIM_CHAKRA_CORRELATION, 0))};

    MSIM_TRY(thread_of(r, &c.thread));
    MSIM_TRY(msim_grow((void **)&t->calls, &t->cap_calls, t->n_calls,
                       sizeof(*t->calls)));
    n->row = t->n_calls;
    t->calls[t->n_calls++] = c;
    return MSIM_OK;
}

static enum msim_status config_of(struct msim_reader *r, uint32_t *config)
{
    const struct msim_chakra_attrs *a = &msim_chakra_of(r)->attrs;
    struct msim_launch_config c = {
        .registers = small(number_of(a, MSIM_CHAKRA_REGISTERS, 0)),
        .shared_bytes = small(number_of(a, MSIM_CHAKRA_SHARED, 0)),
    };

    if (!a->has[MSIM_CHAKRA_GRID] || !a->has[MSIM_CHAKRA_BLOCK])
        return MSIM_OK;
    memcpy(c.grid, a->triple[0], sizeof(c.grid));
    memcpy(c.block, a->triple[1], sizeof(c.block));
    return msim_read_config(r->trace, &msim_chakra_of(r)->configs, &c, config);
}

/* Used where no node of the file has a start (chakra_finish.c). */
static enum msim_status stated_of(struct msim_reader *r,
                                  const struct msim_chakra_node *n,
                                  uint32_t *stated)
{
    const struct msim_chakra_attrs *a = &msim_chakra_of(r)->attrs;
    struct msim_stated_work s = {
        .flops = (double)count_of(a, MSIM_CHAKRA_NUM_OPS),
        .bytes = (double)count_of(a, MSIM_CHAKRA_TENSOR_SIZE),
        .dur = n->own,
    };
    struct msim_trace *t = r->trace;

    if (msim_chakra_of(r)->ours)
        return MSIM_OK;
    msim_chakra_of(r)->sized |=
        !n->own && (s.flops > 0 || s.bytes > 0 ||
                    (n->event == MSIM_CHAKRA_COMM_EVENT &&
                     count_of(a, MSIM_CHAKRA_COMM_SIZE)));
    /* Of a transfer without a time the row of comms has all. */
    if (!s.dur &&
        (n->event == MSIM_CHAKRA_COMM_EVENT || !(s.flops > 0 || s.bytes > 0)))
        return MSIM_OK;
    MSIM_TRY(msim_grow((void **)&t->stated, &t->cap_stated, t->n_stated,
                       sizeof(*t->stated)));
    t->stated[t->n_stated++] = s;
    *stated = t->n_stated;
    return MSIM_OK;
}

static enum msim_status add_gpu(struct msim_reader *r,
                                struct msim_chakra_node *n, uint32_t type)
{
    const struct msim_chakra_attrs *a = &msim_chakra_of(r)->attrs;
    const char *name = msim_strtab_text(r->strings, n->name);
    struct msim_trace *t = r->trace;
    struct msim_gpu g = {
        .name = n->name,
        .call = MSIM_NONE,
        .op = MSIM_NONE,
        .comm = MSIM_NONE,
        .config = MSIM_NONE,
        .kind =
            (uint8_t)(MSIM_GPU_KERNEL + (n->event - MSIM_CHAKRA_KERNEL_EVENT)),
        .bytes = count_of(a, MSIM_CHAKRA_BYTES),
        .correlation = small(number_of(a, MSIM_CHAKRA_CORRELATION, 0)),
    };

    MSIM_TRY(stream_of(r, n->event, type, &g.stream));
    MSIM_TRY(stated_of(r, n, &g.stated));
    MSIM_TRY(config_of(r, &g.config));
    if (g.kind == MSIM_GPU_COMM)
        MSIM_TRY(comm_of(r, type, name, &g.comm));
    if (g.kind == MSIM_GPU_MEMCPY)
        g.copy_kind = (uint8_t)msim_name_copy(name, &g.pageable);
    MSIM_TRY(
        msim_grow((void **)&t->gpu, &t->cap_gpu, t->n_gpu, sizeof(*t->gpu)));
    n->row = t->n_gpu;
    t->gpu[t->n_gpu++] = g;
    return MSIM_OK;
}

static enum msim_status add_sync(struct msim_reader *r,
                                 struct msim_chakra_node *n)
{
    const struct msim_chakra_attrs *a = &msim_chakra_of(r)->attrs;
    int64_t device = number_of(a, MSIM_CHAKRA_DEVICE, 0);
    int64_t kind = number_of(a, MSIM_CHAKRA_SYNC_KIND, 0);
    struct msim_trace *t = r->trace;
    /* Correlations for now; msim_order_device() turns them into calls. */
    struct msim_sync s = {
        .call = small(number_of(a, MSIM_CHAKRA_CORRELATION, 0)),
        .record_call = small(number_of(a, MSIM_CHAKRA_RECORD, 0)),
        .stream = MSIM_NONE,
        .wait_stream = MSIM_NONE,
        .kind = kind >= 0 && kind <= MSIM_CALL_FREE ? (uint8_t)kind : 0};

    if (a->has[MSIM_CHAKRA_STREAM])
        MSIM_TRY(
            stream_at(r, device, a->number[MSIM_CHAKRA_STREAM], &s.stream));
    if (a->has[MSIM_CHAKRA_WAIT_STREAM])
        MSIM_TRY(stream_at(r, device, a->number[MSIM_CHAKRA_WAIT_STREAM],
                           &s.wait_stream));
    MSIM_TRY(msim_grow((void **)&t->syncs, &t->cap_syncs, t->n_syncs,
                       sizeof(*t->syncs)));
    n->row = t->n_syncs;
    t->syncs[t->n_syncs++] = s;
    return MSIM_OK;
}

/*
 * Early converters cut an operator at its launches and numbered the parts:
 * "aten::linear(0)", "aten::linear(1)". Each part counts as that operator.
 */
static enum msim_status join_parts(struct msim_reader *r,
                                   struct msim_chakra_node *n)
{
    const char *name = msim_strtab_text(r->strings, n->name);
    size_t len = strlen(name), from = len - (len > 0);

    if (len < 4 || name[len - 1] != ')')
        return MSIM_OK;
    while (from > 0 && name[from - 1] >= '0' && name[from - 1] <= '9')
        from--;
    if (from < 2 || from + 1 == len || name[from - 1] != '(')
        return MSIM_OK;
    return msim_strtab_add(r->strings, name, from - 1, &n->name);
}

/* A node of another writer's; types are from 1, the last is a collective. */
static enum msim_status note_type(struct msim_reader *r, uint32_t type)
{
    char name[16];

    if (msim_chakra_of(r)->ours || (type > 0 && type <= COMM_COLL))
        return MSIM_OK;
    snprintf(name, sizeof(name), "%u", type);
    return msim_read_count_name(r, MSIM_IMPORT_NODE_TYPE, name, 0);
}

/* A node that makes no row. */
static enum msim_status count_apart(struct msim_reader *r, uint8_t event)
{
    const char *text = text_of(&msim_chakra_of(r)->attrs, MSIM_CHAKRA_EVENT);

    if (event == MSIM_CHAKRA_MADE_EVENT && event_of_text(text) == event &&
        strcmp(text, msim_chakra_event_text(MSIM_CHAKRA_MADE_EVENT)) != 0)
        return msim_read_count_name(r, MSIM_IMPORT_NODE_KIND, text, 0);
    msim_read_count(r, event == MSIM_CHAKRA_ROOT_EVENT ? MSIM_IMPORT_ROOT
                                                       : MSIM_IMPORT_MADE);
    return MSIM_OK;
}

static enum msim_status add_row(struct msim_reader *r,
                                struct msim_chakra_node *n, uint32_t type)
{
    n->event = event_of(r, msim_strtab_text(r->strings, n->name), type);
    n->row = MSIM_NONE;
    if (!msim_chakra_of(r)->ours && n->event == MSIM_CHAKRA_OPERATOR_EVENT)
        MSIM_TRY(join_parts(r, n));
    switch ((enum msim_chakra_event)n->event) {
    case MSIM_CHAKRA_OPERATOR_EVENT:
    case MSIM_CHAKRA_ANNOTATION_EVENT:
    case MSIM_CHAKRA_ROOT_EVENT:
        return add_op(r, n);
    case MSIM_CHAKRA_CALL_EVENT:
        return add_call(r, n);
    case MSIM_CHAKRA_KERNEL_EVENT:
    case MSIM_CHAKRA_COMM_EVENT:
    case MSIM_CHAKRA_MEMCPY_EVENT:
    case MSIM_CHAKRA_MEMSET_EVENT:
        return add_gpu(r, n, type);
    case MSIM_CHAKRA_SYNC_EVENT:
        return add_sync(r, n);
    default:
        return MSIM_OK;
    }
}

enum msim_status msim_chakra_row(struct msim_reader *r,
                                 struct msim_chakra_node *n, uint32_t type)
{
    msim_chakra_of(r)->fault = n->at;
    MSIM_TRY(add_row(r, n, type));
    if (n->row == MSIM_NONE)
        return count_apart(r, n->event);
    r->trace->import.read++;
    return note_type(r, type);
}
