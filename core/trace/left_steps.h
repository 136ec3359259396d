/*
 * core/trace/left_steps.h - steps that a file marks and that are no iteration
 * of the run: which, and why.
 *
 * Whoever names such a step is told why, and gets no other one.
 */
#ifndef MSIM_CORE_TRACE_LEFT_STEPS_H
#define MSIM_CORE_TRACE_LEFT_STEPS_H
#include "core/trace/trace.h"

/* Leave out the steps of `t` that `keep` does not hold, and note why. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_steps_keep(struct msim_trace *t,
                                 bool (*keep)(void *of, int64_t number),
                                 void *of, enum msim_left_why why);

/* What `from` has left out is left out of `to`, another form of it. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_steps_left_as(struct msim_trace *to,
                                    const struct msim_trace *from);

/* Why the step of this number was left out of `t`: a clause; NULL: it was not.
 */
const char *msim_step_left_why(const struct msim_trace *t, int64_t number);

/* How many steps of `t` have the number. */
uint32_t msim_steps_numbered(const struct msim_trace *t, int64_t number);

/* "1, 2, 5", or "1, 2, ..., 90" where more do not fit; "none". */
struct msim_step_numbers {
    char text[64];
};

struct msim_step_numbers msim_step_numbers_of(const struct msim_trace *t);

#endif
