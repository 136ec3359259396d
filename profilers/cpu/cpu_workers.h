/*
 * profilers/cpu/cpu_workers.h - threads that share loops.
 *
 * The caller takes part, so that one core needs no thread. A thread that waits
 * for work looks for it a while before it sleeps, as those of OpenMP do: a
 * training step hands out work every few microseconds.
 */
#ifndef MSIM_PROFILERS_CPU_WORKERS_H
#define MSIM_PROFILERS_CPU_WORKERS_H
#include "core/base/status.h"

#include <stdint.h>

struct msim_workers; /* opaque */

/* The items `from` to `to`, `to` itself left out. */
typedef void msim_range_fn(void *ctx, int64_t from, int64_t to);

/* `threads` at least 1, the caller counted. `*out` is owned by the caller. */
MSIM_MUST_CHECK
enum msim_status msim_workers_new(struct msim_workers **out, uint32_t threads);

/* Accepts NULL. */
void msim_workers_free(struct msim_workers *w);

/*
 * Run `fn` over `n` items in equal ranges, one a thread, no thread with fewer
 * than `grain`; returns when all are done.
 */
void msim_workers_run(struct msim_workers *w, msim_range_fn *fn, void *ctx,
                      int64_t n, int64_t grain);

#endif
