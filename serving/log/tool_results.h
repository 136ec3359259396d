/*
 * serving/log/tool_results.h - what load generators write of each request, as
 * rows of a log. Private to serving/log.
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
#ifndef MSIM_SERVING_LOG_TOOL_RESULTS_H
#define MSIM_SERVING_LOG_TOOL_RESULTS_H
#include "core/base/json.h"
#include "serving/log/request_rows.h"

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
