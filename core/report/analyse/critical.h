/*
 * core/report/analyse/critical.h - what held each task up, and the path that an
 * end hangs on.
 *
 * An edge u->v binds when end(u) + lag is just the start of v. Of several, the
 * edge from the task's own thread or stream counts, then the edge from the
 * lowest task: so the answer does not depend on how a run breaks ties. Going
 * back from an end along binding edges gives the critical path. Its pieces
 * follow each other without a gap, so they sum to its length exactly. A task
 * that came when it was recorded, or when an absent rank arrived, is preceded
 * by a piece of its own ("held"): what lies before that piece could be faster
 * without the task coming earlier.
 *
 *     host 0..10 | launch latency 10..15 | kernel 15..115 | host 115..117
 */
#ifndef MSIM_CORE_REPORT_ANALYSE_CRITICAL_H
#define MSIM_CORE_REPORT_ANALYSE_CRITICAL_H
#include "core/report/analyse/outcome.h"

/* What can hold a task that no edge holds; in the place of an edge's index. */
#define MSIM_BY_NOTHING UINT32_MAX       /* it starts with the simulation */
#define MSIM_BY_SM      (UINT32_MAX - 1) /* contention.h, msim_run.held_by */
#define MSIM_BY_ENGINE  (UINT32_MAX - 2) /* likewise: a copy engine */
#define MSIM_BY_PEER    (UINT32_MAX - 3) /* a rank whose trace is absent */
#define MSIM_BY_RECORD  (UINT32_MAX - 4) /* it comes when it was recorded */
#define MSIM_BY_UNKNOWN (UINT32_MAX - 5) /* nothing that the run tells */

struct msim_binding {
    /*
     * One a task: the task whose end let it start. For a task held by a peer,
     * its record or something unknown: of those that it waited for, the last
     * to end. Or NONE.
     */
    uint32_t *from;
    uint32_t *by; /* index of graph->edges, or one of the above */
};

/* Kinds of what holds tasks: edges' kinds, and what is no edge. */
enum msim_hold {
    MSIM_HOLD_SM = MSIM_EDGE_KINDS,
    MSIM_HOLD_ENGINE,
    MSIM_HOLD_PEER,
    MSIM_HOLD_RECORD,
    MSIM_HOLD_UNKNOWN,
    MSIM_HOLDS,
};
const char *msim_hold_text(unsigned hold);
/* The kind of a binding's `by`; MSIM_HOLDS for BY_NOTHING. */
unsigned msim_hold_of(const struct msim_graph *g, uint32_t by);
/* How the edge is known (msim_edge_source_text()), or NULL where it is no
 * edge. */
const char *msim_hold_source(const struct msim_graph *g, uint32_t by);

/* When a task is over in a run. */
static inline msim_ps msim_run_end(const struct msim_run *run, uint32_t task)
{
    return run->start[task] +
           (run->removed && run->removed[task] ? 0 : run->dur[task]);
}

/* One pass over tasks and edges. Release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_binding_init(struct msim_binding *b,
                                   const struct msim_graph *g,
                                   const struct msim_run *run);
void msim_binding_release(struct msim_binding *b);

/*
 * How much longer each task may take (ps, one a task; `slack` is the caller's)
 * without any iteration of any rank ending later, and without the run ending
 * later. Waits for shared resources count as they were in this run. ECYCLE
 * where there is no order.
 */
MSIM_MUST_CHECK
enum msim_status msim_slack(const struct msim_graph *g,
                            const struct msim_run *run,
                            const struct msim_binding *b,
                            const struct msim_window_times *windows,
                            msim_ps *slack);

enum msim_piece_kind {
    MSIM_PIECE_WORK, /* of `task` */
    MSIM_PIECE_LAG,  /* latency before `task` starts */
    MSIM_PIECE_HELD, /* before `task`: no task of the job ends it */
};

struct msim_piece {
    uint32_t task;
    uint32_t by; /* what let it start, as msim_binding.by */
    uint8_t kind;
    msim_ps start, dur; /* the part of it that is on the path */
};

struct msim_path {
    struct msim_piece *pieces; /* in the order of time */
    uint32_t n, capacity;
};

/*
 * The path that the end of window `w` hangs on, back to its begin; a piece
 * that reaches beyond either is cut there. `path` is all zero or was used
 * before; release it in any case.
 */
MSIM_MUST_CHECK
enum msim_status msim_path_find(struct msim_path *path,
                                const struct msim_graph *g,
                                const struct msim_run *run,
                                const struct msim_binding *b, uint32_t w,
                                const struct msim_window_times *times);
void msim_path_release(struct msim_path *path);

/* The window of an iteration that takes longest, the first of equals; NONE
 * where no rank has it. */
uint32_t msim_longest_window(const struct msim_graph *g,
                             const struct msim_window_times *times,
                             uint32_t iteration);

#endif
