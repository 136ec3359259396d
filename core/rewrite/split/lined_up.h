/*
 * core/rewrite/split/lined_up.h - traces of several ranks one behind the other,
 * as if one rank had run them all.
 *
 * Operators of trace k are [first[k], first[k + 1]). Nothing is shared:
 * tensors, storages and autograd's numbers of one are none of another. Groups
 * are left out, and so are times.
 */
#ifndef MSIM_CORE_REWRITE_SPLIT_LINED_UP_H
#define MSIM_CORE_REWRITE_SPLIT_LINED_UP_H
#include "core/trace/trace.h"

/* `first` has room for n + 1. On success the caller owns `*out`
 * (msim_trace_free()). ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_lined_up_new(struct msim_trace **out, uint32_t *first,
                                   const struct msim_trace *const *ts,
                                   uint32_t n);

#endif
