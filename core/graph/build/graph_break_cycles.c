/*
 * core/graph/build/graph_break_cycles.c - inferred dependencies that contradict
 * each other.
 *
 * Many dependencies are recorded in no trace: they are inferred from times,
 * within the difference of the clocks of CPU and GPU, or from counting.
 * Sometimes such inferences make tasks wait for each other in a circle, which
 * no run does. Then one of them is wrong: the edge on the circle that goes back
 * furthest by the traced times. It is left out, with a warning. A circle of
 * recorded edges alone stays, and the engine names it.
 *
 * A rank that began late, and that the first rank waited for by then, does not
 * begin behind that: it begins when it was recorded.
 */
#include "core/graph/build/graph_break_cycles.h"

#include "core/graph/graph.h"
#include "core/graph/rules/graph_rules.h"

/* A trace with more contradictions is not repaired. */
#define BROKEN_MAX 64

/* May the edge be wrong? Not if it is recorded, or the order of a thread or
 * stream. */
static bool is_inferred(uint8_t byte)
{
    switch (msim_edge_kind_of(byte)) {
    case MSIM_EDGE_PROGRAM:
    case MSIM_EDGE_LAUNCH:
    case MSIM_EDGE_STREAM:
    case MSIM_EDGE_COLLECTIVE:
    case MSIM_EDGE_POINT_TO_POINT:
        return false;
    default:
        return msim_edge_source_of(byte) != MSIM_FROM_IDS;
    }
}

/*
 * How far an edge goes back by the traced times: from the start (of an
 * activity) or the end (of a call) of the task that waits to the end of the
 * task that it waits for.
 */
static msim_ps goes_back(const struct msim_graph_builder *b, uint32_t from,
                         uint32_t to)
{
    bool gpu = b->g->kind[to] >= MSIM_TASK_KERNEL;

    if (!b->opt->device_times || b->tend[from] == MSIM_TIME_NONE ||
        b->tend[to] == MSIM_TIME_NONE)
        return 0;
    return b->tend[from] - (gpu ? b->tstart[to] : b->tend[to]);
}

/* The edge of the cycle to leave out, or NONE. */
static uint32_t least_likely(const struct msim_graph_builder *b,
                             const struct msim_cycle *c)
{
    const struct msim_graph *g = b->g;
    uint32_t worst = MSIM_NONE;
    msim_ps most = 0;

    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t edge = c->edges[i];
        msim_ps back;

        if (!is_inferred(g->edge_kind[edge]))
            continue;
        back = goes_back(b, msim_edge_from(g, edge), g->edges[edge].to);
        if (worst == MSIM_NONE || back > most) {
            worst = edge;
            most = back;
        }
    }
    return worst;
}

static void leave_out(struct msim_graph_builder *b, uint32_t from, uint32_t to,
                      uint8_t kind)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < b->n_edges; i++)
        if (b->edges[i].from != from || b->edges[i].edge.to != to ||
            b->edges[i].kind != kind)
            b->edges[n++] = b->edges[i];
    b->n_edges = n;
}

static void warn(struct msim_graph_builder *b, uint32_t n, const char *text)
{
    msim_job_warn(b->job,
                  "%u of the dependencies that are inferred contradict others "
                  "and are left out; the first: %s",
                  n, text);
}

/* The edge of the cycle that says when a rank begins, or NONE. */
static uint32_t begin_of(const struct msim_graph *g, const struct msim_cycle *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (msim_graph_is_begin(g, c->edges[i]))
            return c->edges[i];
    return MSIM_NONE;
}

static enum msim_status free_begins(struct msim_graph_builder *b)
{
    for (;;) {
        struct msim_cycle c;
        enum msim_status status = msim_cycle_find(&c, b->g);
        uint32_t edge = begin_of(b->g, &c), to;

        msim_cycle_release(&c);
        MSIM_TRY(status);
        if (edge == MSIM_NONE)
            return MSIM_OK;
        to = b->g->edges[edge].to;
        leave_out(b, msim_edge_from(b->g, edge), to, b->g->edge_kind[edge]);
        MSIM_TRY(msim_builder_release(b, to, b->tstart[to], false));
        MSIM_TRY(msim_builder_finish(b));
    }
}

enum msim_status msim_graph_break_cycles(struct msim_graph_builder *b,
                                         bool *meetings)
{
    char text[300] = "";
    uint32_t n = 0;

    *meetings = false;
    if (b->job->n_ranks > 1)
        MSIM_TRY(free_begins(b));
    for (;;) {
        struct msim_cycle c;
        enum msim_status status = msim_cycle_find(&c, b->g);
        uint32_t edge = MSIM_NONE;

        for (uint32_t i = 0; i < c.n; i++)
            *meetings |=
                b->g->kind[b->g->edges[c.edges[i]].to] == MSIM_TASK_JOIN &&
                b->g->lane[b->g->edges[c.edges[i]].to] == MSIM_NONE;
        if (c.n && n < BROKEN_MAX && (!*meetings || b->apart))
            edge = least_likely(b, &c);
        msim_cycle_release(&c);
        MSIM_TRY(status);
        if (edge == MSIM_NONE)
            break;
        if (!n++)
            msim_edge_tell(text, sizeof(text), b->g, edge);
        leave_out(b, msim_edge_from(b->g, edge), b->g->edges[edge].to,
                  b->g->edge_kind[edge]);
        MSIM_TRY(msim_builder_finish(b));
    }
    if (n)
        warn(b, n, text);
    return MSIM_OK;
}
