/*
 * core/graph/rules/graph_messages.c - which messages of a rank run behind each
 * other, where no GPU event tells.
 *
 * PyTorch gives each pair of ranks a communicator and a stream of its own, and
 * what a program batches is one kernel: messages to different ranks run at
 * once. So do the two ways of one pair where both ranks send first, or both
 * receive first, for behind each other they would wait for ever. Where one rank
 * sends first and the other receives first they are calls of their own, on one
 * stream.
 */
#include "core/base/containers.h"
#include "core/base/hash.h"
#include "core/graph/rules/graph_rules.h"
#include "core/trace/trace_columns.h"
#include "core/trace/trace_steps.h"

#include <stdlib.h>

/* The `nth` from one rank to another. */
struct message {
    int64_t moment;
    uint64_t key;
    uint32_t comm, nth;
    int64_t peer;
};

struct messages {
    struct message *all; /* in order of their calls */
    uint32_t n;
    struct msim_idmap places; /* of the nth of a key in `all` */
    bool known;
};

static int by_moment(const void *a, const void *b)
{
    const struct message *x = a, *y = b;

    if (x->moment != y->moment)
        return MSIM_ORDER(x->moment, y->moment);
    return MSIM_ORDER(x->comm, y->comm);
}

static uint64_t nth_key(uint64_t key, uint32_t nth)
{
    return msim_hash_mix(key, nth);
}

static enum msim_status number(struct messages *m)
{
    struct msim_idmap seen = {0};
    enum msim_status status = MSIM_OK;

    for (uint32_t i = 0; i < m->n && status == MSIM_OK; i++) {
        uint32_t *n;

        status = msim_idmap_put(&seen, m->all[i].key, 0, &n);
        if (status != MSIM_OK)
            break;
        m->all[i].nth = (*n)++;
        status = msim_idmap_put(&m->places,
                                nth_key(m->all[i].key, m->all[i].nth), i, &n);
    }
    msim_idmap_release(&seen);
    return status;
}

static enum msim_status find(const struct msim_job *job, uint32_t rank,
                             struct messages *m)
{
    const struct msim_trace *t = job->ranks[rank];

    if (m->known)
        return MSIM_OK;
    m->known = true;
    m->all = malloc(((size_t)t->n_comms + 1) * sizeof(*m->all));
    if (!m->all)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_comms; i++) {
        struct msim_message ends;

        if (t->comms[i].op == MSIM_NONE ||
            !msim_message_of(t, &t->comms[i], &ends))
            continue;
        m->all[m->n++] = (struct message){
            .moment = msim_moment(t, t->comms[i].op),
            .key = msim_meeting_key(t, &t->comms[i], msim_job_traced(job)),
            .comm = i,
            .peer = ends.from == t->rank ? ends.to : ends.from};
    }
    qsort(m->all, m->n, sizeof(*m->all), by_moment);
    return number(m);
}

static uint32_t place_of(const struct messages *m, const struct message *x)
{
    return msim_idmap_get(&m->places, nth_key(x->key, x->nth));
}

/* Does the other rank of both, too, have `a` before `b`? */
static enum msim_status same_order(const struct msim_job *job,
                                   struct messages *of, const struct message *a,
                                   const struct message *b, bool *same)
{
    uint32_t r = 0, first, second;

    *same = false;
    while (r < job->n_ranks && job->ranks[r]->rank != a->peer)
        r++;
    if (r == job->n_ranks)
        return MSIM_OK;
    MSIM_TRY(find(job, r, &of[r]));
    first = place_of(&of[r], a);
    second = place_of(&of[r], b);
    *same = first != MSIM_NONE && second != MSIM_NONE && first < second;
    return MSIM_OK;
}

/* Of the last message with a peer in a group, and of the last one way. */
struct lasts {
    struct msim_idmap of_peer, of_key;
};

static enum msim_status put_behind(const struct msim_job *job, uint32_t rank,
                                   struct messages *of, struct lasts *last,
                                   uint32_t i, uint32_t *behind)
{
    const struct message *m = &of[rank].all[i];
    uint64_t pair =
        msim_idmap_pair(m->peer, job->ranks[rank]->comms[m->comm].group);
    uint32_t *peer, *key, before;
    bool same = false;

    MSIM_TRY(msim_idmap_put(&last->of_key, m->key, MSIM_NONE, &key));
    before = *key;
    *key = i;
    MSIM_TRY(msim_idmap_put(&last->of_peer, pair, MSIM_NONE, &peer));
    if (*peer != MSIM_NONE && *peer != before) {
        MSIM_TRY(same_order(job, of, &of[rank].all[*peer], m, &same));
        if (same)
            before = *peer;
    }
    *peer = i;
    behind[m->comm] =
        before == MSIM_NONE ? MSIM_NONE : of[rank].all[before].comm;
    return MSIM_OK;
}

enum msim_status msim_graph_message_order(const struct msim_job *job,
                                          uint32_t rank, uint32_t *behind)
{
    struct messages *of = calloc(job->n_ranks, sizeof(*of));
    struct lasts last = {0};
    enum msim_status status = of ? find(job, rank, &of[rank]) : MSIM_ENOMEM;

    for (uint32_t i = 0; i < job->ranks[rank]->n_comms; i++)
        behind[i] = MSIM_NONE;
    for (uint32_t i = 0; status == MSIM_OK && i < of[rank].n; i++)
        status = put_behind(job, rank, of, &last, i, behind);
    for (uint32_t r = 0; of && r < job->n_ranks; r++) {
        free(of[r].all);
        msim_idmap_release(&of[r].places);
    }
    msim_idmap_release(&last.of_peer);
    msim_idmap_release(&last.of_key);
    free(of);
    return status;
}
