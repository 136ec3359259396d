/*
 * serving/log/json_lines.h - files of one JSON object a line, plain or packed.
 */
#ifndef MSIM_SERVING_LOG_JSON_LINES_H
#define MSIM_SERVING_LOG_JSON_LINES_H
#include "core/base/json.h"

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

#endif
