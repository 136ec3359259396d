/*
 * core/report/analyse/outcome.h - a simulated graph, from which figures are
 * read.
 *
 * An outcome bundles three runs over one graph (middle, low and high durations)
 * with the source of each duration. It owns nothing.
 */
#ifndef MSIM_CORE_REPORT_ANALYSE_OUTCOME_H
#define MSIM_CORE_REPORT_ANALYSE_OUTCOME_H
#include "core/graph/graph.h"
#include "core/report/analyse/prediction.h"
#include "core/run/engine.h"

#include <math.h>

/* At most so many sources of durations. */
#define MSIM_MADE_BY_MAX 32

/* One simulation: its result, and the parts of its scenario (engine.h). */
struct msim_run {
    const msim_ps *start, *dur; /* one a task */
    const msim_ps *lag;         /* of every edge of a kind, or -1: as the graph
                                   has it; NULL: all as the graph has them */
    const uint8_t *removed;     /* tasks removed, or NULL */
    /* One a task: the task that held it where no edge did (both need one
     * resource), or NONE; NULL: nothing is shared. */
    const uint32_t *held_by;
    /* Or, for the period alone, the run told by chains; no `start`, `dur`. */
    const struct msim_laid *laid;
};

static inline msim_ps msim_run_start(const struct msim_run *r, uint32_t task)
{
    return r->laid ? msim_laid_start(r->laid, task) : r->start[task];
}

/* A task that is removed takes no time. */
static inline msim_ps msim_run_took(const struct msim_run *r, uint32_t task)
{
    return r->laid ? msim_laid_took(r->laid, task) : r->dur[task];
}

/* What work takes at least by the data sheet, in us, for each unit that it
 * keeps busy. The largest is what limits it. */
struct msim_limits {
    float tensor, vector; /* its arithmetic */
    float memory;         /* its bytes at the bandwidth of device memory */
    float latency;        /* the shortest kernel */
};

struct msim_outcome {
    const struct msim_graph *graph;
    struct msim_run mid, low, high;
    const msim_ps *task_low, *task_high; /* 90 % interval of each duration */
    const msim_ps *task_mid; /* its estimate: what it takes (mid.dur) may differ
                                where tasks share; NULL: the same */
    /*
     * The whole GPU may be these factors slower or faster than estimated (90
     * %), for all kernels together and in addition to task_low..task_high; 1:
     * measured.
     */
    double gpu_slower, gpu_faster;
    const uint8_t *made_by; /* index into made_by_names */
    const char *const *made_by_names;
    uint32_t n_made_by;    /* at most MADE_BY_MAX */
    const uint8_t *source; /* index into source_names */
    const char *const *source_names;
    uint8_t source_uncovered; /* from this source on neither a law of its own
                                 kernel nor a table stands behind it, and flops
                                 are guessed at, or 0 */
    const float *flops;
    const struct msim_limits *limits; /* by the data sheet, NULL: no
                                         platform */
    double bandwidth; /* of device memory by the data sheet, bytes/s: what the
                         memory of `limits` rests on */
    bool measured;    /* durations and times are the trace's own */
    bool gpu_times;   /* GPU times of the trace may be read */
    bool totals_only; /* of many scenarios no more is asked: no causes,
                         path, kernels, operators, phases */
    bool kernels;     /* but kernels by name */
    bool shapes;      /* rows by operator and shape are asked for, too */
    const uint8_t *states; /* of iterations, msim_iteration_state, in the run
                              that this one is compared with; NULL: its own */
};

/* One window of one rank, in ps. */
struct msim_window_times {
    msim_ps begin, end;
    msim_ps compute, communication, copy, host; /* exclusive, in this order */
    msim_ps hidden_communication, hidden_copy;  /* behind what comes before */
};

/*
 * Simulated begin and end of every window of the graph (`w`: one each), with
 * the classes of the breakdown. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_breakdown_find(const struct msim_outcome *o,
                                     struct msim_window_times *w);
/*
 * For each rank the lane of its main thread, or NONE: the thread that has the
 * marks of its iterations, without marks the one with most work. Owned by the
 * caller (free()); NULL: out of memory.
 */
uint32_t *msim_main_lanes(const struct msim_graph *g);

/* Begin and end only, of any run. */
void msim_window_bounds(const struct msim_graph *g, const struct msim_run *run,
                        struct msim_window_times *w);

/*
 * The prediction's figures over one iteration (an index into
 * graph->iterations) or all of them (UINT32_MAX). On success `*out` is owned
 * by the caller. Texts that only the caller knows (platform, costs, ...) are
 * left NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_analyse(struct msim_prediction **out,
                              const struct msim_outcome *o, uint32_t iteration,
                              struct msim_error *err);

/*
 * The period of the middle run alone (us), the same that msim_analyse() finds:
 * of many scenarios nothing else may be asked. `states`, one an iteration, is
 * filled in where it is not NULL: for msim_outcome.states of what is compared.
 */
MSIM_MUST_CHECK
enum msim_status msim_period_find(const struct msim_outcome *o,
                                  uint32_t iteration, uint8_t *states,
                                  double *us);

/* The same of many runs of one graph: what they share is found once. `o`: its
 * middle run is not read; what it points to must outlive the finder. On success
 * `*out` is owned by the caller; ENOMEM. */
struct msim_period_finder; /* opaque */
MSIM_MUST_CHECK
enum msim_status msim_period_finder_new(struct msim_period_finder **out,
                                        const struct msim_outcome *o,
                                        uint32_t iteration);
MSIM_MUST_CHECK
enum msim_status msim_period_finder_find(struct msim_period_finder *x,
                                         const struct msim_run *run,
                                         double *us);
void msim_period_finder_free(struct msim_period_finder *x); /* accepts NULL */

/* Every task that takes time as a bar; `*out` is owned by the caller. */
MSIM_MUST_CHECK
enum msim_status msim_timeline_new(struct msim_timeline **out,
                                   const struct msim_outcome *o);

/* A task's low or high duration beside other tasks: its own `bound`, shifted as
 * its middle one was. */
static inline msim_ps msim_task_bound(const struct msim_outcome *o,
                                      const msim_ps *bound, uint32_t task)
{
    msim_ps shifted;

    if (!o->task_mid)
        return bound[task];
    shifted = o->mid.dur[task] + bound[task] - o->task_mid[task];
    return shifted > 0 ? shifted : 0;
}

/*
 * Widen the interval of a sum of kernels by the deviation of the whole GPU,
 * which is independent of the deviations in low and high so far. Two wide ones
 * together can pass below 0, where no time is.
 */
static inline void msim_widen(const struct msim_outcome *o,
                              struct msim_figure *f)
{
    f->low = f->predicted - hypot(f->predicted - f->low,
                                  f->predicted * (1 - 1 / o->gpu_faster));
    f->low = f->low < 0 ? 0 : f->low; /* NaN stays */
    f->high = f->predicted +
              hypot(f->high - f->predicted, f->predicted * (o->gpu_slower - 1));
}

/* The arrival of a collective's transfer, if that is a task; else the task
 * itself. */
static inline uint32_t msim_arrival(const struct msim_graph *g, uint32_t task)
{
    return g->kind[task] == MSIM_TASK_COMM && task > 0 &&
                   g->kind[task - 1] == MSIM_TASK_JOIN &&
                   g->lane[task - 1] == g->lane[task]
               ? task - 1
               : task;
}

/* Is this window among the selected iterations? */
static inline bool msim_window_selected(const struct msim_graph *g, uint32_t w,
                                        uint32_t iteration)
{
    return w != MSIM_NONE &&
           (iteration == UINT32_MAX || g->windows[w].iteration == iteration);
}

/* The first window of the iterations from `iteration` on: windows lie in their
 * order. */
static inline uint32_t msim_window_from(const struct msim_graph *g,
                                        uint32_t iteration)
{
    uint32_t lo = 0, hi = g->n_windows;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (g->windows[mid].iteration < iteration)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

#endif
