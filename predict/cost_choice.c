/*
 * predict/cost_choice.c - a part of the run: what is not chosen is removed.
 */
#include "predict/predict_internal.h"

#include <stdlib.h>

struct choosing {
    const struct msim_graph *g;
    const struct msim_choice *choice;
    uint8_t **marks; /* one a rank, of its ops */
};

static void release(struct choosing *k)
{
    for (uint32_t i = 0; k->marks && i < k->g->job->n_ranks; i++)
        free(k->marks[i]);
    free(k->marks);
}

static enum msim_status init(struct choosing *k, const struct msim_graph *g,
                             const struct msim_choice *choice)
{
    const struct msim_job *job = g->job;
    enum msim_status status = MSIM_OK;

    *k = (struct choosing){.g = g, .choice = choice};
    k->marks = calloc((size_t)job->n_ranks + 1, sizeof(*k->marks));
    if (!k->marks)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; status == MSIM_OK && i < job->n_ranks; i++)
        status = msim_choice_marks(&k->marks[i], choice, job->ranks[i]);
    if (status != MSIM_OK)
        release(k);
    return status;
}

/* What a GPU does is counted by reports as one of three, whoever launched it:
 * parts must add up to what they count. */
static enum msim_choice_kind kind_of(enum msim_task_kind kind, uint8_t marks)
{
    switch (kind) {
    case MSIM_TASK_KERNEL:
        return MSIM_CHOICE_COMPUTE;
    case MSIM_TASK_COPY:
        return MSIM_CHOICE_COPIES;
    case MSIM_TASK_COMM:
        return MSIM_CHOICE_COMMUNICATION;
    case MSIM_TASK_HOST:
    case MSIM_TASK_GAP:
    case MSIM_TASK_CALL:
    case MSIM_TASK_JOIN:
        break;
    }
    return msim_choice_kind_of(marks);
}

static bool takes(const struct choosing *k, uint32_t task, uint32_t op)
{
    uint8_t marks = op == MSIM_NONE ? 0 : k->marks[k->g->refs[task].rank][op];

    return msim_choice_takes(
        k->choice, marks,
        kind_of((enum msim_task_kind)k->g->kind[task], marks));
}

/* A share of a task. */
struct share {
    uint32_t chosen, of;
};

/* Of the operators that a stretch of the host begins or is in; other tasks
 * have one. */
static struct share share_of(const struct choosing *k, uint32_t task)
{
    const struct msim_task_ref *ref = &k->g->refs[task];
    bool stretch = k->g->kind[task] == MSIM_TASK_HOST;
    struct share s = {0, 0};

    for (uint32_t i = ref->index; stretch && i < ref->op_end; i++, s.of++)
        s.chosen += takes(k, task, i);
    if (s.of && ref->op >= ref->index && ref->op < ref->op_end)
        return s;
    s.chosen += takes(k, task, msim_graph_around(k->g, task));
    s.of++;
    return s;
}

/* Rounded up: parts are never less than the whole. */
static msim_ps part(msim_ps dur, struct share s)
{
    return dur / s.of * s.chosen + (dur % s.of * s.chosen + s.of - 1) / s.of;
}

static void keep(struct msim_costs *c, uint32_t task, struct share s)
{
    c->mid[task] = part(c->mid[task], s);
    c->low[task] = part(c->low[task], s);
    c->high[task] = part(c->high[task], s);
    c->removed[task] |= !s.chosen;
}

static bool begins_host(const struct msim_graph *g,
                        const struct msim_release *r)
{
    return g->kind[r->task] < MSIM_TASK_KERNEL && !r->external &&
           r->at != MSIM_TIME_NONE;
}

/* When a rank begins is no work of a part: its peers wait for it in all of
 * them. */
static enum msim_status keep_begins(struct msim_costs *c,
                                    const struct msim_graph *g)
{
    uint32_t n = g->job->n_ranks;
    msim_ps *begin = malloc(((size_t)n + 1) * sizeof(*begin));

    if (!begin)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        begin[i] = INT64_MAX;
    for (uint32_t i = 0; i < g->n_releases; i++) {
        const struct msim_release *r = &g->releases[i];
        msim_ps *own = &begin[g->refs[r->task].rank];

        if (begins_host(g, r) && r->at < *own)
            *own = r->at;
    }
    for (uint32_t i = 0; i < g->n_releases; i++) {
        const struct msim_release *r = &g->releases[i];

        if (begins_host(g, r) && r->at == begin[g->refs[r->task].rank])
            c->removed[r->task] = 0;
    }
    free(begin);
    return MSIM_OK;
}

enum msim_status msim_costs_choose(struct msim_costs *c,
                                   const struct msim_graph *g,
                                   const struct msim_choice *choice)
{
    struct choosing k;
    enum msim_status status;

    if (msim_choice_is_all(choice))
        return MSIM_OK;
    MSIM_TRY(init(&k, g, choice));
    for (uint32_t i = 0; i < g->n_tasks; i++)
        if (g->kind[i] != MSIM_TASK_JOIN)
            keep(c, i, share_of(&k, i));
    release(&k);
    status = keep_begins(c, g);
    msim_cost_take_out_joins(c, g);
    return status;
}

enum msim_status msim_choice_count(uint32_t *n,
                                   const struct msim_choice *choice,
                                   const struct msim_graph *g)
{
    struct choosing k;

    *n = 0;
    MSIM_TRY(init(&k, g, choice));
    for (uint32_t i = 0; i < g->n_tasks; i++)
        *n += g->kind[i] != MSIM_TASK_JOIN && share_of(&k, i).chosen;
    release(&k);
    return MSIM_OK;
}
