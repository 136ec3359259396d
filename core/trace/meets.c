/*
 * core/trace/meets.c - which calls of two ranks meet: whom a message is
 * for, what group a call is of, and whether two calls can be one collective, or
 * the two ends of a message.
 */
#include "core/base/hash.h"
#include "core/trace/trace_columns.h"

#include <string.h>

int32_t msim_comm_peer(const struct msim_trace *t, const struct msim_comm *c)
{
    const struct msim_group *g =
        c->group == MSIM_NONE ? NULL : &t->groups[c->group];

    return c->by_place && g && c->peer >= 0 && (uint32_t)c->peer < g->count
               ? t->group_ranks[g->first + (uint32_t)c->peer]
               : c->peer;
}

bool msim_has_messages(const struct msim_trace *t)
{
    for (uint32_t i = 0; i < t->n_comms; i++)
        if (msim_is_message(t->comms[i].collective))
            return true;
    return false;
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

bool msim_names_peers(const struct msim_trace *t)
{
    struct msim_message m;
    bool names = false;

    for (uint32_t i = 0; i < t->n_comms; i++) {
        if (!msim_is_message(t->comms[i].collective))
            continue;
        if (!msim_message_of(t, &t->comms[i], &m))
            return false;
        names = true;
    }
    return names;
}

/* ---- groups -------------------------------------------------------------- */

/*
 * The ranks of a group identify it: its members if they are listed; else, as
 * names may be pointers that differ from rank to rank, all ranks for a group
 * of their number; else the name.
 */
static uint64_t group_key(const struct msim_trace *t,
                          const struct msim_group *g, uint32_t n_ranks)
{
    uint64_t h = 1;

    if (g->count > 1) {
        for (uint32_t i = 0; i < g->count; i++)
            h = msim_hash_mix(h, (uint64_t)t->group_ranks[g->first + i]);
        /* Two groups of the same ranks (two communicators) have two names. */
        return msim_hash_mix(msim_hash_mix(h, 2),
                             strlen(msim_trace_text(t, g->name)) < 8 ? g->name
                                                                     : 0);
    }
    if (g->size == t->world_size || g->size == n_ranks)
        return msim_hash_mix(3, g->size);
    return msim_hash_mix(msim_hash_mix(5, g->size), g->name);
}

/* The group of messages that name no group: ranks are the job's. */
#define MESSAGES 9

uint64_t msim_meeting_key(const struct msim_trace *t, const struct msim_comm *c,
                          uint32_t n_ranks)
{
    bool grouped = c->group != MSIM_NONE;
    /* Old traces name no group: then all collectives of one kind are taken to
     * be of the ranks of the job. */
    uint64_t group = grouped ? group_key(t, &t->groups[c->group], n_ranks)
                             : msim_hash_mix(7, c->collective);
    struct msim_message m;

    if (!msim_message_of(t, c, &m))
        return group;
    if (!grouped)
        group = MESSAGES;
    return msim_hash_mix(msim_hash_mix(group, (uint64_t)m.from),
                         (uint64_t)m.to);
}

/* ---- calls --------------------------------------------------------------- */

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
