/*
 * core/graph/task_text.h - what a task and its lane are called in reports.
 *
 * Texts are static or the job's; they outlive the graph's reports.
 */
#ifndef MSIM_CORE_GRAPH_TASK_TEXT_H
#define MSIM_CORE_GRAPH_TASK_TEXT_H
#include "core/graph/graph.h"

#define MSIM_LANE_NAME 48 /* bytes that any lane's name fits into */

/* "host", "kernel", ... */
const char *msim_task_kind_text(enum msim_task_kind kind);

/* The string number of a task's own name (a kernel, a call), or 0. */
uint32_t msim_task_own_name(const struct msim_graph *g, uint32_t task);

/* The name of the task's own, else of the operator it is in, else "host". */
const char *msim_task_name(const struct msim_graph *g, uint32_t task);

/* The string number of the topmost operator's name, or 0. */
uint32_t msim_task_topmost(const struct msim_graph *g, uint32_t task);

/* "stream 7", "thread 123", "host"; "-" for MSIM_NONE. */
void msim_lane_name(char name[MSIM_LANE_NAME], const struct msim_graph *g,
                    uint32_t lane);

/* What tells a device's lane from others, as `--scale stream:ID` takes it: "7";
 * "compute" and "communication" of a rank without GPU events. */
void msim_stream_id(char id[MSIM_LANE_NAME], const struct msim_graph *g,
                    uint32_t lane);

#endif
