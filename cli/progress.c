/*
 * cli/progress.c - one line on a terminal while long work runs.
 */
#include "cli/cmd.h"

#include "core/base/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUIET_SECONDS 1.0 /* shorter work needs no progress */
#define FRAME_SECONDS 0.1

static double seconds(const struct timespec *from, const struct timespec *to)
{
    return (double)(to->tv_sec - from->tv_sec) +
           1e-9 * (double)(to->tv_nsec - from->tv_nsec);
}

void msim_progress_start(struct msim_progress *p, const char *what)
{
    const char *term = getenv("TERM");

    memset(p, 0, sizeof(*p));
    p->what = what;
    /* A dumb terminal cannot overwrite a line. */
    p->terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    clock_gettime(CLOCK_MONOTONIC, &p->start);
    p->last = p->start;
}

/* Is it time for another look at how far the work is? */
static bool is_due(struct msim_progress *p)
{
    struct timespec now;

    if (!p->terminal)
        return false;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (seconds(&p->start, &now) < QUIET_SECONDS ||
        seconds(&p->last, &now) < FRAME_SECONDS)
        return false;
    p->last = now;
    p->shown = true;
    return true;
}

void msim_progress_bytes(void *progress, uint64_t done, uint64_t total)
{
    struct msim_progress *p = progress;

    if (!is_due(p))
        return;
    if (total)
        msim_print(stderr, "\rmystique-sim: %s: %3.0f %% of %.0f MB\033[K",
                   p->what, 100.0 * (double)done / (double)total,
                   (double)total / 1e6);
    else
        msim_print(stderr, "\rmystique-sim: %s: %.0f MB\033[K", p->what,
                   (double)done / 1e6);
    fflush(stderr);
}

void msim_progress_count(void *progress, uint32_t done, uint32_t total)
{
    struct msim_progress *p = progress;

    if (!is_due(p))
        return;
    msim_print(stderr,
               "\rmystique-sim: %s: %" PRIu32 " of %" PRIu32 " files\033[K",
               p->what, done, total);
    fflush(stderr);
}

void msim_progress_parts(void *progress, uint32_t done, uint32_t total)
{
    struct msim_progress *p = progress;
    double spent;

    if (!is_due(p) || !total)
        return;
    spent = seconds(&p->start, &p->last);
    msim_print(stderr, "\rmystique-sim: %s: %3.0f %%", p->what,
               100.0 * done / total);
    if (done)
        fprintf(stderr, ", %.0f s left", spent * (total - done) / done);
    fputs("\033[K", stderr);
    fflush(stderr);
}

void msim_progress_end(struct msim_progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
