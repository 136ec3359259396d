/*
 * core/fold/twin.h - traces of two ranks that are equal in all but the rank's
 * number: one of them says what there is to say of both.
 */
#ifndef MSIM_CORE_FOLD_TWIN_H
#define MSIM_CORE_FOLD_TWIN_H
#include "core/trace/trace.h"

/*
 * Is all equal but the ranks' numbers, and what became of the records of their
 * files? Texts have the numbers of one table. Call it before ranks are linked:
 * neither has an `et`.
 */
bool msim_traces_equal(const struct msim_trace *a, const struct msim_trace *b);

/*
 * Does nothing but the trace say what its rank does? Not where it sends or
 * receives, or where which ranks are in a group hangs on its number, since no
 * list is whole. Nor with an execution trace: the memory that it tells of is
 * also for who is in the rank's node.
 */
bool msim_trace_is_any_rank(const struct msim_trace *t);

/* Are both on the lists of the same groups? Of traces that are equal. */
bool msim_traces_listed_alike(const struct msim_trace *a,
                              const struct msim_trace *b);

/* A trace of its own that is `t`, of another rank. On success `*out` is the
 * caller's (msim_trace_free()), on failure NULL. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_trace_copy(struct msim_trace **out,
                                 const struct msim_trace *t, int64_t rank);

#endif
