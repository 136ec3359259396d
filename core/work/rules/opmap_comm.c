/*
 * core/work/rules/opmap_comm.c - collectives and point-to-point transfers.
 *
 * A transfer shows as up to three operators inside each other, c10d::X >
 * record_param_comms > nccl:X. The middle one counts; a backend (gloo) may have
 * no middle one, and then c10d::X does.
 */
#include "core/work/rules/opmap_rule.h"

#include "core/trace/trace_columns.h"
#include "core/work/rules/opmap_rules.h"

#include <stddef.h>
#include <string.h>

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

static uint32_t ranks_of(const struct msim_trace *t, const struct msim_comm *m)
{
    uint32_t ranks = t->world_size;

    if (m->collective == MSIM_COLL_SEND || m->collective == MSIM_COLL_RECV)
        return 2;
    if (m->group != MSIM_NONE && t->groups[m->group].size)
        ranks = t->groups[m->group].size;
    return ranks ? ranks : 1;
}

static uint32_t nodes_for(uint32_t ranks, uint32_t gpus)
{
    return ranks / gpus + (ranks % gpus != 0);
}

static void set_ranks(struct msim_work *w, uint32_t ranks)
{
    w->u.coll.ranks = ranks;
    w->u.coll.nodes = nodes_for(ranks, MSIM_GPUS_A_NODE);
}

/* Nodes that the members of a listed group are on. */
static uint32_t nodes_of(const struct msim_trace *t, const struct msim_group *g,
                         uint32_t gpus)
{
    const int32_t *members = t->group_ranks + g->first;
    bool sorted = true; /* so far: then a node's members lie together */
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->count; i++) {
        bool first = true;

        sorted = sorted && (i == 0 || members[i] >= members[i - 1]);
        for (uint32_t j = sorted && i ? i - 1 : 0; j < i && first; j++)
            first = (uint32_t)members[j] / gpus != (uint32_t)members[i] / gpus;
        n += first;
    }
    return n;
}

/* The distance of a group's members, of which there are at least two and all
 * are listed; 0: they are not equally far apart. */
static uint32_t stride_of(const struct msim_trace *t,
                          const struct msim_group *g)
{
    const int32_t *members = t->group_ranks + g->first;
    int32_t stride = g->count > 1 ? members[1] - members[0] : 0;

    for (uint32_t i = 1; i < g->count; i++)
        if (members[i] - members[i - 1] != stride)
            return 0;
    return stride > 0 && g->count == g->size ? (uint32_t)stride : 0;
}

/* Whether ranks are stages of a pipeline, which send to each other. */
static bool has_stages(const struct msim_trace *t)
{
    for (uint32_t i = 0; i < t->n_comms; i++)
        if (t->comms[i].collective == MSIM_COLL_SEND ||
            t->comms[i].collective == MSIM_COLL_RECV)
            return true;
    return false;
}

/*
 * Ranks of a job that are split in other ways, too, are numbered so that what
 * is data parallel is farthest apart (Megatron-LM, DeviceMesh): its group takes
 * every n-th of all ranks. More ranks are more of those. In a pipeline its
 * stages are as far apart, so that places do not tell.
 */
static bool is_data_group(const struct msim_trace *t, const struct msim_comm *m)
{
    const struct msim_group *g;
    uint32_t stride;

    if (!m || m->group == MSIM_NONE || m->collective == MSIM_COLL_SEND ||
        m->collective == MSIM_COLL_RECV)
        return false;
    g = &t->groups[m->group];
    stride = stride_of(t, g);
    return stride > 1 && (uint64_t)stride * g->size == t->world_size &&
           !has_stages(t);
}

/* Nodes of so many ranks that are `stride` apart: a node has as many of them as
 * fit between its first and its last. */
static uint32_t grown_nodes(uint32_t ranks, uint32_t stride, uint32_t gpus)
{
    uint32_t each = gpus / stride;

    return nodes_for(ranks, each > 0 ? each : 1);
}

void msim_comm_place(struct msim_work *w, const struct msim_trace *t,
                     uint32_t comm, uint32_t gpus)
{
    const struct msim_comm *m = comm == MSIM_NONE ? NULL : &t->comms[comm];
    const struct msim_group *g =
        !m || m->group == MSIM_NONE ? NULL : &t->groups[m->group];
    bool sends = m && (m->collective == MSIM_COLL_SEND ||
                       m->collective == MSIM_COLL_RECV);

    if (gpus == 0)
        gpus = MSIM_GPUS_A_NODE;
    if (g && g->count == w->u.coll.ranks && (!sends || g->count == 2))
        w->u.coll.nodes = nodes_of(t, g, gpus);
    else if (m && w->u.coll.ranks > 1 && is_data_group(t, m))
        w->u.coll.nodes = grown_nodes(w->u.coll.ranks, stride_of(t, g), gpus);
    else
        w->u.coll.nodes = nodes_for(w->u.coll.ranks, gpus);
}

struct msim_work msim_comm_work(const struct msim_trace *t, uint32_t comm)
{
    const struct msim_comm *m = &t->comms[comm];
    uint32_t ranks = ranks_of(t, m);
    struct msim_work w;
    uint32_t bytes;

    memset(&w, 0, sizeof(w)); /* works are compared by their bytes */
    w.family = MSIM_FAMILY_COLLECTIVE;
    w.dtype = (enum msim_dtype)m->dtype;
    w.variant = "";
    w.kernels = 1;
    bytes = msim_dtype_bytes(w.dtype);
    w.u.coll.collective = (enum msim_collective)m->collective;
    w.u.coll.bytes =
        (uint64_t)msim_opmap_count(transfer_elems(m, ranks) * bytes);
    set_ranks(&w, ranks);
    msim_comm_place(&w, t, comm, MSIM_GPUS_A_NODE);
    w.bytes_read = (double)m->in_elems * bytes;
    w.bytes_written = (double)m->out_elems * bytes;
    return w;
}

struct msim_work msim_comm_work_by_name(const struct msim_trace *t,
                                        const char *name)
{
    struct msim_work w;

    memset(&w, 0, sizeof(w)); /* works are compared by their bytes */
    w.family = MSIM_FAMILY_COLLECTIVE;
    w.dtype = MSIM_DT_UNKNOWN;
    w.variant = "";
    w.kernels = 1;
    w.u.coll.collective = msim_name_kernel_collective(name);
    set_ranks(&w, t->world_size > 1 ? t->world_size : MSIM_GPUS_A_NODE);
    return w;
}

/* A group without a name holds all ranks, as in
 * core/graph/rules/graph_comm.c. */
static bool is_whole(const struct msim_trace *t, const struct msim_comm *m,
                     uint32_t traced)
{
    uint32_t size = !m || m->group == MSIM_NONE ? 0 : t->groups[m->group].size;

    if (!m)
        return true;
    if (m->collective == MSIM_COLL_SEND || m->collective == MSIM_COLL_RECV)
        return false;
    return size == 0 || size == t->world_size || size == traced;
}

/* The ranks of the group when the job has `ranks`; 0: it stays. */
static uint32_t grown(const struct msim_trace *t, const struct msim_comm *m,
                      uint32_t traced, uint32_t ranks)
{
    if (is_whole(t, m, traced))
        return ranks;
    if (!is_data_group(t, m) || ranks % t->world_size != 0)
        return 0;
    return t->groups[m->group].size * (ranks / t->world_size);
}

struct msim_work msim_comm_grow(struct msim_work w, const struct msim_trace *t,
                                uint32_t comm, uint32_t traced, uint32_t ranks)
{
    const struct msim_comm *m = comm == MSIM_NONE ? NULL : &t->comms[comm];
    uint32_t before = w.u.coll.ranks > 1 ? w.u.coll.ranks : traced;
    uint32_t after = grown(t, m, traced, ranks);
    double factor = (double)after / before;

    if (after == 0)
        return w;
    set_ranks(&w, after);
    switch (w.u.coll.collective) {
    case MSIM_COLL_ALL_GATHER: /* of shards: the model is as large */
        w.bytes_read /= factor;
        break;
    case MSIM_COLL_REDUCE_SCATTER:
        w.bytes_written /= factor;
        break;
    case MSIM_COLL_GATHER: /* each rank brings its own */
        w.u.coll.bytes =
            (uint64_t)msim_opmap_count((double)w.u.coll.bytes * factor);
        w.bytes_written *= factor;
        break;
    default: /* counted by what goes in, which stays */
        break;
    }
    return w;
}

bool msim_rule_transfer(struct msim_opmap_ctx *c,
                        const struct msim_opmap_row *row)
{
    const struct msim_comm *m;
    struct msim_work *w;

    (void)row;
    if (c->op->comm == MSIM_NONE)
        return true;
    m = &c->t->comms[c->op->comm];
    if (m->collective == MSIM_COLL_WAIT || m->collective == MSIM_COLL_UNKNOWN)
        return true;
    w = msim_opmap_work(c, MSIM_FAMILY_COLLECTIVE, (enum msim_dtype)m->dtype,
                        "");
    if (w)
        *w = msim_comm_work(c->t, c->op->comm);
    return w != NULL;
}

bool msim_rule_transfer_around(struct msim_opmap_ctx *c,
                               const struct msim_opmap_row *row)
{
    return msim_rule_transfer(c, row);
}
