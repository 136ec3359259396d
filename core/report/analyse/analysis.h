/*
 * core/report/analyse/analysis.h - what the files of the analysis share.
 *
 * Private to analyse.c and analysis_*.c. The rows and texts that they make live
 * in the prediction's arena.
 */
#ifndef MSIM_CORE_REPORT_ANALYSE_ANALYSIS_H
#define MSIM_CORE_REPORT_ANALYSE_ANALYSIS_H
#include "core/graph/windows.h"
#include "core/report/analyse/waits.h"

#include <math.h>

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

#endif
