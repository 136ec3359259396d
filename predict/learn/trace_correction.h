/*
 * predict/learn/trace_correction.h - how far one machine differs from the
 * models of its GPU, learned from a trace that was recorded on it, for work of
 * other shapes.
 *
 * The model is asked at the clock that this machine seems to run at: a GPU that
 * is throttled takes longer, by one factor, for all work that the SMs pace.
 * Then come two factors, of start and of rate, for each operator as far as the
 * trace has evidence, else for its family, else for all
 * (models/factor/levels.h).
 *
 * Collectives are not learned: their traced times hold waits.
 */
#ifndef MSIM_PREDICT_LEARN_TRACE_CORRECTION_H
#define MSIM_PREDICT_LEARN_TRACE_CORRECTION_H
#include "core/job/job.h"
#include "core/work/estimate.h"

struct msim_ops;        /* core/work/opmap/ops_file.h */
struct msim_platform;   /* models/platform/platform.h */
struct msim_correction; /* opaque */

/*
 * Learn from the GPU times of all ranks of `job`, which ran on GPUs of `p`,
 * whose clock is afterwards as it was. `user` is the user's table of operators
 * for that job, or NULL. On success `*out` is owned by the caller; on
 * failure it is NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_correction_new(struct msim_correction **out,
                                     const struct msim_job *job,
                                     const struct msim_ops *user,
                                     struct msim_platform *p,
                                     struct msim_error *err);
void msim_correction_free(struct msim_correction *m); /* accepts NULL */

/*
 * Correct `e`, the models' estimate of operator `name` (for a copy: the name of
 * its event), by what was learned. On the GPU that was learned on the models
 * must have been asked at the machine's clock. The interval keeps its ratio to
 * the time.
 */
void msim_correction_apply(const struct msim_correction *m, const char *name,
                           struct msim_estimate *e);

/*
 * What operators of the trace took that are called as `op` of `t` and were
 * given what it is given (tensors by type and sizes, numbers): the mean, the
 * least and the most, us. False where there are none. For steps that are made
 * of the trace's own operators, on the GPU that was traced.
 */
struct msim_recorded_time {
    double us, least_us, most_us;
};
bool msim_correction_recorded(const struct msim_correction *m,
                              const struct msim_trace *t, uint32_t op,
                              struct msim_recorded_time *out);

/* The clock that the machine seems to run at, over the GPU's usual one; 1 where
 * no other clock explains the times better. */
double msim_correction_clock(const struct msim_correction *m);

/* Was it learned on this GPU? */
bool msim_correction_is_on(const struct msim_correction *m,
                           const struct msim_platform *p);

#endif
