/*
 * core/graph/rules/graph_builder.h - a graph while it grows.
 *
 * Private to the rooms of core/graph. Tasks have their traced start and end
 * here, because dependencies that no trace records are inferred from times; the
 * finished graph keeps only work.
 */
#ifndef MSIM_CORE_GRAPH_RULES_GRAPH_BUILDER_H
#define MSIM_CORE_GRAPH_RULES_GRAPH_BUILDER_H
#include "core/base/idmap.h"
#include "core/graph/graph.h"

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

#endif
