/*
 * predict/edit/remake.c - a basis while one edit is made.
 */
#include "predict/edit/edit_internal.h"

#include "core/base/containers.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the graph says backwards --------------------------------------- */

static enum msim_status find_causes(struct msim_remake *d)
{
    const struct msim_graph *g = d->g;
    uint32_t *at;

    d->cause_begin = calloc((size_t)g->n_tasks + 2, sizeof(*d->cause_begin));
    d->causes = malloc(((size_t)g->n_edges + 1) * sizeof(*d->causes));
    if (!d->cause_begin || !d->causes)
        return MSIM_ENOMEM;
    at = d->cause_begin + 1; /* shifted: filling leaves cause_begin[t] right */
    for (uint32_t e = 0; e < g->n_edges; e++)
        at[g->edges[e].to + 1]++;
    for (uint32_t t = 1; t <= g->n_tasks; t++)
        at[t] += at[t - 1];
    for (uint32_t t = 0; t < g->n_tasks; t++)
        for (uint32_t e = g->edge_begin[t]; e < g->edge_begin[t + 1]; e++)
            d->causes[at[g->edges[e].to]++] = (struct msim_remake_cause){t, e};
    return MSIM_OK;
}

/* The stream of each rank that has most kernels. */
static enum msim_status find_main_lanes(struct msim_remake *d)
{
    const struct msim_graph *g = d->g;
    uint32_t *kernels = calloc((size_t)g->n_lanes + 1, sizeof(*kernels));

    d->main_lane = malloc(((size_t)g->job->n_ranks + 1) * sizeof(uint32_t));
    if (!kernels || !d->main_lane) {
        free(kernels);
        return MSIM_ENOMEM;
    }
    memset(d->main_lane, 0xff, g->job->n_ranks * sizeof(uint32_t));
    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (g->kind[t] == MSIM_TASK_KERNEL && g->lane[t] != MSIM_NONE)
            kernels[g->lane[t]]++;
    for (uint32_t l = 0; l < g->n_lanes; l++) {
        uint32_t *m = &d->main_lane[g->lanes[l].rank];

        if (kernels[l] && (*m == MSIM_NONE || kernels[l] > kernels[*m]))
            *m = l;
    }
    free(kernels);
    return MSIM_OK;
}

static int by_time(const void *a, const void *b)
{
    const msim_ps *x = a, *y = b;

    return MSIM_ORDER(*x, *y);
}

static bool launches(const struct msim_remake *d, uint32_t task)
{
    for (uint32_t e = d->g->edge_begin[task]; e < d->g->edge_begin[task + 1];
         e++)
        if (msim_edge_kind_of(d->g->edge_kind[e]) == MSIM_EDGE_LAUNCH)
            return true;
    return false;
}

/* What the host does between two launches of a thread, of which half are
 * shorter: what one more operator with one kernel would take. */
static msim_ps host_of(const struct msim_remake *d, uint32_t rank,
                       msim_ps *each)
{
    const struct msim_graph *g = d->g;
    uint32_t n = 0, lane = MSIM_NONE;
    msim_ps sum = 0;

    for (uint32_t t = 0; t < g->n_tasks; t++) {
        if (g->refs[t].rank != rank || g->kind[t] > MSIM_TASK_CALL)
            continue;
        if (g->lane[t] != lane) {
            lane = g->lane[t];
            sum = 0;
        }
        sum += g->kind[t] == MSIM_TASK_GAP ? 0 : d->costs->mid[t];
        if (!launches(d, t))
            continue;
        each[n++] = sum;
        sum = 0;
    }
    if (!n)
        return 0;
    qsort(each, n, sizeof(*each), by_time);
    return each[n / 2];
}

static enum msim_status find_host(struct msim_remake *d)
{
    msim_ps *each = malloc(((size_t)d->g->n_tasks + 1) * sizeof(*each));

    d->host_ps = malloc(((size_t)d->g->job->n_ranks + 1) * sizeof(msim_ps));
    for (uint32_t r = 0; each && d->host_ps && r < d->g->job->n_ranks; r++)
        d->host_ps[r] = host_of(d, r, each);
    free(each);
    return each && d->host_ps ? MSIM_OK : MSIM_ENOMEM;
}

/* ---- begin and end ------------------------------------------------------- */

static enum msim_status find_selected(struct msim_remake *d)
{
    bool any = false;

    if (!d->edit->selects)
        return MSIM_OK;
    MSIM_TRY(msim_scale_marks(&d->selected, &d->edit->select, d->costs, d->g));
    for (uint32_t t = 0; t < d->g->n_tasks && !any; t++)
        any = d->selected[t];
    return any ? MSIM_OK
               : msim_remake_refuse(d, "'%s' selects nothing", d->edit->chosen);
}

enum msim_status msim_remake_init(struct msim_remake *d,
                                  struct msim_costs *costs)
{
    d->costs = costs;
    MSIM_TRY(msim_overlay_init(&d->overlay, d->g));
    MSIM_TRY(find_causes(d));
    MSIM_TRY(find_main_lanes(d));
    MSIM_TRY(find_host(d));
    return find_selected(d);
}

void msim_remake_release(struct msim_remake *d)
{
    msim_overlay_release(&d->overlay);
    msim_costs_free(d->costs);
    msim_platform_free(d->platform);
    free(d->added);
    free(d->selected);
    free(d->cause_begin);
    free(d->causes);
    free(d->main_lane);
    free(d->host_ps);
}

/* The groups of the graph's tasks, where the base's are known. */
static enum msim_status overlay_groups(struct msim_remake *d,
                                       const uint32_t *from,
                                       const struct msim_costs *c, uint32_t n,
                                       struct msim_task_groups **out)
{
    *out = NULL;
    return d->costs->groups
               ? msim_task_groups_overlaid(out, d->costs->groups, d->g->n_tasks,
                                           c->made_by, from, n)
               : MSIM_OK;
}

enum msim_status msim_remake_finish(struct msim_remake *d,
                                    struct msim_graph **g,
                                    struct msim_task_groups **groups,
                                    struct msim_costs **c)
{
    enum msim_status status;
    uint32_t *from;

    *g = NULL;
    *c = NULL;
    *groups = NULL;
    if (msim_overlay_is_empty(&d->overlay)) {
        msim_cost_take_out_joins(d->costs, d->g);
        *c = d->costs;
        d->costs = NULL;
        return MSIM_OK;
    }
    MSIM_TRY(msim_graph_overlaid(g, &from, &d->overlay));
    status = msim_costs_overlaid(c, d->costs, d->g->n_tasks, d->added, from,
                                 (*g)->n_tasks);
    if (status == MSIM_OK)
        status = overlay_groups(d, from, *c, (*g)->n_tasks, groups);
    free(from);
    if (status == MSIM_OK) {
        (*c)->groups = *groups;
        msim_cost_take_out_joins(*c, *g);
        return MSIM_OK;
    }
    msim_costs_free(*c);
    msim_graph_free(*g);
    *c = NULL;
    *g = NULL;
    return status;
}

enum msim_status msim_remake_refuse(struct msim_remake *d, const char *fmt, ...)
{
    char text[200];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return msim_fail(d->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE, "%s", text);
}

/* ---- reading ------------------------------------------------------------- */

uint32_t msim_remake_begin(const struct msim_remake *d, uint32_t task)
{
    const struct msim_graph *g = d->g;

    return g->kind[task] == MSIM_TASK_COMM && task &&
                   g->kind[task - 1] == MSIM_TASK_JOIN &&
                   g->lane[task - 1] == g->lane[task]
               ? task - 1
               : task;
}

uint32_t msim_remake_launcher(const struct msim_remake *d, uint32_t task,
                              msim_ps *lag)
{
    uint32_t begin = msim_remake_begin(d, task);

    for (uint32_t i = d->cause_begin[begin]; i < d->cause_begin[begin + 1];
         i++) {
        uint32_t e = d->causes[i].edge;

        *lag = d->g->edges[e].lag;
        if (msim_edge_kind_of(d->g->edge_kind[e]) == MSIM_EDGE_LAUNCH)
            return d->causes[i].from;
    }
    *lag = 0;
    return MSIM_NONE;
}

static uint32_t call_of(const struct msim_remake *d, uint32_t task)
{
    const struct msim_task_ref *ref = &d->g->refs[task];

    return d->edit->select.select == MSIM_SELECT_OP
               ? msim_op_topmost(d->ranks[ref->rank], ref->op)
               : MSIM_NONE;
}

static bool same_call(const struct msim_remake *d, uint32_t a, uint32_t b)
{
    uint32_t call = call_of(d, a);

    return call != MSIM_NONE && d->g->refs[a].rank == d->g->refs[b].rank &&
           d->g->lane[a] == d->g->lane[b] && call == call_of(d, b);
}

/* The next selected task of the lane, towards the end (1) or the begin (-1). */
static uint32_t neighbour(const struct msim_remake *d, uint32_t task, int step)
{
    for (uint32_t t = task + (uint32_t)step; t < d->g->n_tasks;
         t += (uint32_t)step)
        if (d->g->lane[t] == d->g->lane[task] && msim_remake_is_gpu(d, t))
            return d->selected[t] ? t : MSIM_NONE;
    return MSIM_NONE;
}

uint32_t msim_remake_call_end(const struct msim_remake *d, uint32_t task)
{
    uint32_t next = neighbour(d, task, 1);

    while (next != MSIM_NONE && same_call(d, task, next)) {
        task = next;
        next = neighbour(d, task, 1);
    }
    return task;
}

bool msim_remake_call_begins(const struct msim_remake *d, uint32_t task)
{
    uint32_t before = neighbour(d, task, -1);

    return before == MSIM_NONE || !same_call(d, before, task);
}

/* ---- writing ------------------------------------------------------------- */

enum msim_status msim_remake_add(struct msim_remake *d,
                                 struct msim_overlay_task t,
                                 const struct msim_cost_added *cost,
                                 uint32_t *id)
{
    MSIM_TRY(msim_grow((void **)&d->added, &d->cap_added, d->n_added,
                       sizeof(*d->added)));
    MSIM_TRY(msim_overlay_add(&d->overlay, t, id));
    d->added[d->n_added++] = *cost;
    return MSIM_OK;
}

/* The host works so long before its next launch on the thread of `launcher`,
 * behind that task. */
static enum msim_status add_host(struct msim_remake *d, uint32_t launcher,
                                 msim_ps host, uint32_t *id)
{
    const struct msim_cost_added cost = {.mid = host,
                                         .low = host,
                                         .high = host,
                                         .source = MSIM_SOURCE_MEASURED,
                                         .made_by = MSIM_COST_TRACED};
    const struct msim_overlay_task t = {.at = launcher,
                                        .place = MSIM_OVERLAY_AFTER,
                                        .kind = MSIM_TASK_HOST,
                                        .lane = d->g->lane[launcher],
                                        .op = MSIM_NONE};

    return msim_remake_add(d, t, &cost, id);
}

/* Behind the work that it follows the host launches it after that work's own
 * launch: behind the call. */
static uint32_t launches_behind(const struct msim_remake *d, uint32_t launcher,
                                bool before)
{
    const struct msim_graph *g = d->g;
    uint32_t call = launcher + 1;

    return !before && call < g->n_tasks && g->kind[call] == MSIM_TASK_CALL &&
                   g->lane[call] == g->lane[launcher]
               ? call
               : launcher;
}

enum msim_status msim_remake_insert(struct msim_remake *d,
                                    const struct msim_remake_kernel *k,
                                    uint32_t *id)
{
    uint32_t at = k->before ? msim_remake_begin(d, k->at) : k->at, host;
    msim_ps lag;
    uint32_t launcher = msim_remake_launcher(d, k->at, &lag);
    const struct msim_overlay_task t = {.at = at,
                                        .place = k->before ? MSIM_OVERLAY_BEFORE
                                                           : MSIM_OVERLAY_AFTER,
                                        .kind = MSIM_TASK_KERNEL,
                                        .lane = d->g->lane[at],
                                        .op = k->op,
                                        .name = k->name};

    MSIM_TRY(msim_remake_add(d, t, &k->cost, id));
    if (launcher == MSIM_NONE || k->host <= 0)
        return MSIM_OK;
    launcher = launches_behind(d, launcher, k->before);
    MSIM_TRY(add_host(d, launcher, k->host, &host));
    return msim_overlay_tie(&d->overlay, host, *id, MSIM_EDGE_LAUNCH, lag);
}

void msim_remake_set(struct msim_remake *d, uint32_t task,
                     const struct msim_cost_added *cost)
{
    struct msim_costs *c = d->costs;

    c->mid[task] = cost->mid;
    c->low[task] = cost->low;
    c->high[task] = cost->high;
    c->source[task] = cost->source;
    c->made_by[task] = cost->made_by;
    c->flops[task] = cost->flops;
    c->limits[task] = cost->limits;
}

/* The call that launches, and what operators did on that thread since the
 * launch before: their work led to this one. */
static void remove_launch(struct msim_remake *d, uint32_t task)
{
    const struct msim_graph *g = d->g;
    const struct msim_cost_added none = {.source = MSIM_SOURCE_MEASURED,
                                         .made_by = MSIM_COST_TRACED};
    msim_ps lag;
    uint32_t host = msim_remake_launcher(d, task, &lag), call;

    if (host == MSIM_NONE)
        return;
    call = launches_behind(d, host, false);
    if (call != host)
        msim_remake_set(d, call, &none);
    for (uint32_t t = host; t < g->n_tasks && g->lane[t] == g->lane[host] &&
                            g->kind[t] <= MSIM_TASK_CALL;
         t--) {
        bool led = t == host || !launches(d, t);

        if (!led)
            break;
        if (g->kind[t] == MSIM_TASK_HOST)
            msim_remake_set(d, t, &none);
    }
}

void msim_remake_remove(struct msim_remake *d, uint32_t task, bool launch)
{
    struct msim_cost_added none = {.source = d->costs->source[task],
                                   .made_by = d->costs->made_by[task]};

    msim_remake_set(d, task, &none);
    d->costs->removed[task] = 1;
    if (launch)
        remove_launch(d, task);
}

uint32_t msim_remake_name(struct msim_remake *d, const char *text)
{
    uint32_t id = 0;

    return msim_strtab_add(d->g->job->strings, text, strlen(text), &id) ==
                   MSIM_OK
               ? id
               : 0;
}

struct msim_cost_added msim_remake_given(double us)
{
    double ps = us * MSIM_PS_PER_US;
    msim_ps t = ps < (double)MSIM_RUN_MAX ? (msim_ps)(ps + 0.5) : MSIM_RUN_MAX;

    return (struct msim_cost_added){.mid = t,
                                    .low = t,
                                    .high = t,
                                    .source = MSIM_SOURCE_MEASURED,
                                    .made_by = MSIM_COST_TRACED};
}
