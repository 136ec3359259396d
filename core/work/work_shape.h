/*
 * core/work/work_shape.h - the sizes of a work as whole numbers: two works of
 * one family, kind and dtype whose shapes are equal are one operator on one
 * shape.
 *
 * Bytes are no part of it: an operand that is broadcast is read once, and the
 * shape is that of the result.
 */
#ifndef MSIM_CORE_WORK_WORK_SHAPE_H
#define MSIM_CORE_WORK_WORK_SHAPE_H
#include "core/work/work.h"

/* Behind the last size there are zeros; convolutions have the most. */
struct msim_work_shape {
    int64_t sizes[19];
};

/* False where sizes do not say all of it: collectives, experts, dispatches,
 * look-ups in a table of unknown size and what only has a bound. */
bool msim_work_shape_of(const struct msim_work *w, struct msim_work_shape *out);

/* Whether rows of a table are looked up, whose sizes are known. Rows and
 * columns of such a work are what is fetched, in rows of a thousand. */
bool msim_work_has_table(const struct msim_work *w);

/* Rows and columns of an operator that moves bytes: of one on a table the rows
 * that are looked up, of one without rows a single one. */
void msim_work_rows(const struct msim_work *w, int64_t *rows, int64_t *cols);

#endif
