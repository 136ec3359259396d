/*
 * models/opmap_comm.c - collectives and point-to-point transfers.
 *
 * A transfer shows as up to three operators inside each other, c10d::X >
 * record_param_comms > nccl:X; the middle one carries it.
 */
#include "models/opmap_rule.h"

#include <stddef.h>

/* GPUs of one host: what every server of the platforms known has at most. */
#define GPUS_A_NODE 8

/* The size column of nccl-tests: the whole buffer, for all_gather what comes
 * out, for reduce_scatter what goes in, for all_to_all what one rank sends. */
static double transfer_elems(const struct msim_comm *m, uint32_t ranks)
{
    double in = (double)m->in_elems, out = (double)m->out_elems;

    switch ((enum msim_collective)m->collective) {
    case MSIM_COLL_ALL_GATHER:
    case MSIM_COLL_GATHER:
        return out > 0 && out >= in ? out : in * ranks;
    case MSIM_COLL_REDUCE_SCATTER:
    case MSIM_COLL_SCATTER:
        return in > 0 && in >= out ? in : out * ranks;
    case MSIM_COLL_RECV:
        return out > 0 ? out : in;
    default:
        return in > 0 ? in : out;
    }
}

static bool transfer(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    const struct msim_trace *t = c->t;
    const struct msim_comm *m;
    struct msim_work *w;
    uint32_t ranks = t->world_size;

    if (c->op->comm == MSIM_NONE)
        return true;
    m = &t->comms[c->op->comm];
    if (m->collective == MSIM_COLL_WAIT || m->collective == MSIM_COLL_UNKNOWN)
        return true;
    if (m->group != MSIM_NONE && t->groups[m->group].size)
        ranks = t->groups[m->group].size;
    if (m->collective == MSIM_COLL_SEND || m->collective == MSIM_COLL_RECV)
        ranks = 2;
    ranks = ranks ? ranks : 1;
    w = msim_opmap_work(c, MSIM_FAMILY_COLLECTIVE, (enum msim_dtype)m->dtype,
                        row->variant);
    if (!w)
        return false;
    w->u.coll.collective = (enum msim_collective)m->collective;
    w->u.coll.bytes = (uint64_t)msim_opmap_count(
        transfer_elems(m, ranks) * msim_dtype_bytes((enum msim_dtype)m->dtype));
    w->u.coll.ranks = ranks;
    w->u.coll.nodes = (ranks + GPUS_A_NODE - 1) / GPUS_A_NODE;
    w->bytes_read = (double)m->in_elems * msim_dtype_bytes(w->dtype);
    w->bytes_written = (double)m->out_elems * msim_dtype_bytes(w->dtype);
    return true;
}

static const struct msim_opmap_row rows[] = {
    {"record_param_comms", transfer, "", 0, 0, 0, 0},
};

const struct msim_opmap_table msim_opmap_comm = {rows, sizeof(rows) /
                                                           sizeof(rows[0])};
