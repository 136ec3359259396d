/*
 * predict/groups/group_links.c - the links that transfers and copies go over.
 *
 * A collective whose ranks are on several nodes is bound by what joins the
 * nodes, which is slower than what joins the GPUs of one. Where the ranks are
 * is what prices collectives, too: msim_comm_place().
 */
#include "core/work/rules/opmap_rule.h"
#include "predict/groups/group_maker.h"

#include <stdlib.h>
#include <string.h>

#define NOT_ASKED ((uint8_t)254)

/* The links of the groups of one rank, once asked; the last is of no group. */
struct asked {
    const struct msim_group_maker *m;
    const struct msim_trace *t;
    uint8_t *of;
};

static uint8_t over_nodes(const struct asked *a, uint32_t comm,
                          struct msim_work w)
{
    const struct msim_task_groups_options *opt = a->m->opt;

    if (opt->ranks)
        w = msim_comm_grow(w, a->t, comm, a->m->g->job->n_ranks, opt->ranks);
    msim_comm_place(&w, a->t, comm, opt->gpus_a_node);
    return w.u.coll.nodes > 1 ? MSIM_LINK_NETWORK : MSIM_LINK_NODE;
}

/* Messages have two ranks, whatever their group has. */
static bool is_message(const struct msim_comm *m)
{
    return m->collective == MSIM_COLL_SEND || m->collective == MSIM_COLL_RECV;
}

static uint8_t comm_link(const struct asked *a, uint32_t comm, const char *name)
{
    const struct msim_comm *m = comm == MSIM_NONE ? NULL : &a->t->comms[comm];
    uint8_t *known;

    if (!m)
        return over_nodes(a, comm, msim_comm_work_by_name(a->t, name));
    if (is_message(m))
        return over_nodes(a, comm, msim_comm_work(a->t, comm));
    known = &a->of[m->group == MSIM_NONE ? a->t->n_groups : m->group];
    if (*known == NOT_ASKED)
        *known = over_nodes(a, comm, msim_comm_work(a->t, comm));
    return *known;
}

static uint8_t copy_link(enum msim_copy_kind kind)
{
    switch (kind) {
    case MSIM_COPY_H2D:
        return MSIM_LINK_H2D;
    case MSIM_COPY_D2H:
        return MSIM_LINK_D2H;
    case MSIM_COPY_P2P:
        return MSIM_LINK_P2P;
    case MSIM_COPY_D2D:
    case MSIM_COPY_UNKNOWN: /* memsets */
        break;
    }
    return MSIM_LINK_D2D;
}

/* Of a task that the trace has no event of. */
static uint8_t planned_link(const struct asked *a, uint32_t task)
{
    const struct msim_task_ref *ref = &a->m->g->refs[task];
    const struct msim_work *works;
    uint32_t n;

    if (a->m->g->kind[task] == MSIM_TASK_COMM)
        return comm_link(a, a->t->ops[ref->op].comm,
                         msim_trace_text(a->t, a->t->ops[ref->op].name));
    (void)msim_works_of(a->m->opt->works[ref->rank], ref->op, &works, &n);
    return copy_link(ref->work < n ? works[ref->work].u.vector.copy
                                   : MSIM_COPY_UNKNOWN);
}

static uint8_t link_of(const struct asked *a, uint32_t task)
{
    uint32_t index = a->m->g->refs[task].index;
    const struct msim_gpu *e;

    if (a->m->g->kind[task] != MSIM_TASK_COMM &&
        a->m->g->kind[task] != MSIM_TASK_COPY)
        return MSIM_NO_GROUP;
    if (index == MSIM_NONE)
        return planned_link(a, task);
    e = &a->t->gpu[index];
    return e->kind == MSIM_GPU_COMM
               ? comm_link(a, e->comm, msim_trace_text(a->t, e->name))
               : copy_link((enum msim_copy_kind)e->copy_kind);
}

static enum msim_status set_rank(const struct msim_group_maker *m, uint32_t r)
{
    struct asked a = {.m = m, .t = m->g->job->ranks[r]};

    a.of = malloc((size_t)a.t->n_groups + 1);
    if (!a.of)
        return MSIM_ENOMEM;
    memset(a.of, NOT_ASKED, (size_t)a.t->n_groups + 1);
    for (uint32_t i = 0; i < m->g->n_tasks; i++)
        if (m->g->refs[i].rank == r)
            m->out->link[i] = link_of(&a, i);
    free(a.of);
    return MSIM_OK;
}

enum msim_status msim_group_links(const struct msim_group_maker *m)
{
    for (uint32_t r = 0; r < m->g->job->n_ranks; r++)
        MSIM_TRY(set_rank(m, r));
    return MSIM_OK;
}
