/*
 * core/chakra/chakra_nodes.h - which nodes a rank becomes in a Chakra file, and
 * what each depends on; for this room only.
 *
 * A rank with times is written as the dependency graph has it: the tasks of a
 * thread, a stream, a collective. A task of the CPU becomes a chain of nodes,
 * the operators that begin in it, whose own times add up to the task's work.
 * The part of the work that belongs to none of them (to an operator that goes
 * on, or to a gap) is a node of its own. A dependency between tasks goes from
 * the end of one chain to the start of the other; a task without work and
 * without nodes passes its dependencies on. So data_deps, with their delays,
 * mean what the graph means.
 *
 * An execution trace has no times: its operators follow one another in the
 * order of their ids, and nodes of the GPU are made of them.
 */
#ifndef MSIM_CORE_CHAKRA_CHAKRA_NODES_H
#define MSIM_CORE_CHAKRA_CHAKRA_NODES_H
#include "core/base/vec.h"
#include "core/chakra/chakra_work.h"
#include "core/graph/graph.h"
#include "core/read/chakra/chakra_words.h"

struct msim_chakra_dep {
    uint32_t node;
    int32_t lag_ns;
};

/* A node that will be written; its id is its index + 1. */
struct msim_chakra_out_node {
    msim_ps own;        /* work */
    msim_ps not_before; /* or MSIM_TIME_NONE */
    uint32_t row;       /* ops, calls, gpu, syncs or comms; or NONE */
    uint32_t op;        /* MADE: what it is made of */
    uint32_t ctrl;      /* node, or NONE */
    uint32_t deps, n_deps;
    uint8_t event;
};

struct msim_chakra_nodes {
    const struct msim_trace *trace;
    struct msim_vec nodes;     /* struct msim_chakra_out_node */
    struct msim_vec deps;      /* struct msim_chakra_dep */
    uint64_t delays, releases; /* deps with a lag; nodes with not_before */
    msim_ps delayed;           /* sum of the lags */
};

void msim_chakra_nodes_release(struct msim_chakra_nodes *p);

/* Add a node; the dependencies that are added next are its own. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_nodes_add(struct msim_chakra_nodes *p,
                                       enum msim_chakra_event event,
                                       uint32_t row, msim_ps own,
                                       uint32_t *index);
/* Let the node that was added last depend on `node`; twice counts once. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_nodes_depend(struct msim_chakra_nodes *p,
                                          uint32_t node, msim_ps lag);

/*
 * The nodes of one rank (an index into the job's) with times, from the graph
 * of its job. `order` has all tasks in an order that respects the edges.
 */
MSIM_MUST_CHECK
enum msim_status msim_chakra_nodes_timed(struct msim_chakra_nodes *p,
                                         const struct msim_graph *g,
                                         const uint32_t *order, uint32_t rank);
/* The nodes of one rank without times; `works` of its operators may be NULL. */
MSIM_MUST_CHECK
enum msim_status msim_chakra_nodes_shapes(struct msim_chakra_nodes *p,
                                          const struct msim_trace *t,
                                          const struct msim_chakra_work *works);

#endif
