/*
 * core/graph/rules/graph_comm.c - ranks meet in collectives.
 *
 * The nth collective of a group on one rank meets the nth of that group on
 * every other rank, counted from the first step, since recordings may begin
 * anywhere; where they are numbered, the one of its number. Those of a group of
 * which a rank lost a record are (core/match/lost_comms.c). A collective's own
 * work is what remains after the last rank arrived:
 *
 *     work(rank) = traced end(rank) - latest traced start over ranks
 *
 * The waiting before that is computed again: a join follows every arrival and
 * precedes every transfer. Where the traces of peers are absent, the shortest
 * call of the same size is the work, and the rest is an external event at its
 * traced time. A call that only the peers' traces lost has no time of its own:
 * there they arrive again as long after this rank.
 */
#include "core/base/containers.h"
#include "core/base/hash.h"
#include "core/graph/rules/graph_rules.h"
#include "core/trace/trace_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t msim_graph_group_key(const struct msim_graph_builder *b, uint32_t rank,
                              uint32_t comm)
{
    const struct msim_trace *t = b->job->ranks[rank];

    return comm == MSIM_NONE
               ? 0
               : msim_meeting_key(t, &t->comms[comm], msim_job_traced(b->job));
}

static const struct msim_comm *comm_of(const struct msim_graph_builder *b,
                                       const struct msim_meeting *m)
{
    return &b->job->ranks[m->rank]->comms[m->comm];
}

static uint32_t group_size(const struct msim_graph_builder *b,
                           const struct msim_meeting *m)
{
    const struct msim_trace *t = b->job->ranks[m->rank];
    uint32_t group = t->comms[m->comm].group;

    return group == MSIM_NONE ? 0 : t->groups[group].size;
}

/* The collectives of a rank by group and in order of launch, then numbered. */
static int by_rank(const void *a, const void *b)
{
    const struct msim_meeting *x = a, *y = b;

    if (x->rank != y->rank)
        return MSIM_ORDER(x->rank, y->rank);
    if (x->group != y->group)
        return MSIM_ORDER(x->group, y->group);
    return MSIM_ORDER(x->ordinal, y->ordinal);
}

static int by_group(const void *a, const void *b)
{
    const struct msim_meeting *x = a, *y = b;

    if (x->group != y->group)
        return MSIM_ORDER(x->group, y->group);
    if (x->ordinal != y->ordinal)
        return MSIM_ORDER(x->ordinal, y->ordinal);
    return MSIM_ORDER(x->rank, y->rank);
}

/* Meetings [0, n) are one rank's of one group, in the order of launch. */
static void number_from_first_step(struct msim_meeting *m, uint32_t n)
{
    uint32_t early = 0;

    for (uint32_t i = 0; i < n; i++)
        early += m[i].early;
    for (uint32_t i = 0; i < n; i++)
        m[i].ordinal = (int64_t)i - early;
}

static void number(struct msim_graph_builder *b)
{
    struct msim_meeting *m = b->meetings;

    qsort(m, b->n_meetings, sizeof(*m), by_rank);
    for (uint32_t i = 0; i < b->n_meetings;) {
        uint32_t end = i + 1;

        while (end < b->n_meetings && m[end].rank == m[i].rank &&
               m[end].group == m[i].group)
            end++;
        number_from_first_step(m + i, end - i);
        i = end;
    }
    qsort(m, b->n_meetings, sizeof(*m), by_group);
}

/* ---- absent peers ------------------------------------------------------- */

/* Calls of one kind and size on one rank. */
static uint64_t call_key(uint32_t rank, const struct msim_comm *c)
{
    uint64_t h = msim_hash_mix(msim_hash_mix(rank, c->collective), c->dtype);

    return msim_hash_mix(msim_hash_mix(h, c->in_elems), c->out_elems);
}

/* The shortest traced call of each kind and size, for all at once. */
static enum msim_status find_shortest(struct msim_graph_builder *b)
{
    uint32_t *slot;

    b->shortest = malloc((size_t)b->n_meetings * sizeof(*b->shortest));
    if (!b->shortest)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < b->n_meetings; i++) {
        const struct msim_meeting *m = &b->meetings[i];
        uint32_t fresh = b->calls.count;
        msim_ps dur = b->g->traced[m->transfer];

        MSIM_TRY(msim_idmap_put(&b->calls, call_key(m->rank, comm_of(b, m)),
                                fresh, &slot));
        if (*slot == fresh || dur < b->shortest[*slot])
            b->shortest[*slot] = dur;
    }
    return MSIM_OK;
}

static bool has_trace(const struct msim_graph_builder *b, int64_t rank)
{
    for (uint32_t i = 0; i < msim_job_traced(b->job); i++)
        if (msim_job_member(b->job, i).rank == rank)
            return true;
    return false;
}

/* Have all ranks traces that a call of this group or message meets? */
static bool has_all_traces(const struct msim_graph_builder *b,
                           const struct msim_meeting *m)
{
    const struct msim_trace *t = b->job->ranks[m->rank];
    const struct msim_comm *c = comm_of(b, m);
    const struct msim_group *g =
        c->group == MSIM_NONE ? NULL : &t->groups[c->group];
    struct msim_message ends;

    if (msim_message_of(t, c, &ends))
        return has_trace(b, ends.from) && has_trace(b, ends.to);
    for (uint32_t i = 0; g && i < g->count; i++)
        if (!has_trace(b, t->group_ranks[g->first + i]))
            return false;
    return (g && g->count) ||
           (t->world_size && t->world_size <= msim_job_traced(b->job));
}

/* A call that meets none. Where a rank lost its own, it is not the one that
 * sets the pace: it follows. */
static enum msim_peers peers_of(const struct msim_graph_builder *b,
                                const struct msim_meeting *m)
{
    return b->opt->peers == MSIM_PEERS_FIXED && has_all_traces(b, m)
               ? MSIM_PEERS_FOLLOW
               : b->opt->peers;
}

static enum msim_status absent_peers(struct msim_graph_builder *b,
                                     const struct msim_meeting *m,
                                     enum msim_peers peers)
{
    msim_ps end = b->tend[m->transfer], own, waited;

    if (end == MSIM_TIME_NONE || !b->opt->device_times || group_size(b, m) == 1)
        return MSIM_OK;
    own = b->shortest[msim_idmap_get(&b->calls,
                                     call_key(m->rank, comm_of(b, m)))];
    if (own > b->g->traced[m->transfer])
        return MSIM_OK;
    b->g->traced[m->transfer] = own;
    waited = end - own - b->tstart[m->arrive];
    b->g->copied[MSIM_COPIED_PEERS] += waited * msim_job_alike(b->job, m->rank);
    switch (peers) {
    case MSIM_PEERS_TOGETHER:
        return MSIM_OK;
    case MSIM_PEERS_FIXED:
        return msim_builder_release(b, m->transfer, end - own, true);
    case MSIM_PEERS_FOLLOW:
        break;
    }
    MSIM_TRY(msim_builder_release(b, m->transfer, MSIM_TIME_NONE, true));
    b->g->releases[b->g->n_releases - 1].traced = end - own;
    return msim_builder_edge(b, MSIM_EDGE_COLLECTIVE, MSIM_FROM_TIMES,
                             m->arrive, m->transfer, waited);
}

/* ---- peers -------------------------------------------------------------- */

/* Each rank's own work, from traced times. Where clocks spoil these: the
 * shortest call's. */
static void own_work(struct msim_graph_builder *b, const struct msim_meeting *m,
                     uint32_t n)
{
    msim_ps latest = MSIM_TIME_NONE, least = INT64_MAX;

    for (uint32_t i = 0; i < n; i++) {
        if (b->tstart[m[i].arrive] == MSIM_TIME_NONE)
            return;
        if (b->tstart[m[i].arrive] > latest)
            latest = b->tstart[m[i].arrive];
        if (b->g->traced[m[i].transfer] < least)
            least = b->g->traced[m[i].transfer];
    }
    for (uint32_t i = 0; i < n; i++) {
        msim_ps own = b->tend[m[i].transfer] - latest;

        b->g->traced[m[i].transfer] = own > 0 ? own : least;
    }
}

/* A group that is named, or all collectives of one kind. */
static enum msim_edge_source source_of(const struct msim_graph_builder *b,
                                       const struct msim_meeting *m)
{
    return comm_of(b, m)->group == MSIM_NONE ? MSIM_FROM_ORDER : MSIM_FROM_IDS;
}

static enum msim_status join(struct msim_graph_builder *b,
                             const struct msim_meeting *m, uint32_t n)
{
    struct msim_task_ref ref = b->g->refs[m[0].arrive];
    enum msim_edge_kind kind = msim_is_message(comm_of(b, m)->collective)
                                   ? MSIM_EDGE_POINT_TO_POINT
                                   : MSIM_EDGE_COLLECTIVE;
    uint32_t id;

    MSIM_TRY(msim_builder_task(b, MSIM_TASK_JOIN, MSIM_NONE, ref,
                               b->tstart[m[0].arrive], 0, &id));
    for (uint32_t i = 0; i < n; i++) {
        MSIM_TRY(
            msim_builder_edge(b, kind, source_of(b, m), m[i].arrive, id, 0));
        MSIM_TRY(
            msim_builder_edge(b, kind, source_of(b, m), id, m[i].transfer, 0));
    }
    if (b->opt->device_times)
        own_work(b, m, n);
    return MSIM_OK;
}

/* How many ranks meet in [0, n). */
static uint32_t count_ranks(const struct msim_graph_builder *b,
                            const struct msim_meeting *m, uint32_t n)
{
    uint32_t ranks = 0;

    for (uint32_t i = 0; i < n; i++)
        ranks += msim_job_alike(b->job, m[i].rank);
    return ranks;
}

/* Meetings [0, n) share a group and an ordinal. */
static enum msim_status meet(struct msim_graph_builder *b,
                             const struct msim_meeting *m, uint32_t n,
                             enum msim_peers peers)
{
    if (m->group && count_ranks(b, m, n) > 1)
        return join(b, m, n);
    for (uint32_t i = 0; i < n; i++)
        MSIM_TRY(absent_peers(b, &m[i], peers));
    return MSIM_OK;
}

/*
 * Clocks of the GPUs of one host agree to tens of microseconds. An all-to-all
 * that sends nothing ends early.
 */
#define SKEW ((msim_ps)1000 * MSIM_PS_PER_US)

/* No rank has ended before another has begun. */
static bool overlap(const struct msim_graph_builder *b,
                    const struct msim_meeting *x, const struct msim_meeting *y)
{
    if (!b->opt->device_times || b->tstart[x->arrive] == MSIM_TIME_NONE ||
        b->tstart[y->arrive] == MSIM_TIME_NONE)
        return true;
    return b->tstart[x->arrive] <= b->tend[y->transfer] + SKEW &&
           b->tstart[y->arrive] <= b->tend[x->transfer] + SKEW;
}

/*
 * Do the ranks of a group agree on what its nth call is? Where a trace lost
 * calls they do not, and joining their calls would invent waits.
 */
static bool group_agrees(const struct msim_graph_builder *b,
                         const struct msim_meeting *m, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        const struct msim_comm *x = comm_of(b, &m[i]),
                               *y = comm_of(b, m + i - 1);

        if (m[i].ordinal == m[i - 1].ordinal &&
            (!msim_comms_may_meet(x, y) || !overlap(b, &m[i], &m[i - 1])))
            return false;
    }
    return true;
}

/*
 * The sequence number counts a call where every call of the group has one
 * recorded and no rank has one twice; then lost calls do no harm. Meetings are
 * sorted by (ordinal, rank).
 */
static void number_by_sequence(const struct msim_graph_builder *b,
                               struct msim_meeting *m, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        m[i].ordinal = comm_of(b, &m[i])->sequence;
    qsort(m, n, sizeof(*m), by_group);
}

static bool sequence_is_known(const struct msim_graph_builder *b,
                              struct msim_meeting *m, uint32_t n)
{
    bool known = true;

    for (uint32_t i = 0; i < n && known; i++)
        known = comm_of(b, &m[i])->sequence >= 0;
    if (!known)
        return false;
    qsort(m, n, sizeof(*m), by_rank);
    for (uint32_t i = 1; i < n && known; i++)
        known = m[i].rank != m[i - 1].rank ||
                comm_of(b, &m[i])->sequence > comm_of(b, &m[i - 1])->sequence;
    qsort(m, n, sizeof(*m), by_group);
    return known;
}

static void warn_apart(const struct msim_graph_builder *b,
                       const struct msim_meeting *m)
{
    uint32_t size = group_size(b, m);
    struct msim_message ends;
    char what[96] = "collectives";

    if (msim_message_of(b->job->ranks[m->rank], comm_of(b, m), &ends))
        snprintf(what, sizeof(what), "messages from rank %lld to rank %lld",
                 (long long)ends.from, (long long)ends.to);
    else if (size)
        snprintf(what, sizeof(what), "collectives in a group of %u", size);
    msim_job_warn(b->job,
                  "ranks disagree on the order of %s: they are simulated "
                  "without waiting for each other; one trace may lack calls",
                  what);
}

/* Numbers of a pair of ranks are of both where most are; what one rank alone
 * has is of it. Meetings are numbered and sorted. */
static bool are_shared(const struct msim_meeting *m, uint32_t n)
{
    uint32_t all = 0, met = 0;
    bool alone = true;

    for (uint32_t i = 0; i < n; all++) {
        uint32_t end = i + 1;

        while (end < n && m[end].ordinal == m[i].ordinal)
            end++;
        alone = alone && m[i].rank == m[0].rank;
        met += end - i > 1;
        i = end;
    }
    return 2 * met > all || (alone && !met);
}

/* A rank counts its messages with all others, so that the two ends of one may
 * have two numbers. Then the nth is the nth. */
static enum msim_status number_messages(const struct msim_graph_builder *b,
                                        struct msim_meeting *m, uint32_t n,
                                        bool *numbered)
{
    struct msim_meeting *in_order = malloc(n * sizeof(*in_order));

    if (!in_order)
        return MSIM_ENOMEM;
    memcpy(in_order, m, n * sizeof(*m));
    number_by_sequence(b, m, n);
    *numbered = are_shared(m, n);
    if (!*numbered)
        memcpy(m, in_order, n * sizeof(*m));
    free(in_order);
    return MSIM_OK;
}

static enum msim_status meet_group(struct msim_graph_builder *b,
                                   struct msim_meeting *m, uint32_t n)
{
    bool agrees, numbered = sequence_is_known(b, m, n);
    enum msim_peers peers = peers_of(b, m);

    if (numbered && msim_is_message(comm_of(b, m)->collective))
        MSIM_TRY(number_messages(b, m, n, &numbered));
    else if (numbered)
        number_by_sequence(b, m, n);
    agrees = group_agrees(b, m, n);
    if (!agrees)
        warn_apart(b, m);
    agrees = agrees && (numbered || !b->apart);
    for (uint32_t i = 0; i < n;) {
        uint32_t end = i + 1;

        while (agrees && end < n && m[end].ordinal == m[i].ordinal)
            end++;
        MSIM_TRY(meet(b, m + i, end - i, peers));
        i = end;
    }
    return MSIM_OK;
}

enum msim_status msim_graph_comm(struct msim_graph_builder *b)
{
    if (!b->n_meetings)
        return MSIM_OK;
    MSIM_TRY(find_shortest(b));
    number(b);
    for (uint32_t i = 0; i < b->n_meetings;) {
        uint32_t end = i + 1;

        while (end < b->n_meetings &&
               b->meetings[end].group == b->meetings[i].group)
            end++;
        MSIM_TRY(meet_group(b, b->meetings + i, end - i));
        i = end;
    }
    return MSIM_OK;
}
