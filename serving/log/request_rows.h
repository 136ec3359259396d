/*
 * serving/log/request_rows.h - what both formats of request logs share.
 * Private to serving/log.
 */
#ifndef MSIM_SERVING_LOG_REQUEST_ROWS_H
#define MSIM_SERVING_LOG_REQUEST_ROWS_H
#include "serving/log/request_log.h"

#include <stdbool.h>

/* Add `*row`, of that line: EFORMAT where its time is below 0 or goes back. */
MSIM_MUST_CHECK
enum msim_status msim_request_rows_add(struct msim_request_log *log,
                                       const struct msim_logged *row,
                                       const char *path, uint64_t line,
                                       struct msim_error *err);
/* One more block of the row that is added next. */
MSIM_MUST_CHECK
enum msim_status msim_request_rows_block(struct msim_request_log *log,
                                         struct msim_logged *row,
                                         uint64_t hash);
MSIM_MUST_CHECK
enum msim_status msim_request_rows_class(struct msim_request_log *log,
                                         struct msim_logged *row,
                                         const char *name);
/* A row of which nothing is known. */
struct msim_logged msim_request_rows_empty(const struct msim_request_log *log);
/* "2023-11-16 18:15:46.68", also with a T or a zone of +00:00: seconds since
 * 1970. False where it is none. */
bool msim_request_rows_date(const char *text, double *seconds);

MSIM_MUST_CHECK
enum msim_status msim_request_rows_csv(struct msim_request_log *log,
                                       const char *path,
                                       struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_request_rows_jsonl(struct msim_request_log *log,
                                         const char *path,
                                         struct msim_error *err);

#endif
