/*
 * core/work/vector_name.h - what the name of a vector operator says, as rows of
 * tables have it ("add", "layer_norm_backward"): in place with an underscore at
 * the end ("add_"), with a number for the second operand with a u ("addu").
 */
#ifndef MSIM_CORE_WORK_VECTOR_NAME_H
#define MSIM_CORE_WORK_VECTOR_NAME_H
#include "core/work/work.h"

/* The family that works of traces have which go by that name. */
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
