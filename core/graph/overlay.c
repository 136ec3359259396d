/*
 * core/graph/overlay.c - a graph and its differences, as one graph.
 *
 * Tasks are numbered anew, inserted ones next to their neighbour: reports rely
 * on the order of tasks (ranks one after the other, an arrival right before its
 * transfer, what a thread did before right before).
 */
#include "core/graph/graph.h"

#include "core/base/containers.h"

#include <stdlib.h>
#include <string.h>

enum msim_status msim_overlay_init(struct msim_overlay *o,
                                   const struct msim_graph *base)
{
    *o = (struct msim_overlay){.base = base};
    o->dropped = calloc((size_t)base->n_edges + 1, 1);
    o->lane = malloc(((size_t)base->n_tasks + 1) * sizeof(*o->lane));
    o->name = calloc((size_t)base->n_tasks + 1, sizeof(*o->name));
    if (!o->dropped || !o->lane || !o->name)
        return MSIM_ENOMEM;
    memcpy(o->lane, base->lane, (size_t)base->n_tasks * sizeof(*o->lane));
    return MSIM_OK;
}

void msim_overlay_release(struct msim_overlay *o)
{
    free(o->tasks);
    free(o->edges);
    free(o->lanes);
    free(o->dropped);
    free(o->lane);
    free(o->name);
    memset(o, 0, sizeof(*o));
}

enum msim_status msim_overlay_add(struct msim_overlay *o,
                                  struct msim_overlay_task t, uint32_t *id)
{
    MSIM_TRY(msim_grow((void **)&o->tasks, &o->cap_tasks, o->n_tasks,
                       sizeof(*o->tasks)));
    *id = o->base->n_tasks + o->n_tasks;
    o->tasks[o->n_tasks++] = t;
    return MSIM_OK;
}

enum msim_status msim_overlay_tie(struct msim_overlay *o, uint32_t from,
                                  uint32_t to, enum msim_edge_kind kind,
                                  msim_ps lag)
{
    MSIM_TRY(msim_grow((void **)&o->edges, &o->cap_edges, o->n_edges,
                       sizeof(*o->edges)));
    o->edges[o->n_edges++] = (struct msim_overlay_edge){
        from, to, lag, MSIM_EDGE_BYTE(kind, MSIM_FROM_ORDER)};
    return MSIM_OK;
}

enum msim_status msim_overlay_lane(struct msim_overlay *o, uint32_t rank,
                                   uint32_t *id)
{
    uint32_t n = o->n_lanes + 1;

    MSIM_TRY(msim_grow((void **)&o->lanes, &o->cap_lanes, o->n_lanes,
                       sizeof(*o->lanes)));
    *id = o->base->n_lanes + o->n_lanes++;
    for (uint32_t l = 0; l < o->base->n_lanes; l++)
        n += o->base->lanes[l].index > MSIM_LANE_ADDED &&
             o->base->lanes[l].index != MSIM_NONE;
    o->lanes[o->n_lanes - 1] =
        (struct msim_lane){rank, MSIM_LANE_ADDED + n, true};
    return MSIM_OK;
}

bool msim_overlay_is_empty(const struct msim_overlay *o)
{
    bool same = !o->n_tasks && !o->n_edges;

    for (uint32_t e = 0; same && e < o->base->n_edges; e++)
        same = !o->dropped[e];
    for (uint32_t t = 0; same && t < o->base->n_tasks; t++)
        same = !o->name[t];
    return same && memcmp(o->lane, o->base->lane,
                          o->base->n_tasks * sizeof(*o->lane)) == 0;
}

/* ---- numbering ----------------------------------------------------------- */

struct laying {
    const struct msim_overlay *o;
    const struct msim_graph *base;
    struct msim_graph *g;
    uint32_t n;            /* tasks of both */
    uint32_t *from, *to;   /* new number to old, and back */
    uint32_t *head, *tail; /* of each task of the base: whose start, whose end
                              counts for it; old numbers */
};

static struct msim_overlay_task *added(const struct laying *l, uint32_t old)
{
    return &l->o->tasks[old - l->base->n_tasks];
}

/* Inserted tasks by neighbour: `next` links those of one, `first` begins. */
struct beside {
    uint32_t *first[2], *next; /* 0: before, 1: after or beside */
};

static void release_beside(struct beside *b)
{
    free(b->first[0]);
    free(b->first[1]);
    free(b->next);
}

static enum msim_status find_beside(struct beside *b, const struct laying *l)
{
    size_t bytes = ((size_t)l->n + 1) * sizeof(uint32_t);

    b->first[0] = malloc(bytes);
    b->first[1] = malloc(bytes);
    b->next = malloc(bytes);
    if (!b->first[0] || !b->first[1] || !b->next)
        return MSIM_ENOMEM;
    memset(b->first[0], 0xff, bytes);
    memset(b->first[1], 0xff, bytes);
    for (uint32_t i = l->o->n_tasks; i-- > 0;) {
        const struct msim_overlay_task *t = &l->o->tasks[i];
        uint32_t *first = &b->first[t->place != MSIM_OVERLAY_BEFORE][t->at];

        b->next[i] = *first;
        *first = i;
    }
    return MSIM_OK;
}

static void number(struct laying *l, const struct beside *b)
{
    uint32_t n = 0, base = l->base->n_tasks;

    for (uint32_t t = 0; t < base; t++) {
        for (uint32_t i = b->first[0][t]; i != MSIM_NONE; i = b->next[i])
            l->from[n++] = base + i;
        l->from[n++] = t;
        for (uint32_t i = b->first[1][t]; i != MSIM_NONE; i = b->next[i])
            l->from[n++] = base + i;
    }
    for (uint32_t t = 0; t < n; t++)
        l->to[l->from[t]] = t;
}

static enum msim_status number_tasks(struct laying *l)
{
    struct beside b = {{NULL, NULL}, NULL};
    enum msim_status status = find_beside(&b, l);

    if (status == MSIM_OK)
        number(l, &b);
    release_beside(&b);
    return status;
}

/* ---- tasks --------------------------------------------------------------- */

static enum msim_status allocate(struct laying *l)
{
    struct msim_graph *g = l->g;
    size_t n = (size_t)l->n + 1;

    g->kind = malloc(n);
    g->lane = malloc(n * sizeof(*g->lane));
    g->window = malloc(n * sizeof(*g->window));
    g->traced = malloc(n * sizeof(*g->traced));
    g->refs = malloc(n * sizeof(*g->refs));
    g->own_name = calloc(n, sizeof(*g->own_name));
    g->n_preds = calloc(n, sizeof(*g->n_preds));
    g->edge_begin = calloc(n + 1, sizeof(*g->edge_begin));
    return g->kind && g->lane && g->window && g->traced && g->refs &&
                   g->own_name && g->n_preds && g->edge_begin
               ? MSIM_OK
               : MSIM_ENOMEM;
}

static void put_base_task(struct laying *l, uint32_t t, uint32_t old)
{
    struct msim_graph *g = l->g;

    g->kind[t] = l->base->kind[old];
    g->lane[t] = l->o->lane[old];
    g->window[t] = l->base->window[old];
    g->traced[t] = l->base->traced[old];
    g->refs[t] = l->base->refs[old];
    if (l->o->name[old])
        g->own_name[t] = l->o->name[old];
    else if (l->base->own_name)
        g->own_name[t] = l->base->own_name[old];
}

static void put_added_task(struct laying *l, uint32_t t, uint32_t old)
{
    const struct msim_overlay_task *a = added(l, old);
    struct msim_graph *g = l->g;

    g->kind[t] = a->kind;
    g->lane[t] = a->lane;
    g->window[t] =
        a->kind >= MSIM_TASK_KERNEL ? l->base->window[a->at] : MSIM_NONE;
    g->traced[t] = MSIM_TIME_NONE;
    g->refs[t] = (struct msim_task_ref){MSIM_NONE, a->op, MSIM_NONE,
                                        l->base->refs[a->at].rank, 0};
    g->own_name[t] = a->name;
}

static void put_tasks(struct laying *l)
{
    l->g->n_tasks = l->n;
    for (uint32_t t = 0; t < l->n; t++)
        if (l->from[t] < l->base->n_tasks)
            put_base_task(l, t, l->from[t]);
        else
            put_added_task(l, t, l->from[t]);
}

/* ---- edges --------------------------------------------------------------- */

/* Whose begin and whose end count for each task of the base. */
static enum msim_status find_ends(struct laying *l)
{
    l->head = malloc(((size_t)l->base->n_tasks + 1) * sizeof(*l->head));
    l->tail = malloc(((size_t)l->base->n_tasks + 1) * sizeof(*l->tail));
    if (!l->head || !l->tail)
        return MSIM_ENOMEM;
    for (uint32_t t = 0; t < l->base->n_tasks; t++)
        l->head[t] = l->tail[t] = t;
    for (uint32_t i = 0; i < l->o->n_tasks; i++) {
        const struct msim_overlay_task *a = &l->o->tasks[i];
        uint32_t id = l->base->n_tasks + i;

        if (a->place == MSIM_OVERLAY_BEFORE && l->head[a->at] == a->at)
            l->head[a->at] = id;
        if (a->place == MSIM_OVERLAY_AFTER)
            l->tail[a->at] = id;
    }
    return MSIM_OK;
}

/* One way through all edges of the result: count them, or put them down. */
struct pass {
    struct laying *l;
    uint32_t *at; /* where the next edge of each task goes */
    bool counts;
};

static void take(struct pass *p, uint32_t from, uint32_t to, msim_ps lag,
                 uint8_t kind)
{
    struct msim_graph *g = p->l->g;
    uint32_t *at = &p->at[p->l->to[from]], next = p->l->to[to];

    if (!p->counts) {
        g->edges[*at] = (struct msim_edge){next, lag};
        g->edge_kind[*at] = kind;
        g->n_preds[next]++;
    }
    ++*at;
}

static void take_base(struct pass *p)
{
    const struct msim_graph *base = p->l->base;

    for (uint32_t t = 0; t < base->n_tasks; t++)
        for (uint32_t e = base->edge_begin[t]; e < base->edge_begin[t + 1]; e++)
            if (!p->l->o->dropped[e])
                take(p, p->l->tail[t], p->l->head[base->edges[e].to],
                     base->edges[e].lag, base->edge_kind[e]);
}

/* A neighbour lets the inserted task start at once. */
static void take_places(struct pass *p, uint32_t *last)
{
    const struct msim_overlay *o = p->l->o;
    uint32_t base = p->l->base->n_tasks;

    for (int before = 0; before < 2; before++) {
        enum msim_overlay_place place =
            before ? MSIM_OVERLAY_BEFORE : MSIM_OVERLAY_AFTER;

        for (uint32_t k = 0; k < o->n_tasks; k++) {
            /* Those before a task are linked backwards, from the task on. */
            uint32_t i = before ? o->n_tasks - 1 - k : k, id = base + i;
            const struct msim_overlay_task *a = &o->tasks[i];
            uint32_t *to = &last[a->at];

            if (a->place != place)
                continue;
            *to = *to == MSIM_NONE ? a->at : *to;
            take(p, before ? id : *to, before ? *to : id, 0,
                 MSIM_EDGE_BYTE(MSIM_EDGE_PROGRAM, MSIM_FROM_ORDER));
            *to = id;
        }
        memset(last, 0xff, (size_t)base * sizeof(*last));
    }
}

static enum msim_status take_all(struct pass *p)
{
    const struct msim_overlay *o = p->l->o;
    size_t n = (size_t)p->l->base->n_tasks + 1;
    uint32_t *last = malloc(n * sizeof(*last));

    if (!last)
        return MSIM_ENOMEM;
    memset(last, 0xff, n * sizeof(*last));
    take_base(p);
    take_places(p, last);
    for (uint32_t i = 0; i < o->n_edges; i++)
        take(p, o->edges[i].from, o->edges[i].to, o->edges[i].lag,
             o->edges[i].kind);
    free(last);
    return MSIM_OK;
}

/* Edges by source: a counting sort (msim_builder_finish()). */
static enum msim_status put_edges(struct laying *l)
{
    struct msim_graph *g = l->g;
    struct pass p = {.l = l, .counts = true};

    MSIM_TRY(find_ends(l));
    p.at = calloc((size_t)l->n + 2, sizeof(*p.at));
    if (!p.at || take_all(&p) != MSIM_OK) {
        free(p.at);
        return MSIM_ENOMEM;
    }
    for (uint32_t t = 0; t < l->n; t++)
        g->edge_begin[t + 1] = g->edge_begin[t] + p.at[t];
    g->n_edges = g->edge_begin[l->n];
    g->edges = malloc(((size_t)g->n_edges + 1) * sizeof(*g->edges));
    g->edge_kind = malloc((size_t)g->n_edges + 1);
    memcpy(p.at, g->edge_begin, (size_t)l->n * sizeof(*p.at));
    p.counts = false;
    if (!g->edges || !g->edge_kind || take_all(&p) != MSIM_OK) {
        free(p.at);
        return MSIM_ENOMEM;
    }
    free(p.at);
    return MSIM_OK;
}

/* ---- the rest ------------------------------------------------------------ */

static void *copy_of(const void *data, size_t n, size_t size)
{
    void *copy = malloc((n + 1) * size);

    if (copy && n)
        memcpy(copy, data, n * size);
    return copy;
}

static enum msim_status put_windows(struct laying *l)
{
    const struct msim_graph *b = l->base;
    struct msim_graph *g = l->g;

    g->windows = copy_of(b->windows, b->n_windows, sizeof(*g->windows));
    g->iterations =
        copy_of(b->iterations, b->n_iterations, sizeof(*g->iterations));
    g->releases = copy_of(b->releases, b->n_releases, sizeof(*g->releases));
    g->lanes =
        calloc((size_t)b->n_lanes + l->o->n_lanes + 1, sizeof(*g->lanes));
    if (!g->windows || !g->iterations || !g->releases || !g->lanes)
        return MSIM_ENOMEM;
    g->n_windows = g->cap_windows = b->n_windows;
    g->n_iterations = g->cap_iterations = b->n_iterations;
    g->n_releases = g->cap_releases = b->n_releases;
    g->n_lanes = g->cap_lanes = b->n_lanes + l->o->n_lanes;
    memcpy(g->lanes, b->lanes, b->n_lanes * sizeof(*g->lanes));
    if (l->o->n_lanes)
        memcpy(g->lanes + b->n_lanes, l->o->lanes,
               l->o->n_lanes * sizeof(*g->lanes));
    for (uint32_t i = 0; i < g->n_windows; i++) {
        struct msim_window *w = &g->windows[i];

        w->first = w->first == MSIM_NONE ? MSIM_NONE : l->to[w->first];
        w->last = w->last == MSIM_NONE ? MSIM_NONE : l->to[w->last];
    }
    return MSIM_OK;
}

/* What came when it was recorded does so with what is before it now; an absent
 * peer arrives at the transfer itself. */
static void put_releases(struct laying *l)
{
    for (uint32_t i = 0; i < l->g->n_releases; i++) {
        struct msim_release *r = &l->g->releases[i];

        r->task = l->to[r->external ? r->task : l->head[r->task]];
    }
}

/* Inserted tasks share nothing: how they do is not known. */
static enum msim_status put_sharing(struct laying *l)
{
    const struct msim_sharing *from = l->base->sharing;
    struct msim_sharing *s;

    if (!from)
        return MSIM_OK;
    s = l->g->sharing = malloc(sizeof(*s));
    if (!s)
        return MSIM_ENOMEM;
    *s = *from;
    s->of_task = malloc(((size_t)l->n + 1) * sizeof(*s->of_task));
    s->demands = copy_of(from->demands, from->n_demands, sizeof(*s->demands));
    s->devices = copy_of(from->devices, from->n_devices, sizeof(*s->devices));
    s->figures = copy_of(from->figures, from->n_figures, sizeof(*s->figures));
    s->cap_figures = s->n_figures;
    if (!s->of_task || !s->demands || !s->devices || !s->figures)
        return MSIM_ENOMEM;
    for (uint32_t t = 0; t < l->n; t++)
        s->of_task[t] = l->from[t] < l->base->n_tasks
                            ? from->of_task[l->from[t]]
                            : MSIM_NONE;
    for (uint32_t i = 0; i < s->n_demands; i++)
        s->demands[i].task = l->to[s->demands[i].task];
    return MSIM_OK;
}

static enum msim_status lay(struct laying *l)
{
    struct msim_graph *g = l->g;
    const struct msim_graph *b = l->base;

    l->from = malloc(((size_t)l->n + 1) * sizeof(*l->from));
    l->to = malloc(((size_t)l->n + 1) * sizeof(*l->to));
    if (!l->from || !l->to)
        return MSIM_ENOMEM;
    g->job = b->job;
    memcpy(g->copied, b->copied, sizeof(g->copied));
    g->n_unexplained = b->n_unexplained;
    g->queued_idle = b->queued_idle;
    MSIM_TRY(number_tasks(l));
    MSIM_TRY(allocate(l));
    put_tasks(l);
    MSIM_TRY(put_edges(l));
    MSIM_TRY(put_windows(l));
    put_releases(l);
    return put_sharing(l);
}

enum msim_status msim_graph_overlaid(struct msim_graph **out, uint32_t **from,
                                     const struct msim_overlay *o)
{
    struct laying l = {.o = o, .base = o->base};
    enum msim_status status = MSIM_ENOMEM;

    *out = NULL;
    *from = NULL;
    l.n = o->base->n_tasks + o->n_tasks;
    l.g = calloc(1, sizeof(*l.g));
    if (l.g)
        status = lay(&l);
    free(l.to);
    free(l.head);
    free(l.tail);
    if (status != MSIM_OK) {
        msim_graph_free(l.g);
        free(l.from);
        return status;
    }
    *out = l.g;
    *from = l.from;
    return MSIM_OK;
}
