/*
 * core/report/analyse/period_sides.h - a period on its way: when iterations
 * begin and end in each run and in the trace, and which of them count.
 *
 * Private to analysis_period.c and period.c.
 */
#ifndef MSIM_CORE_REPORT_ANALYSE_PERIOD_SIDES_H
#define MSIM_CORE_REPORT_ANALYSE_PERIOD_SIDES_H
#include "core/report/analyse/analysis.h"
#include "core/report/analyse/period.h"

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

struct msim_period_finding {
    const struct msim_findings *f;
    const struct msim_graph *g;
    unsigned wanted; /* sides that are looked at, bits of 1 << side */
    struct msim_side_times sides[MSIM_PERIOD_SIDES];
    uint8_t *states;       /* one an iteration */
    uint8_t level;         /* state of the iterations that count */
    uint32_t *launch_from; /* one a task: the call that launched it, or NONE */
    uint32_t *main_lanes;  /* one a rank */
};

static inline const struct msim_run *
msim_period_run(const struct msim_period_finding *k, enum msim_period_side side)
{
    const struct msim_run *runs[] = {&k->f->o->mid, &k->f->o->low,
                                     &k->f->o->high};

    return runs[side];
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

/* Allocate what a side needs and, where it is wanted, find when its windows
 * begin and end and what they took. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_period_find_side(struct msim_period_finding *k,
                                       enum msim_period_side side);

/* The states of iterations, and which of them count. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_period_find_states(struct msim_period_finding *k);

/* Does the iteration of window `w` count? */
static inline bool msim_period_counts(const struct msim_period_finding *k,
                                      uint32_t w)
{
    return msim_window_selected(k->g, w, k->f->iteration) &&
           k->states[k->g->windows[w].iteration] == k->level;
}

#endif
