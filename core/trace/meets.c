/*
 * core/trace/meets.c - can the calls of two ranks be one collective, or the two
 * ends of a message?
 */
#include "core/trace/meets.h"

int32_t msim_comm_peer(const struct msim_trace *t, const struct msim_comm *c)
{
    const struct msim_group *g =
        c->group == MSIM_NONE ? NULL : &t->groups[c->group];

    return c->by_place && g && c->peer >= 0 && (uint32_t)c->peer < g->count
               ? t->group_ranks[g->first + (uint32_t)c->peer]
               : c->peer;
}

bool msim_message_of(const struct msim_trace *t, const struct msim_comm *c,
                     struct msim_message *m)
{
    int64_t peer;

    if (!msim_is_message(c->collective) || c->peer < 0 || t->rank < 0)
        return false;
    peer = msim_comm_peer(t, c);
    *m = c->collective == MSIM_COLL_SEND ? (struct msim_message){t->rank, peer}
                                         : (struct msim_message){peer, t->rank};
    return true;
}

/* Sizes must agree where ranks have equal ones by definition. */
static bool same_size(const struct msim_comm *x, const struct msim_comm *y)
{
    switch ((enum msim_collective)x->collective) {
    case MSIM_COLL_ALL_REDUCE:
    case MSIM_COLL_BROADCAST:
    case MSIM_COLL_REDUCE:
    case MSIM_COLL_REDUCE_SCATTER:
    case MSIM_COLL_SEND:
    case MSIM_COLL_RECV:
        return !x->in_elems || !y->in_elems || x->in_elems == y->in_elems;
    default:
        return true;
    }
}

static bool same_kind(const struct msim_comm *x, const struct msim_comm *y)
{
    return x->collective == y->collective ||
           (msim_is_message(x->collective) && msim_is_message(y->collective));
}

bool msim_comms_may_meet(const struct msim_comm *x, const struct msim_comm *y)
{
    return same_kind(x, y) && same_size(x, y);
}
