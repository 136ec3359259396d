/*
 * predict/op/op_table.h - a table of operators, answered as a whole: CSV or
 * JSON.
 */
#ifndef MSIM_PREDICT_OP_OP_TABLE_H
#define MSIM_PREDICT_OP_OP_TABLE_H
#include "core/guard/guard.h"
#include "models/platform/platform.h"

#include <stdio.h>

/*
 * Answer the table at `path` ("-": standard input): op_rows.c says what is
 * written of a row, docs/json.md what JSON holds beside them. `count` counts
 * guards. EFORMAT where the header is of no table that is known; what
 * msim_csv_open() and msim_op_rows() return.
 */
MSIM_MUST_CHECK
enum msim_status msim_op_table(const struct msim_platform *p, const char *path,
                               bool json, FILE *out,
                               struct msim_guard_count *count,
                               struct msim_error *err);

#endif
