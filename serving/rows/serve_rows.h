/*
 * serving/rows/serve_rows.h - a table of served models, answered row by row.
 *
 * Rows are copied with ttft_ms, ttft_low_ms, ttft_high_ms, tpot_ms,
 * tpot_low_ms, tpot_high_ms, uses_rows (1: constants were fitted on rows of
 * that model or GPU), defaults (what was assumed) and reason (why there is no
 * answer). Where the table has measured ttft_ms and tpot_ms, they are named
 * measured_ttft_ms and measured_tpot_ms in the copy; no prediction reads them.
 */
#ifndef MSIM_SERVING_ROWS_SERVE_ROWS_H
#define MSIM_SERVING_ROWS_SERVE_ROWS_H
#include "core/base/status.h"

#include <stdbool.h>
#include <stdio.h>

struct msim_serve_rows_wish {
    const char *path;     /* of the table; "-": standard input */
    const char *models;   /* folder of config.json files; NULL: data_dir's */
    const char *data_dir; /* of platforms and laws */
    bool csv;             /* else lines for people */
    uint32_t threads;     /* 1 or more; the answers do not depend on it */
};

/* EFORMAT, EIO as msim_csv_open(), msim_point_columns_find() and
 * msim_llm_law_load(); ENOMEM. A row that cannot be answered is no failure;
 * where none can it is ECHECK, once all is written. */
MSIM_MUST_CHECK
enum msim_status msim_serve_rows(const struct msim_serve_rows_wish *wish,
                                 FILE *out, struct msim_error *err);

#endif
