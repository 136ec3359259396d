/*
 * core/trace/op_shapes.h - the sizes of the tensors that an operator is given,
 * as a text: "[64,512] [512,1024]".
 *
 * Of an operator without recorded arguments they are those of the innermost
 * one around it that has some. Texts are made when they are asked for, once
 * each, in the arena. Not thread-safe.
 */
#ifndef MSIM_CORE_TRACE_OP_SHAPES_H
#define MSIM_CORE_TRACE_OP_SHAPES_H
#include "core/base/arena.h"
#include "core/trace/trace.h"

struct msim_op_shapes {
    const struct msim_trace *t;
    struct msim_arena *arena;
    uint32_t *of_op;   /* one an op: the block of arguments, or NONE */
    const char **text; /* one a block: NULL, not asked for yet */
};

/* Both must live as long. Release in any case; ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_op_shapes_init(struct msim_op_shapes *s,
                                     const struct msim_trace *t,
                                     struct msim_arena *arena);
void msim_op_shapes_release(struct msim_op_shapes *s);

/* NULL: not known, or no tensor; also for NONE. */
const char *msim_op_shapes_of(struct msim_op_shapes *s, uint32_t op);

#endif
