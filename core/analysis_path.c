/*
 * The critical path for reports: the longest iteration's piece by piece, that
 * of all iterations by owner; and how every edge is known.
 */
#include "core/analysis.h"
#include "core/idmap.h"
#include "core/task_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- pieces -------------------------------------------------------------- */

/* A piece's owner as three numbers: what it is, and two strings. */
struct owner {
    unsigned kind;     /* task kind; LATENCY or HELD + msim_hold */
    uint32_t own, top; /* the kernel's or call's name; topmost operator's */
};

#define LATENCY 8u
#define HELD    (LATENCY + MSIM_HOLDS)

/* Calls count by themselves: what launching costs, whoever launches. */
static struct owner owner_of(const struct msim_graph *g,
                             const struct msim_piece *piece)
{
    struct owner o = {.kind = g->kind[piece->task]};

    if (piece->kind == MSIM_PIECE_LAG)
        o.kind = LATENCY + msim_hold_of(g, piece->by);
    if (piece->kind == MSIM_PIECE_HELD)
        o.kind = HELD + msim_hold_of(g, piece->by);
    if (o.kind >= LATENCY || o.kind == MSIM_TASK_GAP)
        return o;
    o.own = msim_task_own_name(g, piece->task);
    if (o.kind != MSIM_TASK_CALL)
        o.top = msim_task_topmost(g, piece->task);
    return o;
}

static const char *owner_kind(unsigned kind)
{
    if (kind >= HELD)
        return "held";
    return kind >= LATENCY ? "latency"
                           : msim_task_kind_text((enum msim_task_kind)kind);
}

static const char *text_or_null(const struct msim_graph *g, uint32_t string)
{
    return string ? msim_strtab_text(g->job->strings, string) : NULL;
}

static const char *owner_name(const struct msim_graph *g, const struct owner *o)
{
    if (o->kind >= LATENCY)
        return msim_hold_text((o->kind - LATENCY) % MSIM_HOLDS);
    if (o->kind == MSIM_TASK_GAP)
        return "between operators";
    if (o->own || o->top)
        return text_or_null(g, o->own ? o->own : o->top);
    return o->kind == MSIM_TASK_HOST ? "no operator" : "no name";
}

static const char *lane_text(const struct msim_findings *f, uint32_t lane,
                             const char **names)
{
    char *name;

    if (lane == MSIM_NONE)
        return "-";
    if (names[lane])
        return names[lane];
    name = msim_arena_alloc(&f->p->arena, MSIM_LANE_NAME);
    if (!name)
        return NULL;
    msim_lane_name(name, f->g, lane);
    return names[lane] = name;
}

static enum msim_status path_row(const struct msim_findings *f,
                                 const struct msim_piece *piece,
                                 const char **names, struct msim_path_row *row)
{
    const struct msim_graph *g = f->g;
    struct owner o = owner_of(g, piece);
    unsigned hold = msim_hold_of(g, piece->by);

    *row = (struct msim_path_row){
        .kind = owner_kind(o.kind),
        .name = owner_name(g, &o),
        .op = text_or_null(g, msim_task_topmost(g, piece->task)),
        .lane = lane_text(f, g->lane[piece->task], names),
        .rank = g->job->ranks[g->refs[piece->task].rank]->rank,
        .start = piece->start,
        .dur = piece->dur,
        .edge = hold < MSIM_HOLDS ? msim_hold_text(hold) : NULL,
        .edge_source = msim_hold_source(g, piece->by),
    };
    return row->lane ? MSIM_OK : MSIM_ENOMEM;
}

static enum msim_status path_rows(const struct msim_findings *f,
                                  const struct msim_path *path)
{
    struct msim_prediction *p = f->p;
    const char **names = calloc((size_t)f->g->n_lanes + 1, sizeof *names);
    enum msim_status st = MSIM_OK;

    p->path =
        msim_arena_alloc(&p->arena, ((size_t)path->n + 1) * sizeof *p->path);
    if (!names || !p->path)
        st = MSIM_ENOMEM;
    for (uint32_t i = 0; i < path->n && st == MSIM_OK; i++)
        st = path_row(f, &path->pieces[i], names, &p->path[p->n_path++]);
    free(names);
    return st;
}

/* ---- owners -------------------------------------------------------------- */

struct owner_sum {
    struct owner owner;
    msim_ps ps;
    uint32_t pieces;
};

struct owners {
    struct msim_idmap index;
    struct owner_sum *sums;
    uint32_t n, capacity;
};

/* String numbers are far below 2^29: their texts would not fit in memory. */
static uint64_t owner_key(const struct owner *o)
{
    return (uint64_t)o->kind << 58 | (uint64_t)o->top << 29 | o->own;
}

static enum msim_status add_owner(struct owners *all, const struct owner *o,
                                  msim_ps ps)
{
    uint32_t *slot;

    MSIM_TRY(msim_idmap_put(&all->index, owner_key(o), all->n, &slot));
    if (*slot == all->n) {
        MSIM_TRY(msim_grow((void **)&all->sums, &all->capacity, all->n,
                           sizeof *all->sums));
        all->sums[all->n++] = (struct owner_sum){.owner = *o};
    }
    all->sums[*slot].ps += ps;
    all->sums[*slot].pieces++;
    return MSIM_OK;
}

static enum msim_status add_owners(const struct msim_findings *f,
                                   struct owners *all,
                                   const struct msim_path *path)
{
    for (uint32_t i = 0; i < path->n; i++) {
        struct owner o = owner_of(f->g, &path->pieces[i]);

        if (path->pieces[i].dur > 0)
            MSIM_TRY(add_owner(all, &o, path->pieces[i].dur));
    }
    return MSIM_OK;
}

static int most_first(const void *a, const void *b)
{
    const struct owner_sum *x = a, *y = b;

    if (x->ps != y->ps)
        return x->ps > y->ps ? -1 : 1;
    return owner_key(&x->owner) < owner_key(&y->owner) ? -1 : 1;
}

static enum msim_status owner_rows(const struct msim_findings *f,
                                   struct owners *all)
{
    struct msim_prediction *p = f->p;
    double n = msim_findings_windows(f, UINT32_MAX);
    msim_ps total = 0;

    p->owners =
        msim_arena_alloc(&p->arena, ((size_t)all->n + 1) * sizeof *p->owners);
    if (!p->owners)
        return MSIM_ENOMEM;
    if (all->n)
        qsort(all->sums, all->n, sizeof *all->sums, most_first);
    for (uint32_t i = 0; i < all->n; i++)
        total += all->sums[i].ps;
    for (uint32_t i = 0; i < all->n; i++) {
        const struct owner_sum *s = &all->sums[i];

        p->owners[p->n_owners++] = (struct msim_owner_row){
            .kind = owner_kind(s->owner.kind),
            .name = owner_name(f->g, &s->owner),
            .op = text_or_null(f->g, s->owner.top),
            .us = msim_us(s->ps) / n,
            .share = (double)s->ps / (double)total,
            .pieces = s->pieces / n,
        };
    }
    return MSIM_OK;
}

/* ---- the paths of all iterations ----------------------------------------- */

static msim_ps length(const struct msim_findings *f, uint32_t w)
{
    return f->mid[w].end - f->mid[w].begin;
}

static const char *iteration_name(const struct msim_findings *f, uint32_t w)
{
    uint32_t i = f->g->windows[w].iteration;

    return f->p->iterations[f->iteration == UINT32_MAX ? i : 0].name;
}

static enum msim_status each_path(const struct msim_findings *f,
                                  struct owners *all, struct msim_path *path)
{
    const struct msim_graph *g = f->g;
    uint32_t longest = MSIM_NONE;

    for (uint32_t i = 0; i < g->n_iterations; i++) {
        uint32_t w = msim_longest_window(g, f->mid, i);

        if (!msim_window_selected(g, w, f->iteration))
            continue;
        MSIM_TRY(msim_path_find(path, g, &f->o->mid, f->binding, w, f->mid));
        MSIM_TRY(add_owners(f, all, path));
        if (longest == MSIM_NONE || length(f, w) > length(f, longest))
            longest = w;
    }
    if (longest == MSIM_NONE)
        return MSIM_OK;
    MSIM_TRY(msim_path_find(path, g, &f->o->mid, f->binding, longest, f->mid));
    f->p->path_iteration = iteration_name(f, longest);
    f->p->path_length = length(f, longest);
    return path_rows(f, path);
}

enum msim_status msim_analyse_path(const struct msim_findings *f)
{
    struct owners all = {.n = 0};
    struct msim_path path = {0};
    enum msim_status st = each_path(f, &all, &path);

    if (st == MSIM_OK)
        st = owner_rows(f, &all);
    msim_path_release(&path);
    msim_idmap_release(&all.index);
    free(all.sums);
    return st;
}

/* ---- edges --------------------------------------------------------------- */

enum msim_status msim_analyse_edges(const struct msim_findings *f)
{
    const struct msim_graph *g = f->g;
    struct msim_prediction *p = f->p;
    uint32_t count[256] = {0}, binding[256] = {0};

    p->edges = msim_arena_alloc(&p->arena, sizeof count / sizeof count[0] *
                                               sizeof *p->edges);
    if (!p->edges)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < g->n_edges; i++)
        count[g->edge_kind[i]]++;
    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (msim_hold_of(g, f->binding->by[t]) < MSIM_EDGE_KINDS)
            binding[g->edge_kind[f->binding->by[t]]]++;
    for (unsigned kind = 0; kind < MSIM_EDGE_KINDS; kind++)
        for (unsigned source = 0; source < MSIM_EDGE_SOURCES; source++) {
            uint8_t byte = MSIM_EDGE_BYTE(kind, source);

            if (count[byte])
                p->edges[p->n_edges++] = (struct msim_edge_row){
                    msim_edge_text((enum msim_edge_kind)kind),
                    msim_edge_source_text((enum msim_edge_source)source),
                    count[byte], binding[byte]};
        }
    return MSIM_OK;
}

/* ---- waits --------------------------------------------------------------- */

static int longest_first(const void *a, const void *b)
{
    const struct msim_named_us *x = a, *y = b;

    if (x->us != y->us)
        return x->us > y->us ? -1 : 1;
    return strcmp(x->name, y->name);
}

static enum msim_status wait_list(const struct msim_findings *f,
                                  const msim_ps *sums, double n,
                                  struct msim_wait_list *list)
{
    list->n = 0;
    list->rows =
        msim_arena_alloc(&f->p->arena, MSIM_HOLDS * sizeof *list->rows);
    if (!list->rows)
        return MSIM_ENOMEM;
    for (unsigned hold = 0; hold < MSIM_HOLDS; hold++)
        if (sums[hold] > 0)
            list->rows[list->n++] = (struct msim_named_us){
                msim_hold_text(hold), msim_us(sums[hold]) / n};
    qsort(list->rows, list->n, sizeof *list->rows, longest_first);
    return MSIM_OK;
}

static void add_waits(struct msim_waits *sum, const struct msim_waits *w)
{
    for (unsigned hold = 0; hold < MSIM_HOLDS; hold++) {
        sum->main[hold] += w->main[hold];
        sum->host[hold] += w->host[hold];
        sum->idle[hold] += w->idle[hold];
        sum->device[hold] += w->device[hold];
    }
}

enum msim_status msim_wait_rows(const struct msim_findings *f,
                                const struct msim_waits *waits, uint32_t rank,
                                struct msim_wait_rows *rows)
{
    struct msim_waits sum = {.main = {0}};
    double n = msim_findings_windows(f, rank);

    for (uint32_t w = 0; w < f->g->n_windows; w++)
        if (f->g->windows[w].rank == rank &&
            msim_window_selected(f->g, w, f->iteration))
            add_waits(&sum, &waits[w]);
    MSIM_TRY(wait_list(f, sum.main, n, &rows->main_thread));
    MSIM_TRY(wait_list(f, sum.host, n, &rows->threads));
    MSIM_TRY(wait_list(f, sum.idle, n, &rows->gpu_idle));
    return wait_list(f, sum.device, n, &rows->streams);
}

/* ---- what was copied ------------------------------------------------------
 */

enum msim_status msim_analyse_copied(const struct msim_findings *f)
{
    struct msim_prediction *p = f->p;

    p->unexplained_us = msim_us(f->g->unexplained);
    p->copied =
        msim_arena_alloc(&p->arena, MSIM_COPIED_KINDS * sizeof *p->copied);
    if (!p->copied)
        return MSIM_ENOMEM;
    for (int k = 0; k < MSIM_COPIED_KINDS && f->o->measured; k++)
        if (f->g->copied[k] > 0)
            p->copied[p->n_copied++] =
                (struct msim_named_us){msim_copied_text((enum msim_copied)k),
                                       msim_us(f->g->copied[k])};
    return MSIM_OK;
}
