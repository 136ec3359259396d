/*
 * predict/op/op_rows.h - answering the rows of a table, by all cores.
 */
#ifndef MSIM_PREDICT_OP_OP_ROWS_H
#define MSIM_PREDICT_OP_OP_ROWS_H
#include "core/guard/guard.h"
#include "core/work/rows.h"
#include "models/platform/platform.h"

#include <stdio.h>

/*
 * Write every row that is left in `csv` to `out`, in order and unchanged, with
 * four more columns: predicted_us, low_us, high_us and model. Where there is no
 * prediction the first three are empty and the last says why. Guards that a row
 * trips (core/guard/guard.h) stand behind the model, and are counted. Rows are
 * answered in blocks of about a thousand, by as many threads as there are
 * cores; memory does not grow with the table. On failure the rows before it are
 * written.
 */
MSIM_MUST_CHECK
enum msim_status msim_op_rows(const struct msim_platform *p,
                              const struct msim_row_map *map,
                              struct msim_csv *csv, FILE *out,
                              struct msim_guard_count *count,
                              struct msim_error *err);

#endif
