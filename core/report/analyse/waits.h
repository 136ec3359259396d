/*
 * core/report/analyse/waits.h - who waited, for what, how long.
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
#ifndef MSIM_CORE_REPORT_ANALYSE_WAITS_H
#define MSIM_CORE_REPORT_ANALYSE_WAITS_H
#include "core/report/analyse/critical.h"

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

#endif
