/*
 * core/chakra/chakra_fill.c - the fields and attributes of one node, from the
 * row that it is made of.
 */
#include "core/chakra/write_chakra_internal.h"
#include "core/trace/trace_columns.h"

#include <string.h>

/* ---- times -------------------------------------------------------------- */

static int64_t whole_ns(struct msim_chakra_builder *b, msim_ps time)
{
    int64_t ns = time / 1000;

    b->rounded += time % 1000 != 0;
    return time % 1000 < 0 ? ns - 1 : ns;
}

static uint64_t micros(int64_t ns)
{
    return ns > 0 ? ((uint64_t)ns + 500) / 1000 : 0;
}

/* `start` and `span` of the row that node `n` is made of. */
static void add_times(struct msim_chakra_builder *b, ChakraProtoMsg__Node *node,
                      const struct msim_chakra_out_node *n, msim_ps start,
                      msim_ps span)
{
    int64_t own = whole_ns(b, n->own), from, whole;

    node->duration_micros = micros(own);
    msim_chakra_add_word(b, MSIM_CHAKRA_DURATION_NS, own);
    if (n->not_before != MSIM_TIME_NONE)
        msim_chakra_add_number(b, MSIM_CHAKRA_RELEASE_ATTR,
                               whole_ns(b, n->not_before - b->t->clock_shift));
    if (start == MSIM_TIME_NONE)
        return;
    from = whole_ns(b, start - b->t->clock_shift);
    whole = whole_ns(b, start + span - b->t->clock_shift) - from;
    node->start_time_micros = from > 0 ? (uint64_t)from / 1000 : 0;
    msim_chakra_add_word(b, MSIM_CHAKRA_START_NS, from);
    if (whole != own)
        msim_chakra_add_word(b, MSIM_CHAKRA_SPAN_NS, whole);
}

/* ---- rows --------------------------------------------------------------- */

static enum msim_status add_values(struct msim_chakra_builder *b,
                                   ChakraProtoMsg__Node *node,
                                   const struct msim_op *op)
{
    struct msim_chakra_lists *sides[] = {&b->in, &b->out};
    const uint32_t blocks[] = {op->args, op->outs};
    const uint32_t ids[] = {op->ids, op->out_ids};
    ChakraProtoMsg__IOInfo **to[] = {&node->inputs, &node->outputs};

    for (int i = 0; i < 2; i++) {
        if (blocks[i] == MSIM_NONE)
            continue;
        MSIM_TRY(
            msim_chakra_print(sides[i], b->t, blocks[i], ids[i], b->device));
        chakra_proto_msg__ioinfo__init(&b->info[i]);
        b->info[i].values = sides[i]->values.data;
        b->info[i].shapes = sides[i]->shapes.data;
        b->info[i].types = sides[i]->types.data;
        *to[i] = &b->info[i];
    }
    return MSIM_OK;
}

/* What a collective is, for our own reader; `comm` may be MSIM_NONE. */
static void add_comm(struct msim_chakra_builder *b, uint32_t comm)
{
    const struct msim_comm *c;
    int32_t peer;

    if (comm == MSIM_NONE)
        return;
    c = &b->t->comms[comm];
    peer = msim_comm_peer(b->t, c);
    msim_chakra_add_word(b, MSIM_CHAKRA_COMM, comm);
    if (c->collective != MSIM_COLL_UNKNOWN)
        msim_chakra_add_text(
            b, msim_chakra_word_text(MSIM_CHAKRA_COLLECTIVE),
            msim_collective_text((enum msim_collective)c->collective));
    if (c->dtype != MSIM_DT_UNKNOWN)
        msim_chakra_add_text(b, msim_chakra_word_text(MSIM_CHAKRA_DTYPE),
                             msim_chakra_dtype_text((enum msim_dtype)c->dtype));
    msim_chakra_add_word(b, MSIM_CHAKRA_IN_ELEMS, (int64_t)c->in_elems);
    msim_chakra_add_word(b, MSIM_CHAKRA_OUT_ELEMS, (int64_t)c->out_elems);
    if (c->sequence >= 0)
        msim_chakra_add_word(b, MSIM_CHAKRA_COMM_SEQ, c->sequence);
    if (peer >= 0)
        msim_chakra_add_word(b, MSIM_CHAKRA_COMM_PEER, peer);
    if (c->group != MSIM_NONE)
        msim_chakra_add_text(
            b, msim_chakra_word_text(MSIM_CHAKRA_PG_NAME),
            msim_trace_text(b->t, b->t->groups[c->group].name));
}

/* The same for simulators, on nodes of the GPU: type, kind, bytes, peers. */
static void add_transfer(struct msim_chakra_builder *b,
                         ChakraProtoMsg__Node *node, uint32_t comm)
{
    const struct msim_comm *c = &b->t->comms[comm];
    int type = msim_chakra_comm_type((enum msim_collective)c->collective);
    uint64_t elems = c->in_elems ? c->in_elems : c->out_elems;
    int32_t rank =
        b->t->rank >= 0 && b->t->rank <= INT32_MAX ? (int32_t)b->t->rank : 0;
    int32_t peer = msim_comm_peer(b->t, c);

    if (c->collective == MSIM_COLL_SEND) {
        node->type = CHAKRA_PROTO_MSG__NODE_TYPE__COMM_SEND_NODE;
        msim_chakra_add_int32(b, "comm_src", rank);
        msim_chakra_add_int32(b, "comm_dst", peer);
    } else if (c->collective == MSIM_COLL_RECV) {
        node->type = CHAKRA_PROTO_MSG__NODE_TYPE__COMM_RECV_NODE;
        msim_chakra_add_int32(b, "comm_src", peer);
        msim_chakra_add_int32(b, "comm_dst", rank);
    } else if (type >= 0) {
        node->type = CHAKRA_PROTO_MSG__NODE_TYPE__COMM_COLL_NODE;
        msim_chakra_add_word(b, MSIM_CHAKRA_COMM_TYPE, type);
    } else {
        return; /* Chakra has no word for it: a kernel */
    }
    msim_chakra_add_word(
        b, MSIM_CHAKRA_COMM_SIZE,
        msim_whole((double)elems *
                   (double)msim_dtype_bytes((enum msim_dtype)c->dtype)));
}

static enum msim_status fill_op(struct msim_chakra_builder *b,
                                ChakraProtoMsg__Node *node,
                                const struct msim_chakra_out_node *n)
{
    const struct msim_op *op = &b->t->ops[n->row];
    const struct msim_thread *th = &b->t->threads[op->thread];

    if (!strncmp(msim_trace_text(b->t, op->name), "## process_group:init", 21))
        node->type = CHAKRA_PROTO_MSG__NODE_TYPE__METADATA_NODE;
    add_times(b, node, n, op->start, op->dur);
    msim_chakra_add_word(b, MSIM_CHAKRA_RF_ID, (int64_t)op->rf_id);
    msim_chakra_add_word(b, MSIM_CHAKRA_SEQ_ID, op->seq);
    msim_chakra_add_word(b, MSIM_CHAKRA_SCOPE, op->scope);
    msim_chakra_add_word(b, MSIM_CHAKRA_TID, th->tid);
    msim_chakra_add_word(b, MSIM_CHAKRA_THREAD, op->thread);
    if (op->fw_thread != MSIM_NONE) {
        msim_chakra_add_word(b, MSIM_CHAKRA_FW_TID,
                             b->t->threads[op->fw_thread].tid);
        msim_chakra_add_word(b, MSIM_CHAKRA_FW_THREAD, op->fw_thread);
    }
    if (op->et_id)
        msim_chakra_add_word(b, MSIM_CHAKRA_ET_ID, op->et_id);
    add_comm(b, op->comm);
    return add_values(b, node, op);
}

static void fill_call(struct msim_chakra_builder *b, ChakraProtoMsg__Node *node,
                      const struct msim_chakra_out_node *n)
{
    const struct msim_call *c = &b->t->calls[n->row];

    add_times(b, node, n, c->start, c->dur);
    msim_chakra_add_word(b, MSIM_CHAKRA_TID, b->t->threads[c->thread].tid);
    msim_chakra_add_word(b, MSIM_CHAKRA_THREAD, c->thread);
    msim_chakra_add_word(b, MSIM_CHAKRA_CORRELATION, c->correlation);
}

static void add_config(struct msim_chakra_builder *b, uint32_t config)
{
    const struct msim_launch_config *c = &b->t->configs[config];

    for (int i = 0; i < 3; i++) {
        b->triples[0][i] = c->grid[i];
        b->triples[1][i] = c->block[i];
    }
    msim_chakra_add_list(b, msim_chakra_word_text(MSIM_CHAKRA_GRID),
                         b->triples[0], 3);
    msim_chakra_add_list(b, msim_chakra_word_text(MSIM_CHAKRA_BLOCK),
                         b->triples[1], 3);
    msim_chakra_add_word(b, MSIM_CHAKRA_REGISTERS, c->registers);
    msim_chakra_add_word(b, MSIM_CHAKRA_SHARED, c->shared_bytes);
}

/*
 * num_ops and tensor_size, from which simulators compute times. num_ops is
 * never 0, which would make their rooflines divide by zero.
 */
static void add_work(struct msim_chakra_builder *b, uint32_t op, double share)
{
    const struct msim_chakra_work *w;
    ChakraProtoMsg__AttributeProto *a;

    if (!b->works || op == MSIM_NONE)
        return;
    w = &b->works[op];
    if (w->bytes <= 0)
        return;
    msim_chakra_add_number(
        b, "num_ops", w->flops * share >= 1 ? msim_whole(w->flops * share) : 1);
    a = msim_chakra_add(b, "tensor_size");
    a->value_case = CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_UINT64_VAL;
    a->uint64_val = (uint64_t)msim_whole(w->bytes * share);
}

static void fill_gpu(struct msim_chakra_builder *b, ChakraProtoMsg__Node *node,
                     const struct msim_chakra_out_node *n)
{
    const struct msim_gpu *g = &b->t->gpu[n->row];

    add_times(b, node, n, g->start, g->dur);
    msim_chakra_add_word(b, MSIM_CHAKRA_STREAM, b->t->streams[g->stream].id);
    msim_chakra_add_word(b, MSIM_CHAKRA_DEVICE,
                         b->t->streams[g->stream].device);
    msim_chakra_add_word(b, MSIM_CHAKRA_CORRELATION, g->correlation);
    if (g->bytes)
        msim_chakra_add_word(b, MSIM_CHAKRA_BYTES, (int64_t)g->bytes);
    if (g->config != MSIM_NONE)
        add_config(b, g->config);
    if (g->kind == MSIM_GPU_KERNEL && g->op != MSIM_NONE && b->kernels[g->op])
        add_work(b, g->op, 1.0 / b->kernels[g->op]);
    add_comm(b, g->comm);
    if (g->comm != MSIM_NONE)
        add_transfer(b, node, g->comm);
}

static void fill_sync(struct msim_chakra_builder *b, ChakraProtoMsg__Node *node,
                      const struct msim_chakra_out_node *n)
{
    const struct msim_sync *s = &b->t->syncs[n->row];
    uint32_t either = s->stream != MSIM_NONE ? s->stream : s->wait_stream;

    node->type = CHAKRA_PROTO_MSG__NODE_TYPE__INVALID_NODE; /* nothing runs */
    add_times(b, node, n, s->start, s->dur);
    msim_chakra_add_word(b, MSIM_CHAKRA_SYNC_KIND, s->kind);
    if (either != MSIM_NONE)
        msim_chakra_add_word(b, MSIM_CHAKRA_DEVICE,
                             b->t->streams[either].device);
    if (s->stream != MSIM_NONE)
        msim_chakra_add_word(b, MSIM_CHAKRA_STREAM,
                             b->t->streams[s->stream].id);
    if (s->wait_stream != MSIM_NONE)
        msim_chakra_add_word(b, MSIM_CHAKRA_WAIT_STREAM,
                             b->t->streams[s->wait_stream].id);
    if (s->call != MSIM_NONE)
        msim_chakra_add_word(b, MSIM_CHAKRA_CORRELATION,
                             b->t->calls[s->call].correlation);
    if (s->record_call != MSIM_NONE)
        msim_chakra_add_word(b, MSIM_CHAKRA_RECORD,
                             b->t->calls[s->record_call].correlation);
}

/* What the GPU would do for an operator of an execution trace. */
static void fill_made(struct msim_chakra_builder *b, ChakraProtoMsg__Node *node,
                      const struct msim_chakra_out_node *n)
{
    msim_chakra_add_word(b, MSIM_CHAKRA_STREAM, n->row != MSIM_NONE);
    if (n->row == MSIM_NONE) {
        add_work(b, n->op, 1);
        return;
    }
    add_transfer(b, node, n->row);
    if (b->t->comms[n->row].group != MSIM_NONE)
        msim_chakra_add_text(
            b, msim_chakra_word_text(MSIM_CHAKRA_PG_NAME),
            msim_trace_text(b->t,
                            b->t->groups[b->t->comms[n->row].group].name));
}

enum msim_status msim_chakra_fill(struct msim_chakra_builder *b,
                                  ChakraProtoMsg__Node *node,
                                  const struct msim_chakra_out_node *n)
{
    switch ((enum msim_chakra_event)n->event) {
    case MSIM_CHAKRA_CALL_EVENT:
        fill_call(b, node, n);
        break;
    case MSIM_CHAKRA_REST_EVENT:
        add_times(b, node, n, MSIM_TIME_NONE, 0);
        break;
    case MSIM_CHAKRA_KERNEL_EVENT:
    case MSIM_CHAKRA_COMM_EVENT:
    case MSIM_CHAKRA_MEMCPY_EVENT:
    case MSIM_CHAKRA_MEMSET_EVENT:
        fill_gpu(b, node, n);
        break;
    case MSIM_CHAKRA_SYNC_EVENT:
        fill_sync(b, node, n);
        break;
    case MSIM_CHAKRA_MADE_EVENT:
        fill_made(b, node, n);
        break;
    default:
        return fill_op(b, node, n);
    }
    return MSIM_OK;
}
