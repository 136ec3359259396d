/*
 * predict/edit/edit_overlap.c - communication that other work of the GPU does
 * not wait for.
 *
 * The selected transfers run on streams of their own: a transfer starts when
 * what came before it on its old stream has ended, and nothing of the rank's
 * GPUs waits for it but the next communication of its stream. The host, and
 * with it the end of an iteration, waits as before, and so do other ranks. What
 * needs the result is not known of most traces; this is the most that
 * overlapping brings.
 */
#include "predict/edit/edit_internal.h"

#include <stdlib.h>
#include <string.h>

static bool takes(const struct msim_remake *d, uint32_t task)
{
    return d->g->kind[task] == MSIM_TASK_COMM &&
           (!d->edit->selects || d->selected[task]);
}

/* The next activity on a task's lane, or NONE. */
static uint32_t next_of(const struct msim_remake *d, uint32_t task)
{
    for (uint32_t t = task + 1; t < d->g->n_tasks; t++)
        if (d->g->lane[t] == d->g->lane[task])
            return t;
    return MSIM_NONE;
}

static bool is_other_work(const struct msim_remake *d, uint32_t transfer,
                          uint32_t to)
{
    return msim_remake_is_gpu(d, to) && d->g->kind[to] != MSIM_TASK_COMM &&
           d->g->refs[to].rank == d->g->refs[transfer].rank;
}

/* Nothing but communication waits for it. */
static void untie(struct msim_remake *d, uint32_t transfer)
{
    const struct msim_graph *g = d->g;

    for (uint32_t e = g->edge_begin[transfer]; e < g->edge_begin[transfer + 1];
         e++)
        if (is_other_work(d, transfer, g->edges[e].to))
            d->overlay.dropped[e] = 1;
}

/* To a stream of its own; `lane` is that of its rank, or NONE so far. */
static enum msim_status move(struct msim_remake *d, uint32_t transfer,
                             uint32_t *lane)
{
    uint32_t begin = msim_remake_begin(d, transfer);

    if (*lane == MSIM_NONE)
        MSIM_TRY(
            msim_overlay_lane(&d->overlay, d->g->refs[transfer].rank, lane));
    d->overlay.lane[transfer] = d->overlay.lane[begin] = *lane;
    return MSIM_OK;
}

/* What is left of its old stream before a transfer, or NONE. */
static uint32_t work_before(const struct msim_remake *d, uint32_t transfer,
                            uint32_t *edge)
{
    uint32_t task = msim_remake_begin(d, transfer), from;

    do {
        from = MSIM_NONE;
        for (uint32_t i = d->cause_begin[task]; i < d->cause_begin[task + 1];
             i++)
            if (msim_edge_kind_of(d->g->edge_kind[d->causes[i].edge]) ==
                    MSIM_EDGE_STREAM &&
                d->g->lane[d->causes[i].from] == d->g->lane[task]) {
                from = d->causes[i].from;
                *edge = d->causes[i].edge;
            }
        if (from != MSIM_NONE)
            task = msim_remake_begin(d, from);
    } while (from != MSIM_NONE && takes(d, from));
    return from;
}

/* Where a transfer leaves the stream of other work: what was before and behind
 * it there follow each other, and it follows the last one that left. */
static enum msim_status leave(struct msim_remake *d, uint32_t transfer,
                              uint32_t *last)
{
    uint32_t next = next_of(d, transfer), edge = 0;
    uint32_t before = work_before(d, transfer, &edge);

    if (*last != MSIM_NONE)
        MSIM_TRY(msim_overlay_tie(&d->overlay, *last,
                                  msim_remake_begin(d, transfer),
                                  MSIM_EDGE_STREAM, 0));
    *last = transfer;
    if (next == MSIM_NONE || before == MSIM_NONE ||
        !is_other_work(d, transfer, next))
        return MSIM_OK;
    return msim_overlay_tie(&d->overlay, before, next, MSIM_EDGE_STREAM, 0);
}

static enum msim_status overlap(struct msim_remake *d, uint32_t *lanes,
                                uint32_t *last)
{
    uint32_t n = 0;

    for (uint32_t t = 0; t < d->g->n_tasks; t++) {
        uint32_t rank = d->g->refs[t].rank;

        if (!takes(d, t))
            continue;
        n++;
        untie(d, t);
        if (d->g->lane[t] != d->main_lane[rank])
            continue;
        MSIM_TRY(leave(d, t, &last[rank]));
        MSIM_TRY(move(d, t, &lanes[rank]));
    }
    return n ? MSIM_OK
             : msim_remake_refuse(d, "the job has no communication to overlap");
}

enum msim_status msim_edit_overlap(struct msim_remake *d)
{
    size_t bytes = ((size_t)d->g->job->n_ranks + 1) * sizeof(uint32_t);
    uint32_t *lanes = malloc(bytes), *last = malloc(bytes);
    enum msim_status status = MSIM_ENOMEM;

    if (lanes && last) {
        memset(lanes, 0xff, bytes);
        memset(last, 0xff, bytes);
        status = overlap(d, lanes, last);
    }
    free(lanes);
    free(last);
    return status;
}
