/*
 * core/trace/order_room.c - activities that end where their stream has no room
 * for it.
 *
 * Work of a stream runs one behind the other. Only the very next activity may
 * begin before the end (programmatic dependent launch, from compute capability
 * 9.0 on), and it does not end before. A recorded end behind the next one's
 * end, or behind the start of the one after, is a fault of the recording:
 * AMD-AGI/TraceLens#669. Such an activity ends where the next begins.
 *
 * Branches of a graph share the stream that launched it: of its activities, the
 * next is the first behind the graph.
 */
#include "core/trace/order.h"

/* Times may be cut to microseconds. */
#define SLACK ((msim_ps)MSIM_PS_PER_US)

/* A stream with a larger share of these is no queue: its activities are of
 * several processes, or of the branches of graphs that are not told. */
#define OVERRUN_MAX (1.0 / 3)

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

void msim_order_room(struct msim_trace *t)
{
    struct overruns all = {0};

    for (uint32_t i = 0; i < t->n_streams; i++) {
        const struct msim_stream *s = &t->streams[i];
        uint32_t n = check_stream(t, s, NULL);

        if (n && n <= OVERRUN_MAX * (s->gpu_end - s->gpu_begin))
            check_stream(t, s, &all);
    }
}
