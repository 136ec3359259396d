/*
 * replay/validate/family_times.h - what the operators of a traced step took, by
 * the family of what they ask of a device.
 *
 * On a GPU that is the time of kernels, copies and collectives that they
 * launched; on a CPU the time of operators themselves, since they compute where
 * they are called.
 */
#ifndef MSIM_REPLAY_VALIDATE_FAMILY_TIMES_H
#define MSIM_REPLAY_VALIDATE_FAMILY_TIMES_H
#include "core/work/work.h"

struct msim_family_times {
    double us[MSIM_FAMILY_COUNT];    /* a mean over the steps */
    uint32_t ops[MSIM_FAMILY_COUNT]; /* with works, of the last step */
    double operators_us;             /* all families */
    double step_us;                  /* of the steps' marks */
    uint32_t steps;
    int64_t number; /* of the last step: n of ProfilerStep#n; -1: none marked */
};

/*
 * Of `step` (of t->steps), or with NONE of all steps that ask something of a
 * device; where none is marked of the whole trace, or of one pass through its
 * execution trace. EFORMAT where the trace has
 * no times, or nothing of it asks anything of a device.
 */
MSIM_MUST_CHECK
enum msim_status msim_family_times_of(struct msim_family_times *out,
                                      const struct msim_trace *t, uint32_t step,
                                      struct msim_error *err);

/*
 * Of each step that asks something of a device, in order: `*n` of them, none
 * where no step is marked. `*out` is owned by the caller (free()).
 */
MSIM_MUST_CHECK
enum msim_status msim_family_times_each(struct msim_family_times **out,
                                        uint32_t *n,
                                        const struct msim_trace *t);

#endif
