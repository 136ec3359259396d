/*
 * core/trace/step.h - which operators are a step's, and which step stands for a
 * run.
 *
 * Where a trace has times, a step is what began while its mark lasted, whatever
 * the thread; in an execution trace alone it is the nodes from its mark to the
 * next one.
 */
#ifndef MSIM_CORE_TRACE_STEP_H
#define MSIM_CORE_TRACE_STEP_H
#include "core/trace/trace.h"

/* When an operator began: its time, else its node. */
static inline int64_t msim_moment(const struct msim_trace *t, uint32_t op)
{
    return t->has_times ? t->ops[op].start : (int64_t)t->ops[op].et_id;
}

/* from <= moment < to */
struct msim_step_window {
    int64_t from, to;
};

/* Of `step` (of t->steps); NONE: the whole trace. */
struct msim_step_window msim_step_window_of(const struct msim_trace *t,
                                            uint32_t step);

static inline bool msim_step_holds(const struct msim_step_window *w,
                                   int64_t moment)
{
    return moment >= w->from && moment < w->to;
}

/* How many steps have begun by the moment `at`. */
uint32_t msim_steps_begun(const struct msim_trace *t, int64_t at);

/* Have both steps of the same numbers? */
bool msim_steps_alike(const struct msim_trace *a, const struct msim_trace *b);

/* The last step that has begun by the moment `at`, where it is not over; or
 * NONE. */
uint32_t msim_step_at(const struct msim_trace *t, int64_t at);

/*
 * The step that stands for the run: the last one with at least half as many
 * operators as the one that has most. Earlier ones warm up, and the mark at the
 * end of a recording has little behind it. NONE: no step is marked, or none has
 * an operator. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_step_settled(const struct msim_trace *t, uint32_t *step);

#endif
