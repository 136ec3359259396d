/*
 * cli/progress.h - one line on a terminal while long work runs.
 *
 * Nothing is shown in the first second, and nothing at all where standard
 * error is not a terminal. Updates come from one thread.
 */
#ifndef MSIM_CLI_PROGRESS_H
#define MSIM_CLI_PROGRESS_H
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct msim_progress {
    const char *what; /* "reading", "simulating" */
    struct timespec start, last;
    bool terminal, shown;
};

/* `what` must outlive the progress. */
void msim_progress_start(struct msim_progress *p, const char *what);

/*
 * `done` of `total` (0: not known) are through, in bytes. `progress` is a
 * struct msim_progress: this fits msim_load_options.progress.
 */
void msim_progress_bytes(void *progress, uint64_t done, uint64_t total);

/* The same for `done` of `total` files: fits msim_fleet_options.before. */
void msim_progress_count(void *progress, uint32_t done, uint32_t total);

/* The same for parts of equal work, with the time that is left: fits
 * msim_plan_options.progress. */
void msim_progress_parts(void *progress, uint32_t done, uint32_t total);

/* Remove the line again; call it before any other message. */
void msim_progress_end(struct msim_progress *p);

#endif
