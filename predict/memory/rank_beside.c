/*
 * predict/memory/rank_beside.c - CUDA's context and NCCL's buffers of a rank.
 */
#include "core/trace/trace_columns.h"
#include "predict/memory/rank_memory.h"

#include <math.h>

/* How a group is used. */
struct use {
    bool collectives, exchanges; /* the latter: of all with all */
    bool messages;
};

static struct use use_of(const struct msim_trace *t, uint32_t group)
{
    struct use u = {0};

    for (uint32_t i = 0; i < t->n_comms; i++) {
        if (t->comms[i].group != group)
            continue;
        switch ((enum msim_collective)t->comms[i].collective) {
        case MSIM_COLL_UNKNOWN:
        case MSIM_COLL_WAIT:
            break;
        case MSIM_COLL_SEND:
        case MSIM_COLL_RECV:
            u.messages = true;
            break;
        case MSIM_COLL_ALL_TO_ALL:
            u.exchanges = true;
            break;
        default:
            u.collectives = true;
        }
    }
    return u;
}

/* Others that a rank of the group sends to or receives from; 2 where no message
 * says. */
static double peers_of(const struct msim_trace *t, uint32_t group)
{
    int32_t seen[2] = {-1, -1};
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_comms; i++) {
        const struct msim_comm *m = &t->comms[i];
        int32_t peer = msim_comm_peer(t, m);

        if (m->group != group || peer < 0 || peer == seen[0] ||
            peer == seen[1] || !msim_is_message(m->collective))
            continue;
        if (n == 2)
            return n;
        seen[n++] = peer;
    }
    return n ? n : 2;
}

/* `group` NONE: all ranks. Members that are not listed are numbered one after
 * the other. */
static struct msim_beside_group place(const struct msim_trace *t,
                                      uint32_t group, uint32_t gpus)
{
    const struct msim_group *g = group == MSIM_NONE ? NULL : &t->groups[group];
    double ranks = g && g->size ? g->size : t->world_size;
    struct msim_beside_group at = {ranks, fmin(ranks, gpus)};

    if (!g || !g->count || t->rank < 0)
        return at;
    at.near = 0;
    for (uint32_t i = 0; i < g->count; i++)
        at.near += t->group_ranks[g->first + i] / (int32_t)gpus ==
                   (int32_t)(t->rank / (int64_t)gpus);
    return at;
}

static double buffers_of(const struct msim_trace *t, uint32_t group,
                         const struct msim_platform *platform)
{
    double link = msim_platform_link_rate(platform), bytes = 0;
    struct use u = use_of(t, group);
    struct msim_beside_group at =
        place(t, group, msim_platform_gpus_a_node(platform));

    if (u.collectives)
        bytes += msim_beside_collective(&at, link);
    if (u.exchanges)
        bytes += msim_beside_messages(&at, at.ranks - 1, link);
    else if (u.messages)
        bytes += msim_beside_messages(
            &at, fmin(peers_of(t, group), at.ranks - 1), link);
    return bytes;
}

struct msim_beside msim_rank_beside(const struct msim_trace *t,
                                    const struct msim_platform *platform)
{
    struct msim_beside b = {0};

    if (!platform || msim_platform_is_host(platform))
        return b;
    b.context = MSIM_BESIDE_CONTEXT * msim_trace_gpus(t);
    b.nccl = buffers_of(t, MSIM_NONE, platform);
    for (uint32_t g = 0; g < t->n_groups; g++)
        b.nccl += buffers_of(t, g, platform);
    return b;
}
