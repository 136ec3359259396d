/*
 * core/graph/rules/graph_rules.h - a graph while it grows, and the rules that
 * make its tasks and edges.
 */
#ifndef MSIM_CORE_GRAPH_RULES_GRAPH_RULES_H
#define MSIM_CORE_GRAPH_RULES_GRAPH_RULES_H
#include "core/base/containers.h"
#include "core/graph/graph.h"

/* ---- graph builder ------------------------------------------------------- */
/*
 * A graph while it grows.
 *
 * Private to the rooms of core/graph. Tasks have their traced start and end
 * here, because dependencies that no trace records are inferred from times; the
 * finished graph keeps only work.
 */

struct msim_pending_edge {
    uint32_t from;
    struct msim_edge edge;
    uint8_t kind;
};

/* A rank's part in one collective. */
struct msim_meeting {
    uint64_t group;  /* equal for the ranks that meet */
    int64_t ordinal; /* nth of that group on its rank, from its first step */
    bool early;      /* launched before the first step */
    uint32_t rank, comm;
    uint32_t arrive, transfer; /* tasks */
};

struct msim_graph_builder {
    struct msim_graph *g;
    struct msim_job *job;
    const struct msim_graph_options *opt;
    struct msim_error *err;
    uint32_t cap_tasks;
    msim_ps *tstart, *tend; /* one a task; TIME_NONE with a launch plan */
    struct msim_pending_edge *edges;
    uint32_t n_edges, cap_edges;
    struct msim_meeting *meetings;
    uint32_t n_meetings, cap_meetings;
    struct msim_idmap calls;      /* of collectives: kind and size on a rank */
    msim_ps *shortest;            /* traced, of each of `calls` */
    struct msim_idmap iterations; /* of a step's number */
    bool apart;                   /* ranks meet only where it is recorded */
    bool side_by_side;  /* by the hosts' clocks, ranks ran at the same time */
    msim_ps last_begin; /* of the hosts, by their own clocks */
};

/* One stream's activity has to wait for another's. */
struct msim_wait {
    uint32_t source, target; /* GPU events */
};

/* The rank under construction: lookups from trace items to tasks. */
struct msim_rank_tasks {
    uint32_t rank;
    const struct msim_trace *trace;
    uint32_t *of_call; /* task of each call */
    uint32_t *of_gpu;  /* task of each GPU event (a collective's transfer) */
    uint32_t *of_gpu_begin; /* the one that waits for launch and stream */
    uint32_t *thread_first, *thread_end; /* task range of each thread */
    uint32_t main_stream;                /* with most kernels, or NONE */
    struct msim_wait *waits;             /* by recorded ids */
    uint32_t n_waits, cap_waits;
    msim_ps *recorded_end; /* of each GPU event: latest end of what its stream
                              waited for by recorded ids, or TIME_NONE */
    msim_ps *launched;     /* of each GPU event: msim_graph_find_launches() */
    uint32_t *by_end;      /* GPU events by their ends */
    uint8_t *cause;        /* of each GPU event's start: msim_cause_kind */
    msim_ps base; /* added to times of release: see msim_graph_build() */
};

/* An index with what it is sorted by; ties go by index. */
struct msim_keyed {
    msim_ps key;
    uint32_t index;
};
void msim_keyed_sort(struct msim_keyed *keys, uint32_t n);

static inline msim_ps msim_gpu_end(const struct msim_gpu *e)
{
    return e->start + e->dur;
}

/* Tasks, lanes, edges: on failure the builder stays whole. */
MSIM_MUST_CHECK
enum msim_status msim_builder_task(struct msim_graph_builder *b,
                                   enum msim_task_kind kind, uint32_t lane,
                                   struct msim_task_ref ref, msim_ps start,
                                   msim_ps dur, uint32_t *id);
MSIM_MUST_CHECK
enum msim_status msim_builder_edge(struct msim_graph_builder *b,
                                   enum msim_edge_kind kind,
                                   enum msim_edge_source source, uint32_t from,
                                   uint32_t to, msim_ps lag);
MSIM_MUST_CHECK
enum msim_status msim_builder_lane(struct msim_graph_builder *b, uint32_t rank,
                                   uint32_t index, bool device, uint32_t *id);
MSIM_MUST_CHECK
enum msim_status msim_builder_release(struct msim_graph_builder *b,
                                      uint32_t task, msim_ps at, bool external);
MSIM_MUST_CHECK
enum msim_status msim_builder_window(struct msim_graph_builder *b,
                                     struct msim_window w, int64_t number);
MSIM_MUST_CHECK
enum msim_status msim_builder_meet(struct msim_graph_builder *b,
                                   struct msim_meeting m);
/* Make the graph's edges from the builder's; again after those have changed. */
MSIM_MUST_CHECK
enum msim_status msim_builder_finish(struct msim_graph_builder *b);

/*
 * `task`, a call, waited until `until` of the trace: only the time after that
 * is its work. Does nothing where that is not less than its work so far.
 */
void msim_builder_waited(struct msim_graph_builder *b, uint32_t task,
                         msim_ps until);

/* ---- graph rules --------------------------------------------------------- */
/*
 * The rules that make tasks and edges, one file a theme, in the order in which
 * core/graph/build/graph_build.c applies them.
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
