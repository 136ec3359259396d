/*
 * core/report/analyse/analysis_comm.c - collectives and stragglers: how far
 * apart ranks arrive, which is last, and how long the others wait for it.
 */
#include "core/base/containers.h"
#include "core/base/hash.h"
#include "core/report/analyse/analysis_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One call: its ranks' arrivals. */
struct meeting {
    uint32_t row, ranks, last_rank;
    uint32_t calls; /* 1; where no rank meets another, of all that are alike */
    msim_ps first, last;
    msim_ps base, sum; /* one arrival; sum of all arrivals after it */
};

/* All calls of one collective, size and group, which is its ranks. */
struct row {
    const struct msim_comm *comm; /* of the first call */
    const struct msim_trace *trace;
    uint64_t bytes;
    uint32_t ranks, calls, met; /* met: calls with more than one rank */
    msim_ps transfer, wait, skew, skew_max;
};

struct comms {
    const struct msim_findings *f;
    struct msim_idmap row_of, meeting_of; /* by key; by join's task */
    struct row *rows;
    uint32_t n_rows, cap_rows;
    struct meeting *meetings;
    uint32_t n_meetings, cap_meetings;
    uint32_t *last_in;    /* row by row, one a rank */
    uint32_t *rank_last;  /* one a rank */
    msim_ps *rank_caused; /* one a rank */
};

/* The collective that a transfer or an arrival belongs to, or NULL. */
static const struct msim_comm *comm_of(const struct msim_graph *g,
                                       uint32_t task)
{
    const struct msim_task_ref *ref = &g->refs[task];
    const struct msim_trace *t = g->job->ranks[ref->rank];
    uint32_t comm = MSIM_NONE;

    if (ref->index != MSIM_NONE)
        comm = t->gpu[ref->index].comm;
    else if (ref->op != MSIM_NONE)
        comm = t->ops[ref->op].comm;
    return comm == MSIM_NONE ? NULL : &t->comms[comm];
}

static uint64_t bytes_of(const struct msim_comm *c)
{
    uint64_t n = c->in_elems > c->out_elems ? c->in_elems : c->out_elems;

    return n * msim_dtype_bytes((enum msim_dtype)c->dtype);
}

static const struct msim_group *group_of(const struct msim_trace *t,
                                         const struct msim_comm *c)
{
    return c->group == MSIM_NONE ? NULL : &t->groups[c->group];
}

static uint64_t key_of(const struct msim_trace *t, const struct msim_comm *c)
{
    const struct msim_group *g = group_of(t, c);
    uint64_t group = g ? (uint64_t)g->name << 32 | g->size : 0;
    int64_t what = msim_idmap_pair(c->collective, (int64_t)bytes_of(c));

    /* Groups of one name may be of other ranks. */
    if (g && g->count)
        group =
            msim_hash_bytes(group ^ MSIM_HASH_START, &t->group_ranks[g->first],
                            g->count * sizeof(*t->group_ranks));

    return msim_idmap_pair((int64_t)group, what);
}

static enum msim_status find_row(struct comms *a, uint32_t task,
                                 const struct msim_comm *c, uint32_t *row)
{
    const struct msim_graph *g = a->f->g;
    const struct msim_trace *t = g->job->ranks[g->refs[task].rank];
    uint32_t *slot;

    MSIM_TRY(msim_idmap_put(&a->row_of, key_of(t, c), a->n_rows, &slot));
    *row = *slot;
    if (*slot < a->n_rows)
        return MSIM_OK;
    MSIM_TRY(msim_grow((void **)&a->rows, &a->cap_rows, a->n_rows,
                       sizeof(*a->rows)));
    a->rows[a->n_rows++] =
        (struct row){.comm = c, .trace = t, .bytes = bytes_of(c), .ranks = 1};
    return MSIM_OK;
}

/* The task in which all have arrived, or NONE where no rank meets another. */
static uint32_t join_of(const struct msim_graph *g, uint32_t arrive)
{
    for (uint32_t i = g->edge_begin[arrive]; i < g->edge_begin[arrive + 1]; i++)
        if (g->kind[g->edges[i].to] == MSIM_TASK_JOIN &&
            g->lane[g->edges[i].to] == MSIM_NONE)
            return g->edges[i].to;
    return MSIM_NONE;
}

/* A rank arrives, and `n` - 1 that are like it. */
static void arrive(struct meeting *m, uint32_t rank, uint32_t n, msim_ps at)
{
    if (!m->ranks || at > m->last) {
        m->last = at;
        m->last_rank = rank;
    }
    m->first = !m->ranks || at < m->first ? at : m->first;
    m->base = m->ranks ? m->base : at;
    m->sum += (at - m->base) * n;
    m->ranks += n;
}

/* A call is named by the first of its ranks. */
static enum msim_status find_meeting(struct comms *a, uint32_t task,
                                     uint32_t join, const struct msim_comm *c,
                                     struct meeting **m)
{
    uint32_t row;
    uint32_t *slot, fresh = a->n_meetings;

    if (join != MSIM_NONE) {
        MSIM_TRY(msim_idmap_put(&a->meeting_of, join, fresh, &slot));
        fresh = *slot;
    }
    if (fresh == a->n_meetings) {
        MSIM_TRY(find_row(a, task, c, &row));
        MSIM_TRY(msim_grow((void **)&a->meetings, &a->cap_meetings,
                           a->n_meetings, sizeof(*a->meetings)));
        a->meetings[a->n_meetings++] = (struct meeting){.row = row, .calls = 1};
    }
    *m = &a->meetings[fresh];
    return MSIM_OK;
}

static enum msim_status add_transfer(struct comms *a, uint32_t task)
{
    const struct msim_graph *g = a->f->g;
    const struct msim_run *run = &a->f->o->mid;
    const struct msim_comm *c = comm_of(g, task);
    uint32_t from = msim_arrival(g, task), rank = g->refs[task].rank;
    uint32_t n = msim_job_alike(g->job, rank);
    uint32_t join = join_of(g, from);
    struct meeting *m;

    if (!c)
        return MSIM_OK;
    MSIM_TRY(find_meeting(a, from, join, c, &m));
    m->calls = join == MSIM_NONE ? n : 1;
    arrive(m, rank, join == MSIM_NONE ? 1 : n, run->start[from]);
    a->rows[m->row].transfer += run->dur[task] * n;
    a->rows[m->row].wait += (run->start[task] - run->start[from]) * n;
    return MSIM_OK;
}

static void add_meeting(struct comms *a, const struct meeting *m)
{
    uint32_t n_ranks = a->f->g->job->n_ranks;
    struct row *row = &a->rows[m->row];

    row->calls += m->calls;
    row->ranks = m->ranks > row->ranks ? m->ranks : row->ranks;
    if (m->ranks < 2)
        return;
    row->met++;
    row->skew += m->last - m->first;
    if (m->last - m->first > row->skew_max)
        row->skew_max = m->last - m->first;
    if (m->last == m->first) /* nobody is waited for */
        return;
    a->last_in[(size_t)m->row * n_ranks + m->last_rank]++;
    a->rank_last[m->last_rank]++;
    a->rank_caused[m->last_rank] += (m->last - m->base) * m->ranks - m->sum;
}

static enum msim_status collect(struct comms *a)
{
    const struct msim_graph *g = a->f->g;
    uint32_t n_ranks = g->job->n_ranks;

    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (g->kind[t] == MSIM_TASK_COMM &&
            msim_window_selected(g, g->window[t], a->f->iteration))
            MSIM_TRY(add_transfer(a, t));
    a->last_in = calloc((size_t)a->n_rows * n_ranks + 1, sizeof(*a->last_in));
    a->rank_last = calloc((size_t)n_ranks + 1, sizeof(*a->rank_last));
    a->rank_caused = calloc((size_t)n_ranks + 1, sizeof(*a->rank_caused));
    if (!a->last_in || !a->rank_last || !a->rank_caused)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < a->n_meetings; i++)
        add_meeting(a, &a->meetings[i]);
    return MSIM_OK;
}

/* ---- rows --------------------------------------------------------------- */

static int64_t most_often_last(const struct comms *a, uint32_t row)
{
    const struct msim_job *job = a->f->g->job;
    const uint32_t *last_in = a->last_in + (size_t)row * job->n_ranks;
    uint32_t best = 0;

    for (uint32_t r = 1; r < job->n_ranks; r++)
        if (last_in[r] > last_in[best])
            best = r;
    return last_in[best] ? job->ranks[best]->rank : -1;
}

static struct msim_collective_row finish(const struct comms *a, uint32_t i)
{
    const struct row *r = &a->rows[i];
    const struct msim_group *g = group_of(r->trace, r->comm);
    double n = msim_findings_windows(a->f, UINT32_MAX);

    return (struct msim_collective_row){
        .name = msim_collective_text((enum msim_collective)r->comm->collective),
        .group = g ? msim_trace_text(r->trace, g->name) : NULL,
        .bytes = r->bytes ? (double)r->bytes : (double)NAN, /* not recorded */
        .ranks = r->ranks,
        .calls = r->calls / n,
        .transfer_us = msim_us(r->transfer) / r->ranks / n,
        .wait_us = msim_us(r->wait) / r->ranks / n,
        .skew_mean_us = r->met ? msim_us(r->skew) / r->met : (double)NAN,
        .skew_max_us = r->met ? msim_us(r->skew_max) : (double)NAN,
        .last_rank = most_often_last(a, i),
    };
}

static int by_wait(const void *a, const void *b)
{
    const struct msim_collective_row *x = a, *y = b;
    double dx = x->wait_us + x->transfer_us, dy = y->wait_us + y->transfer_us;

    if (dx != dy)
        return MSIM_ORDER(dy, dx);
    if (x->bytes > y->bytes || x->bytes < y->bytes)
        return MSIM_ORDER(y->bytes, x->bytes);
    return strcmp(x->name, y->name);
}

static enum msim_status collective_rows(const struct comms *a)
{
    struct msim_prediction *p = a->f->p;

    p->collectives = msim_arena_alloc(&p->arena, ((size_t)a->n_rows + 1) *
                                                     sizeof(*p->collectives));
    if (!p->collectives)
        return MSIM_ENOMEM;
    for (; p->n_collectives < a->n_rows; p->n_collectives++)
        p->collectives[p->n_collectives] = finish(a, p->n_collectives);
    if (p->n_collectives)
        qsort(p->collectives, p->n_collectives, sizeof(*p->collectives),
              by_wait);
    return MSIM_OK;
}

static int by_caused(const void *a, const void *b)
{
    const struct msim_straggler_row *x = a, *y = b;

    if (x->wait_caused_us != y->wait_caused_us)
        return MSIM_ORDER(y->wait_caused_us, x->wait_caused_us);
    return MSIM_ORDER(x->rank, y->rank);
}

static enum msim_status straggler_rows(const struct comms *a)
{
    struct msim_prediction *p = a->f->p;
    const struct msim_job *job = a->f->g->job;
    double n = msim_findings_windows(a->f, UINT32_MAX);

    p->stragglers = msim_arena_alloc(&p->arena, ((size_t)job->n_ranks + 1) *
                                                    sizeof(*p->stragglers));
    if (!p->stragglers)
        return MSIM_ENOMEM;
    for (uint32_t r = 0; r < job->n_ranks; r++)
        if (a->rank_last[r])
            p->stragglers[p->n_stragglers++] = (struct msim_straggler_row){
                .rank = job->ranks[r]->rank,
                .last_in = a->rank_last[r] / n,
                .wait_caused_us = msim_us(a->rank_caused[r]) / n};
    if (p->n_stragglers)
        qsort(p->stragglers, p->n_stragglers, sizeof(*p->stragglers),
              by_caused);
    return MSIM_OK;
}

enum msim_status msim_analyse_comm(const struct msim_findings *f)
{
    struct comms a = {.f = f};
    enum msim_status status = collect(&a);

    if (status == MSIM_OK)
        status = collective_rows(&a);
    if (status == MSIM_OK)
        status = straggler_rows(&a);
    msim_idmap_release(&a.row_of);
    msim_idmap_release(&a.meeting_of);
    free(a.rows);
    free(a.meetings);
    free(a.last_in);
    free(a.rank_last);
    free(a.rank_caused);
    return status;
}
