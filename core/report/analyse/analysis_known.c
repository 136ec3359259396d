/*
 * core/report/analyse/analysis_known.c - waits, how edges are known, and what
 * was copied from the trace.
 */
#include "core/report/analyse/analysis_internal.h"

#include "core/base/containers.h"

#include <stdlib.h>
#include <string.h>

/* ---- edges -------------------------------------------------------------- */

/* How many edges there are by kind and source, of all ranks. */
static void count_edges(const struct msim_graph *g, uint32_t *count)
{
    for (uint32_t i = 0; !g->job->alike && i < g->n_edges; i++)
        count[g->edge_kind[i]]++;
    for (uint32_t t = 0; g->job->alike && t < g->n_tasks; t++)
        for (uint32_t i = g->edge_begin[t]; i < g->edge_begin[t + 1]; i++)
            count[g->edge_kind[i]] += msim_graph_alike(g, t, g->edges[i].to);
}

/* How many tasks are held as this one is: that in which ranks meet is one. */
static uint32_t held_alike(const struct msim_graph *g, uint32_t task)
{
    return g->job->alike && g->lane[task] == MSIM_NONE
               ? 1
               : msim_graph_alike(g, task, task);
}

enum msim_status msim_analyse_edges(const struct msim_findings *f)
{
    const struct msim_graph *g = f->g;
    struct msim_prediction *p = f->p;
    uint32_t count[256] = {0}, binding[256] = {0};

    p->edges = msim_arena_alloc(&p->arena, sizeof(count) / sizeof(count[0]) *
                                               sizeof(*p->edges));
    if (!p->edges)
        return MSIM_ENOMEM;
    count_edges(g, count);
    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (msim_hold_of(g, f->binding->by[t]) < MSIM_EDGE_KINDS)
            binding[g->edge_kind[f->binding->by[t]]] += held_alike(g, t);
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

/* ---- waits -------------------------------------------------------------- */

static int longest_first(const void *a, const void *b)
{
    const struct msim_named_us *x = a, *y = b;

    if (x->us != y->us)
        return MSIM_ORDER(y->us, x->us);
    return strcmp(x->name, y->name);
}

static enum msim_status wait_list(const struct msim_findings *f,
                                  const msim_ps *sums, double n,
                                  struct msim_wait_list *list)
{
    list->n = 0;
    list->rows =
        msim_arena_alloc(&f->p->arena, MSIM_HOLDS * sizeof(*list->rows));
    if (!list->rows)
        return MSIM_ENOMEM;
    for (unsigned hold = 0; hold < MSIM_HOLDS; hold++)
        if (sums[hold] > 0)
            list->rows[list->n++] = (struct msim_named_us){
                msim_hold_text(hold), msim_us(sums[hold]) / n};
    qsort(list->rows, list->n, sizeof(*list->rows), longest_first);
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

enum msim_status msim_analyse_waits(const struct msim_findings *f,
                                    const struct msim_waits *waits,
                                    uint32_t rank, struct msim_wait_rows *rows)
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

/* ---- what was copied ---------------------------------------------------- */

enum msim_status msim_analyse_copied(const struct msim_findings *f)
{
    struct msim_prediction *p = f->p;

    p->unexplained_us = msim_us(f->g->copied[MSIM_COPIED_UNEXPLAINED]);
    p->copied =
        msim_arena_alloc(&p->arena, MSIM_COPIED_KINDS * sizeof(*p->copied));
    if (!p->copied)
        return MSIM_ENOMEM;
    for (int k = 0; k < MSIM_COPIED_KINDS && f->o->measured; k++)
        if (f->g->copied[k] > 0)
            p->copied[p->n_copied++] =
                (struct msim_named_us){msim_copied_text((enum msim_copied)k),
                                       msim_us(f->g->copied[k])};
    return MSIM_OK;
}
