/*
 * core/report/analyse/analysis.c - what all parts of an analysis ask of it.
 */
#include "core/report/analyse/analysis_internal.h"

uint32_t msim_findings_windows(const struct msim_findings *f, uint32_t rank)
{
    uint32_t n = 0;

    if (rank == UINT32_MAX)
        return f->iteration == UINT32_MAX ? f->g->n_iterations : 1;
    for (uint32_t w = 0; w < f->g->n_windows; w++)
        n += f->g->windows[w].rank == rank &&
             msim_window_selected(f->g, w, f->iteration);
    return n;
}

enum msim_status msim_findings_place(struct msim_windows *w,
                                     const struct msim_findings *f,
                                     uint32_t rank)
{
    const struct msim_graph *g = f->g;

    MSIM_TRY(msim_windows_init(w, g->n_windows, g->job->n_ranks));
    for (uint32_t i = 0; i < g->n_windows; i++)
        if (g->windows[i].rank == rank &&
            msim_window_selected(g, i, f->iteration))
            msim_windows_add(w, rank, i, f->mid[i].begin, f->mid[i].end);
    msim_windows_place(w);
    return MSIM_OK;
}
