/*
 * core/trace/meets.c - can the calls of two ranks be one collective, or the two
 * ends of a message?
 */
#include "core/trace/meets.h"

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
