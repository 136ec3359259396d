/*
 * core/graph/contention/graph_contention.h - which tasks of a graph share a
 * device (core/graph/contention.h), as its trace shows it.
 */
#ifndef MSIM_CORE_GRAPH_CONTENTION_GRAPH_CONTENTION_H
#define MSIM_CORE_GRAPH_CONTENTION_GRAPH_CONTENTION_H
#include "core/graph/rules/graph_rules.h"

/* Make b->g->sharing, which stays NULL where nothing is shared. After all
 * tasks are there. */
MSIM_MUST_CHECK
enum msim_status msim_graph_contention(struct msim_graph_builder *b);

#endif
