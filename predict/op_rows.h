/*
 * predict/op_rows.h - answering the rows of a table, by all cores.
 */
#ifndef MSIM_PREDICT_OP_ROWS_H
#define MSIM_PREDICT_OP_ROWS_H
#include "core/work/rows.h"
#include "models/platform/platform.h"

#include <stdio.h>

/*
 * Write every row that is left in `csv`, in order, as it is and with four
 * columns more: predicted_us, low_us, high_us and model, or where there is no
 * prediction three empty ones and why. Rows are taken together by the thousand
 * and answered by as many threads as there are cores; memory does not grow with
 * the table. What was read before a failure is answered.
 */
MSIM_MUST_CHECK
enum msim_status msim_op_rows(const struct msim_platform *p,
                              const struct msim_row_map *map,
                              struct msim_csv *csv, FILE *out,
                              struct msim_error *err);

#endif
