/*
 * predict/op/op_table_internal.h - what the files of predict/op share; no other
 * room includes it.
 */
#ifndef MSIM_PREDICT_OP_OP_TABLE_INTERNAL_H
#define MSIM_PREDICT_OP_OP_TABLE_INTERNAL_H
#include "core/base/json.h"
#include "core/guard/guard.h"
#include "core/work/rows.h"
#include "models/platform/platform.h"

#include <stdbool.h>
#include <stdio.h>

/* ---- op names ------------------------------------------------------------ */
/*
 * What is known of the names of operators that rows of a table have: a table
 * has few, and looking one up takes longer than an estimate, longest of one
 * that nobody knows.
 */

struct msim_op_name {
    char text[64];       /* "": of none */
    bool known, nearest; /* core/work/opmap/opmap.h */
    char why[128];       /* where it is not known */
};

/* Some names, by their hashes, and a long one; all zero: none. A thread has its
 * own. */
struct msim_op_names {
    struct msim_op_name of[64], is_long;
};

/* What is known of a name; it stays until the next call. */
const struct msim_op_name *msim_op_name_find(struct msim_op_names *names,
                                             const char *text);

/* ---- op rows ------------------------------------------------------------- */
/* Answering the rows of a table, by all cores. */

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
