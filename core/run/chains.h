/*
 * core/run/chains.h - tasks that only follow each other, as one.
 *
 * Most of a host's tasks lead to the next one alone, in program order and
 * without a latency, and that one waits for nothing else: five of six, as a
 * rule. A run need not look at each of them. It walks over chains of them:
 *
 *     a chain       tasks first[c] .. first[c + 1] - 1
 *     its start     that of its first task, which all edges to it lead to
 *     its end       that of its last task, which all edges from it leave
 *
 * Every task is in one chain; a task that shares a device, or that may not
 * start before an instant, is the first of one, and what shares is alone.
 *
 * Private to the engine.
 */
#ifndef MSIM_CORE_RUN_CHAINS_H
#define MSIM_CORE_RUN_CHAINS_H
#include "core/graph/graph.h"

/* From one chain to another: `to` is a chain. */
struct msim_chain_edge {
    msim_ps lag;
    uint32_t to;
    uint8_t kind; /* as msim_graph.edge_kind */
};

struct msim_chains {
    uint32_t n;
    uint32_t *of_task; /* one a task: its chain */
    uint32_t *first;   /* n + 1 */
    uint32_t *n_preds; /* one a chain */
    uint32_t *demand;  /* likewise: index of g->sharing->demands, or NONE */
    uint32_t *roots;   /* those of no preds, ascending: n_roots */
    uint32_t n_roots;
    uint32_t *edge_begin; /* n + 1, into edges */
    struct msim_chain_edge *edges;
    uint32_t *of_demand;  /* one a demand of g->sharing: its chain */
    uint32_t *of_release; /* one a release of g: likewise */
};

/* Those of `g`. Release in any case; ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_chains_find(struct msim_chains *c,
                                  const struct msim_graph *g);
void msim_chains_release(struct msim_chains *c);

#endif
