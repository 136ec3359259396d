/*
 * core/report/analyse/analysis_internal.h - what the files of
 * core/report/analyse share; no other room includes it.
 */
#ifndef MSIM_CORE_REPORT_ANALYSE_ANALYSIS_INTERNAL_H
#define MSIM_CORE_REPORT_ANALYSE_ANALYSIS_INTERNAL_H
#include "core/graph/contention.h"
#include "core/report/analyse/critical.h"

#include <math.h>

/* ---- waits --------------------------------------------------------------- */
/*
 * Who waited, for what, how long.
 *
 * A task waits from the end of the task before it on its thread or stream to
 * its own start. The wait is for what held the task last
 * (core/report/analyse/critical.h): a thread waits for the GPU, another thread
 * or room in the launch queue; a stream for its launch, an event or peers. A
 * stream's own gap between two kernels counts as stream order. Waits of one
 * thread do not overlap; those of different threads and streams do. While
 * nothing at all runs on a rank's GPU, the GPU waits for what held the activity
 * that begins next.
 */

/* By msim_hold; sums of ps. */
struct msim_waits {
    msim_ps main[MSIM_HOLDS];   /* of the thread that bears the iteration */
    msim_ps host[MSIM_HOLDS];   /* of all threads */
    msim_ps idle[MSIM_HOLDS];   /* nothing ran on the GPU; by what held the
                                   activity that began next */
    msim_ps device[MSIM_HOLDS]; /* of all streams */
};

/*
 * Sums for each window (`waits`: n_windows of them). Waits of threads and of
 * the whole GPU count where they lie in time, cut at the window's ends; waits
 * of a stream count where the work that waited was launched. Idle time after
 * the last activity of a rank waits for nothing. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_waits_find(const struct msim_graph *g,
                                 const struct msim_run *run,
                                 const struct msim_binding *b,
                                 const struct msim_window_times *times,
                                 struct msim_waits *waits);

/* From the end of the task before it on its lane to its start, 0 where there
 * is none. `before` (one a lane, NONE at first) remembers the last task. */
static inline msim_ps msim_wait_before(const struct msim_graph *g,
                                       const struct msim_run *run,
                                       uint32_t *before, uint32_t task)
{
    uint32_t lane = g->lane[task],
             last = lane == MSIM_NONE ? lane : before[lane];
    msim_ps wait;

    if (lane == MSIM_NONE)
        return 0;
    before[lane] = task;
    if (last == MSIM_NONE)
        return 0;
    wait = run->start[task] - msim_run_end(run, last);
    return wait > 0 ? wait : 0;
}

/* Memory for `before`: one a lane, all NONE; the caller frees it. */
uint32_t *msim_lanes_none(const struct msim_graph *g);

/* ---- analysis ------------------------------------------------------------ */
/*
 * What the files of the analysis share.
 *
 * Private to analyse.c and analysis_*.c. The rows and texts that they make live
 * in the prediction's arena.
 */

struct msim_findings {
    struct msim_prediction *p;
    const struct msim_outcome *o;
    const struct msim_graph *g;
    uint32_t iteration; /* selected, or UINT32_MAX: all */
    const struct msim_window_times *mid, *low, *high; /* one a window */
    const struct msim_binding *binding;
    const msim_ps *slack; /* one a task */
};

static inline double msim_us(msim_ps ps)
{
    return (double)ps / MSIM_PS_PER_US;
}

/* How long GPU activity `gpu` took, or NAN: it is NONE, or nobody ran it. */
static inline double msim_traced_us(const struct msim_trace *t, uint32_t gpu)
{
    return gpu == MSIM_NONE || !t->has_times ? (double)NAN
                                             : msim_us(t->gpu[gpu].dur);
}

/* How many windows of `rank` (UINT32_MAX: iterations) are selected. */
uint32_t msim_findings_windows(const struct msim_findings *f, uint32_t rank);
/* Those of `rank` by the middle run's times. Release in any case. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_findings_place(struct msim_windows *w,
                                     const struct msim_findings *f,
                                     uint32_t rank);

/* The longest pieces of a path have a row each, this many at most. Each run of
 * others between them is one row, so that the rows still sum to the path. */
#define MSIM_PATH_ROWS 20000u

/* analysis_path.c: the critical path and its owners. */
MSIM_MUST_CHECK
enum msim_status msim_analyse_path(const struct msim_findings *f);

/* analysis_period.c: the period, and the states of iterations; once ranks and
 * iterations have their rows. */
MSIM_MUST_CHECK
enum msim_status msim_analyse_period(const struct msim_findings *f);

/* analysis_known.c: how edges are known. */
MSIM_MUST_CHECK
enum msim_status msim_analyse_edges(const struct msim_findings *f);
/* Rows of one rank's mean waits; `waits`: one a window. */
MSIM_MUST_CHECK
enum msim_status msim_analyse_waits(const struct msim_findings *f,
                                    const struct msim_waits *waits,
                                    uint32_t rank, struct msim_wait_rows *rows);

/* What the graph copied of the trace's own times. */
MSIM_MUST_CHECK
enum msim_status msim_analyse_copied(const struct msim_findings *f);

/* analysis_comm.c: collectives and stragglers. */
MSIM_MUST_CHECK
enum msim_status msim_analyse_comm(const struct msim_findings *f);

/* analysis_kernels.c: kernels of one rank by name. */
MSIM_MUST_CHECK
enum msim_status msim_analyse_kernels(const struct msim_findings *f,
                                      uint32_t rank);

/* analysis_phases.c: phases and marked regions of one rank. */
MSIM_MUST_CHECK
enum msim_status msim_analyse_phases(const struct msim_findings *f,
                                     uint32_t rank);

/* analysis_host.c: the host's own work on one rank. */
MSIM_MUST_CHECK
enum msim_status msim_analyse_host(const struct msim_findings *f,
                                   uint32_t rank);

/* analysis_ops.c: operators, families, coverage of one rank. */
MSIM_MUST_CHECK
enum msim_status msim_analyse_ops(const struct msim_findings *f, uint32_t rank);

/* ---- period -------------------------------------------------------------- */
/*
 * The time from one iteration to the next.
 *
 * The host may run ahead of its GPU. Then the range of a step on the host says
 * how fast work is launched, not how fast it is done. So an iteration counts as
 * finished when its host range is over and all GPU work that it launched has
 * ended, and what it took is counted from where it could go on:
 *
 *     finish(i) = max over j <= i of (end of the host range of j,
 *                                     end of the GPU work launched in j)
 *     took(i)   = finish(i) - max(begin of the host range of i, finish(i - 1))
 *
 * Where the host waits for the GPU in every iteration that is the host range.
 * Where the GPU falls behind it is what the GPU needs. Example: the host
 * launches iterations of 100 us of GPU work in 30 us each:
 *
 *     host 0..30 30..60 60..90     GPU 5..105 105..205 205..305
 *     took    -    100    100      (the first has no iteration before it)
 *
 * The period of a rank is the mean over its settled iterations, and not less
 * than what its busiest stream or thread works in one of them; that of a job is
 * the period of its slowest rank. A rank that waits for absent ranks that keep
 * their times (--peers fixed) is no faster than it was with them.
 *
 * Not settled, and left out while there are better ones, are, best first:
 *
 *     run-up     from the start of a recording, the iterations in which the GPU
 *                falls behind by more than RUN_UP of what they took
 *     first      the iteration before is not in the recording: how far the GPU
 *                was behind at its begin is not known
 *     undrained  of more than UNDRAINED of the launches in it the GPU work is
 *                not in the recording
 *     empty      nothing is recorded in it
 *
 * Where the best is `first` (a recording of one iteration, say), its GPU work
 * would follow that of an iteration like it. The period is then the longest of
 * its host range, what the GPU needs for it, and the work of the busiest stream
 * or thread. The GPU needs the time from its first activity to its last without
 * the time in which it had nothing to do because the host had not launched yet.
 */

/* Shares. Where the GPU keeps up it ends a few launches after the host, some
 * per cent of a step of milliseconds; where it falls behind it is tens. */
#define MSIM_PERIOD_RUN_UP    0.05
#define MSIM_PERIOD_UNDRAINED 0.05

enum msim_iteration_state {
    MSIM_ITERATION_SETTLED,
    MSIM_ITERATION_RUN_UP,
    MSIM_ITERATION_FIRST,
    MSIM_ITERATION_UNDRAINED,
    MSIM_ITERATION_EMPTY,
};
/* "settled", "run-up", "first", "undrained", "empty". */
const char *msim_iteration_state_text(enum msim_iteration_state state);

/* One window of one rank in a run, or in the trace (ps). */
struct msim_range {
    msim_ps host_begin, host_end;
    msim_ps gpu_begin, gpu_end; /* of the work it launched; TIME_NONE: none */
    bool known;
};

/* What an iteration took, with what is before it on its rank. */
struct msim_took {
    msim_ps ps;   /* TIME_NONE: nothing known is before it */
    msim_ps more; /* by how much the GPU fell further behind the host */
};

/* Of every window of `g`; `spans` and `took`: one a window. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_took_find(const struct msim_graph *g,
                                const struct msim_range *spans,
                                struct msim_took *took);

/*
 * The state of every iteration of `g` (`states`: one each): of its ranks the
 * worst. `undrained` has one entry a window, or is NULL. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_iteration_states(const struct msim_graph *g,
                                       const struct msim_range *spans,
                                       const struct msim_took *took,
                                       const bool *undrained, uint8_t *states);

/* A GPU activity; `launched`: when its call was over, or TIME_NONE. */
struct msim_activity {
    msim_ps start, end, launched;
};

/* What the GPU needs for `n` activities; sorts them by their start. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_gpu_need(struct msim_activity *v, uint32_t n,
                               msim_ps *need);

/* ---- between period.c and analysis_period.c -------------------------------
 */

/* The three runs, and the trace. */
enum msim_period_side {
    MSIM_PERIOD_MID,
    MSIM_PERIOD_LOW,
    MSIM_PERIOD_HIGH,
    MSIM_PERIOD_TRACED,
    MSIM_PERIOD_SIDES
};

struct msim_side_times {
    struct msim_range *spans; /* one a window; `known`: all of it is */
    struct msim_took *took;   /* likewise */
    double *work;             /* ps of each lane in the windows that count */
};

/* Work of one lane, whose tasks' numbers follow each other: the host's, which
 * comes in the order of time, or GPU work of one window. */
struct msim_stretch {
    uint32_t begin, end;
    uint32_t lane;
    uint32_t window; /* or PERIOD_ON_HOST */
};
#define MSIM_PERIOD_ON_HOST (MSIM_NONE - 1)

struct msim_period_finding {
    const struct msim_findings *f;
    const struct msim_graph *g;
    unsigned wanted; /* sides that are looked at, bits of 1 << side */
    struct msim_side_times sides[MSIM_PERIOD_SIDES];
    uint8_t *states;       /* one an iteration */
    uint8_t level;         /* state of the iterations that count */
    uint32_t *launch_from; /* one a task: the call that launched it, or NONE */
    uint32_t *main_lanes;  /* one a rank */
    struct msim_stretch *stretches; /* tasks that lanes work on, ascending */
    uint32_t n_stretches, cap_stretches;
    uint32_t *lane_at;   /* the window that each lane has come to */
    uint32_t *on_gpu;    /* GPU work of windows, by window, ascending */
    uint32_t *gpu_begin; /* one a window and one more, into on_gpu */
    bool *undrained;     /* one a window */
    bool *counts;        /* likewise: does its iteration count? */
};

static inline const struct msim_run *
msim_period_run(const struct msim_period_finding *k, enum msim_period_side side)
{
    const struct msim_run *runs[] = {&k->f->o->mid, &k->f->o->low,
                                     &k->f->o->high};

    return runs[side];
}

/* Is the run of this side the middle one, since nothing deviates? */
static inline bool msim_period_is_mid(const struct msim_period_finding *k,
                                      enum msim_period_side side)
{
    return (side == MSIM_PERIOD_LOW || side == MSIM_PERIOD_HIGH) &&
           k->wanted & 1u << MSIM_PERIOD_MID &&
           msim_period_run(k, side)->start == k->f->o->mid.start;
}

/* GPU work of an iteration. */
static inline bool msim_period_on_gpu(const struct msim_graph *g, uint32_t task)
{
    return g->kind[task] >= MSIM_TASK_KERNEL &&
           g->kind[task] <= MSIM_TASK_COMM && g->window[task] != MSIM_NONE;
}

/* From when to when a GPU task keeps its stream; a collective's kernel runs
 * while it waits, too. False: not at all, or not known. */
bool msim_period_activity(const struct msim_period_finding *k,
                          enum msim_period_side side, uint32_t task,
                          struct msim_activity *a);

/* Allocate what sides need, and find what the trace says: it is the same for
 * all runs. Release in any case. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_period_prepare(struct msim_period_finding *k);
void msim_period_release(struct msim_period_finding *k);

/* Where the side is wanted, find when its windows begin and end and what they
 * took. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_period_find_side(struct msim_period_finding *k,
                                       enum msim_period_side side);

/* The states of iterations, and which of them count. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_period_find_states(struct msim_period_finding *k);

/* Find the stretches of work of `k`, which has its main lanes. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_period_find_stretches(struct msim_period_finding *k);

/* How much each lane works in the windows that count, on all sides that are
 * wanted; once states are known. */
void msim_period_find_work(struct msim_period_finding *k);

/* Does the iteration of window `w` count? */
static inline bool msim_period_counts(const struct msim_period_finding *k,
                                      uint32_t w)
{
    return msim_window_selected(k->g, w, k->f->iteration) &&
           k->states[k->g->windows[w].iteration] == k->level;
}

#endif
