/*
 * core/write_et/trace_args.h - arguments of a trace's operators, as an
 * execution trace's file has them.
 *
 * Read again, a block is the same: kinds, values, sizes, types, layouts, and
 * which tensors are one piece of memory. Strides are those of the file where
 * they still fit the sizes, else such as give the layout; [8, 43, 512] in rows
 * of 1536 with 128 instead of 43 has
 *
 *     (66048, 1536, 1)     what was recorded would overlap
 *     (196608, 1536, 1)    so the outer size starts anew
 */
#ifndef MSIM_CORE_WRITE_ET_TRACE_ARGS_H
#define MSIM_CORE_WRITE_ET_TRACE_ARGS_H
#include "core/write_et/et_file.h"

#define MSIM_ET_LISTS 8 /* inside each other, at most */

/* What all arguments of a trace share. */
struct msim_et_names {
    const struct msim_trace *t;
    const uint32_t *tensor; /* by row of tensor_ids: its number in the file */
};

/* One side of an operator. */
struct msim_et_block {
    const struct msim_et_names *names;
    uint32_t block, ids; /* as of struct msim_op; block NONE: empty */
};

/* put() of a struct msim_et_side whose `of` is a struct msim_et_block. */
void msim_et_block_put(struct msim_json *j, const void *of,
                       enum msim_et_column c);

/* The deepest nesting of lists in a block. */
uint32_t msim_et_block_depth(const struct msim_trace *t, uint32_t block);

#endif
