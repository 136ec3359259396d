/*
 * core/graph/build/graph_break_cycles.h - inferred dependencies that
 * contradict each other; for graph_build.c.
 */
#ifndef MSIM_CORE_GRAPH_BUILD_GRAPH_BREAK_CYCLES_H
#define MSIM_CORE_GRAPH_BUILD_GRAPH_BREAK_CYCLES_H
#include "core/graph/rules/graph_rules.h"

/*
 * Leave out, with a warning, inferred edges of the finished graph until none
 * of them is on a circle. `*meetings`: ranks meet in a circle, and it stays
 * unless they meet only in what is recorded (b->apart).
 */
MSIM_MUST_CHECK
enum msim_status msim_graph_break_cycles(struct msim_graph_builder *b,
                                         bool *meetings);

#endif
