/*
 * serving/explore/explore_rows.h - what an explorer answered: visits of one
 * stage, a line each.
 *
 * Columns are t_s and latency_ms, and where they are known class, wait_ms (in
 * the queue), batch (how many were served together) and size (of the request,
 * over the mean). Others are passed over.
 */
#ifndef MSIM_SERVING_EXPLORE_EXPLORE_ROWS_H
#define MSIM_SERVING_EXPLORE_EXPLORE_ROWS_H
#include "core/base/containers.h"

#include <stdbool.h>

struct msim_visit_row {
    double t_s, latency_ms;
    double wait_ms; /* NAN: not known */
    double size;    /* NAN: not known */
    uint32_t cls;   /* index of the class; 0 where the column is missing */
    uint32_t batch; /* 0: not known */
    uint32_t run;   /* which question they answer; from 0 */
};

/* What must hold of every row. */
struct msim_visit_limits {
    const char *const *classes; /* names, n_classes of them */
    uint32_t n_classes;
    double seconds;   /* of load that were asked for; 0: not known */
    double most_rows; /* 0: any number */
    uint32_t run;
};

/*
 * Append the rows of the file `path` to `rows`. ETRUNCATED where it is empty;
 * EFORMAT, with the line, where a column is missing or is there twice over, a
 * time is negative or no number, a visit waits longer than it takes, a class is
 * none of the application's, or there are more visits than were asked for.
 */
MSIM_MUST_CHECK
enum msim_status msim_visit_rows_read(struct msim_vec *rows, const char *path,
                                      const struct msim_visit_limits *limits,
                                      struct msim_error *err);

#endif
