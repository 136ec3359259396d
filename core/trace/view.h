/*
 * core/trace/view.h - another trace of the same operators: what they are given
 * is its own, so that it can be changed, and all else is the trace's.
 *
 * Operator i of the view is operator i of the trace.
 */
#ifndef MSIM_CORE_TRACE_VIEW_H
#define MSIM_CORE_TRACE_VIEW_H
#include "core/trace/trace.h"

/*
 * A view of `t`, which must live as long. Operators, argument lists, sizes,
 * tensors' ids and messages are copies. Strides are none: how far apart
 * elements lie changes with sizes. The caller owns `*out`
 * (msim_trace_view_free()). ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_trace_view_new(struct msim_trace **out,
                                     const struct msim_trace *t);
void msim_trace_view_free(struct msim_trace *view); /* accepts NULL */

/* Bytes of the tensors of a list; 0 where no type is known. */
double msim_args_bytes(const struct msim_trace *t, uint32_t block);

#endif
