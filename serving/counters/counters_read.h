/*
 * serving/counters/counters_read.h - the counters of a running application,
 * row by row: what `serve --counters` writes and `watch` and `learn` read
 * (docs/serving.md).
 *
 * A row is one stage, or `e2e`, in one window. Columns may be missing but for
 * `t` and `stage`, and stand in any order; an empty field is not known, nor is
 * one that no counter can be (below 0, above 10^12).
 *
 * The file comes from a program that may write other lines between, and it may
 * be a pipe that is written while it is read: a row is there as soon as its
 * line has ended. Lines from `#` on are skipped. Lines that are no rows are
 * left out and counted; a stage that the application does not have and a time
 * that goes back are errors, for then the file is another application's, or
 * two files.
 */
#ifndef MSIM_SERVING_COUNTERS_COUNTERS_READ_H
#define MSIM_SERVING_COUNTERS_COUNTERS_READ_H
#include "serving/counters/metrics_read.h"

struct msim_counters; /* opaque */

/*
 * Open `path` ("-": standard input) of an application whose `n` stages are
 * called `stages` (they must live as long), and read its header. On success
 * `*out` is the caller's; on failure it is NULL: EIO, ETRUNCATED for an empty
 * file, EFORMAT where a column that is needed is missing.
 */
MSIM_MUST_CHECK
enum msim_status msim_counters_open(struct msim_counters **out,
                                    const char *path, const char *const *stages,
                                    uint32_t n, struct msim_error *err);

/* The same, and scrapes of engines in Prometheus' format are understood, too
 * (metrics_read.h). */
MSIM_MUST_CHECK
enum msim_status msim_counters_open_any(struct msim_counters **out,
                                        const char *path,
                                        const struct msim_metrics_how *how,
                                        struct msim_error *err);
/* Is it scrapes? */
bool msim_counters_are_metrics(const struct msim_counters *c);

/* Accepts NULL. */
void msim_counters_close(struct msim_counters *c);

/* The next row; `*found` is false at the end. EFORMAT names the line. */
MSIM_MUST_CHECK
enum msim_status msim_counters_next(struct msim_counters *c,
                                    struct msim_counters_row *row, bool *found,
                                    struct msim_error *err);

/* Lines left out so far; what the first of them was: its line, and why. */
uint64_t msim_counters_left_out(const struct msim_counters *c);
uint64_t msim_counters_first_line(const struct msim_counters *c);
const char *msim_counters_first_reason(const struct msim_counters *c);

#endif
