/*
 * core/graph/task_text.c - what a task and its lane are called in reports.
 */
#include "core/graph/graph.h"

#include <stdio.h>

const char *msim_task_kind_text(enum msim_task_kind kind)
{
    static const char *const TEXT[] = {
        [MSIM_TASK_HOST] = "host",       [MSIM_TASK_GAP] = "gap",
        [MSIM_TASK_CALL] = "call",       [MSIM_TASK_KERNEL] = "kernel",
        [MSIM_TASK_COPY] = "copy",       [MSIM_TASK_COMM] = "communication",
        [MSIM_TASK_JOIN] = "rendezvous",
    };

    return (unsigned)kind <= MSIM_TASK_JOIN ? TEXT[kind] : "";
}

static const struct msim_trace *trace_of(const struct msim_graph *g,
                                         uint32_t task)
{
    return g->job->ranks[g->refs[task].rank];
}

uint32_t msim_task_own_name(const struct msim_graph *g, uint32_t task)
{
    const struct msim_trace *t = trace_of(g, task);
    uint32_t index = g->refs[task].index;

    if (g->own_name && g->own_name[task])
        return g->own_name[task];
    switch ((enum msim_task_kind)g->kind[task]) {
    case MSIM_TASK_CALL:
        return index == MSIM_NONE ? 0 : t->calls[index].name;
    case MSIM_TASK_KERNEL:
    case MSIM_TASK_COPY:
    case MSIM_TASK_COMM:
    case MSIM_TASK_JOIN:
        return index == MSIM_NONE ? 0 : t->gpu[index].name;
    case MSIM_TASK_HOST:
    case MSIM_TASK_GAP:
        break;
    }
    return 0;
}

const char *msim_task_name(const struct msim_graph *g, uint32_t task)
{
    const struct msim_trace *t = trace_of(g, task);
    uint32_t own = msim_task_own_name(g, task), op = g->refs[task].op;

    if (own)
        return msim_trace_text(t, own);
    return op == MSIM_NONE ? "host" : msim_trace_text(t, t->ops[op].name);
}

uint32_t msim_task_topmost(const struct msim_graph *g, uint32_t task)
{
    const struct msim_trace *t = trace_of(g, task);
    uint32_t top = msim_op_topmost(t, g->refs[task].op);

    return top == MSIM_NONE ? 0 : t->ops[top].name;
}

void msim_stream_id(char id[MSIM_LANE_NAME], const struct msim_graph *g,
                    uint32_t lane)
{
    const struct msim_lane *l = &g->lanes[lane];
    const struct msim_trace *t = g->job->ranks[l->rank];

    if (l->index < t->n_streams)
        snprintf(id, MSIM_LANE_NAME, "%lld",
                 (long long)t->streams[l->index].id);
    else if (l->index > MSIM_LANE_ADDED && l->index != MSIM_NONE)
        snprintf(id, MSIM_LANE_NAME, "new stream %u",
                 l->index - MSIM_LANE_ADDED);
    else
        snprintf(id, MSIM_LANE_NAME, l->index ? "communication" : "compute");
}

void msim_lane_name(char name[MSIM_LANE_NAME], const struct msim_graph *g,
                    uint32_t lane)
{
    const struct msim_lane *l;
    const struct msim_trace *t;
    char id[MSIM_LANE_NAME];

    if (lane == MSIM_NONE) {
        snprintf(name, MSIM_LANE_NAME, "-");
        return;
    }
    l = &g->lanes[lane];
    t = g->job->ranks[l->rank];
    if (l->device) {
        msim_stream_id(id, g, lane);
        snprintf(name, MSIM_LANE_NAME, "%s%.40s",
                 l->index < t->n_streams ? "stream " : "", id);
    } else if (l->index < t->n_threads)
        snprintf(name, MSIM_LANE_NAME, "thread %lld",
                 (long long)t->threads[l->index].tid);
    else
        snprintf(name, MSIM_LANE_NAME, "host");
}
