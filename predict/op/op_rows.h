/*
 * predict/op/op_rows.h - answering the rows of a table, by all cores.
 */
#ifndef MSIM_PREDICT_OP_OP_ROWS_H
#define MSIM_PREDICT_OP_OP_ROWS_H
#include "core/base/json.h"
#include "core/guard/guard.h"
#include "core/work/rows.h"
#include "models/platform/platform.h"

#include <stdio.h>

/* Where answers go: one of the two. */
struct msim_op_output {
    FILE *csv;              /* lines, behind a header */
    struct msim_json *json; /* records of an array that is open */
};

/*
 * Write every row that is left in `csv` to `out`, in order. As CSV it is
 * unchanged, with four more columns: predicted_us, low_us, high_us and model.
 * Where there is no prediction the first three are empty and the last says why.
 * Guards that a row trips (core/guard/guard.h) stand behind the model, and are
 * counted. As JSON it is the member `input`, and what is said of it has members
 * of their own. Rows are answered in blocks of about a thousand, by as many
 * threads as there are cores; memory does not grow with the table. On failure
 * the rows before it are written.
 */
MSIM_MUST_CHECK
enum msim_status
msim_op_rows(const struct msim_platform *p, const struct msim_row_map *map,
             struct msim_csv *csv, const struct msim_op_output *out,
             struct msim_guard_count *count, struct msim_error *err);

#endif
