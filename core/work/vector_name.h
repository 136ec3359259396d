/*
 * core/work/vector_name.h - the names of vector operators in tables ("add",
 * "layer_norm_backward"). An underscore at the end means in place ("add_"), a u
 * that the second operand is a number ("addu").
 */
#ifndef MSIM_CORE_WORK_VECTOR_NAME_H
#define MSIM_CORE_WORK_VECTOR_NAME_H
#include "core/work/work.h"

/* The family that a work of this name has in a trace. */
enum msim_family msim_vector_name_family(const char *op);

/* Tensors of the operator's shape that it reads: 0 for "fill", 2 for "add",
 * 1 where nothing else is known. */
double msim_vector_name_inputs(const char *op);

/*
 * Make `w`, whose dtype, elems, rows and cols are there, the work of a vector
 * operator of that name, which must live as long: its family, and the bytes
 * that it moves. `bytes` in all, 0: as many as the operands of the name have;
 * `table_rows` of the table whose rows it fetches or adds to, 0: no table.
 */
void msim_vector_name_count(struct msim_work *w, const char *op, double bytes,
                            double table_rows);

#endif
