/*
 * core/trace/order.h - from rows in file order to the order trace.h promises,
 * and what follows from order: parents, launching calls and operators, steps.
 *
 * Used by the readers after the last record.
 */
#ifndef MSIM_CORE_TRACE_ORDER_H
#define MSIM_CORE_TRACE_ORDER_H
#include "core/trace/trace.h"

/*
 * Shift all times of a trace that is not sorted yet, so that the first start
 * is 0. Returns the first start as it was, or INT64_MAX where there is none.
 */
msim_ps msim_order_from_zero(struct msim_trace *t);

/*
 * Number threads by process and thread, and streams by device and stream,
 * whatever the order in the file. To be called before anything is sorted by
 * them.
 */
MSIM_MUST_CHECK
enum msim_status msim_order_lanes(struct msim_trace *t);

/*
 * Sort operators by thread, start, longest first (ties: by `et_id`, where a
 * reader has left an ordinal, then name), then nest them by time: parents and
 * subtree ends. Events that overlap instead of nesting are clamped.
 */
MSIM_MUST_CHECK
enum msim_status msim_order_ops(struct msim_trace *t);

/* The topmost operator of each: once parents are known. */
MSIM_MUST_CHECK
enum msim_status msim_order_topmost(struct msim_trace *t);

/* Sort calls by thread and start; find the operator each was made in. */
MSIM_MUST_CHECK
enum msim_status msim_order_calls(struct msim_trace *t);

/*
 * Sort GPU activities by stream and start. Link them to their calls and
 * operators by correlation, and synchronisations to theirs. Kinds of calls are
 * set here: a call that started a kernel is a launch whatever its name.
 * `*repeated`: launches whose correlation another launch has, too, as no
 * process writes it.
 */
MSIM_MUST_CHECK
enum msim_status msim_order_device(struct msim_trace *t, uint32_t *repeated);

/* End activities of linked, ordered streams where there is room for them, and
 * count those that are recorded to end later. */
MSIM_MUST_CHECK
enum msim_status msim_order_room(struct msim_trace *t);

/* ProfilerStep#n annotations as steps, by start. One inside another is none,
 * and where those of several threads overlap, those of the busiest one are. */
MSIM_MUST_CHECK
enum msim_status msim_order_steps(struct msim_trace *t);

/* Thread ranges over ops and calls, which must be sorted by thread. */
void msim_order_thread_ranges(struct msim_trace *t);

/*
 * Give every record_param_comms its row of comms. Communication kernels are
 * found by metadata, then by the operator that launched them, then by name.
 */
MSIM_MUST_CHECK
enum msim_status msim_order_comms(struct msim_trace *t);

/* How many devices run kernels: `t->gpus`. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_order_gpus(struct msim_trace *t);

/* Is there neither a tensor nor an activity on a GPU? */
bool msim_order_cpu_only(const struct msim_trace *t);

#endif
