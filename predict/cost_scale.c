/*
 * predict/cost_scale.c - `--scale`: durations made longer or shorter by hand.
 */
#include "core/graph/graph.h"
#include "core/report/write/report.h"
#include "predict/predict_internal.h"

#include <stdlib.h>
#include <string.h>

/* The name that reports give a task's work: the topmost operator's, or the
 * kernel's own without one; 0: none. */
static uint32_t row_name(const struct msim_graph *g, uint32_t task)
{
    uint32_t name = msim_task_topmost(g, task);

    return name || g->kind[task] < MSIM_TASK_KERNEL
               ? name
               : msim_task_own_name(g, task);
}

/* What a selection makes of each name (a string's number), once it was asked.
 */
struct matches {
    const struct msim_scale *scale;
    const struct msim_costs *costs;
    const struct msim_graph *g;
    uint8_t *of; /* by string, or by lane: 0: not asked yet, 1: no, 2: yes */
};

static enum msim_status matches_init(struct matches *m,
                                     const struct msim_scale *s,
                                     const struct msim_costs *c,
                                     const struct msim_graph *g)
{
    size_t n = s->select == MSIM_SELECT_STREAM
                   ? g->n_lanes
                   : msim_strtab_count(g->job->strings);

    *m = (struct matches){.scale = s, .costs = c, .g = g};
    if (!msim_scale_is_pattern(s))
        return MSIM_OK;
    m->of = calloc(n + 1, 1);
    return m->of ? MSIM_OK : MSIM_ENOMEM;
}

/* By its full name, or as reports show it. */
static bool matches(const struct matches *m, uint32_t name)
{
    const char *text = msim_strtab_text(m->g->job->strings, name);
    char shown[1024];

    if (!m->of[name]) {
        msim_format_op(shown, sizeof(shown), text, sizeof(shown) - 1);
        m->of[name] = msim_scale_matches(m->scale, text) ||
                              msim_scale_matches(m->scale, shown)
                          ? 2
                          : 1;
    }
    return m->of[name] == 2;
}

static bool is_gpu(enum msim_task_kind kind)
{
    return kind >= MSIM_TASK_KERNEL && kind <= MSIM_TASK_COMM;
}

static bool on_stream(const struct matches *m, uint32_t task)
{
    uint32_t lane = m->g->lane[task];
    char id[MSIM_LANE_NAME];

    if (lane == MSIM_NONE || !m->g->lanes[lane].device)
        return false;
    if (!m->of[lane]) {
        msim_stream_id(id, m->g, lane);
        m->of[lane] = msim_scale_matches(m->scale, id) ? 2 : 1;
    }
    return m->of[lane] == 2;
}

uint8_t msim_costs_family(const struct msim_costs *c, uint32_t task)
{
    if (!c->groups || c->groups->family[task] == MSIM_NO_GROUP)
        return MSIM_NO_GROUP;
    return c->made_by[task] < MSIM_FAMILY_BOUND ? c->made_by[task]
                                                : c->groups->family[task];
}

/* In the group that is asked for. */
static bool in_group(const struct matches *m, uint32_t task)
{
    const struct msim_task_groups *of = m->costs->groups;

    switch (m->scale->select) {
    case MSIM_SELECT_FAMILY:
        return msim_costs_family(m->costs, task) == m->scale->group;
    case MSIM_SELECT_LINK:
        return of && of->link[task] == m->scale->group;
    case MSIM_SELECT_HOST_PART:
        return of && of->part[task] == m->scale->group;
    default:
        return false;
    }
}

static bool selects(const struct matches *m, uint32_t task)
{
    const struct msim_graph *g = m->g;
    enum msim_task_kind kind = (enum msim_task_kind)g->kind[task];

    if (m->scale->one_rank &&
        g->job->ranks[g->refs[task].rank]->rank != m->scale->rank)
        return false;
    switch (m->scale->select) {
    case MSIM_SELECT_KERNELS:
        return kind == MSIM_TASK_KERNEL;
    case MSIM_SELECT_COMMUNICATION:
        return kind == MSIM_TASK_COMM;
    case MSIM_SELECT_COPIES:
        return kind == MSIM_TASK_COPY;
    case MSIM_SELECT_HOST:
        return kind <= MSIM_TASK_CALL;
    case MSIM_SELECT_OP:
        return is_gpu(kind) && matches(m, row_name(g, task));
    case MSIM_SELECT_HOST_OP:
        return kind <= MSIM_TASK_CALL && matches(m, row_name(g, task));
    case MSIM_SELECT_STREAM:
        return is_gpu(kind) && on_stream(m, task);
    case MSIM_SELECT_FAMILY:
    case MSIM_SELECT_LINK:
    case MSIM_SELECT_HOST_PART:
        return in_group(m, task);
    }
    return false;
}

static enum msim_status scale(struct msim_costs *c, const struct msim_graph *g,
                              const struct msim_scale *s)
{
    struct matches m;

    MSIM_TRY(matches_init(&m, s, c, g));
    for (uint32_t i = 0; i < g->n_tasks; i++) {
        if (!selects(&m, i))
            continue;
        c->mid[i] = msim_costing_times(c->mid[i], s->factor);
        c->low[i] = msim_costing_times(c->low[i], s->factor);
        c->high[i] = msim_costing_times(c->high[i], s->factor);
        c->removed[i] |=
            s->factor == 0 && is_gpu((enum msim_task_kind)g->kind[i]);
    }
    free(m.of);
    return MSIM_OK;
}

enum msim_status msim_scale_time(msim_ps *time, const struct msim_scale *s,
                                 const struct msim_costs *c,
                                 const struct msim_graph *g)
{
    struct matches m;

    *time = 0;
    MSIM_TRY(matches_init(&m, s, c, g));
    for (uint32_t i = 0; i < g->n_tasks; i++)
        *time += selects(&m, i) ? c->mid[i] : 0;
    free(m.of);
    return MSIM_OK;
}

enum msim_status msim_scale_times(msim_ps *by_rank, const struct msim_scale *s,
                                  const struct msim_costs *c,
                                  const struct msim_graph *g)
{
    struct matches m;

    memset(by_rank, 0, g->job->n_ranks * sizeof(*by_rank));
    MSIM_TRY(matches_init(&m, s, c, g));
    for (uint32_t i = 0; i < g->n_tasks; i++)
        if (selects(&m, i))
            by_rank[g->refs[i].rank] += c->mid[i];
    free(m.of);
    return MSIM_OK;
}

enum msim_status msim_scale_marks(uint8_t **marks, const struct msim_scale *s,
                                  const struct msim_costs *c,
                                  const struct msim_graph *g)
{
    struct matches m;

    *marks = calloc((size_t)g->n_tasks + 1, 1);
    if (!*marks || matches_init(&m, s, c, g) != MSIM_OK) {
        free(*marks);
        *marks = NULL;
        return MSIM_ENOMEM;
    }
    for (uint32_t i = 0; i < g->n_tasks; i++)
        (*marks)[i] = selects(&m, i);
    free(m.of);
    return MSIM_OK;
}

enum msim_status msim_scale_count(uint32_t *n, const struct msim_scale *s,
                                  const struct msim_costs *c,
                                  const struct msim_graph *g)
{
    struct matches m;

    *n = 0;
    MSIM_TRY(matches_init(&m, s, c, g));
    for (uint32_t i = 0; i < g->n_tasks; i++)
        *n += selects(&m, i);
    free(m.of);
    return MSIM_OK;
}

/*
 * A collective is not waited for where its transfer, the next task, is removed.
 * A meeting, which is on no lane, holds nobody where all its transfers are
 * removed.
 */
static bool join_is_removed(const struct msim_costs *c,
                            const struct msim_graph *g, uint32_t join)
{
    uint32_t e = g->edge_begin[join], end = g->edge_begin[join + 1];

    if (g->lane[join] != MSIM_NONE)
        return c->removed[join + 1];
    for (; e < end; e++)
        if (!c->removed[g->edges[e].to])
            return false;
    return true;
}

void msim_cost_take_out_joins(struct msim_costs *c, const struct msim_graph *g)
{
    for (uint32_t i = 0; i < g->n_tasks; i++)
        if (g->kind[i] == MSIM_TASK_JOIN)
            c->removed[i] = join_is_removed(c, g, i);
}

enum msim_status msim_cost_scale(struct msim_costs *c,
                                 const struct msim_graph *g,
                                 const struct msim_scale *scales, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        MSIM_TRY(scale(c, g, &scales[i]));
    if (n)
        msim_cost_take_out_joins(c, g);
    return MSIM_OK;
}
