/*
 * core/report/analyse/analysis_path.c - the critical path for reports: the
 * longest iteration's piece by piece, and that of all iterations by owner.
 */
#include "core/base/containers.h"
#include "core/graph/graph.h"
#include "core/report/analyse/analysis_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- pieces ------------------------------------------------------------- */

/* A piece's owner as three numbers: what it is, and two strings. */
struct owner {
    unsigned kind;     /* task kind; LATENCY or HELD + msim_hold */
    uint32_t own, top; /* the kernel's or call's name; topmost operator's */
};

#define LATENCY 8u
#define HELD    (LATENCY + MSIM_HOLDS)

/* Calls are counted by their own name, whoever launches: what launching
 * costs. */
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

static int shortest_first(const void *a, const void *b)
{
    msim_ps x = *(const msim_ps *)a, y = *(const msim_ps *)b;

    return MSIM_ORDER(x, y);
}

/* Which pieces (`kept`: one a piece) are among the PATH_ROWS longest. */
static enum msim_status keep_longest(const struct msim_path *path,
                                     uint8_t *kept)
{
    msim_ps *dur = malloc(path->n * sizeof(*dur)), least;
    uint32_t equal = 0; /* how many as long as the shortest are kept */

    if (!dur)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < path->n; i++)
        dur[i] = path->pieces[i].dur;
    qsort(dur, path->n, sizeof(*dur), shortest_first);
    least = dur[path->n - MSIM_PATH_ROWS];
    for (uint32_t i = path->n - MSIM_PATH_ROWS; i < path->n; i++)
        equal += dur[i] == least;
    free(dur);
    for (uint32_t i = 0; i < path->n; i++) {
        kept[i] = path->pieces[i].dur > least ||
                  (path->pieces[i].dur == least && equal > 0);
        if (kept[i] && path->pieces[i].dur == least)
            equal--;
    }
    return MSIM_OK;
}

/* The row of pieces [from, to): one piece, or a run of short ones. */
static enum msim_status add_row(const struct msim_findings *f,
                                const struct msim_path *path, uint32_t from,
                                uint32_t to, const char **names)
{
    struct msim_path_row *row = &f->p->path[f->p->n_path++];
    char *text;

    MSIM_TRY(path_row(f, &path->pieces[from], names, row));
    if (to - from == 1)
        return MSIM_OK;
    text = msim_arena_alloc(&f->p->arena, 32);
    if (!text)
        return MSIM_ENOMEM;
    snprintf(text, 32, "%u short pieces", to - from);
    row->kind = "several";
    row->name = text;
    row->op = NULL;
    for (uint32_t i = from + 1; i < to; i++)
        row->dur += path->pieces[i].dur;
    return MSIM_OK;
}

static enum msim_status fill_rows(const struct msim_findings *f,
                                  const struct msim_path *path,
                                  const char **names, uint8_t *kept)
{
    if (path->n > MSIM_PATH_ROWS)
        MSIM_TRY(keep_longest(path, kept));
    else
        memset(kept, 1, path->n);
    for (uint32_t i = 0, end; i < path->n; i = end) {
        end = i + 1;
        while (!kept[i] && end < path->n && !kept[end])
            end++;
        MSIM_TRY(add_row(f, path, i, end, names));
    }
    return MSIM_OK;
}

static enum msim_status path_rows(const struct msim_findings *f,
                                  const struct msim_path *path)
{
    struct msim_prediction *p = f->p;
    const char **names = calloc((size_t)f->g->n_lanes + 1, sizeof(*names));
    uint8_t *kept = malloc((size_t)path->n + 1);
    enum msim_status status = MSIM_ENOMEM;

    p->path =
        msim_arena_alloc(&p->arena, ((size_t)path->n + 1) * sizeof(*p->path));
    if (names && kept && p->path)
        status = fill_rows(f, path, names, kept);
    free(names);
    free(kept);
    return status;
}

/* ---- owners ------------------------------------------------------------- */

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
                           sizeof(*all->sums)));
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

static int compare_texts(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

/* Numbers of strings follow the order of a file, so rows of equal time are
 * sorted by text. */
static int most_first(const void *a, const void *b)
{
    const struct msim_owner_row *x = a, *y = b;
    int order;

    if (x->us != y->us)
        return MSIM_ORDER(y->us, x->us);
    order = strcmp(x->kind, y->kind);
    if (!order)
        order = compare_texts(x->name, y->name);
    return order ? order : compare_texts(x->op, y->op);
}

static enum msim_status owner_rows(const struct msim_findings *f,
                                   struct owners *all)
{
    struct msim_prediction *p = f->p;
    double n = msim_findings_windows(f, UINT32_MAX);
    msim_ps total = 0;

    p->owners =
        msim_arena_alloc(&p->arena, ((size_t)all->n + 1) * sizeof(*p->owners));
    if (!p->owners)
        return MSIM_ENOMEM;
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
    if (p->n_owners)
        qsort(p->owners, p->n_owners, sizeof(*p->owners), most_first);
    return MSIM_OK;
}

/* ---- the paths of all iterations ---------------------------------------- */

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
    enum msim_status status = each_path(f, &all, &path);

    if (status == MSIM_OK)
        status = owner_rows(f, &all);
    msim_path_release(&path);
    msim_idmap_release(&all.index);
    free(all.sums);
    return status;
}
