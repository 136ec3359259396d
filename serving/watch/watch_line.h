/*
 * serving/watch/watch_line.h - verdicts as lines: for people, CSV, JSON.
 */
#ifndef MSIM_SERVING_WATCH_WATCH_LINE_H
#define MSIM_SERVING_WATCH_WATCH_LINE_H
#include "serving/watch/watch.h"

#include <stdio.h>

struct msim_advice; /* watch_advice.h */

/* What the names of columns are, where the format has any. */
void msim_watch_csv_header(FILE *out);

/* The verdict `v` of the last second of `w`, as a line. */
void msim_watch_csv_line(FILE *out, const struct msim_watch *w,
                         const struct msim_verdict *v);
void msim_watch_text_line(FILE *out, const struct msim_watch *w,
                          const struct msim_verdict *v);
/* `advice` may be NULL. */
MSIM_MUST_CHECK
enum msim_status msim_watch_json_line(FILE *out, const struct msim_watch *w,
                                      const struct msim_verdict *v,
                                      const struct msim_advice *advice);

#endif
