/*
 * core/graph/windows.h - spans of time of each rank, such as its
 * iterations, looked up by an instant.
 *
 * They lie in the order of their begins, each with the latest end of all up to
 * it. So the first that is not over at an instant is found by halving, however
 * many there are and however they overlap; if it has begun it holds the
 * instant, and if it has not, none does.
 */
#ifndef MSIM_CORE_GRAPH_WINDOWS_H
#define MSIM_CORE_GRAPH_WINDOWS_H
#include "core/base/status.h"
#include "core/base/units.h"

struct msim_placed {
    msim_ps begin, latest; /* latest: end of it and of those before */
    uint32_t rank, window;
};

struct msim_windows {
    struct msim_placed *of; /* by rank, then begin */
    uint32_t *first;        /* per rank: of `of`; one more than ranks */
    uint32_t n, ranks;
};

/* Room for `most` spans of `ranks` ranks. Release in any case. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_windows_init(struct msim_windows *w, uint32_t most,
                                   uint32_t ranks);
void msim_windows_release(struct msim_windows *w);

void msim_windows_add(struct msim_windows *w, uint32_t rank, uint32_t window,
                      msim_ps begin, msim_ps end);
/* Put them in order: once, after the last. */
void msim_windows_place(struct msim_windows *w);

/* The first of a rank's in `of` that is not over at `at`, else first[rank + 1].
 */
uint32_t msim_windows_after(const struct msim_windows *w, uint32_t rank,
                            msim_ps at);

/* The first window of a rank that holds `at`, or UINT32_MAX. */
uint32_t msim_windows_at(const struct msim_windows *w, uint32_t rank,
                         msim_ps at);

#endif
