/*
 * core/match/rank_calls.c - the collectives and messages of one rank.
 */
#include "core/match/lost_comms_internal.h"

#include "core/trace/trace_columns.h"
#include "core/trace/trace_steps.h"

#include <stdlib.h>

static bool is_counted(const struct msim_trace *t, const struct msim_comm *c)
{
    struct msim_message m;

    if (msim_is_message(c->collective))
        return msim_message_of(t, c, &m);
    return c->group != MSIM_NONE && c->collective != MSIM_COLL_UNKNOWN &&
           c->collective != MSIM_COLL_WAIT;
}

/* Where and when a call ran. */
struct seen {
    int64_t place;
    msim_ps from, to;
};

static enum msim_status add_call(const struct msim_trace *t,
                                 struct msim_match_call call,
                                 const struct seen *seen,
                                 struct msim_step_window recording,
                                 struct msim_vec *out)
{
    uint32_t begun = t->n_steps ? msim_steps_begun(t, seen->place) : 1;
    struct msim_step_window w = recording;
    struct msim_match_call *c = msim_vec_add(out, sizeof(*c));

    if (!c)
        return MSIM_ENOMEM;
    if (t->n_steps && begun)
        w = msim_step_window_of(t, begun - 1);
    *c = call;
    c->span = 2 * (int64_t)begun - (begun && msim_step_holds(&w, seen->place));
    c->place = seen->place;
    c->part = (double)(seen->place - w.from) / (double)(w.to - w.from);
    c->from = seen->from;
    c->to = seen->to;
    return MSIM_OK;
}

static int64_t launch_of(const struct msim_trace *t, const struct msim_gpu *g)
{
    return g->call == MSIM_NONE ? g->start : t->calls[g->call].start;
}

static void see(const struct msim_trace *t, const struct msim_gpu *g,
                struct seen *s)
{
    if (launch_of(t, g) < s->place)
        s->place = launch_of(t, g);
    if (t->has_times && g->start < s->from)
        s->from = g->start;
    if (t->has_times && g->start + g->dur > s->to)
        s->to = g->start + g->dur;
}

/* Collectives that ran, by their first launch; without a GPU those that were
 * called. */
static void find_places(const struct msim_trace *t, struct seen *seen)
{
    for (uint32_t i = 0; i < t->n_comms; i++)
        seen[i] = (struct seen){INT64_MAX, INT64_MAX, INT64_MIN};
    for (uint32_t i = 0; i < t->n_gpu; i++)
        if (t->gpu[i].comm != MSIM_NONE)
            see(t, &t->gpu[i], &seen[t->gpu[i].comm]);
    for (uint32_t i = 0; i < t->n_comms && !t->has_gpu_events; i++)
        if (t->comms[i].op != MSIM_NONE)
            seen[i].place = msim_moment(t, t->comms[i].op);
}

static void widen(struct msim_step_window *w, int64_t at)
{
    w->from = at < w->from ? at : w->from;
    w->to = at >= w->to ? at + 1 : w->to;
}

/* From the first thing that was done to the last: a call that is lost at either
 * end moves no other. */
static struct msim_step_window window_of(const struct msim_trace *t)
{
    struct msim_step_window w = {INT64_MAX, INT64_MIN};

    for (uint32_t i = 0; i < t->n_ops; i++)
        if (t->has_times || !t->has_gpu_events)
            widen(&w, msim_moment(t, i));
    for (uint32_t i = 0; i < t->n_gpu; i++)
        widen(&w, launch_of(t, &t->gpu[i]));
    return w;
}

enum msim_status msim_match_rank_calls(const struct msim_trace *t,
                                       uint32_t rank, uint32_t n_ranks,
                                       struct msim_vec *out)
{
    struct seen *seen = malloc(((size_t)t->n_comms + 1) * sizeof(*seen));
    enum msim_status status = seen ? MSIM_OK : MSIM_ENOMEM;
    struct msim_step_window recording = window_of(t);

    if (seen)
        find_places(t, seen);
    for (uint32_t i = 0; i < t->n_comms && status == MSIM_OK; i++)
        if (seen[i].place != INT64_MAX && is_counted(t, &t->comms[i]))
            status =
                add_call(t,
                         (struct msim_match_call){.group = msim_meeting_key(
                                                      t, &t->comms[i], n_ranks),
                                                  .is = &t->comms[i],
                                                  .rank = rank,
                                                  .comm = i},
                         &seen[i], recording, out);
    free(seen);
    return status;
}
