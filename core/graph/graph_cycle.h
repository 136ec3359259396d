/*
 * core/graph/graph_cycle.h - tasks that wait for each other: found, and named.
 *
 * A person has to find in the traces what contradicts itself. So only the cycle
 * is named, not the tasks that wait behind it.
 */
#ifndef MSIM_CORE_GRAPH_GRAPH_CYCLE_H
#define MSIM_CORE_GRAPH_GRAPH_CYCLE_H
#include "core/graph/graph.h"

/* One cycle of a graph, against the direction of its edges. */
struct msim_cycle {
    uint32_t *edges;  /* of the graph; each begins where the next one ends */
    uint32_t n;       /* 0: there is none */
    uint32_t n_stuck; /* tasks on cycles, or behind them */
};

/* One pass over tasks and edges. Release `*c` in any case. */
MSIM_MUST_CHECK
enum msim_status msim_cycle_find(struct msim_cycle *out,
                                 const struct msim_graph *g);
void msim_cycle_release(struct msim_cycle *c);

/* The task that an edge comes from. */
uint32_t msim_edge_from(const struct msim_graph *g, uint32_t edge);

/* Append to `text` (`room` bytes): "call 7 'x' (rank 0, thread 1) for kernel 9
 * 'y' (rank 0, stream 7): event synchronisation". */
void msim_edge_tell(char *text, size_t room, const struct msim_graph *g,
                    uint32_t edge);

/* Fail with ECYCLE and the cycle in words; `g` must have one. */
enum msim_status msim_cycle_fail(const struct msim_graph *g,
                                 struct msim_error *err);

#endif
