/*
 * serving/log/request_log.h - logs of requests, as csv or JSON lines.
 */
#ifndef MSIM_SERVING_LOG_REQUEST_LOG_H
#define MSIM_SERVING_LOG_REQUEST_LOG_H
#include "core/base/containers.h"
#include "core/base/json.h"
#include "core/base/units.h"

/* ---- json lines ---------------------------------------------------------- */
/* Files of one JSON object a line, plain or packed. */

/* What to do with the object of a line, counted from 1; anything but MSIM_OK
 * ends the reading. */
typedef enum msim_status msim_json_line(void *ctx, const cJSON *object,
                                        uint64_t line, struct msim_error *err);

/*
 * Read `path` line by line; empty ones are skipped. ESYNTAX, naming the line,
 * where one is no object; what `each` fails with; EIO, ETRUNCATED, ELIMIT,
 * ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_json_lines_read(const char *path, msim_json_line *each,
                                      void *ctx, struct msim_error *err);

/* ---- request log --------------------------------------------------------- */
/*
 * A log of requests: when they came, how long they were and, of a measured run,
 * how long they took.
 *
 * Comma-separated or JSON lines, plain or packed; which is told by the first
 * byte. Columns (members) and their other names:
 *
 * | t_s | timestamp (ms; Mooncake), TIMESTAMP (a date; Azure) |
 * | input_tokens, output_tokens | input_length, output_length; ContextTokens,
 *   GeneratedTokens |
 * | blocks (numbers, a space between; JSON: an array) | hash_ids |
 * | class, prefix_id, queued_ms, ttft_ms, e2e_ms | |
 *
 * Only the time must be there. Others are not looked at: logs hold much else.
 * Results of vllm bench serve, GuideLLM, AIPerf and inference-perf are logs,
 * too (tool_results.c).
 */

struct msim_strtab; /* core/base/containers.h */

#define MSIM_LOG_BLOCK_TOKENS 512 /* of the prompt, that a block stands for */

struct msim_logged {
    double t_s;   /* from 0, not decreasing */
    uint32_t cls; /* msim_request_log_class(); 0: not stated */
    uint32_t input_tokens, output_tokens; /* from 1; 0: not stated */
    /* Prompts with the same one begin alike, as far as the shorter goes; 0:
     * not stated. */
    uint64_t prefix;
    /* Hashes of blocks, each of its block and all before it. */
    uint32_t first_block, n_blocks;
    double queued_ms, ttft_ms, e2e_ms; /* NAN: not stated */
};

struct msim_request_log {
    struct msim_logged *rows;
    uint32_t n, cap;
    uint64_t *blocks;
    uint32_t n_blocks, cap_blocks;
    struct msim_strtab *classes;
};

/*
 * Read `path`. On success `log` goes to msim_request_log_release(), on failure
 * it holds nothing: EFORMAT naming the line, for a time that goes back too;
 * EIO, ESYNTAX, ETRUNCATED, ELIMIT, ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_request_log_read(struct msim_request_log *log,
                                       const char *path,
                                       struct msim_error *err);
/* All zero is released already. */
void msim_request_log_release(struct msim_request_log *log);

/* The name of a class of the log, a stranger's text; "": not stated. */
const char *msim_request_log_class(const struct msim_request_log *log,
                                   uint32_t cls);

/* Seconds from the first request to the last; their mean rate, NAN where that
 * is 0. */
double msim_request_log_seconds(const struct msim_request_log *log);
double msim_request_log_rate(const struct msim_request_log *log);

#endif
