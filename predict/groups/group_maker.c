/*
 * predict/groups/group_maker.c - the groups of all tasks, and families.
 */
#include "predict/groups/group_maker.h"

#include "core/work/kernel/infer.h"
#include "core/work/opmap/opmap.h"

#include <stdlib.h>
#include <string.h>

/* ---- families ------------------------------------------------------------ */

static bool is_gpu(const struct msim_graph *g, uint32_t task)
{
    return g->kind[task] >= MSIM_TASK_KERNEL && g->kind[task] <= MSIM_TASK_COMM;
}

/* Of a task that the trace has no event of: its work is known. */
static uint8_t planned_family(const struct msim_group_maker *m, uint32_t task)
{
    const struct msim_task_ref *ref = &m->g->refs[task];
    const struct msim_work *works;
    uint32_t n;

    (void)msim_works_of(m->opt->works[ref->rank], ref->op, &works, &n);
    return ref->work < n ? (uint8_t)works[ref->work].family
                         : (uint8_t)MSIM_FAMILY_BOUND;
}

static uint8_t event_family(const struct msim_trace *t, uint32_t event,
                            uint8_t by_operator)
{
    const struct msim_gpu *e = &t->gpu[event];

    if (by_operator != MSIM_FAMILY_BOUND || e->kind != MSIM_GPU_KERNEL)
        return by_operator;
    return (uint8_t)msim_kernel_family(msim_trace_text(t, e->name));
}

/* The families of all events of every rank. */
static enum msim_status find_events(const struct msim_group_maker *m,
                                    uint8_t **of)
{
    const struct msim_job *job = m->g->job;

    for (uint32_t r = 0; r < job->n_ranks; r++) {
        of[r] = malloc((size_t)job->ranks[r]->n_gpu + 1);
        if (!of[r])
            return MSIM_ENOMEM;
        msim_gpu_families(m->opt->works[r], of[r]);
    }
    return MSIM_OK;
}

static void set_families(const struct msim_group_maker *m, uint8_t *const *of)
{
    const struct msim_graph *g = m->g;

    for (uint32_t i = 0; i < g->n_tasks; i++) {
        const struct msim_task_ref *ref = &g->refs[i];

        m->out->family[i] =
            !is_gpu(g, i) ? MSIM_NO_GROUP
            : ref->index == MSIM_NONE
                ? planned_family(m, i)
                : event_family(g->job->ranks[ref->rank], ref->index,
                               of[ref->rank][ref->index]);
    }
}

enum msim_status msim_group_families(const struct msim_group_maker *m)
{
    uint32_t n = m->g->job->n_ranks;
    uint8_t **of = calloc((size_t)n + 1, sizeof(*of));
    enum msim_status status = of ? find_events(m, of) : MSIM_ENOMEM;

    if (status == MSIM_OK)
        set_families(m, of);
    for (uint32_t r = 0; of && r < n; r++)
        free(of[r]);
    free(of);
    return status;
}

/* ---- all ----------------------------------------------------------------- */

static enum msim_status allocate(struct msim_task_groups *t, uint32_t n_tasks)
{
    size_t n = (size_t)n_tasks + 1;

    t->family = malloc(n);
    t->link = malloc(n);
    t->part = malloc(n);
    return t->family && t->link && t->part ? MSIM_OK : MSIM_ENOMEM;
}

static enum msim_status make(const struct msim_group_maker *m)
{
    MSIM_TRY(allocate(m->out, m->g->n_tasks));
    MSIM_TRY(msim_group_families(m));
    MSIM_TRY(msim_group_links(m));
    return msim_group_host_parts(m);
}

enum msim_status
msim_task_groups_new(struct msim_task_groups **out, const struct msim_graph *g,
                     const struct msim_task_groups_options *opt)
{
    struct msim_group_maker m = {.g = g, .opt = opt};
    enum msim_status status = MSIM_ENOMEM;

    *out = NULL;
    m.out = calloc(1, sizeof(*m.out));
    if (m.out)
        status = make(&m);
    if (status == MSIM_OK)
        *out = m.out;
    else
        msim_task_groups_free(m.out);
    return status;
}

enum msim_status msim_task_groups_overlaid(struct msim_task_groups **out,
                                           const struct msim_task_groups *base,
                                           uint32_t n_base,
                                           const uint8_t *made_by,
                                           const uint32_t *from, uint32_t n)
{
    struct msim_task_groups *t = calloc(1, sizeof(*t));

    *out = NULL;
    if (!t || allocate(t, n) != MSIM_OK) {
        msim_task_groups_free(t);
        return MSIM_ENOMEM;
    }
    for (uint32_t i = 0; i < n; i++) {
        bool there = from[i] < n_base;

        t->family[i] = there                            ? base->family[from[i]]
                       : made_by[i] < MSIM_FAMILY_COUNT ? made_by[i]
                                                        : MSIM_NO_GROUP;
        t->link[i] = there ? base->link[from[i]] : MSIM_NO_GROUP;
        t->part[i] = there ? base->part[from[i]] : MSIM_NO_GROUP;
    }
    *out = t;
    return MSIM_OK;
}

void msim_task_groups_free(struct msim_task_groups *t)
{
    if (!t)
        return;
    free(t->family);
    free(t->link);
    free(t->part);
    free(t);
}
