/*
 * core/graph/rules/graph_rules.h - the rules that make tasks and edges, one
 * file a theme, in the order in which core/graph/build/graph_build.c applies
 * them.
 *
 * No wait is copied from the trace. A rule makes an edge, takes the waiting out
 * of the work of the task that waited, and the maximum over edges computes it
 * again. A latency is kept up to a bound; what a later start without a cause
 * adds to it is counted, and is an edge of its own. An edge that does not bind
 * in the trace gets the usual latency (the median in this trace, waits left
 * out), or its own where that is less: it must hold in a run in which it binds,
 * and must not delay the traced run.
 *
 * Each rule adds to the builder; on failure the builder stays whole.
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
/* The waits that cuda_sync events record, into r->waits; before any GPU
 * edge. */
MSIM_MUST_CHECK
enum msim_status msim_graph_recorded_waits(struct msim_rank_tasks *r);
/* The activity that runs on a stream at the instant `at`, or NONE. */
uint32_t msim_graph_running(const struct msim_trace *t, uint32_t stream,
                            msim_ps at);
/* Sort GPU events by their ends, into r->by_end. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_graph_sort_ends(struct msim_rank_tasks *r);
/* How many events of by_end have ended by `at`. */
uint32_t msim_graph_ended_by(const struct msim_rank_tasks *r, msim_ps at);
/*
 * When each GPU event was launched, into r->launched. A stream keeps the order
 * of its launches: one that is not recorded came at the earliest with the last
 * that is, and before the recording where there is none. Where no GPU time may
 * be read, nothing would show how far that is off; there such an event counts
 * as launched when it started.
 */
void msim_graph_find_launches(const struct msim_graph_builder *b,
                              struct msim_rank_tasks *r);
/* The last activity of a stream that was launched before `at`, or NONE. */
uint32_t msim_graph_last_launched(const struct msim_rank_tasks *r,
                                  uint32_t stream, msim_ps at);
/* graph_sync.c: calls that wait for the GPU. */
MSIM_MUST_CHECK
enum msim_status msim_graph_sync(struct msim_graph_builder *b,
                                 struct msim_rank_tasks *r);
/* graph_handover.c: threads that wait for each other. After the loader, since
 * a thread that waited for a batch did not wait for another thread. */
MSIM_MUST_CHECK
enum msim_status msim_graph_handover(struct msim_graph_builder *b,
                                     struct msim_rank_tasks *r);
/* graph_loader.c: batches that come from processes outside the trace. */
MSIM_MUST_CHECK
enum msim_status msim_graph_loader(struct msim_graph_builder *b,
                                   struct msim_rank_tasks *r);
/* Does operator or label `op` take a batch from such a process? */
bool msim_graph_takes_batch(const struct msim_trace *t, uint32_t op);
/* graph_queue.c: launches that wait for room. After graph_sync.c, since a call
 * waits for the later of the two. */
MSIM_MUST_CHECK
enum msim_status msim_graph_queue(struct msim_graph_builder *b,
                                  struct msim_rank_tasks *r);
/* graph_messages.c: of each of the rank's calls (by comms), the message behind
 * which it runs, or NONE. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_graph_message_order(const struct msim_job *job,
                                          uint32_t rank, uint32_t *behind);
/* graph_launch_plan.c: a rank without GPU events, from what it would launch. */
MSIM_MUST_CHECK
enum msim_status msim_graph_launch_plan(struct msim_graph_builder *b,
                                        uint32_t rank,
                                        const struct msim_launch_plan *plan);
/* graph_begin.c: ranks begin behind the one that began first. After all ranks,
 * since their releases are those of the rules above. */
MSIM_MUST_CHECK
enum msim_status msim_graph_begin(struct msim_graph_builder *b);
/* Does an edge say when a rank begins, by what the first rank has done? */
bool msim_graph_is_begin(const struct msim_graph *g, uint32_t edge);
/* graph_comm.c: ranks meet in collectives. */
MSIM_MUST_CHECK
enum msim_status msim_graph_comm(struct msim_graph_builder *b);

/* The key under which ranks meet, for a collective of `rank`. */
uint64_t msim_graph_group_key(const struct msim_graph_builder *b, uint32_t rank,
                              uint32_t comm);

#endif
