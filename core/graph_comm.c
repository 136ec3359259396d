/*
 * Ranks meet in collectives.
 *
 * The nth collective of a group on one rank is the nth of that group on every
 * other, counted from the first step, since recordings begin where they like.
 * What it takes by itself is what remains after the last rank arrived:
 *
 *     work(rank) = traced end(rank) - latest traced start over ranks
 *
 * and the waiting before that is computed again: a join follows every arrival
 * and precedes every transfer. Where peers' traces are absent, the shortest
 * call of the same size stands for the work, and the rest is an external
 * event at its traced time.
 */
#include "core/graph_builder.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = ((h + 0x9e3779b97f4a7c15u) ^ v) * 0xff51afd7ed558ccdu;
    return (h ^ (h >> 33)) | 1; /* 0: nothing is known of the group */
}

/*
 * Members if they are listed; else, as names may be pointers that differ from
 * rank to rank, all ranks for a group of their number; else the name.
 */
uint64_t msim_graph_group_key(const struct msim_graph_builder *b, uint32_t rank,
                              uint32_t comm)
{
    const struct msim_trace *t = b->job->ranks[rank];
    uint32_t group = comm == MSIM_NONE ? MSIM_NONE : t->comms[comm].group;
    const struct msim_group *g;
    uint64_t h = 1;

    /* Old traces do not say: all that is of one kind is taken for the ranks of
     * the job, and group_agrees() has the last word. */
    if (group == MSIM_NONE)
        return comm == MSIM_NONE ? 0 : mix(7, t->comms[comm].collective);
    g = &t->groups[group];
    if (g->count > 1) {
        for (uint32_t i = 0; i < g->count; i++)
            h = mix(h, (uint64_t)t->group_ranks[g->first + i]);
        /* Two groups of the same ranks (two communicators) have two names. */
        return mix(mix(h, 2),
                   strlen(msim_trace_text(t, g->name)) < 8 ? g->name : 0);
    }
    if (g->size == t->world_size || g->size == b->job->n_ranks)
        return mix(3, g->size);
    return mix(mix(5, g->size), g->name);
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

/* Within a rank: by group, in launch order; then numbered. */
static int by_rank(const void *a, const void *b)
{
    const struct msim_meeting *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

static int by_group(const void *a, const void *b)
{
    const struct msim_meeting *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->ordinal != y->ordinal)
        return x->ordinal < y->ordinal ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
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

    qsort(m, b->n_meetings, sizeof *m, by_rank);
    for (uint32_t i = 0; i < b->n_meetings;) {
        uint32_t end = i + 1;

        while (end < b->n_meetings && m[end].rank == m[i].rank &&
               m[end].group == m[i].group)
            end++;
        number_from_first_step(m + i, end - i);
        i = end;
    }
    qsort(m, b->n_meetings, sizeof *m, by_group);
}

static bool point_to_point(uint8_t collective)
{
    return collective == MSIM_COLL_SEND || collective == MSIM_COLL_RECV;
}

/* ---- absent peers ------------------------------------------------------ */

/* The shortest traced call of the same kind and size on the rank. */
static msim_ps shortest(const struct msim_graph_builder *b,
                        const struct msim_meeting *m)
{
    const struct msim_trace *t = b->job->ranks[m->rank];
    const struct msim_comm *c = comm_of(b, m);
    msim_ps best = INT64_MAX;

    for (uint32_t i = 0; i < t->n_gpu; i++) {
        const struct msim_comm *o;

        if (t->gpu[i].kind != MSIM_GPU_COMM || t->gpu[i].comm == MSIM_NONE)
            continue;
        o = &t->comms[t->gpu[i].comm];
        if (o->collective == c->collective && o->dtype == c->dtype &&
            o->in_elems == c->in_elems && o->out_elems == c->out_elems &&
            t->gpu[i].dur < best)
            best = t->gpu[i].dur;
    }
    return best;
}

static enum msim_status absent_peers(struct msim_graph_builder *b,
                                     const struct msim_meeting *m)
{
    msim_ps end = b->tend[m->transfer], own;

    if (end == MSIM_TIME_NONE || !b->opt->device_times ||
        group_size(b, m) == 1 || point_to_point(comm_of(b, m)->collective))
        return MSIM_OK;
    own = shortest(b, m);
    if (own > b->g->traced[m->transfer])
        return MSIM_OK;
    b->g->traced[m->transfer] = own;
    if (!b->opt->traced_peers)
        return MSIM_OK;
    return msim_builder_release(b, m->transfer, end - own, true);
}

/* ---- peers ------------------------------------------------------------- */

/* Each rank's own work, from traced times; clocks may spoil it: then least. */
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

static enum msim_status join(struct msim_graph_builder *b,
                             const struct msim_meeting *m, uint32_t n)
{
    struct msim_task_ref ref = b->g->refs[m[0].arrive];
    uint32_t id;

    MSIM_TRY(msim_builder_task(b, MSIM_TASK_JOIN, MSIM_NONE, ref,
                               b->tstart[m[0].arrive], 0, &id));
    for (uint32_t i = 0; i < n; i++) {
        MSIM_TRY(msim_builder_edge(b, MSIM_EDGE_COLLECTIVE, MSIM_FROM_IDS,
                                   m[i].arrive, id, 0));
        MSIM_TRY(msim_builder_edge(b, MSIM_EDGE_COLLECTIVE, MSIM_FROM_IDS, id,
                                   m[i].transfer, 0));
    }
    if (b->opt->device_times)
        own_work(b, m, n);
    return MSIM_OK;
}

/* Meetings [0, n) share a group and an ordinal. */
static enum msim_status meet(struct msim_graph_builder *b,
                             const struct msim_meeting *m, uint32_t n)
{
    const struct msim_comm *c = comm_of(b, m);

    if (n > 1 && m->group && !point_to_point(c->collective))
        return join(b, m, n);
    for (uint32_t i = 0; i < n; i++)
        MSIM_TRY(absent_peers(b, &m[i]));
    return MSIM_OK;
}

/*
 * Clocks of the GPUs of one host agree to tens of microseconds, and an
 * all-to-all in which nothing is sent is over early.
 */
#define SKEW ((msim_ps)1000 * MSIM_PS_PER_US)

/* No rank is done before another has begun. */
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
 * calls they do not, and joining them would invent waits.
 */
static bool group_agrees(const struct msim_graph_builder *b,
                         const struct msim_meeting *m, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (m[i].ordinal == m[i - 1].ordinal &&
            (comm_of(b, &m[i])->collective !=
                 comm_of(b, &m[i - 1])->collective ||
             !overlap(b, &m[i], &m[i - 1])))
            return false;
    return true;
}

static enum msim_status meet_group(struct msim_graph_builder *b,
                                   const struct msim_meeting *m, uint32_t n)
{
    bool agrees = group_agrees(b, m, n);

    if (!agrees)
        msim_job_warn(b->job,
                      "ranks disagree on the order of collectives in a group "
                      "of %u: they are simulated without waiting for each "
                      "other; one trace may lack calls",
                      group_size(b, m));
    for (uint32_t i = 0; i < n;) {
        uint32_t end = i + 1;

        while (agrees && end < n && m[end].ordinal == m[i].ordinal)
            end++;
        MSIM_TRY(meet(b, m + i, end - i));
        i = end;
    }
    return MSIM_OK;
}

enum msim_status msim_graph_comm(struct msim_graph_builder *b)
{
    if (!b->n_meetings)
        return MSIM_OK;
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
