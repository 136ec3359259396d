/*
 * core/graph/graph.h - the dependency graph of a job: tasks and edges, no
 * waiting; its circles, the texts of its tasks, and what a what-if lays over
 * it.
 */
#ifndef MSIM_CORE_GRAPH_GRAPH_H
#define MSIM_CORE_GRAPH_GRAPH_H
#include "core/graph/contention.h"
#include "core/job/job.h"

/* ---- graph --------------------------------------------------------------- */
/*
 * The dependency graph of a job: tasks and edges, no waiting.
 *
 * A task is a piece of work on a lane: a stretch of a CPU thread, a runtime
 * call, a kernel, a copy, a collective's transfer. It starts when every
 * predecessor has ended and the edge's lag has passed:
 *
 *     start(v) = max over edges u->v of end(u) + lag(u->v), and release(v)
 *     end(v)   = start(v) + duration(v)
 *
 * Lanes need no lock: the order of a thread and of a stream is edges. A wait
 * (stream, event or device synchronisation, a collective waiting for peers)
 * is never a duration; it is the gap that the maximum leaves. Example: a
 * thread launches k1 at 10 us and then synchronises; k1 starts at 15 (launch
 * latency 5) and takes 100: the synchronising call, whose own work is 2 us,
 * ends at 15 + 100 + 2 = 117 whatever the trace had measured.
 *
 * The graph is built once and never edited. Durations live outside it (one
 * array a scenario), so thousands of scenarios share one graph.
 */

enum msim_task_kind {
    MSIM_TASK_HOST, /* CPU work inside an operator */
    MSIM_TASK_GAP,  /* CPU time between operators: nothing recorded */
    MSIM_TASK_CALL, /* a runtime call without its waiting */
    MSIM_TASK_KERNEL,
    MSIM_TASK_COPY, /* copies and memsets */
    MSIM_TASK_COMM, /* transfer of a collective */
    MSIM_TASK_JOIN, /* no work: arrival at a collective, or all have arrived */
};

/*
 * Why one task comes after another. X(NAME, text): each is one rule, can be
 * left out by itself (msim_graph_options.without) and is reported by name.
 */
#define MSIM_EDGE_MAP(X)                                                       \
    X(PROGRAM, "program order")                                                \
    X(LAUNCH, "launch")                                                        \
    X(STREAM, "stream order")                                                  \
    X(QUEUE, "launch queue full")                                              \
    X(EVENT, "stream waits for event")                                         \
    X(INPUT, "input of a collective")                                          \
    X(DEVICE_SYNC, "device synchronisation")                                   \
    X(STREAM_SYNC, "stream synchronisation")                                   \
    X(EVENT_SYNC, "event synchronisation")                                     \
    X(HIDDEN_SYNC, "synchronisation hidden in a call")                         \
    X(COPY_SYNC, "blocking copy")                                              \
    X(HANDOVER, "hand-over between threads")                                   \
    X(LOADER, "data loader")                                                   \
    X(BEGIN, "begin of a recording")                                           \
    X(UNEXPLAINED, "delay without a cause")                                    \
    X(COLLECTIVE, "collective")                                                \
    X(POINT_TO_POINT, "send and receive")

enum msim_edge_kind {
#define X(name, text) MSIM_EDGE_##name,
    MSIM_EDGE_MAP(X)
#undef X
        MSIM_EDGE_KINDS
};
const char *msim_edge_text(enum msim_edge_kind kind);

/* How an edge is known; reports count them by it. */
enum msim_edge_source {
    MSIM_FROM_ORDER, /* program order, or the meaning of a call */
    MSIM_FROM_IDS,   /* ids that the trace records */
    MSIM_FROM_TIMES, /* inferred from when things began and ended */
    MSIM_EDGE_SOURCES
};
const char *msim_edge_source_text(enum msim_edge_source source);

/* An edge's kind and source in one byte, as msim_graph.edge_kind has it. */
#define MSIM_EDGE_BYTE(kind, source) ((uint8_t)((kind) | (source) << 5))
static inline enum msim_edge_kind msim_edge_kind_of(uint8_t byte)
{
    return (enum msim_edge_kind)(byte & 31);
}
static inline enum msim_edge_source msim_edge_source_of(uint8_t byte)
{
    return (enum msim_edge_source)(byte >> 5);
}

/* 26 days. No run and no task lasts longer, so that the sum of a time, a
 * duration and a lag fits. */
#define MSIM_RUN_MAX (INT64_MAX / 4)

struct msim_edge {
    uint32_t to;
    msim_ps lag;
};

/* What a task stands for. */
struct msim_task_ref {
    uint32_t index;  /* KERNEL, COPY, COMM: gpu event, or NONE where the trace
                        has none; CALL: call; HOST: first op begun in it */
    uint32_t op;     /* op that it belongs to, or NONE */
    uint32_t op_end; /* HOST: ops begun in it are [index, op_end) */
    uint16_t rank;   /* index into job->ranks */
    uint16_t work;   /* without GPU events: which of the op's works */
};

/*
 * What is copied from the trace as it was measured: work, and latencies that
 * no other time explains. X(NAME, text). A wait is copied only where its cause
 * is not in the trace (PEERS, LOADER, BEFORE, UNEXPLAINED).
 */
#define MSIM_COPIED_MAP(X)                                                     \
    X(HOST, "host work in operators")                                          \
    X(GAP, "host time with nothing recorded")                                  \
    X(CALL, "runtime calls")                                                   \
    X(RETURN, "return from waiting calls")                                     \
    X(HANDOVER, "hand-over between threads")                                   \
    X(KERNEL, "kernels")                                                       \
    X(COPY, "copies")                                                          \
    X(TRANSFER, "transfers of collectives")                                    \
    X(LAUNCH, "launch latency")                                                \
    X(STREAM, "gaps between activities of a stream")                           \
    X(GRAPH, "gaps inside CUDA and HIP graphs")                                \
    X(EVENT, "latency of stream waits")                                        \
    X(BEFORE, "launched before the recording")                                 \
    X(LOADER, "waits for data loader processes")                               \
    X(PEERS, "waits for absent ranks")                                         \
    X(UNEXPLAINED, "delays without a cause")

enum msim_copied {
#define X(name, text) MSIM_COPIED_##name,
    MSIM_COPIED_MAP(X)
#undef X
        MSIM_COPIED_KINDS
};
const char *msim_copied_text(enum msim_copied what);

/* A task that may not start before an instant of the trace's own clock. */
struct msim_release {
    uint32_t task;
    msim_ps at;
    bool external;  /* arrival of a peer whose trace is absent; `at` is
                       TIME_NONE where an edge's lag says when */
    msim_ps traced; /* when it was, where the lag does */
};

struct msim_lane {
    uint32_t rank;  /* index into job->ranks */
    uint32_t index; /* of its threads or streams; from LANE_ADDED + 1 on: a
                       stream that the trace does not have */
    bool device;
};
#define MSIM_LANE_ADDED (1u << 30)

/* Work waited in a queue while its device did nothing that is recorded. */
struct msim_queued_idle {
    uint32_t n;
    msim_ps total, longest;
    uint32_t rank, gpu; /* what began after the longest */
};

/* Where an iteration begins and ends on one rank. */
struct msim_window {
    uint32_t first, last; /* tasks: from when its thread comes to the first to
                             the end of the last; NONE: the
                             rank's first start to its last end */
    uint32_t rank;
    uint32_t iteration; /* index into graph->iterations */
    uint32_t step;      /* of its trace; NONE: all of it */
    msim_ps measured;   /* duration, or MSIM_TIME_NONE */
    bool empty;         /* a mark with no task inside (first, last: NONE): it
                           takes no time */
};

/* Does it span all of its rank, which has no marks? */
static inline bool msim_window_is_whole(const struct msim_window *w)
{
    return w->first == MSIM_NONE && !w->empty;
}

struct msim_graph {
    const struct msim_job *job;
    uint32_t n_tasks, n_edges;
    uint8_t *kind;    /* msim_task_kind */
    uint32_t *lane;   /* index of lanes, or NONE */
    uint32_t *window; /* window a GPU task belongs to (by its launch), and
                         NONE for none or a CPU task */
    uint32_t *n_preds;
    uint32_t *edge_begin; /* n_tasks + 1, into edges */
    struct msim_edge *edges;
    uint8_t *edge_kind; /* kind and source: msim_edge_kind_of() reads it */
    msim_ps *traced;    /* work as traced, without waits; TIME_NONE where
                           the trace has no time */
    struct msim_task_ref *refs;
    uint32_t *own_name; /* strings of tasks that the trace does not have, 0 for
                           others; NULL: there are none */
    struct msim_release *releases;
    uint32_t n_releases, cap_releases;
    struct msim_lane *lanes;
    uint32_t n_lanes, cap_lanes;
    struct msim_window *windows; /* by iteration, then rank */
    uint32_t n_windows, cap_windows;
    int64_t *iterations; /* step numbers, -1: the whole trace */
    uint32_t n_iterations, cap_iterations;
    msim_ps copied[MSIM_COPIED_KINDS]; /* over all ranks, the whole trace */
    uint32_t n_unexplained; /* GPU activities that began late without a cause:
                               copied[MSIM_COPIED_UNEXPLAINED] */
    struct msim_queued_idle queued_idle;
    struct msim_sharing *sharing; /* NULL: nothing is shared */
};

/* What a rank without GPU events is taken to launch. */
enum msim_launch_kind {
    MSIM_LAUNCH_KERNEL,
    MSIM_LAUNCH_COPY,      /* host to device, or on the device */
    MSIM_LAUNCH_COPY_BACK, /* device to host: the host waits for it */
    MSIM_LAUNCH_COMM,
};

struct msim_launch_plan {
    uint32_t *first; /* n_ops + 1, into kinds: the works of each op */
    uint8_t *kinds;  /* msim_launch_kind */
    bool on_host;    /* there is no GPU: the host computes itself */
};

/* When a rank whose trace is absent arrives at a collective. */
enum msim_peers {
    MSIM_PEERS_TOGETHER, /* with this rank: nobody waits */
    MSIM_PEERS_FIXED,    /* when it did in the trace */
    MSIM_PEERS_FOLLOW,   /* as long after this rank as in the trace;
                            core/run/engine.h makes that exact */
};

struct msim_graph_options {
    /*
     * One a rank; NULL entries for ranks whose GPU events are in the trace, or
     * of which the host alone is simulated. The host times of a rank with a
     * launch plan are ignored: its host is modelled.
     */
    const struct msim_launch_plan *const *launch_plans;
    /*
     * Dependencies may be inferred, and latencies taken, from when GPU
     * activities began and ended. Without it no GPU time is read: what is not
     * recorded follows from the order of launches alone.
     */
    bool device_times;
    enum msim_peers peers;
    /*
     * Slowdown of kernels that run at the same time as a collective, measured
     * elsewhere, for devices whose trace does not show it; 0: unknown.
     */
    double slowdown;
    uint32_t without; /* rules to leave out, bits of 1 << msim_edge_kind; what
                         they explain is not copied as unexplained */
    uint32_t without_sharing; /* likewise, bits of 1 << msim_contention_rule */
};

void msim_graph_free(struct msim_graph *g); /* accepts NULL */

/* How many ranks have the edge from `task` to `to`: those that are like the one
 * of its tasks that is a rank's (struct msim_job_member). */
static inline uint32_t msim_graph_alike(const struct msim_graph *g,
                                        uint32_t task, uint32_t to)
{
    if (!g->job->alike)
        return 1;
    return msim_job_alike(g->job,
                          g->refs[g->lane[task] == MSIM_NONE ? to : task].rank);
}

/* The operator that a task belongs to; of what no operator launched, the label
 * that its call is in; or NONE. */
uint32_t msim_graph_around(const struct msim_graph *g, uint32_t task);

/*
 * Warn of a GPU that was idle while work was queued: what ran there, or
 * delayed the work, has not been recorded.
 */
void msim_warn_queued_idle(struct msim_job *job, const struct msim_graph *g);

/* ---- graph cycle --------------------------------------------------------- */
/*
 * Tasks that wait for each other: found, and named.
 *
 * A person has to find in the traces what contradicts itself. So only the cycle
 * is named, not the tasks that wait behind it.
 */

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

/* ---- task text ----------------------------------------------------------- */
/*
 * What a task and its lane are called in reports.
 *
 * Texts are static or the job's; they outlive the graph's reports.
 */

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

/* ---- overlay ------------------------------------------------------------- */
/*
 * A graph as a what-if has it: other tasks and other dependencies than the
 * base, which stays as it is.
 *
 * An overlay is a list of differences. msim_graph_overlaid() makes a graph of
 * base and overlay, with the base's order of tasks: whoever reads a graph reads
 * that one like any other.
 *
 *     base      k1 -> k2            stream order
 *     overlay   x is inserted behind k1
 *     result    k1 -> x -> k2       who waited for k1 waits for x
 *
 * So a task that is inserted and takes no time changes no start: it begins and
 * ends when its neighbour ends, and hands on the neighbour's lags unchanged.
 * Several behind one neighbour follow each other in the order they were added;
 * so do several before one.
 *
 * Not thread-safe. Heap memory; release with msim_overlay_release().
 */

/* Where an inserted task stands. */
enum msim_overlay_place {
    MSIM_OVERLAY_BEFORE, /* what let `at` start lets it start, and it `at` */
    MSIM_OVERLAY_AFTER,  /* what waited for `at` waits for it */
    MSIM_OVERLAY_BESIDE, /* nothing waits for it, and it for nothing, but by
                            the overlay's own edges */
};

struct msim_overlay_task {
    uint32_t at; /* task of the base; with its window and its rank */
    uint8_t place, kind;
    uint32_t lane; /* of the base, or one of the overlay's */
    uint32_t op;   /* operator that it belongs to, or NONE */
    uint32_t name; /* its own: a string of the job */
};

/* A task of the overlay in an edge: its number behind those of the base. */
struct msim_overlay_edge {
    uint32_t from, to;
    msim_ps lag;
    uint8_t kind; /* kind and source: MSIM_EDGE_BYTE */
};

struct msim_overlay {
    const struct msim_graph *base;
    struct msim_overlay_task *tasks;
    struct msim_overlay_edge *edges; /* more than those of the places */
    struct msim_lane *lanes;         /* behind those of the base */
    uint32_t n_tasks, n_edges, n_lanes, cap_tasks, cap_edges, cap_lanes;
    uint8_t *dropped; /* one an edge of the base, 1: it does not hold */
    uint32_t *lane;   /* one a task of the base: the lane that it is on */
    uint32_t *name;   /* likewise: what it is called now, 0: as it was */
};

/* Nothing differs yet. ENOMEM; release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_overlay_init(struct msim_overlay *o,
                                   const struct msim_graph *base);
void msim_overlay_release(struct msim_overlay *o);

/* One more task, edge, lane; `*id` is what edges and tasks call it. A
 * collective is one with its arrival: place it by its transfer, or by its
 * arrival before it. */
MSIM_MUST_CHECK
enum msim_status msim_overlay_add(struct msim_overlay *o,
                                  struct msim_overlay_task t, uint32_t *id);
MSIM_MUST_CHECK
enum msim_status msim_overlay_tie(struct msim_overlay *o, uint32_t from,
                                  uint32_t to, enum msim_edge_kind kind,
                                  msim_ps lag);
MSIM_MUST_CHECK
enum msim_status msim_overlay_lane(struct msim_overlay *o, uint32_t rank,
                                   uint32_t *id);

/* Does the overlay change the graph at all? */
bool msim_overlay_is_empty(const struct msim_overlay *o);

/*
 * The graph of base and overlay. `from`, one a task of it, says which task of
 * the base it is, or, from base->n_tasks on, which of the overlay. On success
 * the caller owns both (msim_graph_free(), free()); on failure they are NULL.
 * ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_graph_overlaid(struct msim_graph **out, uint32_t **from,
                                     const struct msim_overlay *o);

#endif
