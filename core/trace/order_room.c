/*
 * core/trace/order_room.c - activities that end where their stream has no room
 * for it.
 *
 * Work of a stream runs one behind the other. Only the very next activity may
 * begin before the end (programmatic dependent launch, from compute capability
 * 9.0 on), and it does not end before. A recorded end behind the next one's
 * end, or behind the start of the one after, is a fault of the recording:
 * AMD-AGI/TraceLens#669. Such an activity ends where the next begins. Behind
 * the last one no other begins; but a device synchronisation that waits for it
 * does not return before its end.
 *
 * Branches of a graph share the stream that launched it: of its activities, the
 * next is the first behind the graph.
 */
#include "core/base/containers.h"
#include "core/base/units.h"
#include "core/trace/trace_columns.h"

#include <stdlib.h>

/* Times may be cut to microseconds. */
#define SLACK ((msim_ps)MSIM_PS_PER_US)

/* A stream with a larger share of these is no queue: its activities are of
 * several processes, or of the branches of graphs that are not told. */
#define OVERRUN_MAX (1.0 / 3)

/* Clocks of CPU and GPU agree to less. */
#define SKEW ((msim_ps)1000 * MSIM_PS_PER_US)

/* The next activity of its stream that does not run beside it. */
static uint32_t next_of(const struct msim_trace *t, uint32_t i)
{
    uint32_t end = t->streams[t->gpu[i].stream].gpu_end, k = i + 1;

    while (k < end && t->gpu[i].in_graph && t->gpu[k].call == t->gpu[i].call)
        k++;
    return k;
}

static bool overruns(const struct msim_trace *t, uint32_t i, uint32_t next)
{
    uint32_t end = t->streams[t->gpu[i].stream].gpu_end;
    const struct msim_gpu *g = t->gpu;
    msim_ps over = g[i].start + g[i].dur - SLACK;

    return next < end && (over > g[next].start + g[next].dur ||
                          (next + 1 < end && over > g[next + 1].start));
}

/* Those that are put right: by how much, and the longest. */
struct overruns {
    msim_ps sum, longest;
};

static void end_in_room(struct msim_trace *t, uint32_t i, uint32_t next,
                        struct overruns *all)
{
    struct msim_import_count *c =
        msim_import_add(&t->import, MSIM_IMPORT_OVERRUN, 1);
    struct msim_gpu *g = &t->gpu[i];
    msim_ps room = t->gpu[next].start - g->start;

    if (g->dur > all->longest) {
        all->longest = g->dur;
        c->example = g->name;
    }
    all->sum += g->dur - room;
    c->us = (uint64_t)(all->sum / MSIM_PS_PER_US);
    g->dur = room;
}

/* How many of a stream overrun; they end in their room, and are added to
 * `put_right`, if that is not NULL. */
static uint32_t check_stream(struct msim_trace *t, const struct msim_stream *s,
                             struct overruns *put_right)
{
    uint32_t n = 0, next = 0;

    for (uint32_t i = s->gpu_begin; i < s->gpu_end; i++) {
        if (i >= next)
            next = next_of(t, i);
        if (!overruns(t, i, next))
            continue;
        n++;
        if (put_right)
            end_in_room(t, i, next, put_right);
    }
    return n;
}

/* Might the branches of a graph be on the stream? Not where no graph was
 * launched, or all that were name what they started. */
static bool has_branches(const struct msim_trace *t)
{
    for (uint32_t i = 0; i < t->n_calls; i++)
        if (t->calls[i].kind == MSIM_CALL_GRAPH_LAUNCH &&
            t->calls[i].gpu == MSIM_NONE)
            return true;
    return false;
}

/* ---- behind the last one ------------------------------------------------- */

static bool one_device(const struct msim_trace *t)
{
    for (uint32_t s = 1; s < t->n_streams; s++)
        if (t->streams[s].device != t->streams[0].device)
            return false;
    return true;
}

/* Device synchronisations by their start; `end` of the first of these and all
 * behind it that returns. */
struct syncs {
    struct sync {
        msim_ps start, end;
    } * of;
    uint32_t n;
};

static int by_start(const void *a, const void *b)
{
    const struct sync *x = a, *y = b;

    return MSIM_ORDER(x->start, y->start);
}

static enum msim_status find_syncs(struct syncs *all,
                                   const struct msim_trace *t)
{
    all->of = malloc(((size_t)t->n_calls + 1) * sizeof(*all->of));
    if (!all->of)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_calls; i++) {
        const struct msim_call *c = &t->calls[i];

        if (c->kind == MSIM_CALL_DEVICE_SYNC)
            all->of[all->n++] = (struct sync){c->start, c->start + c->dur};
    }
    qsort(all->of, all->n, sizeof(*all->of), by_start);
    for (uint32_t i = all->n; i-- > 1;)
        if (all->of[i].end < all->of[i - 1].end)
            all->of[i - 1].end = all->of[i].end;
    return MSIM_OK;
}

/* When the first device synchronisation after call `launch` returns, or
 * never. */
static msim_ps synchronised(const struct msim_trace *t, const struct syncs *all,
                            uint32_t launch)
{
    msim_ps after = t->calls[launch].start + t->calls[launch].dur;
    uint32_t i = msim_first_after(&all->of->start, sizeof(*all->of), 0, all->n,
                                  after - 1);

    return i < all->n ? all->of[i].end : INT64_MAX;
}

static void end_with_sync(struct msim_trace *t, const struct syncs *all,
                          struct msim_gpu *g)
{
    msim_ps end = synchronised(t, all, g->call);
    struct msim_import_count *c;

    if (g->start >= end || g->start + g->dur - SKEW <= end)
        return;
    c = msim_import_add(&t->import, MSIM_IMPORT_OUTLASTS, 1);
    c->example = g->name;
    c->us += (uint64_t)((g->start + g->dur - end) / MSIM_PS_PER_US);
    g->dur = end - g->start;
}

/* ---- all ----------------------------------------------------------------- */

enum msim_status msim_order_room(struct msim_trace *t)
{
    bool branches = has_branches(t), one = one_device(t);
    struct overruns all = {0};
    struct syncs syncs = {0};

    MSIM_TRY(find_syncs(&syncs, t));
    for (uint32_t i = 0; i < t->n_streams; i++) {
        const struct msim_stream *s = &t->streams[i];
        uint32_t n = check_stream(t, s, NULL);

        if (n && n <= OVERRUN_MAX * (s->gpu_end - s->gpu_begin))
            check_stream(t, s, &all);
        else if (!branches)
            msim_import_add(&t->import, MSIM_IMPORT_BESIDE, n);
        if (one && s->gpu_end > s->gpu_begin &&
            t->gpu[s->gpu_end - 1].call != MSIM_NONE)
            end_with_sync(t, &syncs, &t->gpu[s->gpu_end - 1]);
    }
    free(syncs.of);
    return MSIM_OK;
}
