/*
 * serving/log/request_log_internal.h - what the files of serving/log share; no
 * other room includes it.
 */
#ifndef MSIM_SERVING_LOG_REQUEST_LOG_INTERNAL_H
#define MSIM_SERVING_LOG_REQUEST_LOG_INTERNAL_H
#include "core/base/json.h"
#include "serving/log/request_log.h"

#include <stdbool.h>

/* ---- request rows -------------------------------------------------------- */
/* What both formats of request logs share. */

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

/* ---- tool results -------------------------------------------------------- */
/*
 * What load generators write of each request, as rows of a log.
 *
 * | program | file | told by |
 * | vllm bench serve, --save-detailed | one object of arrays | input_lens |
 * | GuideLLM | benchmarks.json | benchmarks |
 * | AIPerf | profile_export.jsonl: an object a line | metadata, metrics |
 * | inference-perf | per_request_lifecycle_metrics.json: an array | start_time
 * |
 *
 * Times there are of a clock; those of the log are from the first request on.
 * A request that failed is one that arrived: it has no latencies.
 */

/* Is it an object of one of them? */
bool msim_tool_results_are(const cJSON *object);

/* Add its requests, in whatever order; `where` begins messages about it ("line
 * 3: ", or ""). EFORMAT, ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_tool_results_add(struct msim_request_log *log,
                                       const cJSON *json, const char *path,
                                       const char *where,
                                       struct msim_error *err);

/* All have been added: in order, and from 0 on. */
MSIM_MUST_CHECK
enum msim_status msim_tool_results_end(struct msim_request_log *log);

/* A file that is one document: EFORMAT where it is of none of them. */
MSIM_MUST_CHECK
enum msim_status msim_tool_results_read(struct msim_request_log *log,
                                        const char *path,
                                        struct msim_error *err);

#endif
