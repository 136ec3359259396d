/*
 * core/graph/rules/graph_rules.h - the rules that make tasks and edges, in the
 * order in which core/graph/build/graph_build.c applies them.
 *
 * Each adds to the builder; on failure the builder stays whole.
 */
#ifndef MSIM_CORE_GRAPH_RULES_GRAPH_RULES_H
#define MSIM_CORE_GRAPH_RULES_GRAPH_RULES_H
#include "core/graph/rules/graph_builder.h"

/* graph_host.c: CPU threads of a rank with times. */
MSIM_MUST_CHECK
enum msim_status msim_graph_host(struct msim_graph_builder *b,
                                 struct msim_rank_tasks *r);
/* graph_device.c: its streams, launches and synchronisation. */
MSIM_MUST_CHECK
enum msim_status msim_graph_device(struct msim_graph_builder *b,
                                   struct msim_rank_tasks *r);
/* graph_wait.c: streams that wait for each other. */
MSIM_MUST_CHECK
enum msim_status msim_graph_wait(struct msim_graph_builder *b,
                                 struct msim_rank_tasks *r);
/* What cuda_sync events say of it, into r->waits; before any GPU edge. */
MSIM_MUST_CHECK
enum msim_status msim_graph_recorded_waits(struct msim_graph_builder *b,
                                           struct msim_rank_tasks *r);
/* The activity that runs on a stream at the instant `at`, or NONE. */
uint32_t msim_graph_running(const struct msim_trace *t, uint32_t stream,
                            msim_ps at);
/* The last activity of a stream that was launched before `at`, or NONE. */
uint32_t msim_graph_last_launched(const struct msim_trace *t, uint32_t stream,
                                  msim_ps at);
/* graph_sync.c: calls that wait for the GPU. */
MSIM_MUST_CHECK
enum msim_status msim_graph_sync(struct msim_graph_builder *b,
                                 struct msim_rank_tasks *r);
/* graph_handover.c: threads that wait for each other. After the loader: what
 * waited for a batch did not wait for a thread. */
MSIM_MUST_CHECK
enum msim_status msim_graph_handover(struct msim_graph_builder *b,
                                     struct msim_rank_tasks *r);
/* graph_loader.c: batches that come from processes outside the trace. */
MSIM_MUST_CHECK
enum msim_status msim_graph_loader(struct msim_graph_builder *b,
                                   struct msim_rank_tasks *r);
/* Does operator or label `op` take a batch from such a process? */
bool msim_graph_takes_batch(const struct msim_trace *t, uint32_t op);
/* graph_queue.c: launches that wait for room. After graph_sync.c: a call waits
 * for the later of the two. */
MSIM_MUST_CHECK
enum msim_status msim_graph_queue(struct msim_graph_builder *b,
                                  struct msim_rank_tasks *r);
/* graph_launch_plan.c: a rank without GPU events, from a plan of what it
 * launches. */
MSIM_MUST_CHECK
enum msim_status msim_graph_launch_plan(struct msim_graph_builder *b,
                                        uint32_t rank,
                                        const struct msim_launch_plan *plan);
/* graph_comm.c: ranks meet in collectives. */
MSIM_MUST_CHECK
enum msim_status msim_graph_comm(struct msim_graph_builder *b);

/* The key under which ranks meet, for a collective of `rank`. */
uint64_t msim_graph_group_key(const struct msim_graph_builder *b, uint32_t rank,
                              uint32_t comm);

#endif
